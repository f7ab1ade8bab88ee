//! The log writer: one file, one sync at a time, whatever waits goes into the next one together.

use crate::record::Record;
use crate::row::Row;
use std::collections::VecDeque;
use whitewater_sim::{Disk, DiskError, FileId, NodeId, OpId, Sync, Ticket};

const FILE: &str = "xlog";

/// Something to be made durable, with whom it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Term and vote.
    Election {
        /// The term.
        term: u64,
        /// The vote in it.
        vote: Option<NodeId>,
    },
    /// A row of this node.
    Own {
        /// The row.
        row: Row,
        /// Who is told when it is durable.
        op: Option<OpId>,
    },
    /// A row that came from `source`.
    Applied {
        /// The row.
        row: Row,
        /// Who sent it.
        source: NodeId,
    },
}

/// What was found on a disk.
#[derive(Clone, Debug, Default)]
pub struct Recovered {
    /// The term.
    pub term: u64,
    /// The vote in it.
    pub vote: Option<NodeId>,
    /// Rows in the order of writing.
    pub rows: Vec<Row>,
}

/// The log writer of one node.
#[derive(Clone, Debug)]
pub struct Wal {
    file: FileId,
    writing: Option<(Ticket, Vec<Entry>)>,
    queue: Vec<Entry>,
    bytes: Vec<u8>,
}

impl Wal {
    /// Opens the log and reads what is in it. A last record that is not whole is cut off.
    pub fn open(disk: &mut Disk) -> (Wal, Recovered) {
        let file = disk.open(FILE);
        let mut recovered = Recovered::default();
        let mut rest = disk.read(file);
        while let Some((record, after)) = Record::decode(rest) {
            rest = after;
            match record {
                Record::Election { term, vote } => (recovered.term, recovered.vote) = (term, vote),
                Record::Row(row) => recovered.rows.push(row),
            }
        }
        let whole = disk.len(file) - rest.len();
        if !rest.is_empty() {
            disk.truncate(file, whole).expect("it is no longer than the file");
        }
        (Wal { file, writing: None, queue: Vec::new(), bytes: Vec::new() }, recovered)
    }

    /// Takes an entry to be written; [`Wal::advance`] does it.
    pub fn push(&mut self, entry: Entry) {
        self.queue.push(entry);
    }

    /// Starts a sync if none is under way and something waits. Entries that are durable at once go to `done`.
    ///
    /// # Errors
    /// The sync failed, and what was written is lost.
    pub fn advance(&mut self, disk: &mut Disk, done: &mut VecDeque<Entry>) -> Result<(), DiskError> {
        if self.writing.is_some() || self.queue.is_empty() {
            return Ok(());
        }
        self.bytes.clear();
        for entry in &self.queue {
            match entry {
                Entry::Election { term, vote } => Record::Election { term: *term, vote: *vote },
                Entry::Own { row, .. } | Entry::Applied { row, .. } => Record::Row(row.clone()),
            }
            .encode(&mut self.bytes);
        }
        disk.append(self.file, &self.bytes)?;
        match disk.sync(self.file)? {
            Sync::Done => done.extend(self.queue.drain(..)),
            Sync::Pending(ticket) => self.writing = Some((ticket, std::mem::take(&mut self.queue))),
        }
        Ok(())
    }

    /// A sync that took time is done: its entries go to `done`.
    pub fn synced(&mut self, ticket: Ticket, done: &mut VecDeque<Entry>) {
        if let Some((_, entries)) = self.writing.take_if(|(writing, _)| *writing == ticket) {
            done.extend(entries);
        }
    }

    /// What is being written, and what waits, will not be: only with a planted bug.
    pub fn give_up(&mut self) {
        self.writing = None;
        self.queue.clear();
    }

    /// Whether the sync under way is this one.
    pub fn awaits(&self, ticket: Ticket) -> bool {
        self.writing.as_ref().is_some_and(|(writing, _)| *writing == ticket)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whitewater_sim::{DiskTiming, Key, Span};

    fn disk(latency: u64) -> Disk {
        let span = Span::from_millis(latency);
        Disk::new(DiskTiming { low: span, high: span, ..DiskTiming::default() }, Key::default())
    }

    fn own(lsn: u32) -> Entry {
        let row = Row { origin: NodeId::server(0), lsn, text: "x=1".into() };
        Entry::Own { row, op: Some(OpId(0)) }
    }

    #[test]
    fn with_a_disk_without_latency_a_write_is_durable_at_once_and_found_again() {
        let mut disk = disk(0);
        let (mut wal, found) = Wal::open(&mut disk);
        assert_eq!((found.term, found.rows.len()), (0, 0));
        let mut done = VecDeque::new();
        wal.push(Entry::Election { term: 2, vote: Some(NodeId::server(1)) });
        wal.push(own(1));
        wal.advance(&mut disk, &mut done).unwrap();
        assert_eq!(done.len(), 2);
        let (_, found) = Wal::open(&mut disk);
        assert_eq!((found.term, found.vote, found.rows.len()), (2, Some(NodeId::server(1)), 1));
    }

    #[test]
    fn what_comes_while_a_sync_is_under_way_goes_into_the_next() {
        let mut disk = disk(5);
        let (mut wal, _) = Wal::open(&mut disk);
        let mut done = VecDeque::new();
        wal.push(own(1));
        wal.advance(&mut disk, &mut done).unwrap();
        wal.push(own(2));
        wal.push(own(3));
        wal.advance(&mut disk, &mut done).unwrap();
        assert!(done.is_empty() && wal.awaits(Ticket(0)));
        wal.synced(Ticket(9), &mut done);
        assert!(done.is_empty());
        wal.synced(Ticket(0), &mut done);
        assert_eq!(done.pop_front(), Some(own(1)));
        wal.advance(&mut disk, &mut done).unwrap();
        assert!(wal.awaits(Ticket(1)));
        wal.synced(Ticket(1), &mut done);
        assert_eq!(done.len(), 2);
    }
}
