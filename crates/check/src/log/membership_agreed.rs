//! Membership agreed: whoever has applied as much has the same membership.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::change::Bits;
use whitewater_sim::Violation;

/// Servers that have applied the same entries have the same membership.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MembershipAgreed;

impl LogRule for MembershipAgreed {
    const NAME: &'static str = "membership-agreed";
    const CLAIM: &'static str = "Servers that have applied the same entries have the same membership.";
    const SOURCE: &'static str = "CCF's LogConfigurationConsistentInv";
    const WAKES_ON: Bits = Bits(Bits::MEMBERSHIP.0 | Bits::APPLIED.0);

    #[inline]
    fn observe(&mut self, change: &LogChange<'_>, books: &Books) -> Result<(), Violation> {
        let now = change.memberships.last().map_or(change.membership, |&(_, membership)| membership);
        let news = change.memberships.iter().copied();
        for (index, own) in news.chain([(change.after.applied, now)]) {
            let Some(known) = books.chronicle.at(index).filter(|&known| known != own) else { continue };
            let node = change.node;
            let message = format!(
                "{node} has applied entries up to {index} and takes the membership for {own}, when others took it for {known}"
            );
            return Self::broken(node, None, message);
        }
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, N2, Run, broken};
    use crate::membership::Membership;
    use whitewater_sim::Role;

    fn apply(run: &mut Run, node: whitewater_sim::NodeId, change: Option<u16>) -> Going {
        run.step(node, |n| {
            n.enter(1, Role::Follower);
            n.append(&[1]);
            (n.commit, n.applied) = (1, 1);
            n.memberships.extend(change.map(|voters| (1, Membership { voters, ..Membership::default() })));
        })
    }

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        apply(run, N1, Some(0b1111))?;
        apply(run, N2, Some(0b11))
    }

    #[test]
    fn another_membership_after_the_same_entries_is_found() {
        assert_eq!(broken(violating), Some(MembershipAgreed::NAME));
    }

    #[test]
    fn a_change_that_others_applied_and_one_server_did_not_is_found() {
        let without = broken(|run| {
            apply(run, N1, Some(0b1111))?;
            apply(run, N2, None)
        });
        assert_eq!(without, Some(MembershipAgreed::NAME));
        assert_eq!(
            broken(|run| {
                apply(run, N1, Some(0b1111))?;
                apply(run, N2, Some(0b1111))
            }),
            None
        );
    }
}
