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

    fn observe(&mut self, change: &LogChange<'_>, books: &Books) -> Result<(), Violation> {
        let (was, is) = (change.election.before, change.election.after);
        let raised = change.after.commit > change.before.commit;
        // Who became leader in the same step may have raised it as a follower.
        if !raised || is.role != Role::Leader || was.role != Role::Leader || was.term != is.term {
            return Ok(());
        }
        let (node, commit) = (change.election.node, change.after.commit);
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
