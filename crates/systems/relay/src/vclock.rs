//! Vector clocks: how many rows of each origin a node has.

use std::fmt;
use whitewater_sim::{Digest, Digester, NodeId, SERVERS_MAX};

/// For each origin the number of its last row, 0 if there is none. Rows of one origin are numbered from 1 without gaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vclock([u32; SERVERS_MAX]);

impl Vclock {
    /// Number of the last row of `origin`.
    #[inline]
    pub fn get(&self, origin: NodeId) -> u32 {
        self.0[origin.index()]
    }

    /// Goes on to row `lsn` of `origin`. Panics if it is not a later one.
    pub fn follow(&mut self, origin: NodeId, lsn: u32) {
        assert!(lsn > self.get(origin), "row {lsn} of {origin} follows row {}", self.get(origin));
        self.0[origin.index()] = lsn;
    }

    /// Whether it is at least `other` in all components.
    #[inline]
    pub fn covers(&self, other: &Vclock) -> bool {
        self.0.iter().zip(&other.0).all(|(mine, theirs)| mine >= theirs)
    }

    /// Takes the larger of each component.
    pub fn join(&mut self, other: &Vclock) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Rows counted over all origins.
    pub fn total(&self) -> u64 {
        self.0.iter().map(|&lsn| u64::from(lsn)).sum()
    }

    /// Rows of `other` that are missing here.
    pub fn missing_from(&self, other: &Vclock) -> u64 {
        self.0.iter().zip(&other.0).map(|(mine, theirs)| u64::from(theirs.saturating_sub(*mine))).sum()
    }

    /// A number that stands for it.
    pub fn short(&self) -> u64 {
        let mut digester = Digester::default();
        self.digest(&mut digester);
        digester.short()
    }
}

impl Digest for Vclock {
    fn digest(&self, digester: &mut Digester) {
        for (index, &lsn) in self.0.iter().enumerate().filter(|(_, lsn)| **lsn > 0) {
            digester.word((index as u64) << 32 | u64::from(lsn));
        }
        digester.word(u64::MAX);
    }
}

impl fmt::Display for Vclock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        let mut separator = "";
        for (index, lsn) in self.0.iter().enumerate().filter(|(_, lsn)| **lsn > 0) {
            write!(f, "{separator}{}:{lsn}", index + 1)?;
            separator = ", ";
        }
        f.write_str("}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vclock(components: &[u32]) -> Vclock {
        let mut vclock = Vclock::default();
        for (position, &lsn) in components.iter().enumerate().filter(|(_, lsn)| **lsn > 0) {
            vclock.follow(NodeId::server(position), lsn);
        }
        vclock
    }

    #[test]
    fn neither_of_two_clocks_with_rows_of_their_own_covers_the_other() {
        let (a, b) = (vclock(&[3, 1]), vclock(&[2, 2]));
        assert!(!a.covers(&b) && !b.covers(&a));
        assert!(vclock(&[3, 2]).covers(&a) && vclock(&[3, 2]).covers(&b));
        assert_eq!(b.missing_from(&a), 1);
    }

    #[test]
    fn origins_without_rows_are_not_written() {
        assert_eq!(vclock(&[]).to_string(), "{}");
        assert_eq!(vclock(&[3, 0, 1]).to_string(), "{1:3, 3:1}");
        assert_ne!(vclock(&[3, 0, 1]).short(), vclock(&[3, 1]).short());
    }
}
