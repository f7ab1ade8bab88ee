//! A storage that fails on demand: snapshots that are not ready, compaction between two reads.

use std::cell::Cell;
use whitewater_raft::{ConfState, Entry, HardState, MemoryStorage, NodeId, Snapshot, Storage, StorageError};

/// A log in memory with faults on top.
#[derive(Debug, Default)]
pub(crate) struct FlakyStorage {
    pub(crate) memory: MemoryStorage,
    /// How many requests for a snapshot fail before one succeeds.
    pub(crate) snapshot_failures: Cell<u32>,
    /// Entries up to this index count as compacted, although the memory still has them.
    pub(crate) compacted: Cell<u64>,
    /// After the next answer about a term, everything up to this index is compacted.
    pub(crate) compact_after_term: Cell<u64>,
    /// Every read fails with this error.
    pub(crate) broken: Cell<Option<&'static str>>,
}

impl FlakyStorage {
    pub(crate) fn new(memory: MemoryStorage) -> FlakyStorage {
        FlakyStorage { memory, ..FlakyStorage::default() }
    }

    fn check(&self) -> Result<(), StorageError> {
        self.broken.get().map_or(Ok(()), |reason| Err(StorageError::Other(reason)))
    }
}

impl Storage for FlakyStorage {
    fn initial_state(&self) -> Result<(HardState, ConfState), StorageError> {
        self.memory.initial_state()
    }

    fn entries(
        &self,
        low: u64,
        high: u64,
        size_max_bytes: u64,
        into: &mut Vec<Entry>,
    ) -> Result<(), StorageError> {
        self.check()?;
        if low <= self.compacted.get() {
            return Err(StorageError::Compacted);
        }
        self.memory.entries(low, high, size_max_bytes, into)
    }

    fn term(&self, index: u64) -> Result<u64, StorageError> {
        self.check()?;
        let compacted = self.compacted.get();
        self.compacted.set(compacted.max(self.compact_after_term.take()));
        if index < compacted {
            return Err(StorageError::Compacted);
        }
        self.memory.term(index)
    }

    fn first_index(&self) -> Result<u64, StorageError> {
        self.check()?;
        Ok(self.memory.first_index()?.max(self.compacted.get() + 1))
    }

    fn last_index(&self) -> Result<u64, StorageError> {
        self.memory.last_index()
    }

    fn snapshot(&self, request_index: u64, to: NodeId) -> Result<Snapshot, StorageError> {
        self.check()?;
        let failures = self.snapshot_failures.get();
        if failures > 0 {
            self.snapshot_failures.set(failures - 1);
            return Err(StorageError::SnapshotTemporarilyUnavailable);
        }
        self.memory.snapshot(request_index, to)
    }
}
