//! Applied durable: whoever does not wait for its disk waits for it before it applies.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::change::Bits;
use whitewater_sim::Violation;

/// A node that goes on while its disk writes applies only entries that it has on its own disk.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AppliedDurable;

impl LogRule for AppliedDurable {
    const NAME: &'static str = "applied-durable";
    const CLAIM: &'static str =
        "A node that goes on while its disk writes applies only entries that it has on its own disk.";
    const SOURCE: &'static str = "etcd's asynchronous storage writes";
    const WAKES_ON: Bits = Bits(Bits::APPLIED.0 | Bits::BOOT.0);

    #[inline]
    fn observe(&mut self, change: &LogChange<'_>, books: &Books) -> Result<(), Violation> {
        let (node, is) = (change.node, change.after);
        if is.applied <= is.durable_index || !change.applies_durable_only || books.node(node).forgiven {
            return Ok(());
        }
        let message = format!(
            "{node} has applied entries up to {}, and only those up to {} are on its disk",
            is.applied, is.durable_index
        );
        Self::broken(node, None, message)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, Run, broken};
    use whitewater_sim::Role;

    fn applies(run: &mut Run, applied: u64, applies_durable_only: bool) -> Going {
        run.step(N1, |n| {
            n.enter(1, Role::Follower);
            n.append(&[1, 1]);
            n.applies_durable_only = applies_durable_only;
            (n.durable_index, n.commit, n.applied) = (1, 2, applied);
        })
    }

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        applies(run, 2, true)
    }

    #[test]
    fn an_entry_that_is_applied_before_the_own_disk_has_it_is_found() {
        assert_eq!(broken(violating), Some(AppliedDurable::NAME));
    }

    #[test]
    fn what_is_durable_may_be_applied_and_so_may_anything_by_a_node_that_waits_for_its_disk() {
        assert_eq!(broken(|run| applies(run, 1, true)), None);
        assert_eq!(broken(|run| applies(run, 2, false)), None);
    }

    #[test]
    fn a_node_whose_disk_lost_what_it_had_promised_is_forgiven() {
        let forgiven = |run: &mut Run| {
            run.rules.forgive(N1);
            violating(run)
        };
        assert_eq!(broken(forgiven), None);
    }
}
