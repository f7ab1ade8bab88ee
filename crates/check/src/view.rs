//! What any Raft shows of itself: its part in elections, and its log if it has one.

use whitewater_sim::{NodeId, Role};

/// A node's part in elections.
pub trait ElectionView {
    /// The term it acts in.
    fn term(&self) -> u64;
    /// The term that a crash at this moment cannot take from it; at most [`ElectionView::term`].
    fn durable_term(&self) -> u64;
    /// Whom it chose in its term, whether or not the choice is durable yet.
    fn vote(&self) -> Option<NodeId>;
    /// Its part.
    fn role(&self) -> Role;
    /// Whom it takes for the leader of its term.
    fn leader(&self) -> Option<NodeId>;
}

/// A node's log. Indexes count from 1; index 0 is the empty prefix.
pub trait LogView {
    /// Index of the last entry, 0 if there is none.
    fn last_index(&self) -> u64;
    /// Index up to which the node knows entries to be committed.
    fn commit(&self) -> u64;
    /// Index up to which the node has applied entries.
    fn applied(&self) -> u64;
    /// Term of the entry at `index`, unless it was compacted away or lies beyond the end.
    fn term_at(&self, index: u64) -> Option<u64>;
    /// A hash over all entries up to `index`: equal hashes mean equal prefixes. `None` as for [`LogView::term_at`].
    fn chain_at(&self, index: u64) -> Option<u64>;
}

/// A Raft with elections and a log.
pub trait RaftView: ElectionView + LogView {}

impl<V: ElectionView + LogView + ?Sized> RaftView for V {}
