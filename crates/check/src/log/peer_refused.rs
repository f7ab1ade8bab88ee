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

    #[inline]
    fn observe(&mut self, change: &LogChange<'_>, _: &Books) -> Result<(), Violation> {
        let node = change.node;
        match change.refusal {
            Some(Refusal { from, why: RefusalReason::Error(why) }) => {
                Self::broken(node, Some(from), format!("{node} refuses a message of {from}: {why}"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, N2, Run, broken};

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        run.step(N1, |n| n.refusal = Some(Refusal { from: N2, why: RefusalReason::Error("a gap") }))
    }

    #[test]
    fn a_message_that_is_refused_with_an_error_is_found() {
        assert_eq!(broken(violating), Some(PeerRefused::NAME));
    }

    #[test]
    fn a_forwarded_proposal_without_a_leader_and_a_strangers_response_may_be_refused() {
        assert_eq!(
            broken(|run| {
                run.step(N1, |n| {
                    n.refusal = Some(Refusal { from: N2, why: RefusalReason::ForwardedWithoutLeader })
                })?;
                run.step(N2, |n| {
                    n.refusal = Some(Refusal { from: N1, why: RefusalReason::ResponseOfStranger })
                })
            }),
            None
        );
    }
}
