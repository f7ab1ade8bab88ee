//! Retries carry: a leader answers the refusal of an append with entries if it has any, not with another empty append.

use super::rule::{Speaker, SpeechRule};
use crate::log_view::Spoken;
use whitewater_sim::Violation;

/// An append that a refused one gives rise to carries entries, if there are any.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RetriesCarry;

impl SpeechRule for RetriesCarry {
    const NAME: &'static str = "retries-carry";
    const CLAIM: &'static str =
        "A leader that tries a refused append again sends entries with it if it has any behind its place.";
    const SOURCE: &'static str = "SandTable's AEResponseNoEmptyRetry";

    #[inline(always)]
    fn hear(said: Spoken, speaker: &Speaker) -> Result<(), Violation> {
        let Spoken::Append { to, term, index, entries: 0, .. } = said else { return Ok(()) };
        let (node, last) = (speaker.node, speaker.last_before);
        if speaker.refused_by != Some(to) || !speaker.leads || term != speaker.term || index >= last {
            return Ok(());
        }
        let message = format!(
            "{node} leads term {term}, tries an append that {to} has refused again behind entry {index} and sends nothing \
             with it, and has entries up to {last}"
        );
        Self::broken(speaker, Some(to), message)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, N2, N3, Run, broken};
    use whitewater_sim::{NodeId, Role};

    fn retries(run: &mut Run, from: NodeId, index: u64, entries: u64) -> Going {
        run.step(N1, |n| {
            n.enter(1, Role::Leader);
            n.append(&[1, 1]);
        })?;
        let log_term = u64::from(index > 0);
        run.retry(N1, from, Spoken::Append { to: N2, term: 1, index, log_term, commit: 0, entries })
    }

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        retries(run, N2, 1, 0)
    }

    #[test]
    fn a_refused_append_that_is_tried_again_without_the_entries_there_are_is_found() {
        assert_eq!(broken(violating), Some(RetriesCarry::NAME));
        assert_eq!(broken(|run| retries(run, N2, 1, 1)), None, "it carries an entry");
        assert_eq!(broken(|run| retries(run, N2, 2, 0)), None, "there is nothing behind that place");
        assert_eq!(broken(|run| retries(run, N3, 1, 0)), None, "somebody else has refused");
    }
}
