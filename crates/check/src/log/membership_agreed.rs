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

    /// n1 applies five entries, two of which change the membership, in the step in which its disk dies: its snapshot is all
    /// that is seen of it. n2 applies five entries as well, of which these change the membership.
    fn behind_a_snapshot_that_skips(run: &mut Run, changes: &[(u64, u16)]) -> Going {
        let of = |voters| Membership { voters, ..Membership::default() };
        for node in [N1, N2] {
            run.boot(node, |n| n.memberships.push((0, of(0b111))))?;
            run.step(node, |n| {
                n.enter(1, Role::Follower);
                n.append(&[1; 5]);
                (n.commit, n.applied) = (1, 1);
            })?;
        }
        run.rules.died(N1, [])?;
        run.crash(N1);
        run.boot(N1, |n| (n.commit, n.applied, n.memberships) = (5, 5, vec![(5, of(0b11111))]))?;
        run.step(N2, |n| {
            (n.commit, n.applied) = (5, 5);
            n.memberships.extend(changes.iter().map(|&(index, voters)| (index, of(voters))));
        })
    }

    #[test]
    fn what_a_snapshot_skips_and_nobody_saw_is_as_whoever_applies_it_has_it() {
        let lawful: &[&[(u64, u16)]] = &[&[(2, 0b1111), (3, 0b11111)], &[(4, 0b1111), (5, 0b11111)]];
        for changes in lawful {
            assert_eq!(broken(|run| behind_a_snapshot_that_skips(run, changes)), None, "{changes:?}");
        }
        let stops_short = broken(|run| behind_a_snapshot_that_skips(run, &[(3, 0b1111)]));
        assert_eq!(stops_short, Some(MembershipAgreed::NAME), "after as much as the snapshot has it is told");
    }
}
