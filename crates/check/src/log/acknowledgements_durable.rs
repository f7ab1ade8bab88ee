//! Acknowledgements durable: a node acknowledges entries only when no crash can take them back.

use super::rule::{Speaker, SpeechRule};
use crate::log_view::Spoken;
use whitewater_sim::Violation;

/// An entry is durable before its node acknowledges it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AcknowledgementsDurable;

impl SpeechRule for AcknowledgementsDurable {
    const NAME: &'static str = "acknowledgements-durable";
    const CLAIM: &'static str = "An entry is durable before its node acknowledges it.";
    const SOURCE: &'static str = "etcd's CommittedIsDurableInv; Ongaro's thesis, section 3.8";

    #[inline(always)]
    fn hear(said: Spoken, speaker: &Speaker) -> Result<(), Violation> {
        let Spoken::AppendResponse { to, term, index } = said else { return Ok(()) };
        let (node, durable) = (speaker.node, speaker.durable_index);
        // A response of an older term may speak of entries that were durable and have been cut off since.
        if index <= durable || term != speaker.term || speaker.forgiven {
            return Ok(());
        }
        let message = format!(
            "{node} acknowledges entry {index} to {to} in term {term}, and its log is on disk up to {durable}"
        );
        Self::broken(speaker, None, message)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, N2, Run, broken};
    use whitewater_sim::Role;

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        run.say(N1, Spoken::AppendResponse { to: N2, term: 1, index: 2 }, |n| {
            n.enter(1, Role::Follower);
            n.append(&[1, 1]);
            n.durable_index = 1;
        })
    }

    #[test]
    fn an_entry_that_is_acknowledged_before_it_is_durable_is_found() {
        assert_eq!(broken(violating), Some(AcknowledgementsDurable::NAME));
    }

    #[test]
    fn an_acknowledgement_of_an_older_term_may_name_what_was_cut_off_since() {
        assert_eq!(
            broken(|run| {
                run.say(N1, Spoken::AppendResponse { to: N2, term: 1, index: 2 }, |n| {
                    n.enter(1, Role::Follower);
                    n.append(&[1, 1]);
                })?;
                run.say(N1, Spoken::AppendResponse { to: N2, term: 1, index: 2 }, |n| {
                    n.enter(2, Role::Follower);
                    n.cut(1);
                })
            }),
            None
        );
    }
}
