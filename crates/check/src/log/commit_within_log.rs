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

    fn observe(&mut self, change: &LogChange<'_>, _: &Books) -> Result<(), Violation> {
        let (node, is) = (change.election.node, change.after);
        if is.applied <= is.commit && is.commit <= is.last_index {
            return Ok(());
        }
        let message = format!(
            "{node} has applied entries up to {}, committed up to {} and has a log up to {}",
            is.applied, is.commit, is.last_index
        );
        Self::broken(node, None, message)
    }
}
