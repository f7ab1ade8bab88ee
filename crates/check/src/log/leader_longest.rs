//! Leader longest: nobody has entries of a term beyond those that its leader wrote.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::change::Bits;
use std::collections::BTreeMap;
use whitewater_sim::{Role, Violation};

/// Nobody has entries of a term beyond those that its leader wrote.
#[derive(Clone, Debug, Default)]
pub(crate) struct LeaderLongest {
    /// By term the last index that its leader has had in its log.
    written: BTreeMap<u64, u64>,
    /// The latest of them, which is asked for most.
    latest: (u64, u64),
}

impl LogRule for LeaderLongest {
    const NAME: &'static str = "leader-longest";
    const CLAIM: &'static str = "Nobody has entries of a term beyond those that its leader wrote.";
    const SOURCE: &'static str =
        "etcd's ElectionSafetyInv, SandTable's LeaderTermLogHasGreatestIdx, CCF's ElectionSafetyInv";
    const WAKES_ON: Bits = Bits(Bits::LOG_APPENDED.0 | Bits::ROLE.0);

    #[inline]
    fn observe(&mut self, change: &LogChange<'_>, books: &Books) -> Result<(), Violation> {
        let (node, is) = (change.node, *change.is);
        let log = &books.node(node).log;
        let (last, index) = (log.last().term, log.last_index());
        if is.role == Role::Leader {
            // Before its first entry it has written none, so that whoever has one has it from nobody.
            let own = if last == is.term { index } else { 0 };
            let written = self.written.entry(is.term).or_default();
            *written = own.max(*written);
            self.latest = self.latest.max((is.term, *written));
            return Ok(());
        }
        if !change.bits.meets(Bits::LOG_APPENDED) {
            return Ok(());
        }
        let written =
            if last == self.latest.0 { Some(self.latest.1) } else { self.written.get(&last).copied() };
        // Of a term whose leader was never seen nothing is known.
        let Some(written) = written.filter(|&written| index > written && index > log.base()) else {
            return Ok(());
        };
        let message = format!(
            "{node} has an entry of term {last} at index {index}, and the leader of that term has written {}",
            if written == 0 { "none".to_owned() } else { format!("none behind index {written}") }
        );
        Self::broken(node, None, message)
    }
}

impl LeaderLongest {
    /// The leader of a term may have written more than it has shown.
    pub(crate) fn lose_sight(&mut self, term: u64) {
        self.written.insert(term, u64::MAX);
        if self.latest.0 == term {
            self.latest.1 = u64::MAX;
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, N2, Run, broken};

    fn leads_with(run: &mut Run, count: usize, followed_by: usize) -> Going {
        run.step(N1, |n| n.enter(1, Role::Leader))?;
        run.step(N1, |n| n.append(&vec![1; count]))?;
        run.step(N2, |n| {
            n.enter(1, Role::Follower);
            n.append(&vec![1; followed_by]);
        })
    }

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        leads_with(run, 1, 2)
    }

    #[test]
    fn an_entry_that_the_leader_of_its_term_never_wrote_is_found() {
        assert_eq!(broken(violating), Some(LeaderLongest::NAME));
        assert_eq!(broken(|run| leads_with(run, 0, 1)), Some(LeaderLongest::NAME));
    }

    #[test]
    fn a_follower_may_have_all_that_the_leader_wrote_even_if_that_has_lost_it() {
        assert_eq!(broken(|run| leads_with(run, 2, 2)), None);
        assert_eq!(
            broken(|run| {
                run.step(N1, |n| n.enter(1, Role::Leader))?;
                run.step(N1, |n| {
                    n.append(&[1, 1]);
                    n.durable_index = 0;
                })?;
                run.crash(N1);
                run.boot(N1, |_| {})?;
                run.step(N2, |n| {
                    n.enter(1, Role::Follower);
                    n.append(&[1, 1]);
                })
            }),
            None
        );
    }
}
