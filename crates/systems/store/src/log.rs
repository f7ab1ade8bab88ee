//! The durable log of a server: what a core reads from it, and what the server writes to it.

use crate::membership;
use crate::options::Settings;
use crate::place::Place;
use std::cell::Cell;
use whitewater_sim::{Disk, NodeId, Ticket};
use whitewater_wal::{Durability, Entry, HardState, Options, Recovered, Snapshot, Synced, Wal, WalError};

/// Why a log does not have an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// It was given up: the snapshot covers it.
    Compacted,
    /// Nobody has written it yet.
    Unavailable,
}

/// The log of one server.
#[derive(Debug)]
pub struct Log {
    wal: Wal,
    /// How often a snapshot is refused before it is given.
    refusals: u32,
    /// How often it was refused since one was given.
    refused: Cell<u32>,
    /// Up to where the last snapshot was to reach that was asked for and was not there.
    wanted: Cell<u64>,
}

impl Log {
    /// Reads the log from the disk when the machine was started.
    pub(crate) fn open(disk: &mut Disk, settings: &Settings) -> Result<(Log, Recovered), WalError> {
        let (wal, recovered) = Wal::open(disk, Options::new(settings.segment_bytes))?;
        Ok((Log::new(wal, settings), recovered))
    }

    /// Reads the log from the disk when the process alone was started, and says when what it read is durable.
    pub(crate) fn reopen(
        disk: &mut Disk,
        settings: &Settings,
    ) -> Result<(Log, Recovered, Durability), WalError> {
        let (wal, recovered, durability) = Wal::reopen(disk, Options::new(settings.segment_bytes))?;
        Ok((Log::new(wal, settings), recovered, durability))
    }

    fn new(wal: Wal, settings: &Settings) -> Log {
        Log { wal, refusals: settings.snapshot_refusals, refused: Cell::new(0), wanted: Cell::new(0) }
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

    /// Term of an entry, that before the first included, as `Err` says why there is none.
    ///
    /// # Errors
    /// It was given up, or is not there yet.
    #[inline]
    pub fn term_at(&self, index: u64) -> Result<u64, Gap> {
        self.term(index).ok_or_else(|| self.gap(index))
    }

    fn gap(&self, index: u64) -> Gap {
        if index < self.first() { Gap::Compacted } else { Gap::Unavailable }
    }

    /// The entries from `low` on and before `high`, as far as there are any.
    pub fn entries(&self, low: u64, high: u64) -> impl Iterator<Item = &Entry> {
        self.wal.entries(low, high)
    }

    /// All entries from `low` on and before `high`.
    ///
    /// # Errors
    /// One of them was given up, or is not there yet.
    pub fn all_entries(&self, low: u64, high: u64) -> Result<impl Iterator<Item = &Entry>, Gap> {
        match (low..high).find(|&index| index < self.first() || index > self.last()) {
            Some(missing) => Err(self.gap(missing)),
            None => Ok(self.entries(low, high)),
        }
    }

    /// One entry.
    #[inline]
    pub(crate) fn entry(&self, index: u64) -> Option<&Entry> {
        self.wal.entry(index)
    }

    /// The place behind which the log begins after a restart: where the snapshot ends, or before everything.
    pub fn beginning(&self) -> Place {
        self.snapshot()
            .map(|snapshot| Place { term: snapshot.term, index: snapshot.index })
            .unwrap_or_default()
    }

    /// The snapshot, if there is one.
    pub fn snapshot(&self) -> Option<&Snapshot> {
        self.wal.snapshot()
    }

    /// The snapshot for a peer, if it reaches to that index. `None` as long as it is not ready: ask again later, one is made.
    /// A peer that became a member later than the last one was made needs one that knows it.
    pub fn snapshot_to_send(&self, index: u64, to: NodeId) -> Option<&Snapshot> {
        let snapshot = self.snapshot();
        let knows = snapshot.is_some_and(|snapshot| membership::read(&snapshot.metadata).has(to));
        let index = if knows { index } else { index.max(self.snapshot_index() + 1) };
        if index > self.snapshot_index() {
            self.wanted.set(index);
            return None;
        }
        if self.refused.get() < self.refusals {
            self.refused.set(self.refused.get() + 1);
            return None;
        }
        self.refused.set(0);
        snapshot
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
        if snapshot.index > self.snapshot_index() {
            return self.wal.install_snapshot(disk, snapshot, hard_state, entries);
        }
        // It is the one that is here: somebody asked for a snapshot although its log was whole. What lies behind it goes.
        let cut = match self.last() > snapshot.index {
            true => self.wal.truncate(disk, snapshot.index + 1)?,
            false => Durability::Now,
        };
        match hard_state {
            None if entries.is_empty() => Ok(cut),
            // A ticket covers everything before it, too.
            _ => self.wal.append(disk, hard_state, entries),
        }
    }

    pub(crate) fn save(&mut self, disk: &mut Disk, snapshot: Snapshot) -> Result<Durability, WalError> {
        self.wal.save_snapshot(disk, snapshot)
    }

    /// Whether one was asked for that reaches further, and can be made once so much is applied.
    pub(crate) fn wants_snapshot(&self, applied: u64) -> bool {
        (self.snapshot_index() + 1..=applied).contains(&self.wanted.get())
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

    pub(crate) fn sync_failed(&mut self, disk: &mut Disk, ticket: Ticket) -> bool {
        self.wal.sync_failed(disk, ticket)
    }
}
