//! One file: its bytes as the node sees them, and how to take back what is not durable.

use std::collections::VecDeque;

/// How to take one change back.
#[derive(Clone, Debug)]
enum Undo {
    Append { length: usize },
    Write { offset: usize, old: Vec<u8>, length: usize },
    Truncate { tail: Vec<u8> },
}

/// A change as it was made.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Write { offset: usize, bytes: Vec<u8> },
    Truncate { length: usize },
}

/// Bytes that only the cache has, though the disk says they are durable.
#[derive(Clone, Debug)]
struct Astray {
    offset: usize,
    /// What the medium has there.
    old: Vec<u8>,
    /// Where the medium has the new bytes instead.
    went_to: Option<usize>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct File {
    pub(super) bytes: Vec<u8>,
    undo: VecDeque<Undo>,
    /// Changes made since the file exists, undone ones not counted.
    changes: u64,
    astray: Vec<Astray>,
}

impl File {
    /// A file in memory that was used before and is empty.
    pub(super) fn of_memory(memory: Vec<u8>) -> File {
        File { bytes: memory, ..File::default() }
    }

    /// Its memory, to be used again.
    pub(super) fn into_memory(self) -> Vec<u8> {
        self.bytes
    }

    #[inline]
    pub(super) fn append(&mut self, bytes: &[u8]) {
        self.note(Undo::Append { length: self.bytes.len() });
        self.bytes.extend_from_slice(bytes);
    }

    pub(super) fn write_at(&mut self, offset: usize, bytes: &[u8]) {
        let length = self.bytes.len();
        let end = offset + bytes.len();
        let old = self.bytes[offset..end.min(length)].to_vec();
        self.note(Undo::Write { offset, old, length });
        self.bytes.resize(length.max(end), 0);
        self.bytes[offset..end].copy_from_slice(bytes);
        self.astray.retain(|a| a.offset < offset || a.offset + a.old.len() > end);
    }

    pub(super) fn truncate(&mut self, length: usize) {
        let tail = self.bytes.split_off(length);
        self.note(Undo::Truncate { tail });
        self.astray.retain(|a| a.offset < length);
    }

    #[inline]
    fn note(&mut self, undo: Undo) {
        self.changes += 1;
        self.undo.push_back(undo);
    }

    /// Changes that are not durable.
    pub(super) fn dirty(&self) -> usize {
        self.undo.len()
    }

    /// Whether any of the first `changes` changes is not durable.
    pub(super) fn is_dirty_at(&self, changes: u64) -> bool {
        self.changes - (self.undo.len() as u64) < changes
    }

    /// Changes made so far; a sync that is asked for now covers so many.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// The first `changes` changes are durable.
    #[inline]
    pub(super) fn synced(&mut self, changes: u64) {
        let newer = self.changes.saturating_sub(changes) as usize;
        if newer == 0 {
            self.undo.clear();
        }
        while self.undo.len() > newer {
            self.undo.pop_front();
        }
    }

    /// Takes changes back until `keep` are left, and says how many bytes they had touched.
    pub(super) fn undo_to(&mut self, keep: usize) -> u64 {
        let mut bytes = 0;
        while self.undo.len() > keep {
            bytes += self.undo_newest();
        }
        bytes
    }

    fn undo_newest(&mut self) -> u64 {
        match self.undo.pop_back().expect("there is a change to undo") {
            Undo::Append { length } => {
                let lost = self.bytes.len() - length;
                self.bytes.truncate(length);
                lost as u64
            }
            Undo::Write { offset, old, length } => {
                self.bytes[offset..offset + old.len()].copy_from_slice(&old);
                self.bytes.truncate(length);
                old.len() as u64
            }
            Undo::Truncate { tail } => {
                self.bytes.extend_from_slice(&tail);
                tail.len() as u64
            }
        }
    }

    /// What is left after a crash is durable.
    pub(super) fn settled(&mut self) {
        self.undo.clear();
    }

    /// Takes every change back and returns them, oldest first, so that the bytes are the durable ones.
    pub(super) fn take_changes(&mut self) -> Vec<Change> {
        let mut changes = Vec::with_capacity(self.undo.len());
        while let Some(newest) = self.undo.back() {
            changes.push(match newest {
                Undo::Append { length } => {
                    Change::Write { offset: *length, bytes: self.bytes[*length..].to_vec() }
                }
                Undo::Write { offset, old, length } => {
                    // Where it wrote beyond the old end, it wrote up to the new one.
                    let end = if self.bytes.len() > *length { self.bytes.len() } else { offset + old.len() };
                    Change::Write { offset: *offset, bytes: self.bytes[*offset..end].to_vec() }
                }
                Undo::Truncate { .. } => Change::Truncate { length: self.bytes.len() },
            });
            self.undo_newest();
        }
        changes.reverse();
        changes
    }

    /// A sync has failed: the dirty data will never be durable. The bytes go back at once, or only when the cache
    /// is dropped.
    pub(super) fn lose_dirty(&mut self, cache_keeps: bool) {
        let seen = cache_keeps.then(|| self.bytes.clone());
        self.undo_to(0);
        let Some(seen) = seen.filter(|seen| seen.len() >= self.bytes.len()) else { return };
        let mut old = std::mem::replace(&mut self.bytes, seen);
        old.resize(self.bytes.len(), 0);
        let differs = self.bytes.iter().zip(&old).position(|(new, old)| new != old);
        let Some(offset) = differs else { return };
        self.astray.push(Astray { offset, old: old.split_off(offset), went_to: None });
    }

    /// The newest change, from `offset` on and over `old`, never reaches its place on the medium.
    pub(super) fn misplace(&mut self, offset: usize, old: &[u8], length: usize, went_to: Option<usize>) {
        let mut old = old.to_vec();
        old.resize(length, 0);
        self.astray.push(Astray { offset, old, went_to });
    }

    /// The cache is gone: the bytes are what the medium has. Says how many places came out wrong.
    pub(super) fn drop_cache(&mut self) -> u64 {
        let astray = std::mem::take(&mut self.astray);
        for Astray { offset, old, went_to } in astray.iter().rev() {
            let end = self.bytes.len().min(offset + old.len());
            let Some(here) = self.bytes.get_mut(*offset..end) else { continue };
            let new = here.to_vec();
            here.copy_from_slice(&old[..end - offset]);
            if let Some(there) = went_to.and_then(|to| self.bytes.get_mut(to..)) {
                there.iter_mut().zip(new).for_each(|(byte, new)| *byte = new);
            }
        }
        astray.len() as u64
    }
}
