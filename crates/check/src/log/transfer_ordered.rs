//! Transfer ordered: nobody stands for election in the name of a leader that has not told it to.

use super::rule::{Speaker, SpeechRule};
use crate::log_view::Spoken;
use whitewater_sim::Violation;

/// Whoever asks for votes in spite of a lease was told to take over by the leader of the term before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransferOrdered;

impl SpeechRule for TransferOrdered {
    const NAME: &'static str = "transfer-ordered";
    const CLAIM: &'static str =
        "Whoever asks for votes in spite of a lease was told to take over by the leader of the term before.";
    const SOURCE: &'static str = "Ongaro's thesis, section 3.10";

    #[inline(always)]
    fn hear(said: Spoken, speaker: &Speaker) -> Result<(), Violation> {
        let Spoken::Campaign { term, takes_over: true } = said else { return Ok(()) };
        if speaker.was_ordered {
            return Ok(());
        }
        let (node, before) = (speaker.node, term.saturating_sub(1));
        let message = format!(
            "{node} asks for votes in term {term} as if it was told to take over, and no leader of term {before} told it to"
        );
        Self::broken(speaker, None, message)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, N2, Run, broken};
    use whitewater_sim::Role;

    fn ordered(run: &mut Run) -> Going {
        run.say(N1, Spoken::Order { to: N2, term: 1 }, |n| n.enter(1, Role::Leader))
    }

    fn stands(run: &mut Run, term: u64) -> Going {
        run.say(N2, Spoken::Campaign { term, takes_over: true }, |n| n.enter(term, Role::Candidate))
    }

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        ordered(run)?;
        stands(run, 3)
    }

    #[test]
    fn an_order_that_is_obeyed_in_a_later_term_is_found() {
        assert_eq!(broken(violating), Some(TransferOrdered::NAME));
    }

    #[test]
    fn an_order_may_be_obeyed_in_the_next_term_and_an_election_of_ones_own_needs_none() {
        assert_eq!(
            broken(|run| {
                ordered(run)?;
                stands(run, 2)?;
                let own = Spoken::Campaign { term: 3, takes_over: false };
                run.say(N2, own, |n| n.enter(3, Role::Candidate))
            }),
            None
        );
    }
}
