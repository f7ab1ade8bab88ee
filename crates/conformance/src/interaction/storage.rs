//! The storage of a node under test: a log in memory, and a snapshot for every applied entry.

use whitewater_raft::{
    ConfState, Entry, HardState, MemoryStorage, NodeId, Payload, Snapshot, Storage, StorageError,
};

/// A log in memory, with the history of the application beside it.
#[derive(Debug)]
pub(crate) struct TestStorage {
    pub(crate) memory: MemoryStorage,
    /// The state after each applied entry. The newest one is what other nodes get as a snapshot.
    history: Vec<Snapshot>,
}

impl TestStorage {
    pub(crate) fn new(start: Snapshot) -> TestStorage {
        TestStorage { memory: MemoryStorage::new(), history: vec![start] }
    }

    pub(crate) fn newest(&self) -> &Snapshot {
        self.history.last().expect("the history starts with a snapshot")
    }

    /// Applies an entry: the state is everything ever applied, one behind the other.
    pub(crate) fn apply(&mut self, entry: &Entry, update: &[u8], conf_state: Option<ConfState>) {
        let newest = self.newest();
        let data: Payload = [&newest.data, update].concat().into();
        let conf_state = conf_state.unwrap_or_else(|| newest.conf_state.clone());
        self.history.push(Snapshot { index: entry.index, term: entry.term, conf_state, data });
    }
}

impl Storage for TestStorage {
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
        self.memory.entries(low, high, size_max_bytes, into)
    }

    fn term(&self, index: u64) -> Result<u64, StorageError> {
        self.memory.term(index)
    }

    fn first_index(&self) -> Result<u64, StorageError> {
        self.memory.first_index()
    }

    fn last_index(&self) -> Result<u64, StorageError> {
        self.memory.last_index()
    }

    fn snapshot(&self, _request_index: u64, _to: NodeId) -> Result<Snapshot, StorageError> {
        Ok(self.newest().clone())
    }
}
