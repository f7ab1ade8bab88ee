//! Finds the first suspect: the earliest loss that nothing made good, or the crash that a node did not survive whole.

use crate::causes::broken_by;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use whitewater_sim::{EventId, EventKind, NodeId, Role, Subject, Trace, TraceEvent, Violation};

/// The first suspect of a violation: the earliest loss of a message from or to the node at which it shows that was
/// never made good before it showed.
///
/// A loss is made good by a message that was sent later and arrived on the same link, and that is of the same kind and
/// of no lower term - a repetition, or newer state that says the same and more - or has the same content and term under
/// another kind. Of several losses, one between the two nodes concerned goes before others, then one since both last
/// started, then one in the present term of the leader among them, then one at a leader, then one by a node itself before
/// one by the network, then the earlier one. A violation that shows at no node in particular is blamed only on what nodes
/// lost themselves.
///
/// What one node breaks at once, with no other concerned, no message could have mended: there is a suspect only if the
/// node broke it as it started, and that is its last crash.
pub fn suspect(trace: &Trace, violation: &Violation) -> Option<EventId> {
    let end = trace.violation.map_or(trace.events.len(), |id| trace.events.partition_point(|e| e.id < id));
    let events = &trace.events[..end];
    let breaker = trace.violation.and_then(|id| broken_by(trace, trace.event(id)?));
    if let (Some(node), None, Some(cause)) = (violation.node, violation.peer, breaker) {
        let crashed = |e: &&TraceEvent| e.kind == EventKind::Crash && e.node == Some(node);
        let crash = events.iter().rev().find(crashed).map(|crash| crash.id);
        return crash.filter(|_| cause.kind == EventKind::Boot);
    }
    let arrivals = Arrivals::of(trace, events);
    let present = present_term(events, violation);
    let concerned = |node: NodeId| violation.node == Some(node) || violation.peer == Some(node);
    let losses = events.iter().filter(|e| e.kind.is_loss()).filter_map(|e| Some((e, e.subject?)));
    let blamed = losses.filter(|(event, subject)| match violation.node {
        Some(node) => subject.from == node || subject.to == node,
        None => event.kind == EventKind::Discard,
    });
    let standing = blamed.filter(|(event, subject)| !arrivals.make_good(trace, event, *subject));
    let worst = standing.min_by_key(|(event, subject)| {
        let between = violation.peer.is_none() || (concerned(subject.from) && concerned(subject.to));
        let fresh = !arrivals.started_after(event.id, *subject);
        let own = event.kind == EventKind::Discard;
        let leads = event.node == Some(subject.from) && event.role == Some(Role::Leader);
        (Reverse((between, fresh, timeliness(subject.term, present), leads, own)), event.id)
    });
    worst.map(|(event, _)| event.id)
}

/// The present term is best, none is second.
fn timeliness(term: Option<u64>, present: Option<u64>) -> u8 {
    match (term, present) {
        (Some(term), Some(present)) if term == present => 2,
        (Some(_), Some(_)) => 0,
        _ => 1,
    }
}

/// The term of the last message that one of the nodes concerned sent, or lost, while it led.
fn present_term(events: &[TraceEvent], violation: &Violation) -> Option<u64> {
    let nobody = violation.node.is_none() && violation.peer.is_none();
    let concerned = |node: NodeId| nobody || violation.node == Some(node) || violation.peer == Some(node);
    events.iter().rev().find_map(|event| {
        let subject = event.subject.filter(|s| event.node == Some(s.from) && concerned(s.from))?;
        if event.role == Some(Role::Leader) { subject.term } else { None }
    })
}

type Link = (NodeId, NodeId);

/// What arrived, and who started when.
#[derive(Default)]
struct Arrivals {
    /// By link, in order: the event, the one that sent it, and the subject.
    on_link: BTreeMap<Link, Vec<(EventId, EventId, Subject)>>,
    /// Sends of which some copy arrived.
    sends: BTreeSet<EventId>,
    last_start: BTreeMap<NodeId, EventId>,
}

impl Arrivals {
    fn of(trace: &Trace, events: &[TraceEvent]) -> Arrivals {
        let mut arrivals = Arrivals::default();
        for event in events {
            match (event.kind, event.subject, event.node) {
                (EventKind::Recv, Some(s), _) => {
                    let sent = sending(trace, event);
                    arrivals.on_link.entry((s.from, s.to)).or_default().push((event.id, sent, s));
                    arrivals.sends.insert(sent);
                }
                (EventKind::Boot, _, Some(node)) => {
                    arrivals.last_start.insert(node, event.id);
                }
                _ => {}
            }
        }
        arrivals
    }

    /// Whether something that arrived stands for what was lost.
    fn make_good(&self, trace: &Trace, loss: &TraceEvent, lost: Subject) -> bool {
        let sent = sending(trace, loss);
        if self.sends.contains(&sent) {
            return true; // the other copy of a duplicate
        }
        let link = self.on_link.get(&(lost.from, lost.to));
        // From the end: what was repeated till the end is found at once.
        link.is_some_and(|arrived| {
            let later = arrived.iter().rev().take_while(|(at, ..)| *at > sent);
            later.into_iter().any(|(_, since, s)| *since > sent && stands_for(*s, lost))
        })
    }

    /// Whether sender or receiver was started after an event.
    fn started_after(&self, event: EventId, subject: Subject) -> bool {
        [subject.from, subject.to].iter().any(|node| self.last_start.get(node).is_some_and(|at| *at > event))
    }
}

/// Whether a message says what another on its link would have said.
fn stands_for(arrived: Subject, lost: Subject) -> bool {
    let same = arrived.key == lost.key && arrived.term == lost.term;
    match arrived.name == lost.name {
        true => same || arrived.term.is_none() || arrived.term >= lost.term,
        false => same && lost.term.is_some(),
    }
}

/// The sending a message's event goes back to; the event itself if the message never left.
fn sending(trace: &Trace, event: &TraceEvent) -> EventId {
    let sent = trace.event(event.cause).is_some_and(|e| e.kind == EventKind::Send);
    if sent { event.cause } else { event.id }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traces::{Sketch, n, stranded};
    use EventKind::{Cut, Discard, Down, Drop};

    const NONE: EventId = EventId::NONE;

    fn suspected(mut sketch: Sketch) -> Option<EventId> {
        sketch.violation(NONE, n(2));
        suspect(&sketch.trace(), &stranded(n(2), n(1)))
    }

    #[test]
    fn a_loss_that_was_repeated_is_no_suspect() {
        let mut sketch = Sketch::new();
        sketch.lose(Drop, NONE, n(1), n(2), "State", 3);
        let again = sketch.send(NONE, n(1), n(2), "State", 3);
        sketch.receive(again, "");
        assert_eq!(suspected(sketch), None);
    }

    #[test]
    fn what_was_under_way_before_does_not_make_a_loss_good() {
        let mut sketch = Sketch::new();
        let before = sketch.send(NONE, n(1), n(2), "State", 3);
        let loss = sketch.lose(Discard, NONE, n(1), n(2), "State", 3);
        sketch.receive(before, "");
        assert_eq!(suspected(sketch), Some(loss));
    }

    #[test]
    fn newer_state_makes_a_loss_good_and_older_state_does_not() {
        let lost_then = |term| {
            let mut sketch = Sketch::new();
            let loss = sketch.lose(Cut, NONE, n(1), n(2), "State", 3);
            let other = sketch.send(NONE, n(1), n(2), "State", term);
            sketch.receive(other, "");
            (suspected(sketch), loss)
        };
        assert_eq!(lost_then(4).0, None);
        let (found, loss) = lost_then(2);
        assert_eq!(found, Some(loss));
    }

    #[test]
    fn another_kind_another_link_or_the_other_direction_do_not_make_a_loss_good() {
        let mut sketch = Sketch::new();
        let loss = sketch.lose(Discard, NONE, n(1), n(2), "State", 3);
        for (from, to, name, key) in
            [(n(1), n(2), "Rows", 4), (n(1), n(3), "State", 3), (n(2), n(1), "State", 3)]
        {
            let sent = sketch.send(NONE, from, to, name, key);
            sketch.receive(sent, "");
        }
        assert_eq!(suspected(sketch), Some(loss));
    }

    #[test]
    fn the_lost_copy_of_a_message_that_arrived_is_no_suspect() {
        let mut sketch = Sketch::new();
        let sent = sketch.send(NONE, n(1), n(2), "State", 3);
        sketch.receive(sent, "");
        sketch.lose(Down, sent, n(1), n(2), "State", 3);
        assert_eq!(suspected(sketch), None);
    }

    #[test]
    fn a_loss_by_a_node_goes_before_an_earlier_one_by_the_network() {
        let mut sketch = Sketch::new();
        sketch.lose(Drop, NONE, n(1), n(2), "Rows", 3);
        let loss = sketch.lose(Discard, NONE, n(1), n(2), "State", 3);
        assert_eq!(suspected(sketch), Some(loss));
    }

    #[test]
    fn a_loss_in_the_present_term_goes_before_an_earlier_one_of_an_old_term() {
        let mut sketch = Sketch::new();
        sketch.lose(Discard, NONE, n(1), n(2), "Hint", 2);
        sketch.role(n(1), Role::Leader);
        let loss = sketch.lose(Drop, NONE, n(1), n(2), "State", 3);
        assert_eq!(suspected(sketch), Some(loss));
    }

    #[test]
    fn the_same_content_under_another_kind_makes_a_loss_good() {
        let lost_then = |key| {
            let mut sketch = Sketch::new();
            sketch.lose(Discard, NONE, n(1), n(2), "VoteRequest", 3);
            let sent = sketch.send(NONE, n(1), n(2), "SubscribeReply", key);
            sketch.receive(sent, "");
            suspected(sketch)
        };
        assert_eq!(lost_then(3), None);
        assert!(lost_then(4).is_some());
    }

    #[test]
    fn what_a_leader_lost_goes_before_what_it_lost_as_a_candidate() {
        let mut sketch = Sketch::new();
        sketch.role(n(1), Role::Candidate);
        sketch.lose(Discard, NONE, n(1), n(2), "VoteRequest", 3);
        sketch.role(n(1), Role::Leader);
        let loss = sketch.lose(Discard, NONE, n(1), n(2), "LeaderAnnounce", 3);
        assert_eq!(suspected(sketch), Some(loss));
    }

    #[test]
    fn a_loss_that_a_restart_has_outdated_comes_last() {
        let mut sketch = Sketch::new();
        sketch.lose(Discard, NONE, n(1), n(2), "Hint", 3);
        sketch.push(EventKind::Boot, Some(n(2)), NONE, "", "");
        let loss = sketch.lose(Drop, NONE, n(1), n(2), "State", 3);
        assert_eq!(suspected(sketch), Some(loss));
    }

    #[test]
    fn losses_of_nodes_not_concerned_are_not_suspected() {
        let mut sketch = Sketch::new();
        sketch.lose(Discard, NONE, n(1), n(3), "State", 3);
        assert_eq!(suspected(sketch), None);
    }

    #[test]
    fn what_a_node_breaks_alone_as_it_starts_is_blamed_on_its_last_crash() {
        let found = |restarts: bool| {
            let mut sketch = Sketch::new();
            sketch.push(EventKind::Crash, Some(n(2)), NONE, "", "");
            let crash = sketch.push(EventKind::Crash, Some(n(2)), NONE, "", "");
            sketch.lose(Discard, NONE, n(1), n(2), "State", 3);
            let boot = sketch.push(EventKind::Boot, Some(n(2)), NONE, "", "");
            let vote = sketch.push(EventKind::Timer, Some(n(2)), NONE, "election", "votes n2");
            let cause = if restarts { boot } else { vote };
            sketch.violation_at_once(cause, n(2));
            let violation = Violation { peer: None, ..stranded(n(2), n(1)) };
            (suspect(&sketch.trace(), &violation), crash)
        };
        let (found_at_start, crash) = found(true);
        assert_eq!(found_at_start, Some(crash));
        assert_eq!(found(false).0, None);
    }

    #[test]
    fn a_violation_at_no_node_is_blamed_on_what_a_node_lost_itself() {
        let mut sketch = Sketch::new();
        sketch.lose(Drop, NONE, n(1), n(3), "State", 3);
        let loss = sketch.lose(Discard, NONE, n(1), n(2), "State", 3);
        let violation = Violation { node: None, peer: None, ..stranded(n(2), n(1)) };
        assert_eq!(suspect(&sketch.trace(), &violation), Some(loss));
    }
}
