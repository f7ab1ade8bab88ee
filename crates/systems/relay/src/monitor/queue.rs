//! The synchronous queue: what is confirmed stays, terms come before claims, only an owner writes, and who was one leads no
//! more.

use super::claims;
use crate::node::RelayNode;
use crate::queue::{Fate, Queue};
use std::collections::BTreeMap;
use whitewater_check::Standing;
use whitewater_sim::{NodeId, Role, SLOTS, Violation};

/// What is known of the queue over all nodes.
#[derive(Debug)]
pub struct QueueRules {
    /// What was decided about a row first, and where.
    decided: BTreeMap<(usize, u32), (bool, NodeId)>,
    /// How many fates of each node were looked at.
    seen: Vec<usize>,
    /// How many writes without a claim each node had.
    unclaimed: Vec<u32>,
}

impl Default for QueueRules {
    fn default() -> QueueRules {
        QueueRules { decided: BTreeMap::new(), seen: vec![0; SLOTS], unclaimed: vec![0; SLOTS] }
    }
}

impl QueueRules {
    /// Looks at the queue of a node after an event; `fresh` if the node started with it.
    ///
    /// # Errors
    /// The rule that is broken.
    pub fn observe(
        &mut self,
        node: NodeId,
        view: &RelayNode,
        standing: Standing,
        fresh: bool,
    ) -> Result<(), Violation> {
        let Some(queue) = view.queue() else { return Ok(()) };
        self.stands(node, queue, standing, view.unclaimed_writes(), fresh)
    }

    /// A node that stands like this has this queue, and has taken on so many writes without owning it.
    fn stands(
        &mut self,
        node: NodeId,
        queue: &Queue,
        Standing { term, role, .. }: Standing,
        unclaimed: u32,
        fresh: bool,
    ) -> Result<(), Violation> {
        if fresh {
            self.seen[node.index()] = 0;
            self.unclaimed[node.index()] = 0;
        }
        self.terms(node, queue, term)?;
        self.leads(node, queue, (role == Role::Leader).then_some(term))?;
        self.writes(node, unclaimed)?;
        self.fates(node, queue.fates())
    }

    fn terms(&self, node: NodeId, queue: &Queue, term: u64) -> Result<(), Violation> {
        if queue.term() <= term {
            return Ok(());
        }
        let message =
            format!("{node} has the queue as claimed in term {}, and is in term {term}", queue.term());
        Err(violation(claims::TERM_BEFORE_CLAIM, node, queue.owner(), message))
    }

    /// `leads` is the term in which the node leads.
    fn leads(&self, node: NodeId, queue: &Queue, leads: Option<u64>) -> Result<(), Violation> {
        match queue.given_up() {
            Some((owner, term)) if owner == node && leads == Some(term) => {
                let message = format!("{node} has given up the queue in term {term} and leads on");
                Err(violation(claims::GIVEN_UP_KEPT, node, None, message))
            }
            _ => Ok(()),
        }
    }

    fn writes(&mut self, node: NodeId, unclaimed: u32) -> Result<(), Violation> {
        let before = std::mem::replace(&mut self.unclaimed[node.index()], unclaimed);
        if unclaimed <= before {
            return Ok(());
        }
        let message = format!("{node} takes on a write and does not own the queue");
        Err(violation(claims::CLAIMED_BEFORE_WRITTEN, node, None, message))
    }

    fn fates(&mut self, node: NodeId, fates: &[Fate]) -> Result<(), Violation> {
        let from = std::mem::replace(&mut self.seen[node.index()], fates.len());
        for fate in &fates[from..] {
            let row = (fate.owner.index(), fate.lsn);
            let (confirmed, by) = *self.decided.entry(row).or_insert((fate.confirmed, node));
            if confirmed == fate.confirmed {
                continue;
            }
            let word = |confirmed| if confirmed { "confirms" } else { "rolls back" };
            let message = format!(
                "{node} {} row {} of {}, which {by} {}",
                word(fate.confirmed),
                fate.lsn,
                fate.owner,
                word(confirmed)
            );
            return Err(violation(claims::CONFIRMED_KEPT, node, Some(by), message));
        }
        Ok(())
    }
}

fn violation((rule, claim): claims::Claim, node: NodeId, peer: Option<NodeId>, message: String) -> Violation {
    Violation { rule, claim, message, node: Some(node), peer }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::bug::Planted;
    use crate::row::Row;

    const N1: NodeId = NodeId::server(0);
    const N2: NodeId = NodeId::server(1);

    fn queue(rows: &[(NodeId, u32, &str)]) -> Queue {
        let mut queue = Queue::new(Planted::default());
        for &(origin, lsn, text) in rows {
            queue.apply(&Row { origin, lsn, text: text.into() });
        }
        queue
    }

    #[test]
    fn a_row_that_is_confirmed_here_and_rolled_back_there_is_found() {
        let begun = [(N1, 1, "promote 1"), (N1, 2, "sync x=1")];
        let confirmed = queue(&[&begun[..], &[(N1, 3, "confirm n1:2")]].concat());
        let rolled_back = queue(&[&begun[..], &[(N2, 1, "promote 2 n1:0")]].concat());
        let mut rules = QueueRules::default();
        rules.fates(N1, confirmed.fates()).unwrap();
        rules.fates(N1, confirmed.fates()).unwrap();
        assert_eq!(rules.fates(N2, rolled_back.fates()).unwrap_err().rule, "confirmed-kept");
    }

    #[test]
    fn a_claim_of_a_term_that_the_node_does_not_know_is_found() {
        let claimed = queue(&[(N1, 1, "promote 2")]);
        let rules = QueueRules::default();
        assert!(rules.terms(N2, &claimed, 2).is_ok());
        assert_eq!(rules.terms(N2, &claimed, 1).unwrap_err().rule, "term-before-claim");
    }

    #[test]
    fn a_former_owner_that_leads_on_in_its_term_is_found() {
        let given_up = queue(&[(N1, 1, "promote 2"), (N1, 2, "demote 2 0")]);
        let rules = QueueRules::default();
        assert_eq!(rules.leads(N1, &given_up, Some(2)).unwrap_err().rule, "given-up-kept");
        for (node, leads) in [(N1, None), (N1, Some(3)), (N2, Some(2))] {
            assert!(rules.leads(node, &given_up, leads).is_ok());
        }
    }

    #[test]
    fn a_write_by_nobodys_leave_is_found() {
        let mut rules = QueueRules::default();
        rules.writes(N1, 0).unwrap();
        let found = rules.writes(N1, 1);
        rules.writes(N1, 1).unwrap();
        assert_eq!(found.unwrap_err().rule, "claimed-before-written");
    }

    #[test]
    fn every_rule_is_asked_of_the_queue_that_a_node_has() {
        let broken = |queue: &Queue, (term, role), unclaimed| {
            let standing = Standing { term, role, ..Standing::default() };
            let found = QueueRules::default().stands(N1, queue, standing, unclaimed, false);
            found.err().map(|violation| violation.rule)
        };
        let given_up = queue(&[(N1, 1, "promote 2"), (N1, 2, "demote 2 0")]);
        assert_eq!(broken(&given_up, (2, Role::Follower), 0), None);
        assert_eq!(broken(&given_up, (1, Role::Follower), 0), Some("term-before-claim"));
        assert_eq!(broken(&given_up, (2, Role::Leader), 0), Some("given-up-kept"));
        assert_eq!(broken(&given_up, (3, Role::Leader), 0), None);
        assert_eq!(broken(&given_up, (2, Role::Follower), 1), Some("claimed-before-written"));
    }

    #[test]
    fn a_node_that_starts_again_is_looked_at_from_the_beginning() {
        let begun = [(N1, 1, "promote 1"), (N1, 2, "sync x=1")];
        let confirmed = queue(&[&begun[..], &[(N1, 3, "confirm n1:2")]].concat());
        let rolled_back = queue(&[&begun[..], &[(N2, 1, "promote 2 n1:0")]].concat());
        let mut rules = QueueRules::default();
        let mut stands = |queue, unclaimed, fresh| {
            let standing = Standing { term: 2, ..Standing::default() };
            let found = rules.stands(N1, queue, standing, unclaimed, fresh);
            found.err().map(|violation| violation.rule)
        };
        assert_eq!(stands(&confirmed, 0, false), None);
        assert_eq!(
            stands(&rolled_back, 0, true),
            Some("confirmed-kept"),
            "it has forgotten what it confirmed"
        );
        assert_eq!(stands(&rolled_back, 3, false), Some("claimed-before-written"));
        assert_eq!(stands(&rolled_back, 3, true), Some("claimed-before-written"), "it counts from nothing");
    }

    impl QueueRules {
        /// As if every row that anybody writes had been rolled back by n3.
        pub(in crate::monitor) fn presume_all_rolled_back(&mut self) {
            let rows = (0..3).flat_map(|owner| (1..200).map(move |lsn| (NodeId::server(owner).index(), lsn)));
            self.decided.extend(rows.map(|row| (row, (false, NodeId::server(2)))));
        }
    }

    /// A run that breaks each rule, in the order of [`super::super::RelayMonitor::rules`].
    pub(in crate::monitor) fn samples() -> Vec<Violation> {
        let begun = [(N1, 1, "promote 1"), (N1, 2, "sync x=1")];
        let confirmed = queue(&[&begun[..], &[(N1, 3, "confirm n1:2")]].concat());
        let rolled_back = queue(&[&begun[..], &[(N2, 1, "promote 2 n1:0")]].concat());
        let mut rules = QueueRules::default();
        rules.fates(N1, confirmed.fates()).unwrap();
        let claimed = queue(&[(N1, 1, "promote 2")]);
        let given_up = queue(&[(N1, 1, "promote 2"), (N1, 2, "demote 2 0")]);
        let broken = [
            rules.fates(N2, rolled_back.fates()),
            rules.terms(N2, &claimed, 1),
            rules.writes(N1, 1),
            rules.leads(N1, &given_up, Some(2)),
        ];
        broken.into_iter().map(|broken| broken.unwrap_err()).collect()
    }
}
