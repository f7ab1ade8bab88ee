//! Leader named: whoever names a leader in a term names the same one.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::change::Bits;
use std::collections::BTreeMap;
use whitewater_sim::{NodeId, Violation};

/// Nodes of one term never name different leaders.
#[derive(Clone, Debug, Default)]
pub(crate) struct LeaderNamed {
    /// By term who was named first, and by whom.
    named: BTreeMap<u64, (NodeId, NodeId)>,
}

impl LogRule for LeaderNamed {
    const NAME: &'static str = "leader-named";
    const CLAIM: &'static str = "Nodes of one term never name different leaders.";
    const SOURCE: &'static str = "Vanlightly's NeverTwoLeadersInSameEpoch";
    const WAKES_ON: Bits = Bits(Bits::LEADER.0 | Bits::TERM.0);

    #[inline]
    fn observe(&mut self, change: &LogChange<'_>, _: &Books) -> Result<(), Violation> {
        let (node, term) = (change.node, change.is.term);
        let named = change.is.leader.filter(|_| change.is.names_leader);
        let Some(leader) = named else { return Ok(()) };
        let (first, by) = *self.named.entry(term).or_insert((leader, node));
        if first == leader {
            return Ok(());
        }
        let message =
            format!("{node} takes {leader} for the leader of term {term}, for which {by} has named {first}");
        Self::broken(node, Some(by), message)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, N2, N3, Run, broken};
    use whitewater_sim::Role;

    fn names(run: &mut Run, node: NodeId, term: u64, leader: NodeId) -> Going {
        run.step(node, |n| {
            n.enter(term, Role::Follower);
            n.leader = Some(leader);
        })
    }

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        names(run, N1, 1, N2)?;
        names(run, N2, 1, N3)
    }

    #[test]
    fn two_leaders_that_are_named_in_one_term_are_found() {
        assert_eq!(broken(violating), Some(LeaderNamed::NAME));
    }

    #[test]
    fn each_term_may_have_another_leader_and_not_everybody_needs_to_know_it() {
        assert_eq!(
            broken(|run| {
                names(run, N1, 1, N2)?;
                names(run, N2, 2, N3)?;
                run.step(N1, |n| {
                    n.enter(2, Role::Follower);
                    n.leader = None;
                })?;
                names(run, N1, 2, N3)
            }),
            None
        );
    }
}
