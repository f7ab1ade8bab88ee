//! Committed agree: of the committed prefixes of any two nodes one begins with the other.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::change::Bits;
use whitewater_sim::Violation;

/// Any two nodes agree on every entry both take for committed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CommittedAgree;

impl LogRule for CommittedAgree {
    const NAME: &'static str = "committed-agree";
    const CLAIM: &'static str = "Any two nodes agree on every entry both take for committed.";
    const SOURCE: &'static str = "etcd's and CCF's LogInv; Vanlightly's NoLogDivergence";
    const WAKES_ON: Bits = Bits::COMMIT;

    #[inline]
    fn observe(&mut self, change: &LogChange<'_>, books: &Books) -> Result<(), Violation> {
        let (node, index) = (change.node, change.after.commit.min(change.committed_known));
        let (own, first) = (books.node(node).log.at(index), books.gold.at(index));
        match (own, first) {
            (Some(own), Some(first)) if own.chain != first.chain => {
                let message = format!(
                    "{node} commits a log up to {} that differs at or before entry {index} from what was committed before",
                    change.after.commit
                );
                Self::broken(node, None, message)
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, N2, N3, Run, broken};
    use whitewater_sim::Role;

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        run.step(N1, |n| {
            n.enter(2, Role::Follower);
            n.append(&[1]);
            n.commit = 1;
        })?;
        run.step(N2, |n| {
            n.enter(2, Role::Follower);
            n.append(&[2, 2]);
            n.commit = 2;
        })
    }

    #[test]
    fn two_nodes_that_commit_different_logs_are_found() {
        assert_eq!(broken(violating), Some(CommittedAgree::NAME));
    }

    #[test]
    fn one_committed_prefix_may_be_longer_than_the_other() {
        assert_eq!(
            broken(|run| {
                run.step(N1, |n| {
                    n.enter(2, Role::Follower);
                    n.append(&[1]);
                    n.commit = 1;
                })?;
                run.step(N2, |n| {
                    n.enter(2, Role::Follower);
                    n.append(&[1, 2]);
                    n.commit = 2;
                })?;
                run.step(N3, |n| {
                    n.enter(2, Role::Follower);
                    n.append(&[1, 1]);
                    n.commit = 1;
                })
            }),
            None
        );
    }
}
