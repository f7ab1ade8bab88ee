//! What a log entry of the store holds: whose request it is and what it does, behind a checksum.
//!
//! Layout: checksum (8 bytes, over the rest), author (1: client by position, or 0x80 and server by position), number (8), verb
//! (1), length of the key (1), key, for compare-and-set the length of the old value (2) and the old value, then the value.
//! Numbers are little-endian.

use crate::command::Operation;
use std::fmt;
use std::rc::Rc;
use whitewater_sim::{Digester, NodeId};

/// A request as an entry holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request<'a> {
    /// Who asks for it.
    pub(crate) author: NodeId,
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
    Put(&'a [u8]),
    Append(&'a [u8]),
    Get,
    CompareAndSet { old: &'a [u8], new: &'a [u8] },
}

const HEAD_BYTES: usize = 19;
const SERVER: u8 = 0x80;

/// The entry of an operation.
pub(crate) fn encode(author: NodeId, number: u64, operation: &Operation) -> Rc<[u8]> {
    let mut bytes = Vec::with_capacity(128);
    bytes.extend_from_slice(&[0; 8]);
    bytes.push(author.position() as u8 | if author.is_server() { SERVER } else { 0 });
    bytes.extend_from_slice(&number.to_le_bytes());
    let (verb, value) = match operation {
        Operation::Put(_, value) => (1, Some(value)),
        Operation::Append(_, value) => (2, Some(value)),
        Operation::Get(_) => (3, None),
        Operation::CompareAndSet(_, _, new) => (4, Some(new)),
    };
    let key = operation.key().as_bytes();
    bytes.extend([verb, key.len() as u8]);
    bytes.extend_from_slice(key);
    if let Operation::CompareAndSet(_, old, _) = operation {
        bytes.extend_from_slice(&(old.len() as u16).to_le_bytes());
        bytes.extend_from_slice(old.as_bytes());
    }
    bytes.extend_from_slice(value.map_or(&[], |value| value.as_bytes()));
    let sum = checksum(&bytes[8..]);
    bytes[..8].copy_from_slice(&sum.to_le_bytes());
    Rc::from(bytes)
}

/// Reads an entry. `None` for what this store never wrote, such as the entry that opens a term.
pub(crate) fn decode(bytes: &[u8]) -> Option<Request<'_>> {
    let (head, rest) = bytes.split_at_checked(HEAD_BYTES)?;
    let position = usize::from(head[8] & !SERVER);
    let author = if head[8] & SERVER == 0 { NodeId::client(position) } else { NodeId::server(position) };
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
        _ => return None,
    };
    Some(Request { author, number, key, verb })
}

/// A word that stands for the content of an entry. A request carries it; anything else is read through.
#[inline]
pub(crate) fn word_of(data: &[u8]) -> u64 {
    match data.first_chunk() {
        Some(sum) if data.len() >= HEAD_BYTES => u64::from_le_bytes(*sum),
        _ => checksum(data),
    }
}

fn checksum(bytes: &[u8]) -> u64 {
    let mut digester = Digester::default();
    digester.bytes(bytes);
    digester.short()
}

/// The request in an entry, with its author, for people: `c1#3 put a x`.
#[derive(Clone, Copy, Debug)]
pub struct Content<'a>(pub &'a [u8]);

impl fmt::Display for Content<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(Request { author, number, key, verb }) = decode(self.0) else { return Ok(()) };
        let text = String::from_utf8_lossy;
        let key = text(key);
        write!(f, "{author}#{number} ")?;
        match verb {
            Verb::Put(value) => write!(f, "put {key} {}", text(value)),
            Verb::Append(value) => write!(f, "append {key} {}", text(value)),
            Verb::Get => write!(f, "get {key}"),
            Verb::CompareAndSet { old, new } => write!(f, "cas {key} {} {}", text(old), text(new)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Command, parse};

    fn entry(text: &str) -> Rc<[u8]> {
        let Command::Operate(operation) = parse(text).unwrap() else { panic!("{text} is an operation") };
        encode(NodeId::client(3), 77, &operation)
    }

    #[test]
    fn an_entry_decodes_to_what_was_encoded() {
        let verb = |text| {
            let bytes = entry(text);
            let Request { author, number, key, verb } = decode(&bytes).unwrap();
            assert_eq!((author, number, key), (NodeId::client(3), 77, &b"key"[..]));
            format!("{verb:?}")
        };
        assert_eq!(verb("put key ab"), format!("{:?}", Verb::Put(b"ab")));
        assert_eq!(verb("append key ab"), format!("{:?}", Verb::Append(b"ab")));
        assert_eq!(verb("get key"), format!("{:?}", Verb::Get));
        assert_eq!(verb("cas key ab c"), format!("{:?}", Verb::CompareAndSet { old: b"ab", new: b"c" }));
    }

    #[test]
    fn what_was_never_written_decodes_to_nothing() {
        assert_eq!(decode(b""), None);
        assert_eq!(decode(&entry("put key ab")[..HEAD_BYTES + 2]), None);
        assert_eq!(decode(&entry("cas key ab c")[..HEAD_BYTES + 4]), None);
    }

    #[test]
    fn entries_that_differ_have_different_words() {
        assert_ne!(word_of(&entry("put key ab")), word_of(&entry("put key ac")));
        assert_ne!(word_of(&[]), word_of(&[0]));
    }
}
