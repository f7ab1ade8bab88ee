//! Records of the log file: each holds what one Ready wants stored, under one checksum, so that it survives whole or not.
//!
//! Layout: length of the body (4 bytes), checksum of the body (4), body. A body is a list of parts, each with its kind: 1
//! is a hard state (term, vote, commit: 8 bytes each), 2 an entry (term 8, index 8, kind 1, length of its bytes 4, its
//! bytes). Numbers are little-endian. An entry cuts off everything that was written at its index and behind it before.
//!
//! A hard state must not come to the disk without the entries of its Ready: its commit index counts on them. Nor may
//! entries without their hard state: they may be of its term.

use whitewater_raft::{Entry, EntryKind, HardState, Payload, Ready};

const HEAD_BYTES: usize = 8;
const HARD_STATE: u8 = 1;
const ENTRY: u8 = 2;

/// One part of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Term, vote and commit index.
    HardState(HardState),
    /// An entry.
    Entry(Entry),
}

/// Writes the record of a Ready over `bytes`; nothing if there is nothing to be stored.
pub(crate) fn write(bytes: &mut Vec<u8>, ready: &Ready) {
    bytes.clear();
    if ready.hard_state.is_none() && ready.entries.is_empty() {
        return;
    }
    bytes.extend_from_slice(&[0; HEAD_BYTES]);
    if let Some(state) = ready.hard_state {
        bytes.push(HARD_STATE);
        for number in [state.term, state.vote, state.commit] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
    }
    for entry in &ready.entries {
        bytes.push(ENTRY);
        bytes.extend_from_slice(&entry.term.to_le_bytes());
        bytes.extend_from_slice(&entry.index.to_le_bytes());
        bytes.push(entry.kind as u8);
        bytes.extend_from_slice(&(entry.data.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&entry.data);
    }
    let (head, body) = bytes.split_at_mut(HEAD_BYTES);
    head[..4].copy_from_slice(&(body.len() as u32).to_le_bytes());
    head[4..].copy_from_slice(&checksum(body).to_le_bytes());
}

fn checksum(body: &[u8]) -> u32 {
    (crate::proposal::checksum(body) >> 32) as u32
}

/// Reads the parts of all records from the start of a file, up to the first record that is torn or damaged.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    /// What is left of the present record.
    body: &'a [u8],
    rest: &'a [u8],
    /// Bytes of whole records so far.
    good_bytes: usize,
}

impl<'a> Reader<'a> {
    /// Reads a file.
    pub(crate) fn new(file: &'a [u8]) -> Reader<'a> {
        Reader { body: &[], rest: file, good_bytes: 0 }
    }

    /// The length of the whole records that were read.
    pub(crate) fn good_bytes(&self) -> usize {
        self.good_bytes
    }

    /// Goes on to the next record. `None` at the end.
    fn open(&mut self) -> Option<()> {
        let (head, rest) = self.rest.split_first_chunk::<HEAD_BYTES>()?;
        let [length, sum] =
            [0, 4].map(|at| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]));
        let (body, rest) = rest.split_at_checked(length as usize)?;
        if sum != checksum(body) {
            return None;
        }
        (self.body, self.rest) = (body, rest);
        self.good_bytes += HEAD_BYTES + body.len();
        Some(())
    }

    fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.body.split_first_chunk()?;
        self.body = rest;
        Some(u64::from_le_bytes(*number))
    }

    fn entry(&mut self) -> Option<Entry> {
        let (term, index) = (self.number()?, self.number()?);
        let (&kind, rest) = self.body.split_first()?;
        let kind = match kind {
            0 => EntryKind::Normal,
            1 => EntryKind::ConfChange,
            2 => EntryKind::ConfChangeV2,
            _ => return None,
        };
        let (length, rest) = rest.split_first_chunk()?;
        let (data, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        self.body = rest;
        Some(Entry { term, index, kind, data: Payload::from(data) })
    }
}

impl Iterator for Reader<'_> {
    type Item = Part;

    fn next(&mut self) -> Option<Part> {
        if self.body.is_empty() {
            self.open()?;
        }
        let (&kind, rest) = self.body.split_first()?;
        self.body = rest;
        match kind {
            HARD_STATE => Some(Part::HardState(HardState {
                term: self.number()?,
                vote: self.number()?,
                commit: self.number()?,
            })),
            ENTRY => self.entry().map(Part::Entry),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATE: HardState = HardState { term: 3, vote: 2, commit: 1 };

    fn entry(index: u64) -> Entry {
        Entry { term: 3, index, kind: EntryKind::Normal, data: Payload::from("abc") }
    }

    /// A file of two records and its parts.
    fn sample() -> (Vec<u8>, usize, Vec<Part>) {
        let mut ready = Ready::default();
        (ready.hard_state, ready.entries) = (Some(STATE), vec![entry(2), entry(3)]);
        let (mut first, mut second) = (Vec::new(), Vec::new());
        write(&mut first, &ready);
        (ready.hard_state, ready.entries) = (None, vec![entry(4)]);
        write(&mut second, &ready);
        let parts = [2, 3, 4].map(|index| Part::Entry(entry(index)));
        let parts = std::iter::once(Part::HardState(STATE)).chain(parts).collect();
        (first.iter().chain(&second).copied().collect(), first.len(), parts)
    }

    #[test]
    fn a_file_reads_back_as_it_was_written() {
        let (bytes, _, parts) = sample();
        let mut reader = Reader::new(&bytes);
        assert_eq!(reader.by_ref().collect::<Vec<_>>(), parts);
        assert_eq!(reader.good_bytes(), bytes.len());
    }

    #[test]
    fn a_file_torn_at_any_byte_reads_back_as_its_whole_records() {
        let (bytes, first, parts) = sample();
        for length in 0..bytes.len() {
            let mut reader = Reader::new(&bytes[..length]);
            let whole = length >= first;
            assert_eq!(
                reader.by_ref().count(),
                if whole { 3 } else { 0 },
                "{length} of {} bytes",
                bytes.len()
            );
            assert_eq!(reader.good_bytes(), if whole { first } else { 0 });
        }
        assert_eq!(parts.len(), 4);
    }

    #[test]
    fn a_record_with_any_byte_changed_is_not_read() {
        let (bytes, _, parts) = sample();
        for place in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[place] ^= 0x10;
            let read: Vec<Part> = Reader::new(&damaged).collect();
            assert!(read.len() < parts.len() && read == parts[..read.len()], "byte {place}");
        }
    }

    #[test]
    fn nothing_to_be_stored_is_no_record() {
        let mut bytes = vec![1];
        write(&mut bytes, &Ready::default());
        assert!(bytes.is_empty());
    }
}
