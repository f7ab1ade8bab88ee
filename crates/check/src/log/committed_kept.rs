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

    fn observe(&mut self, change: &LogChange<'_>, books: &Books) -> Result<(), Violation> {
        let node = change.election.node;
        if change.election.bits.meets(Bits::BOOT) {
            return Ok(());
        }
        if change.kept < change.before.commit {
            let message = format!(
                "{node} cuts its log back to {}, and knows entries up to {} to be committed",
                change.kept, change.before.commit
            );
            return Self::broken(node, None, message);
        }
        let Some(removed) = change.removed else { return Ok(()) };
        if removed.index <= change.committed_known && books.gold.at(removed.index) == Some(removed.linked) {
            let message = format!("{node} cuts off entry {}, which is committed", removed.index);
            return Self::broken(node, None, message);
        }
        Ok(())
    }
}
