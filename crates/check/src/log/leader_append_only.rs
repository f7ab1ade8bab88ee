//! Leader append-only: only a follower ever lets go of what is in its log.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::change::Bits;
use whitewater_sim::{Role, Violation};

/// A leader never cuts or rewrites its own log, and a candidate does not change its.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LeaderAppendOnly;

impl LogRule for LeaderAppendOnly {
    const NAME: &'static str = "leader-append-only";
    const CLAIM: &'static str =
        "A leader never cuts or rewrites its own log, and a candidate does not change its.";
    const SOURCE: &'static str =
        "Ongaro's thesis, figure 3.2; SandTable's LeaderAppendOnly; CCF's PermittedLogChangesProp";
    const WAKES_ON: Bits = Bits(Bits::LOG_TRUNCATED.0 | Bits::LOG_APPENDED.0);

    fn observe(&mut self, change: &LogChange<'_>, _: &Books) -> Result<(), Violation> {
        let (before, after) = (change.election.before, change.election.after);
        if before.role != after.role || before.term != after.term || change.election.bits.meets(Bits::BOOT) {
            return Ok(());
        }
        let node = change.election.node;
        let cut = change.election.bits.meets(Bits::LOG_TRUNCATED);
        let message = match after.role {
            Role::Leader if cut => format!(
                "{node} leads term {} and cuts its log from {} back to {}",
                after.term, change.before.last_index, change.kept
            ),
            Role::Candidate | Role::PreCandidate => format!(
                "{node} is a candidate in term {} and changes its log after entry {}",
                after.term, change.kept
            ),
            _ => return Ok(()),
        };
        Self::broken(node, None, message)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, Run, broken};

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        run.step(N1, |n| n.enter(1, Role::Leader))?;
        run.step(N1, |n| n.append(&[1, 1]))?;
        run.step(N1, |n| n.cut(1))
    }

    #[test]
    fn a_leader_that_cuts_its_own_log_is_found() {
        assert_eq!(broken(violating), Some(LeaderAppendOnly::NAME));
    }

    #[test]
    fn a_leader_may_append_and_as_a_follower_of_a_later_term_it_may_cut() {
        assert_eq!(
            broken(|run| {
                run.step(N1, |n| n.enter(1, Role::Leader))?;
                run.step(N1, |n| n.append(&[1, 1]))?;
                run.step(N1, |n| {
                    n.enter(2, Role::Follower);
                    n.cut(1);
                })
            }),
            None
        );
    }

    #[test]
    fn a_candidate_that_takes_entries_is_found_and_one_that_steps_down_for_them_is_not() {
        let appends = |role| {
            move |run: &mut Run| {
                run.step(N1, |n| n.enter(1, Role::Candidate))?;
                run.step(N1, |n| {
                    n.role = role;
                    n.append(&[1]);
                })
            }
        };
        assert_eq!(broken(appends(Role::Candidate)), Some(LeaderAppendOnly::NAME));
        assert_eq!(broken(appends(Role::Follower)), None);
    }
}
