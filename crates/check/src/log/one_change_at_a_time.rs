//! One change at a time: no log has two changes of the membership that are not committed.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::change::Bits;
use whitewater_sim::Violation;

/// At most one change of the membership in a log is not committed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OneChangeAtATime;

impl LogRule for OneChangeAtATime {
    const NAME: &'static str = "one-change-at-a-time";
    const CLAIM: &'static str = "At most one change of the membership in a log is not committed.";
    const SOURCE: &'static str = "Ongaro's thesis, section 4.1; Vanlightly's MaxOneReconfigurationAtATime; Specula's SinglePendingLeaveJointInv";
    const WAKES_ON: Bits = Bits::LOG_APPENDED;

    #[inline]
    fn observe(&mut self, change: &LogChange<'_>, books: &Books) -> Result<(), Violation> {
        let committed = books.gold.last_index();
        let Some(&[first, second]) = change.changes.last_chunk() else { return Ok(()) };
        if first <= committed {
            return Ok(());
        }
        let node = change.node;
        let message = format!(
            "{node} has the changes {first} and {second} in its log, and only entries up to {committed} are committed"
        );
        Self::broken(node, None, message)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, Run, broken};
    use whitewater_sim::Role;

    fn two_changes(run: &mut Run, commit: u64) -> Going {
        run.step(N1, |n| {
            n.enter(1, Role::Leader);
            n.append(&[1, 1]);
            n.changes = vec![2];
            n.commit = commit;
        })?;
        run.step(N1, |n| {
            n.append(&[1, 1]);
            n.changes = vec![2, 4];
        })
    }

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        two_changes(run, 1)
    }

    #[test]
    fn a_change_behind_one_that_is_not_committed_is_found() {
        assert_eq!(broken(violating), Some(OneChangeAtATime::NAME));
    }

    #[test]
    fn a_change_behind_one_that_is_committed_is_in_order() {
        assert_eq!(broken(|run| two_changes(run, 2)), None);
    }
}
