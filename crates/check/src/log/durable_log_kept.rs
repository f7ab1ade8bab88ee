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

    fn observe(&mut self, change: &LogChange<'_>, books: &Books) -> Result<(), Violation> {
        let (node, durable) = (change.election.node, change.before.durable_index);
        if change.kept >= durable || books.node(node).forgiven {
            return Ok(());
        }
        let message = format!(
            "{node} had its log on disk up to {durable} and starts with one that is the same up to {}",
            change.kept
        );
        Self::broken(node, None, message)
    }
}
