//! Vote once: a node never sends votes for two candidates of one term, across restarts.

use crate::change::{Bits, Change, Grant};
use crate::rule::Rule;
use std::collections::BTreeMap;
use whitewater_sim::{NodeId, Violation};

/// A node never sends votes for two candidates of one term, across restarts. What it only thought of does not count.
#[derive(Clone, Debug, Default)]
pub struct VoteOnce {
    vote_of: BTreeMap<(NodeId, u64), NodeId>,
}

impl VoteOnce {
    /// Forgets the votes of a node.
    pub(crate) fn forget(&mut self, node: NodeId) {
        self.vote_of.retain(|&(voter, _), _| voter != node);
    }
}

impl Rule for VoteOnce {
    fn name(&self) -> &'static str {
        "vote-once"
    }

    fn claim(&self) -> &'static str {
        "A node sends votes for at most one candidate of a term, restarts included."
    }

    fn source(&self) -> &'static str {
        "Ongaro's thesis, section 3.4; SandTable's VoteAssertions; Specula's VoteSafetyAcrossCrash"
    }

    fn wakes_on(&self) -> Bits {
        Bits::GRANT
    }

    fn observe(&mut self, change: &Change<'_>) -> Result<(), Violation> {
        let node = change.node;
        for &Grant { term, candidate } in change.grants {
            let first = *self.vote_of.entry((node, term)).or_insert(candidate);
            if first != candidate {
                let message = format!(
                    "{node} sends a vote for {candidate} in term {term}, in which it has sent one for {first}"
                );
                return Err(self.violation(message, node, Some(candidate)));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{Shadows, Standing};

    fn passes(steps: &[(u64, usize, bool)]) -> bool {
        let (mut rule, mut shadows) = (VoteOnce::default(), Shadows::default());
        steps.iter().all(|&(term, position, booted)| {
            let grants = [Grant { term, candidate: NodeId::server(position) }];
            rule.wake(&shadows.change(NodeId::server(2), Standing::default(), booted, &grants)).is_ok()
        })
    }

    #[test]
    fn votes_for_two_candidates_of_a_term_are_found_also_across_a_restart() {
        assert!(!passes(&[(1, 0, false), (1, 1, false)]));
        assert!(!passes(&[(1, 0, false), (1, 1, true)]));
    }

    #[test]
    fn the_same_vote_again_and_another_one_in_the_next_term_are_lawful() {
        assert!(passes(&[(1, 0, false), (1, 0, true), (2, 1, false)]));
    }

    #[test]
    fn a_vote_that_was_never_sent_binds_nobody() {
        let (mut rule, mut shadows) = (VoteOnce::default(), Shadows::default());
        let node = NodeId::server(2);
        let thought = Standing { term: 1, vote: Some(NodeId::server(0)), ..Standing::default() };
        assert!(rule.wake(&shadows.change(node, thought, false, &[])).is_ok());
        let grants = [Grant { term: 1, candidate: NodeId::server(1) }];
        assert!(rule.wake(&shadows.change(node, Standing::default(), true, &grants)).is_ok());
    }
}
