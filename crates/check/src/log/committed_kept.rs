//! Committed kept: no node cuts off or rewrites an entry that is committed.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::change::Bits;
use whitewater_sim::Violation;

/// A node never cuts off or rewrites a committed entry.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CommittedKept;

impl LogRule for CommittedKept {
    const NAME: &'static str = "committed-kept";
    const CLAIM: &'static str = "A node never cuts off or rewrites a committed entry.";
    const SOURCE: &'static str =
        "CCF's CommittedLogAppendOnlyProp, SandTable's CommittedLogDurable, MongoDB's NeverRollbackCommitted";
    const WAKES_ON: Bits = Bits::LOG_TRUNCATED;

    #[inline]
    fn observe(&mut self, change: &LogChange<'_>, books: &Books) -> Result<(), Violation> {
        let node = change.node;
        if change.bits.meets(Bits::BOOT) {
            return Ok(());
        }
        let commit = change.before.commit;
        if change.kept < commit {
            let kept = change.kept.max(books.agreement(node, commit - 1));
            let message = format!(
                "{node} cuts its log back to {kept}, and knows entries up to {commit} to be committed"
            );
            return Self::broken(node, None, message);
        }
        let index = change.kept + 1;
        // A leader of an earlier term than that of the commit may still overwrite it where nobody counted it.
        let committed = books.gold.committed_before(change.is.term.saturating_add(1));
        if index <= committed && books.gold.at(index) == Some(books.node(node).removed) {
            let message = format!("{node} cuts off entry {index}, which is committed");
            return Self::broken(node, None, message);
        }
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, N2, Run, broken};
    use whitewater_sim::Role;

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        run.step(N1, |n| {
            n.enter(2, Role::Follower);
            n.append(&[1, 1]);
            n.commit = 2;
        })?;
        run.step(N1, |n| {
            n.cut(1);
            n.append(&[2]);
        })
    }

    #[test]
    fn a_committed_entry_that_is_rewritten_is_found() {
        assert_eq!(broken(violating), Some(CommittedKept::NAME));
    }

    #[test]
    fn an_entry_that_is_not_committed_may_be_rewritten() {
        assert_eq!(
            broken(|run| {
                run.step(N1, |n| {
                    n.enter(2, Role::Follower);
                    n.append(&[1, 1]);
                    n.commit = 1;
                })?;
                run.step(N1, |n| {
                    n.cut(1);
                    n.append(&[2]);
                })
            }),
            None
        );
    }

    #[test]
    fn an_entry_that_others_have_committed_may_be_lost_by_a_crash_only() {
        let commit = |run: &mut Run| {
            run.step(N1, |n| {
                n.enter(1, Role::Follower);
                n.append(&[1, 1]);
                n.commit = 2;
            })?;
            run.step(N2, |n| {
                n.enter(1, Role::Follower);
                n.append(&[1, 1]);
                n.durable_index = 1;
            })
        };
        let cut = broken(|run| {
            commit(run)?;
            run.step(N2, |n| n.cut(1))
        });
        let crash = broken(|run| {
            commit(run)?;
            run.crash(N2);
            run.boot(N2, |_| {})
        });
        assert_eq!((cut, crash), (Some(CommittedKept::NAME), None));
    }

    #[test]
    fn a_leader_of_an_earlier_term_than_that_of_the_commit_may_still_overwrite_it() {
        let cut_in = |term: u64| {
            broken(|run| {
                run.step(N1, |n| {
                    n.enter(3, Role::Follower);
                    n.append(&[1, 1]);
                    n.commit = 2;
                })?;
                // It had been cut off from the others since term 1, and hears of the leader of this term now.
                run.step(N2, |n| {
                    n.enter(term, Role::Follower);
                    n.append(&[1, 1]);
                })?;
                run.step(N2, |n| n.cut(1))
            })
        };
        assert_eq!((cut_in(2), cut_in(3)), (None, Some(CommittedKept::NAME)));
    }

    #[test]
    fn the_report_names_the_entry_up_to_which_the_log_was_kept() {
        let run = &mut Run::new();
        let violation = violating(run).unwrap_err();
        assert_eq!(violation.message, "n1 cuts its log back to 1, and knows entries up to 2 to be committed");
    }
}
