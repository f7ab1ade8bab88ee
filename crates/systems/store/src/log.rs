//! The durable log of a server: what a core reads from it, and what the server writes to it.

use std::cell::Cell;
use whitewater_sim::{Disk, Ticket};
use whitewater_wal::{Durability, Entry, HardState, Options, Recovered, Snapshot, Synced, Wal, WalError};

/// The log of one server.
#[derive(Debug)]
pub struct Log {
    wal: Wal,
    /// How often a snapshot is refused before it is given.
    refusals: u32,
    /// How often it was refused since one was given.
    refused: Cell<u32>,
}

impl Log {
    pub(crate) fn open(disk: &mut Disk, segment_bytes: usize, refusals: u32) -> (Log, Recovered) {
        let opened = Wal::open(disk, Options::new(segment_bytes));
        let (wal, recovered) = opened.unwrap_or_else(|error| panic!("the log is whole: {error}"));
        (Log { wal, refusals, refused: Cell::new(0) }, recovered)
    }

    /// Term, vote and commit index as they were written last.
    pub fn hard_state(&self) -> HardState {
        let mut state = self.wal.hard_state();
        // A snapshot is made of what is committed, whether or not the commit index came to the disk.
        state.commit = state.commit.max(self.snapshot_index()).min(self.last());
        state
    }

    /// Index of the first entry that was not given up; one more than the last if there is none.
    pub fn first(&self) -> u64 {
        self.wal.first_index()
    }

    /// Index of the last entry.
    pub fn last(&self) -> u64 {
        self.wal.last_index()
    }

    /// Term of an entry, that before the first included.
    pub fn term(&self, index: u64) -> Option<u64> {
        self.wal.term(index)
    }

    /// The entries from `low` on and before `high`.
    pub fn entries(&self, low: u64, high: u64) -> impl Iterator<Item = &Entry> {
        self.wal.entries(low, high)
    }

    /// The snapshot, if there is one.
    pub fn snapshot(&self) -> Option<&Snapshot> {
        self.wal.snapshot()
    }

    /// The snapshot for a peer. `None` as long as it is not ready: ask again later.
    pub fn snapshot_to_send(&self) -> Option<&Snapshot> {
        if self.refused.get() < self.refusals {
            self.refused.set(self.refused.get() + 1);
            return None;
        }
        self.refused.set(0);
        self.snapshot()
    }

    /// Index of the last entry the snapshot covers, 0 without one.
    pub fn snapshot_index(&self) -> u64 {
        self.snapshot().map_or(0, |snapshot| snapshot.index)
    }

    pub(crate) fn write(
        &mut self,
        disk: &mut Disk,
        hard_state: Option<HardState>,
        entries: &[Entry],
        may_be_lost: bool,
    ) -> Result<Durability, WalError> {
        match hard_state {
            None if entries.is_empty() => Ok(Durability::Now),
            Some(state) if may_be_lost && entries.is_empty() => {
                self.wal.note(disk, state).map(|()| Durability::Now)
            }
            _ => self.wal.append(disk, hard_state, entries),
        }
    }

    pub(crate) fn install(
        &mut self,
        disk: &mut Disk,
        snapshot: Snapshot,
        hard_state: Option<HardState>,
        entries: &[Entry],
    ) -> Result<Durability, WalError> {
        self.wal.install_snapshot(disk, snapshot, hard_state, entries)
    }

    pub(crate) fn save(&mut self, disk: &mut Disk, snapshot: Snapshot) -> Result<Durability, WalError> {
        self.wal.save_snapshot(disk, snapshot)
    }

    pub(crate) fn is_saving(&self) -> bool {
        self.wal.is_storing()
    }

    /// Gives up entries up to `index`, as far as a snapshot covers them. What cannot be given up now is tried again later.
    pub(crate) fn compact(&mut self, disk: &mut Disk, index: u64) {
        let _ = self.wal.compact(disk, index.min(self.snapshot_index()));
    }

    pub(crate) fn synced(&mut self, disk: &mut Disk, ticket: Ticket) -> Result<Synced, WalError> {
        self.wal.synced(disk, ticket)
    }
}
