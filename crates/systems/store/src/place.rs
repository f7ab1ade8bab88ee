//! A place in the log.

/// A place in the log: whatever stands at an index, it is that entry only if it has this term.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Term of the entry there.
    pub term: u64,
    /// Its index.
    pub index: u64,
}
