//! What a log is made of: entries, the hard state, a snapshot.

use std::rc::Rc;

/// An entry of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its place; the first entry has index 1.
    pub index: u64,
    /// Term of the leader that made it.
    pub term: u64,
    /// How its owner reads the payload, by numbers of the owner's own.
    pub kind: u8,
    /// What it carries; the log never looks inside.
    pub payload: Rc<[u8]>,
}

/// What a node must not forget besides its entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HardState {
    /// Its term.
    pub term: u64,
    /// For whom it voted in that term; 0 for nobody.
    pub vote: u64,
    /// Up to which index it knows entries to be committed.
    pub commit: u64,
}

/// The state of a state machine after an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Index of the last entry that is in it.
    pub index: u64,
    /// Term of that entry.
    pub term: u64,
    /// What its owner wants to know without reading the data, such as the membership.
    pub metadata: Rc<[u8]>,
    /// The state.
    pub data: Rc<[u8]>,
}
