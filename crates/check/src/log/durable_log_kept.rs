//! Durable log kept: a restart finds every entry that was durable.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::change::Bits;
use whitewater_sim::Violation;

/// A node that starts finds every entry that was durable before.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DurableLogKept;

impl LogRule for DurableLogKept {
    const NAME: &'static str = "durable-log-kept";
    const CLAIM: &'static str = "A node that starts finds every entry that was durable before.";
    const SOURCE: &'static str = "openraft's final durability; Ongaro's thesis, section 3.8";
    const WAKES_ON: Bits = Bits::BOOT;

    #[inline]
    fn observe(&mut self, change: &LogChange<'_>, books: &Books) -> Result<(), Violation> {
        // What it had cut off already, of its own accord or for a snapshot, the disk may have given up with it.
        let (node, durable) = (change.node, change.before.durable_index.min(change.before.last_index));
        if change.kept >= durable || books.node(node).forgiven {
            return Ok(());
        }
        let kept = change.kept.max(books.agreement(node, durable - 1));
        let message = format!(
            "{node} had its log on disk up to {durable} and starts with one that is the same up to {kept}"
        );
        Self::broken(node, None, message)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, Run, broken};
    use whitewater_sim::Role;

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        run.step(N1, |n| {
            n.enter(1, Role::Follower);
            n.append(&[1, 1]);
        })?;
        run.crash(N1);
        run.boot(N1, |n| n.cut(1))
    }

    #[test]
    fn a_start_without_an_entry_that_was_durable_is_found() {
        assert_eq!(broken(violating), Some(DurableLogKept::NAME));
    }

    #[test]
    fn a_start_may_lose_or_keep_what_was_not_durable() {
        assert_eq!(
            broken(|run| {
                run.step(N1, |n| {
                    n.enter(1, Role::Follower);
                    n.append(&[1, 1]);
                    n.durable_index = 1;
                })?;
                run.crash(N1);
                run.boot(N1, |n| n.append(&[1]))?;
                run.step(N1, |n| n.durable_index = 1)?;
                run.crash(N1);
                run.boot(N1, |_| {})
            }),
            None
        );
    }

    #[test]
    fn what_was_cut_off_before_the_crash_may_be_there_or_not() {
        let starts = |last: u64| {
            broken(|run| {
                run.step(N1, |n| {
                    n.enter(1, Role::Follower);
                    n.append(&[1, 1, 1]);
                })?;
                let before = run.nodes[0].clone();
                run.step(N1, |n| {
                    n.cut(2);
                    n.durable_index = 3;
                })?;
                run.crash(N1);
                run.boot(N1, |n| {
                    *n = before;
                    n.cut(last);
                })
            })
        };
        assert_eq!(starts(3), None);
        assert_eq!(starts(2), None);
        assert_eq!(starts(1), Some(DurableLogKept::NAME));
    }

    #[test]
    fn nothing_is_claimed_of_a_disk_that_is_forgiven() {
        assert_eq!(
            broken(|run| {
                run.rules.forgive(N1);
                violating(run)
            }),
            None
        );
    }

    #[test]
    fn a_disk_that_died_in_a_step_may_have_cut_off_what_was_not_committed() {
        let dies = |last| {
            move |run: &mut Run| {
                run.step(N1, |n| {
                    n.enter(1, Role::Follower);
                    n.append(&[1, 1, 1]);
                    n.commit = 2;
                })?;
                run.rules.died(N1, [])?;
                run.crash(N1);
                run.boot(N1, |n| n.cut(last))
            }
        };
        assert_eq!(broken(dies(1)), Some(DurableLogKept::NAME));
        assert_eq!(broken(dies(2)), None);
    }
}
