//! State machine safety: nodes apply the same entries in the same order and get the same state.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::change::Bits;
use whitewater_sim::Violation;

/// Nodes apply the same entry at the same index and are then in the same state.
#[derive(Clone, Debug, Default)]
pub(crate) struct StateMachineSafety {
    /// For each index the hash of the first state seen there, 0 where none was.
    states: Vec<u64>,
}

impl LogRule for StateMachineSafety {
    const NAME: &'static str = "state-machine-safety";
    const CLAIM: &'static str =
        "Nodes apply the same entry at the same index and are then in the same state.";
    const SOURCE: &'static str = "Ongaro's thesis, figure 3.2; openraft";
    const WAKES_ON: Bits = Bits::APPLIED;

    #[inline]
    fn observe(&mut self, change: &LogChange<'_>, books: &Books) -> Result<(), Violation> {
        let (node, index) = (change.node, change.after.applied);
        let (own, committed) = (books.node(node).log.at(index), books.gold.at(index));
        if index > books.gold.last_index() {
            let message = format!("{node} applies entries up to {index}, which nobody has committed");
            return Self::broken(node, None, message);
        }
        if let (Some(own), Some(committed)) = (own, committed)
            && own.chain != committed.chain
        {
            let message = format!("{node} applies a log up to {index} that differs from the committed one");
            return Self::broken(node, None, message);
        }
        let Some(hash) = change.after.state_hash else { return Ok(()) };
        if self.first(index, hash) == hash {
            return Ok(());
        }
        let message =
            format!("{node} has applied entries up to {index} and is in another state than others were then");
        Self::broken(node, None, message)
    }
}

impl StateMachineSafety {
    /// The first state that was seen at `index`.
    #[inline]
    fn first(&mut self, index: u64, hash: u64) -> u64 {
        let index = index as usize;
        if index >= self.states.len() {
            self.states.resize(index + 1, 0);
        }
        let first = &mut self.states[index];
        if *first == 0 {
            *first = hash;
        }
        *first
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, N2, N3, Run, broken};
    use whitewater_sim::Role;

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        for (node, hash) in [(N1, 5), (N2, 6)] {
            run.step(node, |n| {
                n.enter(1, Role::Follower);
                n.append(&[1]);
                (n.commit, n.applied, n.state_hash) = (1, 1, Some(hash));
            })?;
        }
        Ok(())
    }

    #[test]
    fn equal_logs_that_lead_to_different_states_are_found() {
        assert_eq!(broken(violating), Some(StateMachineSafety::NAME));
    }

    #[test]
    fn other_states_at_other_indexes_are_lawful() {
        assert_eq!(
            broken(|run| {
                for (node, applied, hash) in [(N1, 1, 5), (N2, 2, 6), (N3, 1, 5)] {
                    run.step(node, |n| {
                        n.enter(1, Role::Follower);
                        n.append(&[1, 1]);
                        (n.commit, n.applied, n.state_hash) = (2, applied, Some(hash));
                    })?;
                }
                Ok(())
            }),
            None
        );
    }
}
