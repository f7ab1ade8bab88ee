//! Appends fit: a leader appends behind an entry that it has, and tells of no commit beyond its own.

use super::rule::{Speaker, SpeechRule};
use crate::log_view::Spoken;
use whitewater_sim::Violation;

/// An append names the entry before it by index and term as its leader has it, and a commit index that the leader has
/// reached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AppendsFit;

impl SpeechRule for AppendsFit {
    const NAME: &'static str = "appends-fit";
    const CLAIM: &'static str =
        "An append names an entry that its leader has, and a commit index that its leader has reached.";
    const SOURCE: &'static str =
        "Specula's AppendEntriesPrevLogTermValidInv; Ongaro's raft.tla, AppendEntries";

    #[inline(always)]
    fn hear(said: Spoken, speaker: &Speaker) -> Result<(), Violation> {
        let Spoken::Append { to, term, index, log_term, commit, .. } = said else { return Ok(()) };
        // What was said in an earlier term may leave late, and the log may be another one since.
        if !speaker.leads || term != speaker.term {
            return Ok(());
        }
        let node = speaker.node;
        if speaker.named_term.is_some_and(|known| known != log_term) || log_term == 0 && index > 0 {
            let known = match speaker.named_term {
                Some(known) => format!("is of term {known}"),
                None => "is not there".to_owned(),
            };
            let message = format!(
                "{node} leads term {term} and sends {to} an append behind entry {index} of term {log_term}, which in its own log {known}"
            );
            return Self::broken(speaker, None, message);
        }
        if commit > speaker.commit {
            let message = format!(
                "{node} leads term {term} and tells {to} of a commit up to {commit}, and has committed up to {}",
                speaker.commit
            );
            return Self::broken(speaker, None, message);
        }
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, N2, Run, broken};
    use whitewater_sim::Role;

    fn appends(run: &mut Run, index: u64, log_term: u64, commit: u64) -> Going {
        run.step(N1, |n| {
            n.enter(2, Role::Leader);
            n.append(&[1, 2]);
        })?;
        run.say(N1, Spoken::Append { to: N2, term: 2, index, log_term, commit, entries: 0 }, |_| {})
    }

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        appends(run, 1, 2, 0)
    }

    #[test]
    fn an_append_behind_an_entry_of_another_term_or_none_is_found() {
        assert_eq!(broken(violating), Some(AppendsFit::NAME));
        assert_eq!(broken(|run| appends(run, 7, 0, 0)), Some(AppendsFit::NAME));
        assert_eq!(broken(|run| appends(run, 1, 1, 0)), None);
        assert_eq!(broken(|run| appends(run, 0, 0, 0)), None);
    }

    #[test]
    fn an_append_that_tells_of_more_than_is_committed_is_found() {
        assert_eq!(broken(|run| appends(run, 2, 2, 1)), Some(AppendsFit::NAME));
    }

    #[test]
    fn what_a_leader_said_in_an_earlier_term_may_leave_late() {
        let late = broken(|run| {
            run.say(
                N1,
                Spoken::Append { to: N2, term: 1, index: 1, log_term: 1, commit: 9, entries: 0 },
                |n| {
                    n.enter(2, Role::Leader);
                    n.append(&[2]);
                },
            )
        });
        assert_eq!(late, None);
    }
}
