//! Message terms: nobody speaks in a term that it has not reached.

use super::rule::{Speaker, SpeechRule};
use crate::log_view::Spoken;
use whitewater_sim::Violation;

/// A message carries no term that its sender has not reached, pre-votes excepted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MessageTerms;

impl SpeechRule for MessageTerms {
    const NAME: &'static str = "message-terms";
    const CLAIM: &'static str =
        "A message carries no term that its sender has not reached, pre-votes excepted.";
    const SOURCE: &'static str = "etcd's MessageTermsLtCurrentTerm, CCF's MonoTermInv";

    #[inline(always)]
    fn hear(said: Spoken, speaker: &Speaker) -> Result<(), Violation> {
        if said.term() <= speaker.term || matches!(said, Spoken::Other { is_pre_vote: true, .. }) {
            return Ok(());
        }
        let (node, reached) = (speaker.node, speaker.term);
        let message = format!("{node} sends a message of term {}, and it is in term {reached}", said.term());
        Self::broken(speaker, None, message)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, Run, broken};
    use whitewater_sim::Role;

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        run.say(N1, Spoken::Other { term: 3, is_pre_vote: false }, |n| n.enter(2, Role::Candidate))
    }

    #[test]
    fn a_message_of_a_term_that_was_not_reached_is_found() {
        assert_eq!(broken(violating), Some(MessageTerms::NAME));
    }

    #[test]
    fn a_pre_vote_may_name_the_next_term() {
        assert_eq!(
            broken(|run| {
                run.step(N1, |n| n.enter(2, Role::Follower))?;
                run.say(N1, Spoken::Other { term: 3, is_pre_vote: true }, |n| n.role = Role::PreCandidate)?;
                run.say(N1, Spoken::Other { term: 3, is_pre_vote: false }, |n| n.enter(3, Role::Candidate))
            }),
            None
        );
    }
}
