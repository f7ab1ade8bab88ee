//! Log entries: a term, an index, a kind and shared bytes.

use std::fmt;
use std::ops::Deref;
use std::rc::Rc;

/// What an entry carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// Bytes of the application; empty for the entry with which a leader opens its term.
    #[default]
    Normal,
    /// An encoded [`ConfChange`](crate::ConfChange).
    ConfChange,
    /// An encoded [`ConfChangeV2`](crate::ConfChangeV2); empty bytes leave a joint configuration.
    ConfChangeV2,
}

/// Immutable bytes, shared by every copy of an entry; the empty payload owns no memory. A group runs on one thread, so that
/// they are counted without atomics: nodes and messages stay on theirs.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Payload(Option<Rc<[u8]>>);

impl Payload {
    /// The empty payload.
    pub const EMPTY: Payload = Payload(None);

    /// These bytes, without a copy.
    #[inline]
    pub fn shared(bytes: Rc<[u8]>) -> Payload {
        if bytes.is_empty() { Payload::EMPTY } else { Payload(Some(bytes)) }
    }

    /// The bytes, without a copy unless there are none.
    #[inline]
    pub fn share(&self) -> Rc<[u8]> {
        self.0.clone().unwrap_or_default()
    }
}

impl Deref for Payload {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl<T: AsRef<[u8]>> From<T> for Payload {
    fn from(bytes: T) -> Payload {
        let bytes = bytes.as_ref();
        if bytes.is_empty() { Payload::EMPTY } else { Payload(Some(Rc::from(bytes))) }
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", crate::describe::Quoted(self))
    }
}

/// The name of a log position: an index and the term of the entry there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EntryId {
    /// The term in which the entry was proposed.
    pub term: u64,
    /// The position in the log; the first entry ever has index 1.
    pub index: u64,
}

/// One entry of the replicated log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// The term in which a leader appended the entry.
    pub term: u64,
    /// The position in the log, counted from 1 without gaps.
    pub index: u64,
    /// How `data` is to be read.
    pub kind: EntryKind,
    /// What is replicated.
    pub data: Payload,
}

impl Entry {
    /// An entry that a leader has yet to place: term and index are filled in when it is appended.
    pub fn proposal(kind: EntryKind, data: impl Into<Payload>) -> Entry {
        Entry { term: 0, index: 0, kind, data: data.into() }
    }

    /// The term and index of this entry.
    #[inline]
    pub fn id(&self) -> EntryId {
        EntryId { term: self.term, index: self.index }
    }

    /// The bytes this entry takes in etcd's encoding: what message and page limits count.
    #[inline]
    pub fn encoded_size_bytes(&self) -> u64 {
        let data = self.data.len() as u64;
        let data_field = if data == 0 { 0 } else { 1 + varint_size_bytes(data) + data };
        // A tag byte and the value for kind, term and index; data only when there is some.
        2 + 1 + varint_size_bytes(self.term) + 1 + varint_size_bytes(self.index) + data_field
    }

    /// At least [`Entry::encoded_size_bytes`], whatever the position: told by the length of the data alone.
    #[inline]
    pub fn encoded_bound_bytes(data: &[u8]) -> u64 {
        // Four tag bytes, the kind, and three numbers of ten bytes at most.
        4 + 1 + 3 * 10 + data.len() as u64
    }

    /// The bytes of the application in this entry: what the quota of uncommitted entries counts.
    #[inline]
    pub fn payload_size_bytes(&self) -> u64 {
        self.data.len() as u64
    }
}

#[inline]
fn varint_size_bytes(value: u64) -> u64 {
    // One byte for 7 bits: `bits.div_ceil(7)` without a division, exact for up to 64 bits.
    u64::from(((64 - (value | 1).leading_zeros()) * 9 + 64) / 64)
}

/// The sum of [`Entry::encoded_size_bytes`].
#[inline]
pub fn encoded_size_bytes(entries: &[Entry]) -> u64 {
    entries.iter().map(Entry::encoded_size_bytes).sum()
}

/// The sum of [`Entry::payload_size_bytes`].
#[inline]
pub fn payload_size_bytes(entries: &[Entry]) -> u64 {
    entries.iter().map(Entry::payload_size_bytes).sum()
}

/// How many of `entries`, in order, fit into `size_max_bytes`; never 0 unless there are none.
///
/// An entry larger than the limit travels alone, or it would never travel at all.
#[inline]
pub fn fitting(entries: &[Entry], size_max_bytes: u64) -> usize {
    // Mostly they are far from the limit, and need not be measured.
    if entries.iter().map(|entry| Entry::encoded_bound_bytes(&entry.data)).sum::<u64>() <= size_max_bytes {
        return entries.len();
    }
    let mut size_bytes = 0u64;
    for (at, entry) in entries.iter().enumerate() {
        size_bytes += entry.encoded_size_bytes();
        if size_bytes > size_max_bytes && at > 0 {
            return at;
        }
    }
    entries.len()
}

/// The entries of a message: none, one held in place, or a slice shared between messages.
///
/// Most appends carry one entry, so that one costs no allocation; a longer run is allocated once
/// and shared by every follower it is sent to.
#[derive(Clone, Debug, Default)]
pub enum Entries {
    /// No entries.
    #[default]
    Empty,
    /// Exactly one.
    One(Entry),
    /// Two or more, shared.
    Many(Rc<[Entry]>),
}

impl Entries {
    /// A copy of the given entries.
    #[inline]
    pub fn from_slice(entries: &[Entry]) -> Entries {
        match entries {
            [] => Entries::Empty,
            [entry] => Entries::One(entry.clone()),
            more => Entries::Many(Rc::from(more)),
        }
    }

    /// The given entries, taken out of memory that is used again.
    #[inline]
    pub fn take_from(entries: &mut Vec<Entry>) -> Entries {
        match entries.len() {
            0 => Entries::Empty,
            1 => entries.pop().map_or(Entries::Empty, Entries::One),
            _ => Entries::Many(entries.drain(..).collect()),
        }
    }
}

impl Deref for Entries {
    type Target = [Entry];

    #[inline]
    fn deref(&self) -> &[Entry] {
        match self {
            Entries::Empty => &[],
            Entries::One(entry) => std::slice::from_ref(entry),
            Entries::Many(entries) => entries,
        }
    }
}

impl PartialEq for Entries {
    fn eq(&self, other: &Entries) -> bool {
        **self == **other
    }
}

impl Eq for Entries {}

impl From<Vec<Entry>> for Entries {
    fn from(mut entries: Vec<Entry>) -> Entries {
        match entries.len() {
            0 => Entries::Empty,
            1 => Entries::One(entries.swap_remove(0)),
            _ => Entries::Many(Rc::from(entries)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_length_integer_takes_one_byte_for_seven_bits() {
        assert_eq!([0, 1, 127, 128, 16_383, 16_384].map(varint_size_bytes), [1, 1, 1, 2, 2, 3]);
        for bits in 1..=64_u32 {
            assert_eq!(
                varint_size_bytes(u64::MAX >> (64 - bits)),
                u64::from(bits.div_ceil(7)),
                "{bits} bits"
            );
        }
        assert_eq!(varint_size_bytes(u64::MAX), 10);
    }

    #[test]
    fn the_payload_of_an_empty_entry_is_empty() {
        assert_eq!(Entry::default().payload_size_bytes(), 0);
    }

    #[test]
    fn at_least_one_entry_fits_into_any_limit() {
        let entries =
            [Entry::proposal(EntryKind::Normal, "first"), Entry::proposal(EntryKind::Normal, "second")];
        assert_eq!(fitting(&entries, 0), 1);
        assert_eq!(fitting(&entries, u64::MAX), 2);
        assert_eq!(fitting(&entries[..0], 0), 0);
        assert!(entries.iter().all(|e| e.encoded_size_bytes() <= Entry::encoded_bound_bytes(&e.data)));
        let farthest =
            Entry { term: u64::MAX, index: u64::MAX, ..Entry::proposal(EntryKind::Normal, [0; 300]) };
        assert!(farthest.encoded_size_bytes() <= Entry::encoded_bound_bytes(&farthest.data));
        let both = encoded_size_bytes(&entries);
        assert_eq!(fitting(&entries, both), 2);
        assert_eq!(fitting(&entries, both - 1), 1);
    }
}
