//! What any Raft shows of itself: its part in elections.

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
    /// Whether [`ElectionView::leader`] is somebody who leads, and not only the candidate it chose: some implementations
    /// do not tell the two apart.
    #[inline]
    fn names_leader(&self) -> bool {
        true
    }
}
