//! Campaign configured: nobody stands for election who knows of a committed change and has not applied it.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::change::Bits;
use whitewater_sim::{Role, Violation};

/// Nobody stands for election with a change of the membership that it knows to be committed and has not applied.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CampaignConfigured;

impl LogRule for CampaignConfigured {
    const NAME: &'static str = "campaign-configured";
    const CLAIM: &'static str = "Nobody stands for election with a change of the membership that it knows to be committed and has not applied.";
    const SOURCE: &'static str = "Specula's NoConfigGapDuringElectionInv; etcd raft, hup";
    const WAKES_ON: Bits = Bits(Bits::ROLE.0 | Bits::TERM.0);

    #[inline]
    fn observe(&mut self, change: &LogChange<'_>, _: &Books) -> Result<(), Violation> {
        if !matches!(change.is.role, Role::PreCandidate | Role::Candidate) {
            return Ok(());
        }
        let (applied, commit) = (change.after.applied, change.after.commit);
        let Some(index) = change.changes.iter().find(|&&index| index > applied && index <= commit) else {
            return Ok(());
        };
        let node = change.node;
        let message = format!(
            "{node} stands for election, knows that change {index} is committed, and has applied entries up to {applied}"
        );
        Self::broken(node, None, message)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, Run, broken};

    fn stand(run: &mut Run, applied: u64) -> Going {
        run.step(N1, |n| {
            n.enter(1, Role::Follower);
            n.append(&[1, 1]);
            n.changes = vec![2];
            (n.commit, n.applied) = (2, applied);
        })?;
        run.step(N1, |n| n.enter(2, Role::Candidate))
    }

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        stand(run, 1)
    }

    #[test]
    fn a_candidate_with_an_old_membership_is_found() {
        assert_eq!(broken(violating), Some(CampaignConfigured::NAME));
    }

    #[test]
    fn a_candidate_that_has_applied_what_it_knows_to_be_committed_is_in_order() {
        assert_eq!(broken(|run| stand(run, 2)), None);
    }
}
