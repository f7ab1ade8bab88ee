//! The bytes of a log: segments of frames, and snapshot files.
//!
//! All numbers are little-endian. A disk of a log holds
//!
//! ```text
//! segment-0000000000000001        frames; the first says what was in force when the segment began
//! snapshot-000000000000000a-0002  the snapshot at index 10, term 2, if a frame marks it
//! snapshot.new                    one that is being written
//! ```
//!
//! A frame has a head of 40 bytes and a body:
//!
//! ```text
//! 0   magic      4  "WWF1"
//! 4   length     4  bytes of the body
//! 8   checksum   8  of length and everything behind the checksum, see the module `checksum`
//! 16  previous   8  checksum of the frame before, across segments: a frame that was left behind by a write that
//!                   never counted does not follow anything that came later
//! 24  number     8  counts frames, across segments
//! 32  synced     8  number of the newest frame that was known to be durable when this one was written
//! 40  body
//! ```
//!
//! A segment ends where no frame follows the last; what stands there was never durable, or was given up. The log goes
//! on with the next segment whose first frame follows that last one.
//!
//! The body of the first frame of a segment: kind 1, then segment number, term, vote, commit, index and term of the
//! snapshot in force, index and term of the last entry (8 bytes each), quarantined (1 byte).
//!
//! The body of any other frame: kind 2, then one byte of flags, then the parts the flags announce:
//!
//! ```text
//! 1   term, vote, commit
//! 2   quarantined (1 byte)
//! 4   index and term of a snapshot that comes into force
//! 8   (with 4) the log before that snapshot is given up
//! 16  index of the first entry, term of the one before it, number of entries (4 bytes), and for each entry its term,
//!     its kind (1 byte), its length in bytes (4 bytes) and its bytes. They replace whatever the log has from their first index on.
//! ```
//!
//! A snapshot file: magic "WWS1", 4 bytes for the length of the metadata, checksum of everything behind it, index,
//! term, 8 bytes for the length of the data, metadata, data.

use crate::checksum::checksum;
use crate::entry::{Entry, HardState, Snapshot};
use crate::state::{Beginning, Mark, Record, Suffix};

pub(crate) const MAGIC: [u8; 4] = *b"WWF1";
pub(crate) const HEAD_BYTES: usize = 40;
/// Term, kind and length of an entry.
const ENTRY_HEAD_BYTES: usize = 13;
pub(crate) const SNAPSHOT_MAGIC: [u8; 4] = *b"WWS1";
pub(crate) const SNAPSHOT_HEAD_BYTES: usize = 40;
/// Where a snapshot is written.
pub(crate) const NEW_SNAPSHOT: &str = "snapshot.new";

const BEGINNING: u8 = 1;
const RECORD: u8 = 2;

const HARD_STATE: u8 = 1;
const QUARANTINED: u8 = 2;
const MARK: u8 = 4;
const RESTORE: u8 = 8;
const SUFFIX: u8 = 16;

/// What a frame carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    Beginning(Beginning),
    Record(Record<'static>),
}

/// The head of a frame, without magic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) length: usize,
    pub(crate) checksum: u64,
    pub(crate) previous: u64,
    pub(crate) number: u64,
    pub(crate) synced: u64,
}

pub(crate) fn segment_name(number: u64) -> String {
    let mut name = String::with_capacity(24);
    name.push_str("segment-");
    put_hex(&mut name, number, 16);
    name
}

pub(crate) fn segment_number(name: &str) -> Option<u64> {
    name.strip_prefix("segment-").and_then(|number| u64::from_str_radix(number, 16).ok())
}

pub(crate) fn snapshot_name(mark: Mark) -> String {
    let mut name = String::with_capacity(32);
    name.push_str("snapshot-");
    put_hex(&mut name, mark.index, 16);
    name.push('-');
    put_hex(&mut name, mark.term, 4);
    name
}

/// Adds a number with so many digits, or more if it has more: names are made often, and formatting takes its time.
fn put_hex(name: &mut String, number: u64, digits: u32) {
    let needed = (u64::BITS - number.leading_zeros()).div_ceil(4);
    for place in (0..needed.max(digits)).rev() {
        let digit = char::from_digit((number >> (4 * place)) as u32 & 15, 16);
        name.push(digit.expect("four bits are a digit"));
    }
}

/// Adds a frame with the record to `bytes`; returns its checksum.
pub(crate) fn put_record(bytes: &mut Vec<u8>, head: (u64, u64, u64), record: &Record<'_>) -> u64 {
    put_frame(bytes, head, |bytes| {
        let flag = |is: bool, flag: u8| if is { flag } else { 0 };
        let flags = flag(record.hard_state.is_some(), HARD_STATE)
            | flag(record.quarantined.is_some(), QUARANTINED)
            | flag(record.mark.is_some(), MARK)
            | flag(record.restore, RESTORE)
            | flag(record.suffix.is_some(), SUFFIX);
        bytes.extend_from_slice(&[RECORD, flags]);
        if let Some(hard_state) = record.hard_state {
            put_hard_state(bytes, hard_state);
        }
        if let Some(quarantined) = record.quarantined {
            bytes.push(u8::from(quarantined));
        }
        if let Some(mark) = record.mark {
            put_words(bytes, &[mark.index, mark.term]);
        }
        let Some(Suffix { first, previous_term, entries }) = &record.suffix else { return };
        put_words(bytes, &[*first, *previous_term]);
        bytes.extend_from_slice(&(entries.len() as u32).to_le_bytes());
        for entry in entries.iter() {
            let mut head = [0; ENTRY_HEAD_BYTES];
            head[..8].copy_from_slice(&entry.term.to_le_bytes());
            head[8] = entry.kind;
            head[9..].copy_from_slice(&(entry.payload.len() as u32).to_le_bytes());
            bytes.extend_from_slice(&head);
            bytes.extend_from_slice(&entry.payload);
        }
    })
}

/// Adds the first frame of a segment to `bytes`; returns its checksum.
pub(crate) fn put_beginning(bytes: &mut Vec<u8>, head: (u64, u64, u64), beginning: &Beginning) -> u64 {
    put_frame(bytes, head, |bytes| {
        bytes.push(BEGINNING);
        bytes.extend_from_slice(&beginning.segment.to_le_bytes());
        put_hard_state(bytes, beginning.hard_state);
        let Beginning { mark, last, .. } = beginning;
        put_words(bytes, &[mark.index, mark.term, last.index, last.term]);
        bytes.push(u8::from(beginning.quarantined));
    })
}

fn put_frame(bytes: &mut Vec<u8>, head: (u64, u64, u64), body: impl FnOnce(&mut Vec<u8>)) -> u64 {
    let start = bytes.len();
    let mut blank = [0; HEAD_BYTES];
    blank[..4].copy_from_slice(&MAGIC);
    for (place, word) in blank[16..].chunks_exact_mut(8).zip([head.0, head.1, head.2]) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    bytes.extend_from_slice(&blank);
    body(bytes);
    let length = u32::try_from(bytes.len() - start - HEAD_BYTES).expect("a frame is shorter than 4 GiB");
    bytes[start + 4..start + 8].copy_from_slice(&length.to_le_bytes());
    let checksum = checksum(length, &bytes[start + 16..]);
    bytes[start + 8..start + 16].copy_from_slice(&checksum.to_le_bytes());
    checksum
}

fn put_hard_state(bytes: &mut Vec<u8>, HardState { term, vote, commit }: HardState) {
    put_words(bytes, &[term, vote, commit]);
}

fn put_words(bytes: &mut Vec<u8>, words: &[u64]) {
    words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
}

/// A snapshot as its file holds it.
pub(crate) fn snapshot_bytes(snapshot: &Snapshot) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(SNAPSHOT_HEAD_BYTES + snapshot.metadata.len() + snapshot.data.len());
    bytes.extend(SNAPSHOT_MAGIC);
    bytes.extend_from_slice(&(snapshot.metadata.len() as u32).to_le_bytes());
    bytes.extend([0; 8]);
    put_words(&mut bytes, &[snapshot.index, snapshot.term, snapshot.data.len() as u64]);
    bytes.extend_from_slice(&snapshot.metadata);
    bytes.extend_from_slice(&snapshot.data);
    let checksum = checksum(snapshot.metadata.len() as u32, &bytes[16..]);
    bytes[8..16].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

/// Reads a snapshot file. The error says where it is wrong, in bytes, and how.
pub(crate) fn read_snapshot(bytes: &[u8]) -> Result<Snapshot, (u64, &'static str)> {
    if bytes.len() < SNAPSHOT_HEAD_BYTES {
        return Err((bytes.len() as u64, "it ends within its head"));
    }
    if bytes[..4] != SNAPSHOT_MAGIC {
        return Err((0, "it does not begin like a snapshot"));
    }
    let mut reader = Reader(&bytes[4..]);
    let (metadata_bytes, stored) = (reader.u32() as usize, reader.u64());
    let (index, term, data_bytes) = (reader.u64(), reader.u64(), reader.u64());
    if reader.0.len() as u64 != (metadata_bytes as u64).saturating_add(data_bytes) {
        return Err((4, "its length is not what its head says"));
    }
    if checksum(metadata_bytes as u32, &bytes[16..]) != stored {
        return Err((8, "its checksum is wrong"));
    }
    let (metadata, data) = reader.0.split_at(metadata_bytes);
    Ok(Snapshot { index, term, metadata: metadata.into(), data: data.into() })
}

/// The head at the start of `bytes`, if a whole frame with that head fits; its checksum is not compared.
pub(crate) fn read_head(bytes: &[u8]) -> Option<Head> {
    if bytes.len() < HEAD_BYTES || bytes[..4] != MAGIC {
        return None;
    }
    let mut reader = Reader(&bytes[4..]);
    let length = reader.u32() as usize;
    let (checksum, previous, number, synced) = (reader.u64(), reader.u64(), reader.u64(), reader.u64());
    (reader.0.len() >= length).then_some(Head { length, checksum, previous, number, synced })
}

/// The checksum that the frame at the start of `bytes` should have.
pub(crate) fn frame_checksum(bytes: &[u8], length: usize) -> u64 {
    checksum(length as u32, &bytes[16..HEAD_BYTES + length])
}

/// The whole frame at the start of `bytes`, if it is right in itself.
pub(crate) fn read_frame(bytes: &[u8]) -> Option<(Head, Body)> {
    let head = read_head(bytes)?;
    if frame_checksum(bytes, head.length) != head.checksum {
        return None;
    }
    Some((head, read_body(&bytes[HEAD_BYTES..HEAD_BYTES + head.length])?))
}

/// A body with a right checksum is well-formed, unless something else wrote it.
pub(crate) fn read_body(body: &[u8]) -> Option<Body> {
    let mut reader = Reader(body);
    match reader.take(1)?[0] {
        BEGINNING => {
            let segment = reader.word()?;
            let hard_state = reader.hard_state()?;
            let (mark, last) = (reader.mark()?, reader.mark()?);
            let quarantined = reader.take(1)?[0] != 0;
            Some(Body::Beginning(Beginning { segment, hard_state, quarantined, mark, last }))
        }
        RECORD => {
            let flags = reader.take(1)?[0];
            let has = |flag: u8| flags & flag != 0;
            let mut record = Record { restore: has(RESTORE), ..Record::default() };
            if has(HARD_STATE) {
                record.hard_state = Some(reader.hard_state()?);
            }
            if has(QUARANTINED) {
                record.quarantined = Some(reader.take(1)?[0] != 0);
            }
            if has(MARK) {
                record.mark = Some(reader.mark()?);
            }
            if has(SUFFIX) {
                record.suffix = Some(reader.suffix()?);
            }
            Some(Body::Record(record))
        }
        _ => None,
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn u32(&mut self) -> u32 {
        self.half().expect("the length was checked")
    }

    fn u64(&mut self) -> u64 {
        self.word().expect("the length was checked")
    }

    fn half(&mut self) -> Option<u32> {
        self.take(4).map(|bytes| u32::from_le_bytes(bytes.try_into().expect("four bytes were taken")))
    }

    fn word(&mut self) -> Option<u64> {
        self.take(8).map(|bytes| u64::from_le_bytes(bytes.try_into().expect("eight bytes were taken")))
    }

    fn hard_state(&mut self) -> Option<HardState> {
        Some(HardState { term: self.word()?, vote: self.word()?, commit: self.word()? })
    }

    fn mark(&mut self) -> Option<Mark> {
        Some(Mark { index: self.word()?, term: self.word()? })
    }

    fn suffix(&mut self) -> Option<Suffix<'static>> {
        let (first, previous_term) = (self.word()?, self.word()?);
        let count = self.half()?;
        let mut entries = Vec::new();
        for index in (first..).take(count as usize) {
            let (term, kind) = (self.word()?, self.take(1)?[0]);
            let length = self.half()? as usize;
            entries.push(Entry { index, term, kind, payload: self.take(length)?.into() });
        }
        Some(Suffix { first, previous_term, entries: entries.into() })
    }
}
