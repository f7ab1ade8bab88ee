//! The votes of one election or pre-election, each voter counted once.

use crate::identity::NodeId;
use crate::quorum::{Joint, VoteResult};

/// Votes received, in the order of arrival.
#[derive(Clone, Debug, Default)]
pub(crate) struct Votes {
    cast: Vec<(NodeId, bool)>,
}

impl Votes {
    pub(crate) fn reset(&mut self) {
        self.cast.clear();
    }

    /// Notes a vote; only the first one of a voter counts.
    #[inline]
    pub(crate) fn record(&mut self, voter: NodeId, granted: bool) {
        if self.of(voter).is_none() {
            self.cast.push((voter, granted));
        }
    }

    #[inline]
    pub(crate) fn of(&self, voter: NodeId) -> Option<bool> {
        self.cast.iter().find(|&&(id, _)| id == voter).map(|&(_, granted)| granted)
    }

    pub(crate) fn result(&self, voters: &Joint) -> VoteResult {
        voters.vote_result(|id| self.of(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quorum::Majority;

    #[test]
    fn a_repeated_grant_counts_once_and_a_changed_mind_not_at_all() {
        let voters = Joint { incoming: Majority::new(vec![1, 2, 3, 4]), ..Joint::default() };
        let mut votes = Votes::default();
        votes.record(1, true);
        votes.record(2, true);
        votes.record(2, true);
        assert_eq!(votes.result(&voters), VoteResult::Pending);
        votes.record(3, false);
        votes.record(3, true);
        assert_eq!(votes.result(&voters), VoteResult::Pending);
        votes.record(4, true);
        assert_eq!(votes.result(&voters), VoteResult::Won);
    }
}
