//! Candidates vote: nobody stands for election, or comes to lead, who has no vote itself.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::change::Bits;
use whitewater_sim::{Role, Violation};

/// Whoever stands for election or becomes leader has a vote in its own membership.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CandidatesVote;

impl LogRule for CandidatesVote {
    const NAME: &'static str = "candidates-vote";
    const CLAIM: &'static str =
        "Whoever stands for election or becomes leader has a vote in its own membership.";
    const SOURCE: &'static str = "Ongaro's thesis, section 4.2.1; etcd raft, promotable";
    const WAKES_ON: Bits = Bits(Bits::ROLE.0 | Bits::TERM.0);

    #[inline]
    fn observe(&mut self, change: &LogChange<'_>, _: &Books) -> Result<(), Violation> {
        let (node, role) = (change.node, change.is.role);
        if !matches!(role, Role::PreCandidate | Role::Candidate | Role::Leader) {
            return Ok(());
        }
        let news = change.memberships.iter().map(|&(_, membership)| membership);
        let own = 1 << node.position();
        let mut known = news.chain([change.membership]);
        // Nobody votes in it if memberships never change.
        if known.any(|membership| membership.voters == 0 || membership.all_voters() & own != 0) {
            return Ok(());
        }
        let verb = if role == Role::Leader { "leads" } else { "stands for election in" };
        let message =
            format!("{node} {verb} term {}, and has no vote in {}", change.is.term, change.membership);
        Self::broken(node, None, message)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, N3, Run, broken};
    use crate::membership::{Membership, set_of};
    use whitewater_sim::NodeId;

    fn stands(run: &mut Run, node: NodeId) -> Going {
        run.boot(node, |n| {
            let membership = Membership { learners: set_of([N3]), ..Membership::of_first(2) };
            n.memberships = vec![(0, membership)];
        })?;
        run.step(node, |n| n.enter(1, Role::Candidate))
    }

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        stands(run, N3)
    }

    #[test]
    fn a_learner_that_stands_for_election_is_found() {
        assert_eq!(broken(violating), Some(CandidatesVote::NAME));
    }

    #[test]
    fn a_voter_may_stand_for_election_and_a_leader_may_lose_its_vote() {
        assert_eq!(broken(|run| stands(run, N1)), None);
        assert_eq!(
            broken(|run| {
                stands(run, N1)?;
                run.step(N1, |n| {
                    n.memberships.push((1, Membership { voters: set_of([N3]), ..n.memberships[0].1 }))
                })
            }),
            None
        );
    }
}
