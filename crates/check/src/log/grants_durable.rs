//! Grants durable: a vote leaves its node only when no crash can take it back.

use super::rule::{Speaker, SpeechRule};
use super::vote_kept::VoteFor;
use crate::log_view::Spoken;
use whitewater_sim::Violation;

/// A vote is durable before it leaves its node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GrantsDurable;

impl SpeechRule for GrantsDurable {
    const NAME: &'static str = "grants-durable";
    const CLAIM: &'static str = "A vote is durable before it leaves its node.";
    const SOURCE: &'static str = "Ongaro's thesis, section 3.8; Specula's VoteSafetyAcrossCrash";

    #[inline(always)]
    fn hear(said: Spoken, speaker: &Speaker) -> Result<(), Violation> {
        let Spoken::Grant { to, term } = said else { return Ok(()) };
        let (node, durable_term) = (speaker.node, speaker.durable_term);
        let kept = durable_term > term || durable_term == term && speaker.durable_vote == Some(to);
        if kept || speaker.forgiven {
            return Ok(());
        }
        let message = format!(
            "{node} sends a vote for {to} in term {term}, and on its disk is term {durable_term} with {}",
            VoteFor(speaker.durable_vote)
        );
        Self::broken(speaker, Some(to), message)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, N2, Run, broken};
    use whitewater_sim::Role;

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        run.say(N1, Spoken::Grant { to: N2, term: 1 }, |n| {
            n.enter(1, Role::Follower);
            n.vote = Some(N2);
        })
    }

    #[test]
    fn a_vote_that_is_sent_before_it_is_durable_is_found() {
        assert_eq!(broken(violating), Some(GrantsDurable::NAME));
    }

    #[test]
    fn a_durable_vote_may_leave_also_when_the_term_has_moved_on_since() {
        assert_eq!(
            broken(|run| {
                run.say(N1, Spoken::Grant { to: N2, term: 1 }, |n| {
                    n.enter(1, Role::Follower);
                    n.choose(N2);
                })?;
                run.say(N1, Spoken::Grant { to: N2, term: 1 }, |n| n.enter(2, Role::Follower))
            }),
            None
        );
    }
}
