//! Records of the log file: each has a length and a checksum, and a torn tail is recognised by them.
//!
//! Layout: length of the body (4 bytes), checksum of the body (4), body. A body starts with its kind: 1 is a hard state
//! (term, vote, commit: 8 bytes each), 2 an entry (term 8, index 8, kind 1, then its bytes). Numbers are little-endian.
//! A record of an entry cuts off everything that was written at its index and behind it before.

use whitewater_raft::{Entry, EntryKind, HardState, Payload};
use whitewater_sim::Digester;

const HEAD_BYTES: usize = 8;
const HARD_STATE: u8 = 1;
const ENTRY: u8 = 2;

/// One record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// Term, vote and commit index.
    HardState(HardState),
    /// An entry.
    Entry(Entry),
}

/// Adds the record of a hard state to `bytes`.
pub(crate) fn write_hard_state(bytes: &mut Vec<u8>, state: HardState) {
    frame(bytes, |bytes| {
        bytes.push(HARD_STATE);
        for number in [state.term, state.vote, state.commit] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
    });
}

/// Adds the record of an entry to `bytes`.
pub(crate) fn write_entry(bytes: &mut Vec<u8>, entry: &Entry) {
    frame(bytes, |bytes| {
        bytes.push(ENTRY);
        bytes.extend_from_slice(&entry.term.to_le_bytes());
        bytes.extend_from_slice(&entry.index.to_le_bytes());
        bytes.push(entry.kind as u8);
        bytes.extend_from_slice(&entry.data);
    });
}

fn frame(bytes: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
    let start = bytes.len();
    bytes.extend_from_slice(&[0; HEAD_BYTES]);
    body(bytes);
    let (head, body) = bytes[start..].split_at_mut(HEAD_BYTES);
    head[..4].copy_from_slice(&(body.len() as u32).to_le_bytes());
    head[4..].copy_from_slice(&checksum(body).to_le_bytes());
}

fn checksum(body: &[u8]) -> u32 {
    let mut digester = Digester::default();
    digester.bytes(body);
    digester.short() as u32
}

/// Reads records from the start of a file.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    /// Bytes of whole records so far.
    good_bytes: usize,
}

impl<'a> Reader<'a> {
    /// Reads a file.
    pub(crate) fn new(file: &'a [u8]) -> Reader<'a> {
        Reader { rest: file, good_bytes: 0 }
    }

    /// The length of the part that was read and is whole.
    pub(crate) fn good_bytes(&self) -> usize {
        self.good_bytes
    }
}

impl Iterator for Reader<'_> {
    type Item = Record;

    /// The next record; `None` at the end of the file and at the first record that is torn or damaged.
    fn next(&mut self) -> Option<Record> {
        let (head, rest) = self.rest.split_at_checked(HEAD_BYTES)?;
        let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four bytes"));
        let (body, rest) = rest.split_at_checked(number(&head[..4]) as usize)?;
        if number(&head[4..]) != checksum(body) {
            return None;
        }
        let record = decode(body)?;
        self.rest = rest;
        self.good_bytes += HEAD_BYTES + body.len();
        Some(record)
    }
}

fn decode(body: &[u8]) -> Option<Record> {
    let (&kind, rest) = body.split_first()?;
    let number = |at: usize| Some(u64::from_le_bytes(rest.get(8 * at..8 * at + 8)?.try_into().ok()?));
    match kind {
        HARD_STATE => {
            Some(Record::HardState(HardState { term: number(0)?, vote: number(1)?, commit: number(2)? }))
        }
        ENTRY => {
            let kind = match rest.get(16)? {
                0 => EntryKind::Normal,
                1 => EntryKind::ConfChange,
                2 => EntryKind::ConfChangeV2,
                _ => return None,
            };
            let data = Payload::from(&rest[17..]);
            Some(Record::Entry(Entry { term: number(0)?, index: number(1)?, kind, data }))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> (Vec<u8>, Vec<Record>) {
        let state = HardState { term: 3, vote: 2, commit: 1 };
        let entry = Entry { term: 3, index: 2, kind: EntryKind::Normal, data: Payload::from("abc") };
        let mut bytes = Vec::new();
        write_hard_state(&mut bytes, state);
        write_entry(&mut bytes, &entry);
        (bytes, vec![Record::HardState(state), Record::Entry(entry)])
    }

    #[test]
    fn a_file_reads_back_as_it_was_written() {
        let (bytes, records) = sample();
        let mut reader = Reader::new(&bytes);
        assert_eq!(reader.by_ref().collect::<Vec<_>>(), records);
        assert_eq!(reader.good_bytes(), bytes.len());
    }

    #[test]
    fn a_file_torn_at_any_byte_reads_back_as_its_whole_records() {
        let (bytes, records) = sample();
        let mut first = Vec::new();
        write_hard_state(&mut first, HardState { term: 3, vote: 2, commit: 1 });
        for length in 0..bytes.len() {
            let mut reader = Reader::new(&bytes[..length]);
            let whole = usize::from(length >= first.len());
            assert_eq!(reader.by_ref().collect::<Vec<_>>(), records[..whole], "{length} bytes");
            assert_eq!(reader.good_bytes(), whole * first.len());
        }
    }

    #[test]
    fn a_record_with_any_byte_changed_is_not_read() {
        let (bytes, records) = sample();
        for place in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[place] ^= 0x10;
            let read: Vec<Record> = Reader::new(&damaged).collect();
            assert!(read.len() < records.len() && read == records[..read.len()], "byte {place}");
        }
    }
}
