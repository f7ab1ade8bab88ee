//! Majorities, alone and in pairs: what they have committed and whom they have elected.

use crate::bug::{Planted, planted};
use crate::identity::NodeId;
use std::fmt;

/// The outcome of a vote so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VoteResult {
    /// Both outcomes are still possible.
    Pending,
    /// A quorum can no longer be reached.
    Lost,
    /// A quorum said yes.
    Won,
}

/// A set of voters that decides by majority, in ascending order of ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Majority {
    voters: Vec<NodeId>,
}

impl Majority {
    /// The majority of the given voters; order and repetition do not matter.
    pub fn new(mut voters: Vec<NodeId>) -> Majority {
        voters.sort_unstable();
        voters.dedup();
        Majority { voters }
    }

    /// The voters in ascending order.
    pub fn voters(&self) -> &[NodeId] {
        &self.voters
    }

    /// Whether there are no voters.
    pub fn is_empty(&self) -> bool {
        self.voters.is_empty()
    }

    /// Whether a node votes.
    pub fn contains(&self, id: NodeId) -> bool {
        // A linear scan beats a binary search for the handful of voters a group has.
        self.voters.contains(&id)
    }

    pub(crate) fn insert(&mut self, id: NodeId) {
        if let Err(at) = self.voters.binary_search(&id) {
            self.voters.insert(at, id);
        }
    }

    pub(crate) fn remove(&mut self, id: NodeId) {
        self.voters.retain(|&voter| voter != id);
    }

    /// The largest index a majority has acknowledged, `u64::MAX` without voters.
    ///
    /// `acked` says what a voter acknowledged; `None` counts as nothing.
    pub fn committed_index(&self, acked: impl Fn(NodeId) -> Option<u64>) -> u64 {
        self.committed_index_planted(acked, Planted::default())
    }

    pub(crate) fn committed_index_planted(
        &self,
        mut acked: impl FnMut(NodeId) -> Option<u64>,
        plant: Planted,
    ) -> u64 {
        const ON_STACK: usize = 9;
        let count = self.voters.len();
        if count == 0 {
            return u64::MAX;
        }
        let mut on_stack = [0; ON_STACK];
        let mut on_heap;
        let indexes: &mut [u64] = if count <= ON_STACK {
            &mut on_stack[..count]
        } else {
            on_heap = vec![0; count];
            &mut on_heap
        };
        for (slot, &voter) in indexes.iter_mut().zip(&self.voters) {
            *slot = acked(voter).unwrap_or(0);
        }
        indexes.sort_unstable();
        let quorum = if planted!(plant, R14) { (count / 2).max(1) } else { count / 2 + 1 };
        indexes[count - quorum]
    }

    /// Where the vote stands; won without voters, so that an absent half of a joint quorum never blocks.
    pub fn vote_result(&self, vote: impl Fn(NodeId) -> Option<bool>) -> VoteResult {
        let quorum = self.voters.len() / 2 + 1;
        let (mut granted, mut missing) = (0, 0);
        for &voter in &self.voters {
            match vote(voter) {
                Some(true) => granted += 1,
                Some(false) => {}
                None => missing += 1,
            }
        }
        if self.voters.is_empty() || granted >= quorum {
            VoteResult::Won
        } else if granted + missing >= quorum {
            VoteResult::Pending
        } else {
            VoteResult::Lost
        }
    }
}

/// Two majorities that must agree; the outgoing one is empty outside of a joint configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Joint {
    /// The voters of the configuration being entered, or the only ones.
    pub incoming: Majority,
    /// The voters of the configuration being left.
    pub outgoing: Majority,
}

impl Joint {
    /// Whether a node votes in either half.
    pub fn contains(&self, id: NodeId) -> bool {
        self.incoming.contains(id) || self.outgoing.contains(id)
    }

    /// Every voter of both halves, once, in ascending order.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> {
        let (incoming, outgoing) = (self.incoming.voters(), self.outgoing.voters());
        let (mut left, mut right) = (0, 0);
        std::iter::from_fn(move || {
            let next = match (incoming.get(left), outgoing.get(right)) {
                (Some(&a), Some(&b)) => a.min(b),
                (Some(&a), None) => a,
                (None, Some(&b)) => b,
                (None, None) => return None,
            };
            left += usize::from(incoming.get(left) == Some(&next));
            right += usize::from(outgoing.get(right) == Some(&next));
            Some(next)
        })
    }

    /// The largest index that both majorities have acknowledged.
    pub fn committed_index(&self, acked: impl Fn(NodeId) -> Option<u64>) -> u64 {
        self.committed_index_planted(acked, Planted::default())
    }

    pub(crate) fn committed_index_planted(
        &self,
        acked: impl Fn(NodeId) -> Option<u64>,
        plant: Planted,
    ) -> u64 {
        let incoming = self.incoming.committed_index_planted(&acked, plant);
        if self.outgoing.is_empty() {
            return incoming;
        }
        incoming.min(self.outgoing.committed_index_planted(&acked, plant))
    }

    /// Where the vote stands: both majorities must win, one suffices to lose.
    pub fn vote_result(&self, vote: impl Fn(NodeId) -> Option<bool>) -> VoteResult {
        match (self.incoming.vote_result(&vote), self.outgoing.vote_result(&vote)) {
            (VoteResult::Won, VoteResult::Won) => VoteResult::Won,
            (VoteResult::Lost, _) | (_, VoteResult::Lost) => VoteResult::Lost,
            _ => VoteResult::Pending,
        }
    }
}

impl fmt::Display for Majority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", crate::describe::IdSet(&self.voters))
    }
}

impl fmt::Display for Joint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.incoming)?;
        if self.outgoing.is_empty() { Ok(()) } else { write!(f, "&&{}", self.outgoing) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joint(incoming: &[NodeId], outgoing: &[NodeId]) -> Joint {
        Joint { incoming: Majority::new(incoming.to_vec()), outgoing: Majority::new(outgoing.to_vec()) }
    }

    #[test]
    fn the_ids_of_both_halves_come_once_and_in_order() {
        assert_eq!(joint(&[5, 2, 3], &[1, 2, 7]).ids().collect::<Vec<_>>(), [1, 2, 3, 5, 7]);
        assert_eq!(joint(&[], &[]).ids().count(), 0);
    }

    #[test]
    fn an_empty_majority_never_blocks() {
        assert_eq!(Majority::default().committed_index(|_| None), u64::MAX);
        assert_eq!(Majority::default().vote_result(|_| None), VoteResult::Won);
    }

    #[test]
    fn more_voters_than_fit_on_the_stack_decide_alike() {
        let voters = Majority::new((1..=21).collect());
        assert_eq!(voters.committed_index(Some), 11);
    }
}
