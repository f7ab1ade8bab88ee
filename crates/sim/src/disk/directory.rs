//! The names of a disk's files, and which changes of names a crash may still undo.

use super::FileId;
use std::sync::Arc;

/// Names with the files they stand for, oldest name first.
pub(super) type Names = Vec<(Arc<str>, FileId)>;

/// One change of names.
#[derive(Clone, Debug)]
enum Change {
    Create { name: Arc<str>, file: FileId },
    Rename { from: Arc<str>, to: Arc<str>, file: FileId },
    Remove { name: Arc<str>, file: FileId },
}

impl Change {
    /// Makes the change in `names`, where an earlier one may be missing.
    fn apply(&self, names: &mut Names) {
        match self {
            Change::Create { name, file } => {
                names.retain(|(other, _)| other != name);
                names.push((Arc::clone(name), *file));
            }
            Change::Rename { from, to, file } => {
                names.retain(|(name, of)| name != to && !(name == from && of == file));
                names.push((Arc::clone(to), *file));
            }
            Change::Remove { name, file } => names.retain(|(other, of)| !(other == name && of == file)),
        }
    }
}

/// The names of one disk.
#[derive(Clone, Debug, Default)]
pub(super) struct Directory {
    names: Names,
    /// Changes that are not durable, oldest first.
    pending: Vec<Change>,
    /// The names without the pending changes; kept only while there are any.
    durable: Names,
}

impl Directory {
    pub(super) fn find(&self, name: &str) -> Option<FileId> {
        self.names.iter().find(|(other, _)| **other == *name).map(|&(_, file)| file)
    }

    pub(super) fn names(&self) -> &Names {
        &self.names
    }

    pub(super) fn create(&mut self, name: &str, file: FileId) {
        self.change(Change::Create { name: name.into(), file });
    }

    pub(super) fn rename(&mut self, from: &str, to: &str, file: FileId) {
        self.change(Change::Rename { from: from.into(), to: to.into(), file });
    }

    pub(super) fn remove(&mut self, name: &str, file: FileId) {
        self.change(Change::Remove { name: name.into(), file });
    }

    fn change(&mut self, change: Change) {
        if self.pending.is_empty() {
            self.durable.clone_from(&self.names);
        }
        change.apply(&mut self.names);
        self.pending.push(change);
    }

    /// Makes every change durable.
    pub(super) fn sync(&mut self) {
        self.pending.clear();
        self.durable.clear();
    }

    /// A file was synced: that it exists is durable, but not what else happened to names.
    #[inline]
    pub(super) fn file_synced(&mut self, file: FileId) {
        if !self.pending.is_empty() {
            self.keep_creation(file);
        }
    }

    #[cold]
    fn keep_creation(&mut self, synced: FileId) {
        let made = |change: &Change| matches!(change, Change::Create { file, .. } if *file == synced);
        if let Some(position) = self.pending.iter().position(made) {
            self.pending.remove(position).apply(&mut self.durable);
        }
    }

    /// Number of changes that are not durable.
    pub(super) fn pending(&self) -> usize {
        self.pending.len()
    }

    /// The names if a crash kept those pending changes that `keeps` says, asked for each, oldest first.
    pub(super) fn after_crash(&self, mut keeps: impl FnMut(usize) -> bool) -> Names {
        if self.pending.is_empty() {
            return self.names.clone();
        }
        let mut names = self.durable.clone();
        for (position, change) in self.pending.iter().enumerate() {
            if keeps(position) {
                change.apply(&mut names);
            }
        }
        names
    }

    /// What is left after a crash.
    pub(super) fn set(&mut self, names: Names) {
        self.names = names;
        self.sync();
    }
}
