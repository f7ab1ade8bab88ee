//! Answers asked: a vote goes to somebody who stood for election in its term, an acknowledgement to who led in it.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::change::Bits;
use crate::log_view::Spoken;
use whitewater_sim::Violation;

/// Nobody answers what nobody asked.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AnswersAsked;

impl LogRule for AnswersAsked {
    const NAME: &'static str = "answers-asked";
    const CLAIM: &'static str = "A vote goes to a node that has stood for election in its term, an acknowledgement to one that has led it.";
    const SOURCE: &'static str =
        "Ongaro's raft.tla, Receive: a response goes to who asked, in the term of the request";
    const WAKES_ON: Bits = Bits::UNASKED;

    #[inline]
    fn observe(&mut self, change: &LogChange<'_>, _: &Books) -> Result<(), Violation> {
        let node = change.node;
        let (to, message) = match change.unasked {
            Some(Spoken::Grant { to, term }) => (
                to,
                format!("{node} sends {to} a vote in term {term}, in which {to} has not stood for election"),
            ),
            Some(Spoken::AppendResponse { to, term, index }) => (
                to,
                format!("{node} acknowledges entry {index} to {to} in term {term}, which {to} has not led"),
            ),
            _ => return Ok(()),
        };
        Self::broken(node, Some(to), message)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, N2, Run};
    use whitewater_sim::Role;

    fn broken(run: impl FnOnce(&mut Run) -> Going) -> Option<&'static str> {
        run(&mut Run::but("abstract-step")).err().map(|violation| violation.rule)
    }

    fn stands(run: &mut Run, role: Role) -> Going {
        run.step(N2, |n| n.enter(2, role))
    }

    fn votes(run: &mut Run, term: u64) -> Going {
        run.say(N1, Spoken::Grant { to: N2, term }, |n| {
            n.enter(term, Role::Follower);
            n.choose(N2);
        })
    }

    fn acknowledges(run: &mut Run, term: u64, index: u64) -> Going {
        run.say(N1, Spoken::AppendResponse { to: N2, term, index }, |n| {
            n.enter(term, Role::Follower);
            n.append(&[1]);
        })
    }

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        stands(run, Role::Candidate)?;
        votes(run, 3)
    }

    #[test]
    fn a_vote_for_somebody_who_has_not_asked_in_that_term_is_found() {
        assert_eq!(broken(violating), Some(AnswersAsked::NAME));
        let asked = broken(|run| {
            stands(run, Role::Candidate)?;
            votes(run, 2)
        });
        assert_eq!(asked, None);
    }

    #[test]
    fn an_acknowledgement_to_somebody_who_has_not_led_that_term_is_found() {
        let acknowledged = |role, term| {
            broken(|run| {
                stands(run, role)?;
                acknowledges(run, term, 1)
            })
        };
        assert_eq!(acknowledged(Role::Candidate, 2), Some(AnswersAsked::NAME));
        assert_eq!(acknowledged(Role::Leader, 3), Some(AnswersAsked::NAME));
        assert_eq!(acknowledged(Role::Leader, 2), None);
    }

    #[test]
    fn who_tells_candidates_as_well_how_far_its_log_goes_acknowledges_nothing_by_that() {
        let told = broken(|run| {
            stands(run, Role::Candidate)?;
            run.step(N1, |n| n.tells_anybody = true)?;
            acknowledges(run, 2, 1)
        });
        assert_eq!(told, None);
    }

    #[test]
    fn whoever_led_an_older_term_is_told_of_the_newer_one_by_an_acknowledgement_of_nothing() {
        let told = broken(|run| {
            stands(run, Role::Leader)?;
            acknowledges(run, 3, 0)
        });
        assert_eq!(told, None);
    }

    #[test]
    fn of_several_elections_in_one_step_each_may_be_answered() {
        let answered = broken(|run| {
            run.say(N2, Spoken::Campaign { term: 2, takes_over: false }, |n| n.enter(3, Role::Candidate))?;
            votes(run, 2)
        });
        assert_eq!(answered, None);
    }

    #[test]
    fn an_answer_may_leave_when_who_asked_has_gone_on_to_another_term() {
        let late = broken(|run| {
            stands(run, Role::Leader)?;
            run.step(N2, |n| n.enter(5, Role::Follower))?;
            acknowledges(run, 2, 1)
        });
        assert_eq!(late, None);
    }
}
