//! A storage in memory, for tests, examples and systems that bring their own durability.

use crate::entry::{Entry, EntryId, fitting};
use crate::error::StorageError;
use crate::identity::NodeId;
use crate::state::{ConfState, HardState, Snapshot};
use crate::storage::Storage;

/// A log, a hard state and the latest snapshot, all in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryStorage {
    hard_state: HardState,
    snapshot: Snapshot,
    /// The position before the first entry.
    start: EntryId,
    entries: Vec<Entry>,
}

impl MemoryStorage {
    /// A storage without history.
    pub fn new() -> MemoryStorage {
        MemoryStorage::default()
    }

    /// A storage of a group with the given voters, at index 0.
    ///
    /// The log does not tell who was there in the beginning. A node that joins such a group later is either given the same
    /// voters to start with, or finds the first entries compacted away and gets a snapshot.
    pub fn with_voters(voters: impl IntoIterator<Item = NodeId>) -> MemoryStorage {
        let mut storage = MemoryStorage::default();
        storage.snapshot.conf_state =
            ConfState { voters: voters.into_iter().collect(), ..ConfState::default() };
        storage
    }

    /// Replaces the hard state.
    #[inline]
    pub fn set_hard_state(&mut self, hard_state: HardState) {
        self.hard_state = hard_state;
    }

    /// The stored hard state.
    pub fn hard_state(&self) -> HardState {
        self.hard_state
    }

    /// Notes the membership of the applied state, from which a restart begins.
    pub fn set_conf_state(&mut self, conf_state: ConfState) {
        self.snapshot.conf_state = conf_state;
    }

    /// Every entry that is stored, in order.
    pub fn log(&self) -> &[Entry] {
        &self.entries
    }

    /// Writes entries behind or over what is there; what follows the last one is cut off.
    ///
    /// # Panics
    ///
    /// If the entries would leave a gap behind the end of the log.
    #[inline]
    pub fn append(&mut self, entries: &[Entry]) {
        let Some(first) = entries.first() else { return };
        let last_index = first.index + entries.len() as u64 - 1;
        if last_index <= self.start.index {
            return;
        }
        // What was compacted meanwhile needs no writing.
        let skip = (self.start.index + 1).saturating_sub(first.index) as usize;
        let keep = (first.index + skip as u64 - self.start.index - 1) as usize;
        assert!(keep <= self.entries.len(), "appending at {} leaves a gap in the log", first.index);
        self.entries.truncate(keep);
        self.entries.extend_from_slice(&entries[skip..]);
    }

    /// Makes a snapshot the start of the log and forgets every entry.
    ///
    /// # Errors
    ///
    /// [`StorageError::SnapshotOutOfDate`] if it is not newer than the one in place.
    pub fn apply_snapshot(&mut self, snapshot: Snapshot) -> Result<(), StorageError> {
        if self.snapshot.index >= snapshot.index {
            return Err(StorageError::SnapshotOutOfDate);
        }
        self.start = snapshot.id();
        self.entries.clear();
        self.snapshot = snapshot;
        Ok(())
    }

    /// Notes the state of the application at `index` as the latest snapshot, and keeps the log.
    ///
    /// # Errors
    ///
    /// [`StorageError::SnapshotOutOfDate`] if it is not newer than the one in place, [`StorageError::Unavailable`] if the
    /// log does not reach `index`.
    pub fn create_snapshot(
        &mut self,
        index: u64,
        conf_state: ConfState,
        data: &[u8],
    ) -> Result<(), StorageError> {
        if index <= self.snapshot.index {
            return Err(StorageError::SnapshotOutOfDate);
        }
        let term = self.term(index)?;
        self.snapshot = Snapshot { index, term, conf_state, data: data.into() };
        Ok(())
    }

    /// Forgets every entry up to and including `index`.
    ///
    /// # Errors
    ///
    /// [`StorageError::Compacted`] if they are forgotten already, [`StorageError::Unavailable`] beyond the end.
    pub fn compact(&mut self, index: u64) -> Result<(), StorageError> {
        if index <= self.start.index {
            return Err(StorageError::Compacted);
        }
        let term = self.term(index)?;
        self.entries.drain(..(index - self.start.index) as usize);
        self.start = EntryId { term, index };
        Ok(())
    }

    #[inline]
    fn end(&self) -> u64 {
        self.start.index + self.entries.len() as u64
    }
}

impl Storage for MemoryStorage {
    fn initial_state(&self) -> Result<(HardState, ConfState), StorageError> {
        Ok((self.hard_state, self.snapshot.conf_state.clone()))
    }

    #[inline]
    fn entries(
        &self,
        low: u64,
        high: u64,
        size_max_bytes: u64,
        into: &mut Vec<Entry>,
    ) -> Result<(), StorageError> {
        if low <= self.start.index {
            return Err(StorageError::Compacted);
        }
        if high > self.end() + 1 {
            return Err(StorageError::Unavailable);
        }
        let at = |index: u64| (index - self.start.index - 1) as usize;
        let asked = &self.entries[at(low)..at(high)];
        into.extend_from_slice(&asked[..fitting(asked, size_max_bytes)]);
        Ok(())
    }

    #[inline]
    fn term(&self, index: u64) -> Result<u64, StorageError> {
        if index < self.start.index {
            return Err(StorageError::Compacted);
        }
        if index == self.start.index {
            return Ok(self.start.term);
        }
        let at = (index - self.start.index - 1) as usize;
        self.entries.get(at).map(|entry| entry.term).ok_or(StorageError::Unavailable)
    }

    #[inline]
    fn first_index(&self) -> Result<u64, StorageError> {
        Ok(self.start.index + 1)
    }

    fn last_index(&self) -> Result<u64, StorageError> {
        Ok(self.end())
    }

    fn snapshot(&self, request_index: u64, _to: NodeId) -> Result<Snapshot, StorageError> {
        if self.snapshot.index < request_index {
            return Err(StorageError::SnapshotTemporarilyUnavailable);
        }
        Ok(self.snapshot.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(term: u64, index: u64) -> Entry {
        Entry { term, index, ..Entry::default() }
    }

    fn storage() -> MemoryStorage {
        let mut storage = MemoryStorage::new();
        storage
            .apply_snapshot(Snapshot { index: 3, term: 3, ..Snapshot::default() })
            .expect("the storage is empty");
        storage.append(&[entry(4, 4), entry(5, 5), entry(6, 6)]);
        storage
    }

    fn terms(storage: &MemoryStorage) -> Vec<u64> {
        storage.log().iter().map(|entry| entry.term).collect()
    }

    #[test]
    fn the_term_before_the_first_entry_stays_known() {
        let storage = storage();
        assert_eq!(storage.term(2), Err(StorageError::Compacted));
        assert_eq!([3, 4, 6].map(|index| storage.term(index).unwrap()), [3, 4, 6]);
        assert_eq!(storage.term(7), Err(StorageError::Unavailable));
    }

    #[test]
    fn appending_over_entries_cuts_off_what_follows() {
        let mut storage = storage();
        storage.append(&[entry(7, 5)]);
        assert_eq!(terms(&storage), [4, 7]);
        storage.append(&[entry(2, 2), entry(3, 3), entry(8, 4)]);
        assert_eq!(terms(&storage), [8]);
        storage.append(&[entry(1, 1)]);
        assert_eq!(terms(&storage), [8]);
    }

    #[test]
    #[should_panic = "leaves a gap"]
    fn a_gap_is_a_broken_promise() {
        storage().append(&[entry(9, 8)]);
    }

    #[test]
    fn compaction_keeps_the_rest() {
        let mut storage = storage();
        assert_eq!(storage.compact(3), Err(StorageError::Compacted));
        assert_eq!(storage.compact(5), Ok(()));
        assert_eq!(storage.first_index(), Ok(6));
        assert_eq!(storage.term(5), Ok(5));
        assert_eq!(storage.compact(7), Err(StorageError::Unavailable));
    }

    #[test]
    fn entries_come_within_the_limit_and_at_least_one() {
        let storage = storage();
        let read = |low, high, limit| {
            let mut into = Vec::new();
            storage.entries(low, high, limit, &mut into).map(|()| into.len())
        };
        assert_eq!(read(4, 7, u64::MAX), Ok(3));
        assert_eq!(read(4, 7, 0), Ok(1));
        assert_eq!(read(4, 7, 2 * entry(4, 4).encoded_size_bytes()), Ok(2));
        assert_eq!(read(3, 5, 0), Err(StorageError::Compacted));
        assert_eq!(read(4, 8, 0), Err(StorageError::Unavailable));
    }

    #[test]
    fn an_older_snapshot_is_refused() {
        let mut storage = storage();
        let older = Snapshot { index: 3, term: 3, ..Snapshot::default() };
        assert_eq!(storage.apply_snapshot(older), Err(StorageError::SnapshotOutOfDate));
        assert_eq!(storage.create_snapshot(5, ConfState::default(), b"state"), Ok(()));
        assert_eq!(storage.snapshot(0, 2).unwrap().id(), EntryId { term: 5, index: 5 });
        assert_eq!(storage.snapshot(6, 2), Err(StorageError::SnapshotTemporarilyUnavailable));
    }
}
