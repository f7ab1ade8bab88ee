//! Commit within log: what is applied is committed, and what is committed is in the log.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::change::Bits;
use whitewater_sim::Violation;

/// At each node applied <= commit <= last index.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CommitWithinLog;

impl LogRule for CommitWithinLog {
    const NAME: &'static str = "commit-within-log";
    const CLAIM: &'static str = "At each node applied <= commit <= last index.";
    const SOURCE: &'static str = "SandTable's CommitIdxLELogLen, openraft's state ordering";
    const WAKES_ON: Bits = Bits(Bits::COMMIT.0 | Bits::APPLIED.0 | Bits::LOG_TRUNCATED.0 | Bits::BOOT.0);

    #[inline]
    fn observe(&mut self, change: &LogChange<'_>, _: &Books) -> Result<(), Violation> {
        let (node, is) = (change.node, change.after);
        if is.applied <= is.commit && is.unfounded == 0 {
            return Ok(());
        }
        let message = if is.unfounded > 0 {
            format!(
                "{node} takes {} entries for committed that it does not have, and its log ends with entry {}",
                is.unfounded, is.last_index
            )
        } else {
            format!(
                "{node} has applied entries up to {}, and only those up to {} are committed",
                is.applied, is.commit
            )
        };
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
            n.append(&[1]);
            n.commit = 2;
        })
    }

    #[test]
    fn a_commit_index_beyond_the_log_is_found() {
        assert_eq!(broken(violating), Some(CommitWithinLog::NAME));
    }

    #[test]
    fn the_whole_log_may_be_committed_and_applied() {
        assert_eq!(
            broken(|run| {
                run.step(N1, |n| {
                    n.enter(1, Role::Follower);
                    n.append(&[1]);
                    (n.commit, n.applied) = (1, 1);
                })
            }),
            None
        );
    }

    #[test]
    fn an_applied_index_beyond_the_commit_index_is_found() {
        let applies = |run: &mut Run| {
            run.step(N1, |n| {
                n.enter(1, Role::Follower);
                n.append(&[1, 1]);
                (n.commit, n.applied) = (1, 2);
            })
        };
        assert_eq!(broken(applies), Some(CommitWithinLog::NAME));
    }
}
