//! The durable log: a file of records on the disk, and its contents in memory for the core to read.
//!
//! One append-only file holds everything: hard states and entries, each record overriding older ones. Recovery reads
//! it from the start and cuts off what was torn.

use crate::record::{self, Part, Reader};
use whitewater_raft::{ConfState, Entry, HardState, NodeId, Ready, Snapshot, Storage, StorageError, fitting};
use whitewater_sim::{Disk, DiskError, FileId, Sync};

/// The log of one server. What it holds in memory is what is durable.
#[derive(Debug)]
pub struct Log {
    file: FileId,
    /// Bytes on their way to the file.
    scratch: Vec<u8>,
    hard_state: HardState,
    membership: ConfState,
    /// Entry i stands at place i - 1.
    entries: Vec<Entry>,
}

impl Log {
    /// Reads the log from the disk, and cuts off a torn tail. `voters` are the members of the cluster.
    pub fn recover(disk: &mut Disk, voters: Vec<NodeId>) -> Log {
        let file = disk.open("log");
        let membership = ConfState { voters, ..ConfState::default() };
        let mut log = Log {
            file,
            scratch: Vec::new(),
            hard_state: HardState::default(),
            membership,
            entries: Vec::new(),
        };
        let mut reader = Reader::new(disk.read(file));
        for part in reader.by_ref() {
            match part {
                Part::HardState(state) => log.hard_state = state,
                Part::Entry(entry) => {
                    log.cut(entry.index);
                    log.entries.push(entry);
                }
            }
        }
        let good_bytes = reader.good_bytes();
        if good_bytes < disk.len(file) {
            // The next sync makes the cut durable along with what is written behind it.
            disk.truncate(file, good_bytes).expect("the file is longer than that");
        }
        log
    }

    /// Writes what a Ready wants stored. The log in memory stays as it is until [`Log::stored`].
    ///
    /// # Errors
    /// The disk failed; what was written is lost.
    pub fn write(&mut self, ready: &Ready, disk: &mut Disk) -> Result<(), DiskError> {
        record::write(&mut self.scratch, ready);
        if !self.scratch.is_empty() {
            disk.append(self.file, &self.scratch)?;
        }
        Ok(())
    }

    /// Asks for everything that was written to be durable.
    ///
    /// # Errors
    /// The disk failed; what was written since the last sync is lost.
    pub fn sync(&mut self, disk: &mut Disk) -> Result<Sync, DiskError> {
        disk.sync(self.file)
    }

    /// Takes over the entries and the hard state that a Ready had stored: they are durable now.
    pub fn stored(&mut self, ready: &mut Ready) {
        if let Some(state) = ready.hard_state {
            self.hard_state = state;
        }
        if let Some(first) = ready.entries.first() {
            self.cut(first.index);
            self.entries.append(&mut ready.entries);
        }
    }

    /// Makes room for an entry at `index`: what is there and behind it is cut off.
    fn cut(&mut self, index: u64) {
        let keep = index as usize - 1;
        debug_assert!(keep <= self.entries.len(), "entries leave a gap in the log");
        self.entries.truncate(keep);
    }

    /// The durable hard state.
    pub fn hard_state(&self) -> HardState {
        self.hard_state
    }

    /// Every durable entry, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Index of the last durable entry, 0 if there is none.
    pub fn last(&self) -> u64 {
        self.entries.len() as u64
    }
}

impl Storage for Log {
    fn initial_state(&self) -> Result<(HardState, ConfState), StorageError> {
        Ok((self.hard_state, self.membership.clone()))
    }

    fn entries(
        &self,
        low: u64,
        high: u64,
        size_max_bytes: u64,
        into: &mut Vec<Entry>,
    ) -> Result<(), StorageError> {
        if low == 0 {
            return Err(StorageError::Compacted);
        }
        let range = low as usize - 1..high as usize - 1;
        let entries = self.entries.get(range).ok_or(StorageError::Unavailable)?;
        into.extend_from_slice(&entries[..fitting(entries, size_max_bytes)]);
        Ok(())
    }

    fn term(&self, index: u64) -> Result<u64, StorageError> {
        if index == 0 {
            return Ok(0);
        }
        self.entries.get(index as usize - 1).map(|entry| entry.term).ok_or(StorageError::Unavailable)
    }

    fn first_index(&self) -> Result<u64, StorageError> {
        Ok(1)
    }

    fn last_index(&self) -> Result<u64, StorageError> {
        Ok(self.last())
    }

    fn snapshot(&self, _request_index: u64, _to: NodeId) -> Result<Snapshot, StorageError> {
        // Nothing is ever compacted, so nobody needs one.
        Err(StorageError::SnapshotTemporarilyUnavailable)
    }
}
