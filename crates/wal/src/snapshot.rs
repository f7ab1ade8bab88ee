//! Storing a snapshot: a new file, synced, renamed, its name synced - and in force only by a frame of the log.

use crate::bug::Bug;
use crate::entry::{Entry, HardState, Snapshot};
use crate::error::WalError;
use crate::format::{NEW_SNAPSHOT, snapshot_bytes, snapshot_name};
use crate::saving::Saving;
use crate::state::{Mark, Record};
use crate::wal::{Durability, Garbage, Wal};
use std::borrow::Cow;
use whitewater_sim::{Disk, DiskError, Sync};

impl Wal {
    /// Stores a snapshot of what the log has led to. The entries it covers stay until [`Wal::compact`].
    ///
    /// # Errors
    /// [`WalError::NotNewer`], [`WalError::Gap`] if the log does not reach so far, [`WalError::Busy`] while another is
    /// being stored; otherwise as [`Wal::append`].
    pub fn save_snapshot(&mut self, disk: &mut Disk, snapshot: Snapshot) -> Result<Durability, WalError> {
        if snapshot.index > self.last_index() {
            return Err(WalError::Gap { expected: self.last_index(), found: snapshot.index });
        }
        self.store(disk, snapshot, None)
    }

    /// Stores a snapshot that a peer has sent. In one frame it comes into force, the log before it is given up, and
    /// the hard state and the entries behind it are appended; until then [`Wal::append`] answers [`WalError::Busy`].
    ///
    /// # Errors
    /// As [`Wal::save_snapshot`].
    pub fn install_snapshot(
        &mut self,
        disk: &mut Disk,
        snapshot: Snapshot,
        hard_state: Option<HardState>,
        entries: &[Entry],
    ) -> Result<Durability, WalError> {
        self.store(disk, snapshot, Some((hard_state, entries.to_vec())))
    }

    /// How many files hold what it shows: segments of the log, and the snapshot in front of them. Beside them there are files
    /// that are about to be removed, and a snapshot that is being stored.
    pub fn needed_files(&self) -> usize {
        self.segments.len() + usize::from(self.snapshot().is_some())
    }

    /// Whether a snapshot is being stored.
    pub fn is_storing(&self) -> bool {
        self.saving.is_some()
    }

    fn store(
        &mut self,
        disk: &mut Disk,
        snapshot: Snapshot,
        restore: Option<(Option<HardState>, Vec<Entry>)>,
    ) -> Result<Durability, WalError> {
        self.refuse_if_busy()?;
        if self.saving.is_some() {
            return Err(WalError::Busy);
        }
        let in_force = self.mark().index;
        if snapshot.index <= in_force {
            return Err(WalError::NotNewer { in_force, found: snapshot.index });
        }
        let failed = |call, error| WalError::Disk { call, file: NEW_SNAPSHOT.into(), error };
        self.keep_name(NEW_SNAPSHOT);
        let file = disk.open(NEW_SNAPSHOT);
        if disk.len(file) > 0 {
            disk.truncate(file, 0).map_err(|error| failed("truncate", error))?;
        }
        disk.append(file, &snapshot_bytes(&snapshot)).map_err(|error| failed("append to", error))?;
        self.saving = Some(Saving { snapshot, restore, ticket: None });
        if self.options().has(Bug::RenameBeforeSync) {
            let durability = self.snapshot_written(disk);
            let _ = disk.sync(file);
            return durability;
        }
        match disk.sync(file) {
            Ok(Sync::Done) => self.snapshot_written(disk),
            Ok(Sync::Pending(ticket)) => {
                self.saving.as_mut().expect("it was just set").ticket = Some(ticket);
                Ok(Durability::After(ticket))
            }
            Err(_) => Err(self.poison_snapshot()),
        }
    }

    /// The data is durable: gives the file its name and marks it in the log.
    pub(crate) fn snapshot_written(&mut self, disk: &mut Disk) -> Result<Durability, WalError> {
        let saving = self.saving.take().expect("a snapshot is being stored");
        let mark = Mark { index: saving.snapshot.index, term: saving.snapshot.term };
        let name = snapshot_name(mark);
        self.keep_name(&name);
        if let Err(error) = disk.rename(NEW_SNAPSHOT, &name) {
            return Err(WalError::Disk { call: "rename", file: NEW_SNAPSHOT.into(), error });
        }
        if !self.options().has(Bug::RenameWithoutDirectorySync) && disk.sync_dir().is_err() {
            return Err(self.poison_snapshot());
        }
        let old = self.mark();
        if self.options().has(Bug::OldSnapshotRemovedEarly) && old.index > 0 {
            let _ = disk.remove(&snapshot_name(old));
        }
        let before = self.written;
        let durability = match self.write_mark(disk, mark, &saving) {
            Ok(durability) => durability,
            Err(error) => {
                self.give_up(disk, name);
                return Err(error);
            }
        };
        self.marked = self.written;
        self.state.snapshot = Some(saving.snapshot);
        if old.index > 0 {
            self.garbage.push(Garbage { name: snapshot_name(old), after: self.written });
            assert!(self.written > before, "the mark has a frame of its own");
            self.now_durable(disk, self.durable);
        }
        Ok(durability)
    }

    /// A snapshot that has its name and never comes into force only takes room, on a disk that may be full for that.
    fn give_up(&mut self, disk: &mut Disk, name: String) {
        // Whoever is poisoned does not know what the disk has; the next start does.
        if !self.is_poisoned() {
            self.garbage.push(Garbage { name, after: 0 });
            self.now_durable(disk, self.durable);
        }
    }

    /// Something an earlier life has left under that name makes room for what has it now.
    fn keep_name(&mut self, name: &str) {
        self.garbage.retain(|garbage| garbage.name != name);
    }

    fn write_mark(&mut self, disk: &mut Disk, mark: Mark, saving: &Saving) -> Result<Durability, WalError> {
        let mut record = Record { mark: Some(mark), ..Record::default() };
        if let Some((hard_state, entries)) = &saving.restore {
            record.hard_state = *hard_state;
            if self.options().has(Bug::SnapshotWithoutRestore) {
                let _ = self.write(disk, &mut Record { hard_state: *hard_state, ..record.clone() }, false)?;
            }
            record.restore = true;
            record.suffix = entries.first().map(|first| self.suffix(first.index, Cow::Borrowed(entries)));
            if let Some(suffix) = &mut record.suffix
                && suffix.first == mark.index + 1
            {
                suffix.previous_term = mark.term;
            }
        }
        self.write(disk, &mut record, true)
    }

    fn poison_snapshot(&mut self) -> WalError {
        let _ = self.poison(0);
        WalError::SyncFailed { file: NEW_SNAPSHOT.into() }
    }

    /// Reads the snapshot file that is in force.
    pub(crate) fn load_snapshot(&mut self, disk: &mut Disk) -> Result<(), WalError> {
        let mark = self.mark();
        if mark.index == 0 {
            return Ok(());
        }
        let name = snapshot_name(mark);
        let damaged = |offset, what| WalError::Damaged { file: name.clone(), offset, what };
        let Some(file) = disk.find(&name) else { return Err(damaged(0, "it is not there")) };
        let bytes = match disk.load(file) {
            Ok(bytes) => bytes,
            Err(error @ DiskError::Failed) => {
                return Err(WalError::Disk { call: "read", file: name, error });
            }
            Err(_) => unreachable!("reading an open file has no other failure"),
        };
        let snapshot = crate::format::read_snapshot(bytes).map_err(|(offset, what)| damaged(offset, what))?;
        if (snapshot.index, snapshot.term) != (mark.index, mark.term) {
            return Err(damaged(16, "it is another snapshot"));
        }
        self.state.snapshot = Some(snapshot);
        Ok(())
    }
}
