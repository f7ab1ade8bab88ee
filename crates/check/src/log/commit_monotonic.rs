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

    fn observe(&mut self, change: &LogChange<'_>, _: &Books) -> Result<(), Violation> {
        let (node, before, after) = (change.election.node, change.before, change.after);
        if change.election.bits.meets(Bits::BOOT) {
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
