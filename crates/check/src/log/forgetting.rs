//! Forgetting: what a node no longer knows when its disk gave away what it had called durable, and what is owed then.
//!
//! A disk that lies takes promises back that others count on: a vote, so that two may lead one term; entries, so that a
//! quorum that held them no longer does. No Raft stands that. What rests on promises between nodes is not owed any more
//! from that moment on; what a node owes by itself is, by all others as before and by the one that forgot from its new
//! beginning on. Nothing is waived before a start that shows the loss: a disk that lied and was found out in time, or never
//! asked, excuses nothing.

use super::rules::RaftRules;
use crate::log_view::RaftView;
use whitewater_sim::NodeId;

/// Rules that a node keeps or breaks by itself, whatever others have forgotten. All others rest on what peers promised.
const BY_ITSELF: [&str; 14] = [
    "monotonic-terms",
    "vote-once",
    "grants-durable",
    "responses-durable",
    "acknowledgements-durable",
    "message-terms",
    "vote-kept",
    "durable-log-kept",
    "log-terms",
    "leader-append-only",
    "commit-within-log",
    "applied-durable",
    "commit-monotonic",
    "commit-own-term",
];

impl RaftRules {
    /// Whether a node that is about to start has lost a promise: a term or an entry that was durable, or a vote it sent.
    pub fn has_lost<V: RaftView + ?Sized>(&self, node: NodeId, view: &V) -> bool {
        let was = self.books.elections.of(node);
        let vote = self.log.vote_kept.sent(node).is_some_and(|sent| {
            view.term() < sent.term || view.term() == sent.term && view.vote() != Some(sent.candidate)
        });
        vote || view.term() < was.durable_term || self.has_lost_entries(node, view)
    }

    fn has_lost_entries<V: RaftView + ?Sized>(&self, node: NodeId, view: &V) -> bool {
        let shadow = self.books.node(node);
        let durable = shadow.standing.durable_index;
        let differs = |(index, was)| view.chain_at(index).is_some_and(|is| is != was);
        let kept = shadow.log.chain_at(durable).map(|chain| (durable, chain));
        // What a step cut off or replaced in which the disk died was durable as well; whether that was lawful nobody can tell.
        view.last_index() < durable.max(shadow.durable_before)
            || kept.is_some_and(differs)
            || shadow.kept_before.is_some_and(differs)
    }

    /// In the step in which its process or disk died a node has promised to have the log up to `index`.
    pub fn promise(&mut self, node: NodeId, index: u64) {
        let shadow = &mut self.books.nodes[node.position()];
        shadow.durable_before = shadow.durable_before.max(index);
    }

    /// A node has found out that its disk gave away what was durable: it may be in an earlier term than it was, though it
    /// makes sure that none of its votes is asked for again.
    pub fn forget_term(&mut self, node: NodeId) {
        self.books.elections.forget(node);
    }

    /// A node has lost what it had promised, and goes on as if it had never promised it: its past is forgotten here as
    /// well, and of all rules those are left that a node keeps by itself.
    pub fn forget(&mut self, node: NodeId) {
        self.forget_term(node);
        self.books.nodes[node.position()].standing.durable_index = 0;
        self.election.votes.forget(node);
        self.log.vote_kept.forget(node);
        for (name, _) in RaftRules::rules() {
            if !BY_ITSELF.contains(&name) {
                self.blind(name).expect("the name is that of a rule");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, N2, N3, Run, broken};
    use crate::log_view::Spoken;
    use whitewater_sim::Role;

    /// n1 votes for n2 in term 2 with two entries, and crashes.
    fn promised(run: &mut Run) -> Going {
        run.say(N1, Spoken::Grant { to: N2, term: 2 }, |n| {
            n.enter(2, Role::Follower);
            n.append(&[1, 2]);
            n.choose(N2);
        })?;
        run.crash(N1);
        Ok(())
    }

    #[test]
    fn a_lost_term_vote_or_entry_is_seen_at_the_start_and_nothing_else() {
        let lost = |change: fn(&mut crate::log::testing::Toy)| {
            let mut run = Run::new();
            promised(&mut run).unwrap();
            let mut toy = run.nodes[0].clone();
            change(&mut toy);
            run.rules.has_lost(N1, &toy)
        };
        assert!(!lost(|_| {}));
        assert!(!lost(|n| n.append(&[2])));
        assert!(!lost(|n| n.enter(3, Role::Follower)));
        assert!(lost(|n| n.cut(1)));
        assert!(lost(|n| (n.vote, n.durable_vote) = (None, None)));
        assert!(lost(|n| (n.term, n.durable_term) = (1, 1)));
        assert!(lost(|n| {
            n.cut(1);
            n.append(&[1]);
        }));
    }

    #[test]
    fn an_entry_from_before_the_step_in_which_the_disk_died_is_missed_where_another_stands() {
        let lost = |change: fn(&mut crate::log::testing::Toy)| {
            let mut run = Run::new();
            run.step(N1, |n| {
                n.enter(2, Role::Follower);
                n.append(&[1, 2]);
            })
            .unwrap();
            // A process that is dead may be seen to be so more than once.
            for _ in 0..2 {
                run.rules.died(N1, []).unwrap();
                run.crash(N1);
            }
            let mut toy = run.nodes[0].clone();
            change(&mut toy);
            run.rules.has_lost(N1, &toy)
        };
        assert!(!lost(|_| {}));
        assert!(lost(|n| {
            n.cut(0);
            n.append(&[1, 1]);
        }));
    }

    /// n1 forgets everything, then two lead one term, then n3 breaks a promise of its own if it does.
    fn forgetful(n3_forgets: bool) -> Option<&'static str> {
        broken(|run| {
            promised(run)?;
            run.rules.forget(N1);
            run.boot(N1, |n| {
                n.cut(0);
                n.enter(1, Role::Follower);
            })?;
            run.step(N2, |n| n.enter(2, Role::Leader))?;
            run.step(N3, |n| n.enter(2, Role::Leader))?;
            run.say(N1, Spoken::Grant { to: N3, term: 2 }, |n| {
                n.enter(2, Role::Follower);
                n.choose(N3);
            })?;
            run.crash(N3);
            run.boot(N3, |n| n.enter(if n3_forgets { 1 } else { 2 }, Role::Follower))
        })
    }

    #[test]
    fn after_one_has_forgotten_each_other_still_owes_what_it_owes_by_itself() {
        assert_eq!(forgetful(false), None);
        assert_eq!(forgetful(true), Some("monotonic-terms"));
    }

    #[test]
    fn every_rule_that_is_kept_up_is_there() {
        let rules = RaftRules::rules();
        assert!(BY_ITSELF.iter().all(|name| rules.iter().any(|(rule, _)| rule == name)));
    }
}
