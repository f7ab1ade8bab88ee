//! The log of a server as `raft::Storage`.

use crate::words;
use raft::eraftpb::{Entry, Snapshot};
use raft::{Error, GetEntriesContext, RaftState, Result, Storage, StorageError};
use whitewater_check::Membership;
use whitewater_store::{Gap, Log, server_of};

/// The log, and who is a member as it begins.
pub(crate) struct Shelf {
    pub(crate) log: Log,
    pub(crate) members: Membership,
}

fn missing(gap: Gap) -> Error {
    Error::Store(match gap {
        Gap::Compacted => StorageError::Compacted,
        Gap::Unavailable => StorageError::Unavailable,
    })
}

impl Storage for Shelf {
    fn initial_state(&self) -> Result<RaftState> {
        let hard_state = words::hard_state(&self.log.hard_state());
        Ok(RaftState { hard_state, conf_state: words::conf_state(&self.members) })
    }

    fn entries(
        &self,
        low: u64,
        high: u64,
        size_max_bytes: impl Into<Option<u64>>,
        _: GetEntriesContext,
    ) -> Result<Vec<Entry>> {
        let entries = self.log.all_entries(low, high).map_err(missing)?;
        let mut entries: Vec<Entry> = entries.map(words::entry).collect();
        raft::util::limit_size(&mut entries, size_max_bytes.into());
        Ok(entries)
    }

    fn term(&self, index: u64) -> Result<u64> {
        self.log.term_at(index).map_err(missing)
    }

    fn first_index(&self) -> Result<u64> {
        Ok(self.log.first())
    }

    fn last_index(&self) -> Result<u64> {
        Ok(self.log.last())
    }

    fn snapshot(&self, request_index: u64, to: u64) -> Result<Snapshot> {
        let kept = server_of(to).and_then(|to| self.log.snapshot_to_send(request_index, to));
        kept.map(words::snapshot).ok_or(Error::Store(StorageError::SnapshotTemporarilyUnavailable))
    }
}
