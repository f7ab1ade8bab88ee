//! Peer refused: a correct node sends nothing that another refuses with an error.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::change::Bits;
use crate::log_view::{Refusal, RefusalReason};
use whitewater_sim::Violation;

/// No message of a correct peer is refused with an error.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PeerRefused;

impl LogRule for PeerRefused {
    const NAME: &'static str = "peer-refused";
    const CLAIM: &'static str = "No message of a correct peer is refused with an error.";
    const SOURCE: &'static str =
        "etcd raft returns an error from Step only for input that no correct peer sends";
    const WAKES_ON: Bits = Bits::REFUSED;

    fn observe(&mut self, change: &LogChange<'_>, _: &Books) -> Result<(), Violation> {
        let node = change.election.node;
        match change.refusal {
            Some(Refusal { from, why: RefusalReason::Error(why) }) => {
                Self::broken(node, Some(from), format!("{node} refuses a message of {from}: {why}"))
            }
            _ => Ok(()),
        }
    }
}
