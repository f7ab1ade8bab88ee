//! Elected by quorum: whoever leads a term was voted for by a quorum of its membership.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::change::Bits;
use crate::membership::names;
use whitewater_sim::{Role, Violation};

/// Whoever becomes leader has the votes of a quorum of its membership; of both quorums, if that is joint.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ElectedByQuorum;

impl LogRule for ElectedByQuorum {
    const NAME: &'static str = "elected-by-quorum";
    const CLAIM: &'static str = "Whoever becomes leader has the votes of a quorum of its membership, and of both quorums of a joint one.";
    const SOURCE: &'static str = "Ongaro's paper, section 6; Ongaro's thesis, section 4.3";
    const WAKES_ON: Bits = Bits(Bits::ROLE.0 | Bits::TERM.0);

    #[inline]
    fn observe(&mut self, change: &LogChange<'_>, books: &Books) -> Result<(), Violation> {
        let (node, term) = (change.node, change.is.term);
        if change.is.role != Role::Leader || change.membership.voters == 0 {
            return Ok(());
        }
        let voted = books.ballots.votes(term, node) | 1 << node.position();
        let news = change.memberships.iter().map(|&(_, membership)| membership);
        if news.chain([change.membership]).any(|membership| membership.decides(voted)) {
            return Ok(());
        }
        let message = format!(
            "{node} becomes leader of term {term} with {} and the votes of {} servers, {}",
            change.membership,
            voted.count_ones(),
            names(voted)
        );
        Self::broken(node, None, message)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, N2, N3, Run, broken};
    use crate::log_view::Spoken;
    use crate::membership::Membership;
    use whitewater_sim::NodeId;

    fn elect(run: &mut Run, term: u64, voters: &[NodeId]) -> Going {
        for &voter in voters {
            run.say(voter, Spoken::Grant { to: N1, term: 1 }, |n| {
                n.enter(1, Role::Follower);
                n.choose(N1);
            })?;
        }
        run.step(N1, |n| {
            n.enter(term, Role::Candidate);
            n.memberships = vec![(0, Membership::of_first(3))];
        })?;
        run.step(N1, |n| n.enter(term, Role::Leader))
    }

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        elect(run, 1, &[])
    }

    #[test]
    fn a_leader_that_nobody_else_voted_for_is_found() {
        assert_eq!(broken(violating), Some(ElectedByQuorum::NAME));
        assert_eq!(broken(|run| elect(run, 1, &[N3])), None);
    }

    #[test]
    fn a_vote_of_another_term_does_not_count() {
        assert_eq!(broken(|run| elect(run, 2, &[N2, N3])), Some(ElectedByQuorum::NAME));
    }
}
