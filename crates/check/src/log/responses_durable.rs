//! Responses durable: a node tells others of a term only when no crash can take it back.

use super::rule::{Speaker, SpeechRule};
use crate::log_view::Spoken;
use whitewater_sim::Violation;

/// The term of a response is durable before the response leaves its node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResponsesDurable;

impl SpeechRule for ResponsesDurable {
    const NAME: &'static str = "responses-durable";
    const CLAIM: &'static str = "The term of a response is durable before the response leaves its node.";
    const SOURCE: &'static str = "etcd raft's rule for messages that wait for the storage; openraft";

    #[inline(always)]
    fn hear(said: Spoken, speaker: &Speaker) -> Result<(), Violation> {
        let (node, durable_term) = (speaker.node, speaker.durable_term);
        let is_response =
            matches!(said, Spoken::Grant { .. } | Spoken::Refusal { .. } | Spoken::AppendResponse { .. });
        if said.term() <= durable_term || !is_response || speaker.forgiven {
            return Ok(());
        }
        let message = format!(
            "{node} sends a response of term {}, and only term {durable_term} is on its disk",
            said.term()
        );
        Self::broken(speaker, None, message)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, Run, broken};

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        run.say(N1, Spoken::Refusal { term: 2 }, |n| (n.term, n.durable_term) = (2, 1))
    }

    #[test]
    fn a_response_of_a_term_that_is_not_durable_is_found() {
        assert_eq!(broken(violating), Some(ResponsesDurable::NAME));
    }

    #[test]
    fn a_request_may_leave_before_its_term_is_durable_and_a_response_after() {
        assert_eq!(
            broken(|run| {
                run.say(N1, Spoken::Other { term: 2, is_pre_vote: false }, |n| {
                    (n.term, n.durable_term) = (2, 1)
                })?;
                run.say(N1, Spoken::Refusal { term: 2 }, |n| n.durable_term = 2)
            }),
            None
        );
    }
}
