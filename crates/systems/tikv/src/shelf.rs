//! The log of a server as `raft::Storage`, and its entries and snapshots in both forms.

use crate::kind_of;
use protobuf::Message as _;
use raft::eraftpb::{ConfState, Entry, EntryType, HardState, Snapshot};
use raft::{Error, GetEntriesContext, RaftState, Result, Storage, StorageError};
use whitewater_sim::NodeId;
use whitewater_store::{Log, REQUEST, core, number_of};

/// The kind of an entry that changes the membership in the old form.
pub(crate) const CHANGE: u8 = 1;
/// And in the new one.
pub(crate) const CHANGE_V2: u8 = 2;

/// The log with the membership.
pub(crate) struct Shelf {
    pub(crate) log: Log,
    /// As of what was applied.
    pub(crate) conf: ConfState,
}

impl Shelf {
    pub(crate) fn new(log: Log, founders: &[NodeId]) -> Shelf {
        let mut conf = ConfState::default();
        match log.snapshot() {
            Some(snapshot) => {
                conf.merge_from_bytes(&snapshot.metadata).expect("a snapshot that was stored is whole");
            }
            None => conf.set_voters(founders.iter().map(|node| number_of(*node)).collect()),
        }
        Shelf { log, conf }
    }
}

/// An entry as the log keeps it.
pub(crate) fn written(entry: &Entry) -> core::Entry {
    let payload = if entry.data.is_empty() { Default::default() } else { entry.data[..].into() };
    core::Entry { index: entry.index, term: entry.term, kind: kind_of(entry), payload }
}

/// An entry as the core knows it.
fn read(entry: &core::Entry) -> Entry {
    let mut read = Entry { index: entry.index, term: entry.term, ..Entry::default() };
    read.set_entry_type(match entry.kind {
        REQUEST => EntryType::EntryNormal,
        CHANGE => EntryType::EntryConfChange,
        _ => EntryType::EntryConfChangeV2,
    });
    read.data = entry.payload.to_vec().into();
    read
}

/// A snapshot as the log keeps it.
pub(crate) fn stored(snapshot: &Snapshot) -> core::Snapshot {
    let metadata = snapshot.get_metadata();
    core::Snapshot {
        index: metadata.index,
        term: metadata.term,
        metadata: metadata.get_conf_state().write_to_bytes().expect("it fits into memory").into(),
        data: snapshot.data[..].into(),
    }
}

impl Storage for Shelf {
    fn initial_state(&self) -> Result<RaftState> {
        let state = self.log.hard_state();
        let mut hard_state = HardState { term: state.term, vote: state.vote, ..HardState::default() };
        hard_state.commit = state.commit;
        Ok(RaftState { hard_state, conf_state: self.conf.clone() })
    }

    fn entries(
        &self,
        low: u64,
        high: u64,
        size_max_bytes: impl Into<Option<u64>>,
        _: GetEntriesContext,
    ) -> Result<Vec<Entry>> {
        if low < self.log.first() {
            return Err(Error::Store(StorageError::Compacted));
        }
        assert!(high <= self.log.last() + 1, "nobody asks for more than there is");
        let mut entries: Vec<Entry> = self.log.entries(low, high).map(read).collect();
        raft::util::limit_size(&mut entries, size_max_bytes.into());
        Ok(entries)
    }

    fn term(&self, index: u64) -> Result<u64> {
        match self.log.term(index) {
            Some(term) => Ok(term),
            None if index < self.log.first() => Err(Error::Store(StorageError::Compacted)),
            None => Err(Error::Store(StorageError::Unavailable)),
        }
    }

    fn first_index(&self) -> Result<u64> {
        Ok(self.log.first())
    }

    fn last_index(&self) -> Result<u64> {
        Ok(self.log.last())
    }

    fn snapshot(&self, request_index: u64, _to: u64) -> Result<Snapshot> {
        let kept = self.log.snapshot_to_send().filter(|snapshot| snapshot.index >= request_index);
        let kept = kept.ok_or(Error::Store(StorageError::SnapshotTemporarilyUnavailable))?;
        let mut conf = ConfState::default();
        conf.merge_from_bytes(&kept.metadata).expect("a snapshot that was stored is whole");
        let mut snapshot = Snapshot::default();
        snapshot.mut_metadata().index = kept.index;
        snapshot.mut_metadata().term = kept.term;
        snapshot.mut_metadata().set_conf_state(conf);
        snapshot.data = kept.data.to_vec().into();
        Ok(snapshot)
    }
}
