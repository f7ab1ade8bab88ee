//! Committed on quorum: a leader commits only what a quorum has on its disks.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::change::Bits;
use crate::membership::{members, names, set_of};
use whitewater_sim::{NodeId, Role, SERVERS_MAX, Violation};

/// What a leader commits is on the disks of a quorum of its membership; of both quorums, if that is joint.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CommittedOnQuorum;

impl LogRule for CommittedOnQuorum {
    const NAME: &'static str = "committed-on-quorum";
    const CLAIM: &'static str = "What a leader commits is on the disks of a quorum of its membership, and of both quorums of a joint one.";
    const SOURCE: &'static str = "etcd's and CCF's QuorumLogInv; SandTable's CommittedLogReplicatedMajority; etcd's CommittedIsDurableInv";
    const WAKES_ON: Bits = Bits::COMMIT;

    #[inline]
    fn observe(&mut self, change: &LogChange<'_>, books: &Books) -> Result<(), Violation> {
        let (was, is, leader) = (*change.was, *change.is, change.node);
        let commit = change.after.commit;
        let leads = is.role == Role::Leader && was.role == Role::Leader && was.term == is.term;
        if !leads || commit <= change.before.commit || change.membership.voters == 0 {
            return Ok(());
        }
        let chain = books.node(leader).log.chain_at(commit);
        let has = |node: &NodeId| {
            let shadow = books.node(*node);
            let durable =
                if *node == leader { change.after.durable_index } else { shadow.standing.durable_index };
            let kept = shadow.log.base() >= commit || shadow.log.chain_at(commit) == chain;
            shadow.forgiven || shadow.uncertain || durable >= commit && kept
        };
        // It may have been committed before or behind a change that was applied in the same step.
        let news = change.memberships.iter().map(|&(_, membership)| membership);
        let memberships = || news.clone().chain([change.membership]);
        // Only who votes counts.
        let voters = memberships().fold(0, |voters, membership| voters | membership.all_voters());
        let deciding = members(voters).filter(has).fold(0, |set, node| set | 1 << node.index());
        if memberships().any(|membership| membership.decides(deciding)) {
            return Ok(());
        }
        let holders = set_of((0..SERVERS_MAX).map(NodeId::server).filter(has));
        let message = format!(
            "{leader} leads term {} and commits entry {commit}, which is durable at {}, with {}",
            is.term,
            if holders == 0 { "nobody".to_owned() } else { format!("{} only", names(holders)) },
            change.membership
        );
        Self::broken(leader, None, message)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, N2, Run, broken};
    use crate::membership::Membership;

    fn commit(run: &mut Run, second: u64, joint: bool) -> Going {
        run.step(N1, |n| {
            n.enter(1, Role::Leader);
            let outgoing = if joint { 0b11000 } else { 0 };
            n.memberships.push((0, Membership { outgoing, ..Membership::of_first(3) }));
        })?;
        run.step(N1, |n| n.append(&[1, 1]))?;
        run.step(N2, |n| {
            n.enter(1, Role::Follower);
            n.append(&[1, 1]);
            n.durable_index = second;
        })?;
        run.step(N1, |n| n.commit = 2)
    }

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        commit(run, 1, false)
    }

    #[test]
    fn an_entry_that_a_quorum_does_not_have_on_disk_is_found() {
        assert_eq!(broken(violating), Some(CommittedOnQuorum::NAME));
        assert_eq!(broken(|run| commit(run, 2, false)), None);
    }

    #[test]
    fn a_joint_membership_needs_both_quorums() {
        assert_eq!(broken(|run| commit(run, 2, true)), Some(CommittedOnQuorum::NAME));
    }
}
