//! The durable log of a server: what the core reads from the write-ahead log, and what the core wants written.
//!
//! The write-ahead log holds in memory what was written; the core asks only for what it was told is durable, as
//! everything behind that it has itself.

use crate::image::{self, Image};
use std::cell::Cell;
use std::rc::Rc;
use whitewater_raft::{
    ConfState, Entry, EntryKind, HardState, NodeId, Payload, Ready, Snapshot, Storage, StorageError,
};
use whitewater_sim::{Disk, Ticket};
use whitewater_wal::{Durability, Options, Recovered, Synced, Wal, WalError};

/// The log of one server.
#[derive(Debug)]
pub struct Log {
    wal: Wal,
    /// The hard state that is durable.
    hard_state: HardState,
    /// The members of a cluster without history.
    founders: ConfState,
    /// Entries on their way to the write-ahead log.
    scratch: Vec<whitewater_wal::Entry>,
    /// How often a snapshot is refused before it is given.
    refusals: u32,
    /// How often it was refused since one was given.
    refused: Cell<u32>,
    /// A member needs a snapshot, and the one there is does not have it among the members.
    lacks_newcomer: Cell<bool>,
    /// The log is to be compacted after so many more reads of what the snapshot covers; 0 if it is not.
    reads_left: Cell<u32>,
    /// Readers find the entries up to this index given up, though they are still on the disk.
    hidden: Cell<u64>,
    /// Somebody who had found what it read needs a snapshot for the rest.
    missed: Cell<bool>,
}

/// What a new log is made with.
#[derive(Clone, Debug)]
pub(crate) struct Making {
    /// The members of a cluster without history.
    pub(crate) founders: Vec<NodeId>,
    /// How often a snapshot is refused before it is given.
    pub(crate) refusals: u32,
    /// How the write-ahead log is kept.
    pub(crate) options: Options,
}

impl Log {
    /// Reads the log from the disk after the machine was started.
    ///
    /// # Errors
    /// The disk failed, or what was durable is damaged.
    pub(crate) fn open(disk: &mut Disk, making: Making) -> Result<(Log, Recovered), WalError> {
        let (wal, recovered) = Wal::open(disk, making.options.clone())?;
        Ok((Log::new(wal, making), recovered))
    }

    /// Reads the log from the disk after the process alone was started, and says when what it read is durable.
    ///
    /// # Errors
    /// As [`Log::open`], or a sync failed.
    pub(crate) fn reopen(disk: &mut Disk, making: Making) -> Result<(Log, Recovered, Durability), WalError> {
        let (wal, recovered, durability) = Wal::reopen(disk, making.options.clone())?;
        Ok((Log::new(wal, making), recovered, durability))
    }

    /// Begins an empty log, in quarantine, in place of a damaged one.
    ///
    /// # Errors
    /// As [`Wal::quarantine`].
    pub(crate) fn quarantine(disk: &mut Disk, making: Making) -> Result<(Log, Durability), WalError> {
        let (wal, durability) = Wal::quarantine(disk, making.options.clone())?;
        Ok((Log::new(wal, making), durability))
    }

    /// Ends a quarantine.
    ///
    /// # Errors
    /// As [`Wal::end_quarantine`].
    pub(crate) fn end_quarantine(&mut self, disk: &mut Disk) -> Result<Durability, WalError> {
        self.wal.end_quarantine(disk)
    }

    /// The highest term it speaks of.
    pub(crate) fn highest_term(&self) -> u64 {
        let last = self.wal.term(self.last()).unwrap_or_default();
        self.wal.hard_state().term.max(last)
    }

    /// Enters a term without a vote in it.
    ///
    /// # Errors
    /// As [`Wal::append`].
    pub(crate) fn enter_term(&mut self, disk: &mut Disk, term: u64) -> Result<Durability, WalError> {
        let hard_state = whitewater_wal::HardState { term, vote: 0, ..self.wal.hard_state() };
        self.wal.append(disk, Some(hard_state), &[])
    }

    /// A log on an empty disk, for a server that cannot read its own yet.
    pub(crate) fn nothing(making: Making) -> Log {
        let (log, _) = Log::open(&mut Disk::default(), making).expect("an empty disk reads well");
        log
    }

    fn new(wal: Wal, making: Making) -> Log {
        let Making { founders: voters, refusals, .. } = making;
        let founders = ConfState { voters, ..ConfState::default() };
        let mut log = Log {
            wal,
            hard_state: HardState::default(),
            founders,
            scratch: Vec::new(),
            refusals,
            refused: Cell::new(0),
            lacks_newcomer: Cell::new(false),
            reads_left: Cell::new(0),
            hidden: Cell::new(0),
            missed: Cell::new(false),
        };
        log.stored();
        log
    }

    /// Writes what a Ready wants stored, and says when it is durable. A commit index alone may be lost: it goes out with
    /// whatever is synced next.
    ///
    /// # Errors
    /// As [`Wal::append`] and [`Wal::install_snapshot`].
    pub(crate) fn write(&mut self, ready: &Ready, disk: &mut Disk) -> Result<Durability, WalError> {
        let hard_state = ready.hard_state.map(|HardState { term, vote, commit }| whitewater_wal::HardState {
            term,
            vote,
            commit,
        });
        self.scratch.clear();
        self.scratch.extend(ready.entries.iter().map(written));
        match (&ready.snapshot, hard_state) {
            (Some(snapshot), _) => {
                self.wal.install_snapshot(disk, stored_form(snapshot), hard_state, &self.scratch)
            }
            (None, _) if ready.must_sync => self.wal.append_taken(disk, hard_state, &mut self.scratch),
            (None, Some(commit)) => self.wal.note(disk, commit).map(|()| Durability::Now),
            (None, None) => Ok(Durability::Now),
        }
    }

    /// Everything written so far is durable.
    pub(crate) fn stored(&mut self) {
        let whitewater_wal::HardState { term, vote, commit } = self.wal.hard_state();
        // A snapshot is made of what is committed, whether or not the commit index came to the disk.
        self.hard_state = HardState { term, vote, commit: commit.max(self.snapshot_index()) };
    }

    /// A ticket has come back.
    ///
    /// # Errors
    /// As [`Wal::synced`].
    pub(crate) fn synced(&mut self, disk: &mut Disk, ticket: Ticket) -> Result<Synced, WalError> {
        self.wal.synced(disk, ticket)
    }

    /// A ticket has come back with a failure: whether the log must be read anew from the disk. `None` if the ticket is
    /// none of this log's.
    pub(crate) fn sync_failed(&mut self, disk: &mut Disk, ticket: Ticket) -> Option<bool> {
        self.wal.sync_failed(disk, ticket).then(|| self.wal.is_poisoned())
    }

    /// Stores a snapshot of what the log has led to.
    ///
    /// # Errors
    /// As [`Wal::save_snapshot`].
    pub(crate) fn save(&mut self, disk: &mut Disk, snapshot: &Snapshot) -> Result<Durability, WalError> {
        self.wal.save_snapshot(disk, stored_form(snapshot))
    }

    /// Whether a snapshot is being stored.
    pub(crate) fn is_saving(&self) -> bool {
        self.wal.is_storing()
    }

    /// Gives up entries up to `index`, as far as a snapshot covers them.
    pub(crate) fn compact(&mut self, disk: &mut Disk, index: u64) {
        // What cannot be given up now is tried again after the next snapshot; nothing depends on it.
        let _ = self.wal.compact(disk, index.min(self.snapshot_index()));
    }

    /// Has the log compacted after so many more reads of what the snapshot covers, each of an entry or a term: between
    /// two reads of one step. Until then it is not compacted.
    pub(crate) fn compact_after_reads(&self, reads: u32) {
        self.reads_left.set(reads);
    }

    /// Whether a compaction waits for a read.
    pub(crate) fn awaits_read(&self) -> bool {
        self.reads_left.get() > 0
    }

    /// The index up to which a read has brought a compaction about that is still to be done, and whether a later read has
    /// met it.
    pub(crate) fn take_hidden(&self) -> Option<(u64, bool)> {
        let (hidden, missed) = (self.hidden.take(), self.missed.take());
        (hidden > 0).then_some((hidden, missed))
    }

    /// Something was read of which a compaction would leave what is from `kept` on.
    fn was_read(&self, index: u64, kept: u64) {
        if index >= kept {
            return;
        }
        self.reads_left.set(self.reads_left.get() - 1);
        if self.reads_left.get() == 0 {
            self.hidden.set(self.snapshot_index());
        }
    }

    /// Whether a member needs a snapshot and is not in the one there is; asked once for each time it is so.
    pub(crate) fn take_lack(&self) -> bool {
        self.lacks_newcomer.take()
    }

    /// The state machine as the snapshot has it, if there is one.
    pub(crate) fn image(&self) -> Option<Image> {
        let snapshot = self.wal.snapshot()?;
        let image = image::read(&snapshot.data).expect("a snapshot with a right checksum is one of ours");
        Some(Image { index: snapshot.index, term: snapshot.term, ..image })
    }

    /// Index of the last entry the snapshot covers, 0 without one.
    pub fn snapshot_index(&self) -> u64 {
        self.wal.snapshot().map_or(0, |snapshot| snapshot.index)
    }

    /// Index of the last entry that a durable snapshot covers, 0 without one.
    pub(crate) fn covered_index(&self) -> u64 {
        self.wal.covered_index()
    }

    /// How many files on the disk are needed.
    pub(crate) fn needed_files(&self) -> usize {
        self.wal.needed_files()
    }

    /// Bytes of the state in the snapshot, 0 without one.
    pub fn snapshot_bytes(&self) -> usize {
        self.wal.snapshot().map_or(0, |snapshot| snapshot.data.len())
    }

    /// The durable hard state.
    #[inline]
    pub fn hard_state(&self) -> HardState {
        self.hard_state
    }

    /// Entries behind an index, durable or not.
    pub(crate) fn entries_after(&self, index: u64) -> impl Iterator<Item = Entry> {
        self.wal.entries(index + 1, self.last() + 1).map(read)
    }

    /// Index of the last entry written.
    pub fn last(&self) -> u64 {
        self.wal.last_index()
    }

    /// Index of the first entry that was not given up.
    pub fn first(&self) -> u64 {
        self.wal.first_index().max(self.hidden.get() + 1)
    }

    /// The membership as of the snapshot.
    pub(crate) fn membership(&self) -> ConfState {
        match self.wal.snapshot() {
            Some(snapshot) => image::read_members(&snapshot.metadata)
                .expect("a snapshot with a right checksum is one of ours"),
            None => self.founders.clone(),
        }
    }
}

/// An entry as the write-ahead log keeps it.
#[inline]
fn written(entry: &Entry) -> whitewater_wal::Entry {
    whitewater_wal::Entry {
        index: entry.index,
        term: entry.term,
        kind: entry.kind as u8,
        payload: entry.data.share(),
    }
}

/// An entry as the core knows it.
#[inline]
fn read(entry: &whitewater_wal::Entry) -> Entry {
    let kind = match entry.kind {
        0 => EntryKind::Normal,
        1 => EntryKind::ConfChange,
        _ => EntryKind::ConfChangeV2,
    };
    Entry { term: entry.term, index: entry.index, kind, data: Payload::shared(Rc::clone(&entry.payload)) }
}

fn stored_form(snapshot: &Snapshot) -> whitewater_wal::Snapshot {
    whitewater_wal::Snapshot {
        index: snapshot.index,
        term: snapshot.term,
        metadata: image::members(&snapshot.conf_state).into(),
        data: snapshot.data.share(),
    }
}

impl Storage for Log {
    fn initial_state(&self) -> Result<(HardState, ConfState), StorageError> {
        Ok((self.hard_state, self.membership()))
    }

    fn entries(
        &self,
        low: u64,
        high: u64,
        size_max_bytes: u64,
        into: &mut Vec<Entry>,
    ) -> Result<(), StorageError> {
        if low < self.first() {
            return Err(StorageError::Compacted);
        }
        if self.awaits_read() {
            self.was_read(low, self.snapshot_index() + 1);
        }
        if high > self.last() + 1 {
            return Err(StorageError::Unavailable);
        }
        let entries = self.wal.entries(low, high);
        // Mostly they are far from the limit, and need not be measured.
        let bound_bytes = |entry: &whitewater_wal::Entry| Entry::encoded_bound_bytes(&entry.payload);
        if entries.clone().map(bound_bytes).sum::<u64>() <= size_max_bytes {
            into.extend(entries.map(read));
            return Ok(());
        }
        let (start, mut size_bytes) = (into.len(), 0);
        for entry in entries.map(read) {
            size_bytes += entry.encoded_size_bytes();
            if size_bytes > size_max_bytes && into.len() > start {
                break;
            }
            into.push(entry);
        }
        Ok(())
    }

    fn term(&self, index: u64) -> Result<u64, StorageError> {
        if index < self.hidden.get() {
            return Err(StorageError::Compacted);
        }
        // The term at the end of what was given up stays known.
        if self.awaits_read() {
            self.was_read(index, self.snapshot_index());
        }
        match self.wal.term(index) {
            Some(term) => Ok(term),
            None if index < self.first() => Err(StorageError::Compacted),
            None => Err(StorageError::Unavailable),
        }
    }

    fn first_index(&self) -> Result<u64, StorageError> {
        Ok(self.first())
    }

    fn last_index(&self) -> Result<u64, StorageError> {
        Ok(self.last())
    }

    fn snapshot(&self, _request_index: u64, to: NodeId) -> Result<Snapshot, StorageError> {
        // Readers ask where the log begins before they read on, and for a snapshot if that is too late.
        self.missed.set(self.hidden.get() > 0);
        if self.refused.get() < self.refusals {
            self.refused.set(self.refused.get() + 1);
            return Err(StorageError::SnapshotTemporarilyUnavailable);
        }
        self.refused.set(0);
        let snapshot = self.wal.snapshot().ok_or(StorageError::SnapshotTemporarilyUnavailable)?;
        let conf_state = self.membership();
        if !conf_state.contains(to) {
            // It would take no notice of it.
            self.lacks_newcomer.set(true);
            return Err(StorageError::SnapshotTemporarilyUnavailable);
        }
        Ok(Snapshot {
            index: snapshot.index,
            term: snapshot.term,
            conf_state,
            data: Payload::shared(Rc::clone(&snapshot.data)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log of five entries of which a snapshot covers four.
    fn log() -> Log {
        let making = Making { founders: vec![1, 2, 3], refusals: 0, options: Options::default() };
        let mut disk = Disk::default();
        let (mut log, _) = Log::open(&mut disk, making).unwrap();
        let entries = (1..=5).map(|index| Entry { term: 1, index, ..Entry::default() });
        let hard_state = HardState { term: 1, vote: 0, commit: 5 };
        let entries: Vec<_> = entries.map(|entry| written(&entry)).collect();
        let stored = whitewater_wal::HardState { term: hard_state.term, vote: 0, commit: hard_state.commit };
        let appended = log.wal.append(&mut disk, Some(stored), &entries).unwrap();
        assert_eq!(appended, Durability::Now);
        let snapshot =
            Snapshot { index: 4, term: 1, conf_state: log.founders.clone(), data: Payload::default() };
        assert_eq!(log.save(&mut disk, &snapshot).unwrap(), Durability::Now);
        log
    }

    fn entries(log: &Log, low: u64) -> Result<usize, StorageError> {
        let mut into = Vec::new();
        log.entries(low, 6, u64::MAX, &mut into).map(|()| into.len())
    }

    #[test]
    fn a_log_that_is_compacted_after_a_read_has_the_rest_no_more_at_the_next_one() {
        let log = log();
        log.compact_after_reads(1);
        // These would stay, and so are no reads that count.
        assert_eq!((log.term(4), log.term(5), entries(&log, 5)), (Ok(1), Ok(1), Ok(1)));
        assert_eq!(log.take_hidden(), None);
        assert_eq!(log.term(1), Ok(1));
        assert_eq!(log.first_index(), Ok(5));
        assert_eq!((log.term(4), log.term(1)), (Ok(1), Err(StorageError::Compacted)));
        assert_eq!((entries(&log, 2), entries(&log, 5)), (Err(StorageError::Compacted), Ok(1)));
        assert!(log.snapshot(0, 2).is_ok());
        assert_eq!(log.take_hidden(), Some((4, true)));
        assert_eq!(log.take_hidden(), None, "it is told once");
    }

    #[test]
    fn a_compaction_waits_for_as_many_reads_as_it_was_told_to() {
        let log = log();
        log.compact_after_reads(3);
        assert!(log.term(1).is_ok() && entries(&log, 2).is_ok() && log.awaits_read());
        assert!(log.term(3).is_ok() && !log.awaits_read());
        assert_eq!(entries(&log, 4), Err(StorageError::Compacted));
        assert_eq!(log.take_hidden(), Some((4, false)), "nobody has asked for a snapshot");
    }
}
