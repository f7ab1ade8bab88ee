//! A rule over logs: a claim with its source, woken by bits, dispatched statically.

use super::books::Books;
use super::change::LogChange;
use crate::change::Bits;
use whitewater_sim::{NodeId, Violation};

/// Something that is always true of a Raft with a log.
pub(crate) trait LogRule {
    /// Its name, in kebab-case.
    const NAME: &'static str;
    /// What it claims, in one sentence.
    const CLAIM: &'static str;
    /// Where the claim is stated.
    const SOURCE: &'static str;
    /// What wakes it.
    const WAKES_ON: Bits;

    /// Looks at a change that woke it. The books show the node as it is now.
    ///
    /// # Errors
    /// The claim does not hold.
    fn observe(&mut self, change: &LogChange<'_>, books: &Books) -> Result<(), Violation>;

    /// A violation of this rule.
    #[cold]
    fn broken(node: NodeId, peer: Option<NodeId>, message: String) -> Result<(), Violation> {
        Err(Violation { rule: Self::NAME, claim: Self::CLAIM, message, node: Some(node), peer })
    }
}
