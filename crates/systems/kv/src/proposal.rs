//! What a log entry of the store holds: whose request it is and what it does, behind a checksum.
//!
//! Layout: checksum (8 bytes, over the rest), author (1), number (8), verb (1), length of the key (1), key, for
//! compare-and-set the length of the old value (2) and the old value, then the value. Numbers are little-endian. A change
//! of the membership carries the same as its context, without a key.

use crate::command::{Operation, Text};
use whitewater_raft::{Entry, EntryKind, Payload};
use whitewater_sim::NodeId;

/// Who asks for an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Author {
    /// A client, by position; its requests are carried out at most once each.
    Client(u8),
    /// A server on its own behalf, by position.
    Server(u8),
}

impl Author {
    /// The author that a node is.
    pub(crate) fn of(node: NodeId) -> Author {
        let position = node.position() as u8;
        if node.is_server() { Author::Server(position) } else { Author::Client(position) }
    }

    fn code(self) -> u8 {
        match self {
            Author::Client(position) => position,
            Author::Server(position) => 0x80 | position,
        }
    }

    fn from_code(code: u8) -> Author {
        if code & 0x80 == 0 { Author::Client(code) } else { Author::Server(code & 0x7f) }
    }
}

/// A change of the store, as it lies in a log entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Proposal<'a> {
    /// Who asks for it.
    pub(crate) author: Author,
    /// The how-manieth request of its author it is.
    pub(crate) number: u64,
    /// The key.
    pub(crate) key: &'a [u8],
    /// What is done.
    pub(crate) verb: Verb<'a>,
}

/// What is done to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb<'a> {
    /// It gets this value.
    Put(&'a [u8]),
    /// This is added to its value.
    Append(&'a [u8]),
    /// It is read, at this place of the log.
    Get,
    /// It gets a value if it has a certain one.
    CompareAndSet {
        /// The value it must have.
        old: &'a [u8],
        /// The value it gets.
        new: &'a [u8],
    },
    /// The membership changes, as the rest of the entry says.
    Change,
}

const HEAD_BYTES: usize = 19;
/// The verb of a change of the membership.
const CHANGE: u8 = 5;

/// The entry of an operation.
pub(crate) fn encode(author: Author, number: u64, operation: &Operation) -> Payload {
    let mut bytes = Vec::with_capacity(128);
    bytes.extend_from_slice(&[0; 8]);
    bytes.push(author.code());
    bytes.extend_from_slice(&number.to_le_bytes());
    let (verb, value) = match operation {
        Operation::Put { value, .. } => (1, Some(value)),
        Operation::Append { value, .. } => (2, Some(value)),
        Operation::Get { .. } => (3, None),
        Operation::CompareAndSet { new, .. } => (4, Some(new)),
    };
    let key = operation.key().bytes();
    bytes.push(verb);
    bytes.push(key.len() as u8);
    bytes.extend_from_slice(key);
    if let Operation::CompareAndSet { old, .. } = operation {
        bytes.extend_from_slice(&(old.bytes().len() as u16).to_le_bytes());
        bytes.extend_from_slice(old.bytes());
    }
    bytes.extend_from_slice(value.map_or(&[], Text::bytes));
    let sum = checksum(&bytes[8..]);
    bytes[..8].copy_from_slice(&sum.to_le_bytes());
    Payload::from(bytes)
}

/// What a change of the membership carries as its context.
pub(crate) fn encode_change(author: Author, number: u64) -> Payload {
    let mut bytes = vec![0; HEAD_BYTES];
    bytes[8] = author.code();
    bytes[9..17].copy_from_slice(&number.to_le_bytes());
    bytes[17] = CHANGE;
    let sum = checksum(&bytes[8..]);
    bytes[..8].copy_from_slice(&sum.to_le_bytes());
    Payload::from(bytes)
}

/// Reads an entry. `None` for the empty entry that opens a term, and for what this store never wrote.
pub(crate) fn decode(bytes: &[u8]) -> Option<Proposal<'_>> {
    let (head, rest) = bytes.split_at_checked(HEAD_BYTES)?;
    let author = Author::from_code(head[8]);
    let number = u64::from_le_bytes(head[9..17].try_into().ok()?);
    let (key, rest) = rest.split_at_checked(usize::from(head[18]))?;
    let verb = match head[17] {
        1 => Verb::Put(rest),
        2 => Verb::Append(rest),
        3 => Verb::Get,
        4 => {
            let (length, rest) = rest.split_first_chunk()?;
            let (old, new) = rest.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
            Verb::CompareAndSet { old, new }
        }
        CHANGE => Verb::Change,
        _ => return None,
    };
    Some(Proposal { author, number, key, verb })
}

/// A word that stands for a whole operation: its checksum, which every copy carries with it.
#[inline]
pub(crate) fn word(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |sum| u64::from_le_bytes(*sum))
}

/// A word that stands for a whole entry. One that changes the membership carries no checksum.
#[inline]
pub(crate) fn entry_word(entry: &Entry) -> u64 {
    if entry.kind == EntryKind::Normal { word(&entry.data) } else { checksum(&entry.data) }
}

/// A checksum that any single change changes: each step is one to one in what it has and in what it takes.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let step = |sum: u64, word: u64| (sum.rotate_left(23) ^ word).wrapping_mul(ODD);
    let (words, rest) = bytes.as_chunks::<8>();
    let sum =
        words.iter().fold(step(ODD, bytes.len() as u64), |sum, word| step(sum, u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let sum = step(sum, u64::from_le_bytes(last));
    sum ^ sum >> 29
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Command, parse};

    fn entry(text: &str) -> Payload {
        let Command::Operate(operation) = parse(text).unwrap() else { panic!("{text} is an operation") };
        encode(Author::Client(3), 77, &operation)
    }

    #[test]
    fn an_entry_decodes_to_what_was_encoded() {
        let read = |text| {
            let bytes = entry(text);
            let Proposal { author, number, key, verb } = decode(&bytes).unwrap();
            assert_eq!((author, number, key), (Author::Client(3), 77, &b"key"[..]));
            format!("{verb:?}")
        };
        assert_eq!(read("put key ab"), format!("{:?}", Verb::Put(b"ab")));
        assert_eq!(read("append key ab"), format!("{:?}", Verb::Append(b"ab")));
        assert_eq!(read("get key"), format!("{:?}", Verb::Get));
        assert_eq!(read("cas key ab c"), format!("{:?}", Verb::CompareAndSet { old: b"ab", new: b"c" }));
    }

    #[test]
    fn a_change_says_whose_it_is() {
        let context = encode_change(Author::Client(3), 77);
        let Proposal { author, number, verb, .. } = decode(&context).unwrap();
        assert_eq!((author, number, verb), (Author::Client(3), 77, Verb::Change));
    }

    #[test]
    fn a_server_is_an_author_too() {
        for author in [Author::Server(8), Author::Client(7)] {
            assert_eq!(Author::from_code(author.code()), author);
        }
    }

    #[test]
    fn what_was_never_written_decodes_to_nothing() {
        assert_eq!(decode(b""), None);
        assert_eq!(decode(&entry("put key ab")[..HEAD_BYTES + 2]), None);
        assert_eq!(decode(&entry("cas key ab c")[..HEAD_BYTES + 4]), None);
    }

    #[test]
    fn entries_that_differ_have_different_words() {
        assert_ne!(word(&entry("put key ab")), word(&entry("put key ac")));
        assert_eq!(word(&[]), 0);
    }
}
