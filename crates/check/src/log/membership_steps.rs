//! Membership steps: memberships follow each other by one voter or by a joint one.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::change::Bits;
use whitewater_sim::Violation;

/// A membership differs from the one before it by one voter, or lies before or behind a joint one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MembershipSteps;

impl LogRule for MembershipSteps {
    const NAME: &'static str = "membership-steps";
    const CLAIM: &'static str =
        "A membership differs from the one before it by one voter, or lies before or behind a joint one.";
    const SOURCE: &'static str =
        "Ongaro's thesis, chapter 4; Specula's JointStateAutoLeavePossibleInv and ConfigNonEmptyInv";
    const WAKES_ON: Bits = Bits::MEMBERSHIP;

    #[inline]
    fn observe(&mut self, change: &LogChange<'_>, books: &Books) -> Result<(), Violation> {
        let node = change.node;
        let mut last = books.chronicle.last();
        for &(index, next) in change.memberships {
            let wrong = next.flaw().or_else(|| match last {
                Some((before, last))
                    if index > before && !books.chronicle.skips_to(index, change.from_snapshot) =>
                {
                    last.misstep(&next)
                }
                _ => None,
            });
            if let Some(wrong) = wrong {
                let before = last.map_or(String::new(), |(before, last)| {
                    format!(", behind {last} from entry {before} on")
                });
                let message =
                    format!("{node} has the membership {next} from entry {index} on: {wrong}{before}");
                return Self::broken(node, None, message);
            }
            if last.is_none_or(|(before, _)| index > before) {
                last = Some((index, next));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, Run, broken};
    use crate::membership::Membership;
    use whitewater_sim::Role;

    fn change_to(run: &mut Run, voters: u16, outgoing: u16) -> Going {
        run.step(N1, |n| {
            n.enter(1, Role::Follower);
            n.append(&[1]);
            n.commit = n.log.last_index();
            n.applied = n.commit;
            if n.memberships.is_empty() {
                n.memberships.push((0, Membership::of_first(3)));
            }
            n.memberships.push((n.commit, Membership { voters, outgoing, ..Membership::default() }));
        })
    }

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        change_to(run, 0b11100, 0)
    }

    #[test]
    fn two_voters_that_change_at_once_are_found() {
        assert_eq!(broken(violating), Some(MembershipSteps::NAME));
    }

    #[test]
    fn a_membership_without_voters_is_found() {
        assert_eq!(broken(|run| change_to(run, 0, 0)), Some(MembershipSteps::NAME));
    }

    #[test]
    fn single_voters_and_joint_memberships_are_steps() {
        assert_eq!(
            broken(|run| {
                change_to(run, 0b1111, 0)?;
                change_to(run, 0b11100, 0b1111)?;
                change_to(run, 0b11100, 0)?;
                change_to(run, 0b01100, 0)
            }),
            None
        );
    }
}
