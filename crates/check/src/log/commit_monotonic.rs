//! Commit monotonic: while a node runs, what it knows to be committed and what it has applied never go back.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::change::Bits;
use whitewater_sim::Violation;

/// While a node runs, its commit index and its applied index never go back.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CommitMonotonic;

impl LogRule for CommitMonotonic {
    const NAME: &'static str = "commit-monotonic";
    const CLAIM: &'static str = "While a node runs, its commit index and its applied index never go back.";
    const SOURCE: &'static str = "CCF's MonotonicCommitIndexProp, SandTable's MonotonicCommitIdx, openraft";
    const WAKES_ON: Bits = Bits(Bits::COMMIT.0 | Bits::APPLIED.0);

    #[inline]
    fn observe(&mut self, change: &LogChange<'_>, _: &Books) -> Result<(), Violation> {
        let (node, before, after) = (change.node, change.before, change.after);
        if change.bits.meets(Bits::BOOT) {
            return Ok(());
        }
        let message = if after.commit < before.commit {
            format!("{node} takes its commit index back from {} to {}", before.commit, after.commit)
        } else if after.applied < before.applied {
            format!("{node} takes its applied index back from {} to {}", before.applied, after.applied)
        } else {
            return Ok(());
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
            n.append(&[1, 1]);
            n.commit = 2;
        })?;
        run.step(N1, |n| n.commit = 1)
    }

    #[test]
    fn a_commit_index_that_goes_back_is_found() {
        assert_eq!(broken(violating), Some(CommitMonotonic::NAME));
    }

    #[test]
    fn a_restart_may_forget_what_is_committed_and_applied() {
        assert_eq!(
            broken(|run| {
                run.step(N1, |n| {
                    n.enter(1, Role::Follower);
                    n.append(&[1, 1]);
                    (n.commit, n.applied) = (2, 2);
                })?;
                run.crash(N1);
                run.boot(N1, |n| (n.commit, n.applied) = (1, 0))
            }),
            None
        );
    }
}
