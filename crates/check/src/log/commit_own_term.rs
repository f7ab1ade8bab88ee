//! Commit own term: a leader raises its commit index only to an entry of its own term.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::change::Bits;
use whitewater_sim::{Role, Violation};

/// A leader raises its commit index only to an entry of its own term.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CommitOwnTerm;

impl LogRule for CommitOwnTerm {
    const NAME: &'static str = "commit-own-term";
    const CLAIM: &'static str = "A leader raises its commit index only to an entry of its own term.";
    const SOURCE: &'static str = "Ongaro's thesis, figure 3.7; CCF's NeverCommitEntryPrevTermsProp; SandTable's LeaderCommitCurrentTermLogs";
    const WAKES_ON: Bits = Bits::COMMIT;

    #[inline]
    fn observe(&mut self, change: &LogChange<'_>, books: &Books) -> Result<(), Violation> {
        let (was, is) = (*change.was, *change.is);
        let raised = change.after.commit > change.before.commit;
        // Who became leader in the same step may have raised it as a follower.
        if !raised || is.role != Role::Leader || was.role != Role::Leader || was.term != is.term {
            return Ok(());
        }
        let (node, commit) = (change.node, change.after.commit);
        match books.node(node).log.term_at(commit) {
            Some(term) if term != is.term => {
                let message = format!(
                    "{node} leads term {} and raises its commit index to entry {commit} of term {term}",
                    is.term
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
    use crate::log::testing::{Going, N1, Run, broken};

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        run.step(N1, |n| {
            n.enter(1, Role::Follower);
            n.append(&[1]);
        })?;
        run.step(N1, |n| n.enter(2, Role::Leader))?;
        run.step(N1, |n| n.commit = 1)
    }

    #[test]
    fn a_leader_that_counts_the_copies_of_an_older_entry_is_found() {
        assert_eq!(broken(violating), Some(CommitOwnTerm::NAME));
    }

    #[test]
    fn an_older_entry_is_committed_by_one_of_the_leaders_own_term_and_followers_take_any() {
        assert_eq!(
            broken(|run| {
                run.step(N1, |n| {
                    n.enter(1, Role::Follower);
                    n.append(&[1]);
                    n.commit = 1;
                })?;
                run.step(N1, |n| n.enter(2, Role::Leader))?;
                run.step(N1, |n| n.append(&[2]))?;
                run.step(N1, |n| n.commit = 2)
            }),
            None
        );
    }
}
