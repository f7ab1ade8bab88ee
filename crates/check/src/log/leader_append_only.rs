//! Leader append-only: who leads never lets go of what is in its log.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::change::Bits;
use whitewater_sim::{Role, Violation};

/// A leader never cuts or rewrites its own log.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LeaderAppendOnly;

impl LogRule for LeaderAppendOnly {
    const NAME: &'static str = "leader-append-only";
    const CLAIM: &'static str = "A leader never cuts or rewrites its own log.";
    const SOURCE: &'static str =
        "Ongaro's thesis, figure 3.2; SandTable's LeaderAppendOnly; CCF's PermittedLogChangesProp";
    const WAKES_ON: Bits = Bits::LOG_TRUNCATED;

    #[inline]
    fn observe(&mut self, change: &LogChange<'_>, _: &Books) -> Result<(), Violation> {
        let (before, after) = (*change.was, *change.is);
        if after.role != Role::Leader || before.role != Role::Leader || before.term != after.term {
            return Ok(());
        }
        let node = change.node;
        let message = format!(
            "{node} leads term {} and cuts its log from {} back to {}",
            after.term, change.before.last_index, change.kept
        );
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
}
