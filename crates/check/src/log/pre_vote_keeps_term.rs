//! Pre-vote keeps term: whoever only asks whether it could win an election has changed nothing by it.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use super::vote_kept::VoteFor;
use crate::change::Bits;
use whitewater_sim::{Role, Violation};

/// A node that begins a pre-election keeps its term and its vote.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PreVoteKeepsTerm;

impl LogRule for PreVoteKeepsTerm {
    const NAME: &'static str = "pre-vote-keeps-term";
    const CLAIM: &'static str = "A node that begins a pre-election keeps its term and its vote.";
    const SOURCE: &'static str = "Ongaro's thesis, section 9.6";
    const WAKES_ON: Bits = Bits::ROLE;

    #[inline]
    fn observe(&mut self, change: &LogChange<'_>, _: &Books) -> Result<(), Violation> {
        let (was, is, node) = (change.was, change.is, change.node);
        if is.role != Role::PreCandidate || change.bits.meets(Bits::BOOT) {
            return Ok(());
        }
        // Before it hears of anything, time passes: whoever asks may have its vote in the same step.
        let chose_itself = is.vote != was.vote && is.vote == Some(node);
        if was.term == is.term && !chose_itself {
            return Ok(());
        }
        let message = format!(
            "{node} begins a pre-election in term {} with {}, and had term {} with {}",
            is.term,
            VoteFor(is.vote),
            was.term,
            VoteFor(was.vote)
        );
        Self::broken(node, None, message)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, N2, Run, broken};

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        run.step(N1, |n| n.enter(1, Role::Follower))?;
        run.step(N1, |n| n.enter(2, Role::PreCandidate))
    }

    #[test]
    fn a_pre_election_that_raises_the_term_is_found() {
        assert_eq!(broken(violating), Some(PreVoteKeepsTerm::NAME));
    }

    #[test]
    fn whoever_asks_may_have_the_vote_of_the_server_that_asks_as_well_and_not_its_own() {
        let chooses = |candidate| {
            broken(|run| {
                run.step(N1, |n| {
                    n.role = Role::PreCandidate;
                    n.choose(candidate);
                })
            })
        };
        assert_eq!(chooses(N2), None);
        assert_eq!(chooses(N1), Some(PreVoteKeepsTerm::NAME));
    }

    #[test]
    fn the_election_behind_it_may_raise_the_term() {
        assert_eq!(
            broken(|run| {
                run.step(N1, |n| n.role = Role::PreCandidate)?;
                run.step(N1, |n| n.enter(1, Role::Candidate))
            }),
            None
        );
    }
}
