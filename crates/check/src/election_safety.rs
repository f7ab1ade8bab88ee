//! Election safety over history: a term has at most one leader, ever.

use crate::change::{Bits, Change};
use crate::rule::Rule;
use std::collections::BTreeMap;
use whitewater_sim::{NodeId, Role, Violation};

/// A term has at most one leader, at whatever times they lead.
#[derive(Clone, Debug, Default)]
pub struct ElectionSafety {
    leader_of: BTreeMap<u64, NodeId>,
}

impl ElectionSafety {
    /// Who led `term`, if anybody ever did.
    pub fn leader_of(&self, term: u64) -> Option<NodeId> {
        self.leader_of.get(&term).copied()
    }
}

impl Rule for ElectionSafety {
    fn name(&self) -> &'static str {
        "election-safety"
    }

    fn claim(&self) -> &'static str {
        "A term has at most one leader, ever."
    }

    fn source(&self) -> &'static str {
        "Ongaro's thesis, figure 3.2; over history as openraft checks it"
    }

    fn wakes_on(&self) -> Bits {
        Bits::ROLE | Bits::TERM
    }

    fn observe(&mut self, change: &Change<'_>) -> Result<(), Violation> {
        if change.after.role != Role::Leader {
            return Ok(());
        }
        let (node, term) = (change.node, change.after.term);
        let first = *self.leader_of.entry(term).or_insert(node);
        if first == node {
            return Ok(());
        }
        Err(self.violation(
            format!("{node} leads term {term}, which {first} has led before"),
            node,
            Some(first),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{Shadows, Standing};

    fn leads(rule: &mut ElectionSafety, shadows: &mut Shadows, position: usize, term: u64) -> bool {
        let node = NodeId::server(position);
        let mut step = |role| {
            let after = Standing { term, durable_term: term, role, ..Standing::default() };
            rule.wake(&shadows.change(node, after, false, &[])).is_ok()
        };
        step(Role::Leader) && step(Role::Follower)
    }

    #[test]
    fn a_second_leader_of_a_term_is_found_though_the_first_has_stepped_down() {
        let (mut rule, mut shadows) = (ElectionSafety::default(), Shadows::default());
        assert!(leads(&mut rule, &mut shadows, 0, 4));
        assert!(!leads(&mut rule, &mut shadows, 1, 4));
    }

    #[test]
    fn the_same_leader_again_and_another_one_in_the_next_term_are_lawful() {
        let (mut rule, mut shadows) = (ElectionSafety::default(), Shadows::default());
        assert!(leads(&mut rule, &mut shadows, 0, 4));
        assert!(leads(&mut rule, &mut shadows, 0, 4));
        assert!(leads(&mut rule, &mut shadows, 1, 5));
        assert_eq!(rule.leader_of(4), Some(NodeId::server(0)));
    }
}
