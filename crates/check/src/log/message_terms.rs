//! Message terms: nobody speaks in a term that it has not reached.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::change::Bits;
use crate::log_view::Spoken;
use whitewater_sim::Violation;

/// A message carries no term that its sender has not reached, pre-votes excepted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MessageTerms;

impl LogRule for MessageTerms {
    const NAME: &'static str = "message-terms";
    const CLAIM: &'static str =
        "A message carries no term that its sender has not reached, pre-votes excepted.";
    const SOURCE: &'static str = "etcd's MessageTermsLtCurrentTerm, CCF's MonoTermInv";
    const WAKES_ON: Bits = Bits::SENT;

    fn observe(&mut self, change: &LogChange<'_>, _: &Books) -> Result<(), Violation> {
        let (node, reached) = (change.election.node, change.election.after.term);
        for &said in change.spoken {
            if matches!(said, Spoken::Other { is_pre_vote: true, .. }) || said.term() <= reached {
                continue;
            }
            let message =
                format!("{node} sends a message of term {}, and it is in term {reached}", said.term());
            return Self::broken(node, None, message);
        }
        Ok(())
    }
}
