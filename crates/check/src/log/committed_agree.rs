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

    fn observe(&mut self, change: &LogChange<'_>, books: &Books) -> Result<(), Violation> {
        let (node, index) = (change.election.node, change.after.commit.min(change.committed_known));
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
