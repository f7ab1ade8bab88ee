//! Finds the first suspect: the earliest loss that nothing made good.

use std::cmp::Reverse;
use whitewater_sim::{EventId, EventKind, NodeId, Role, Subject, Trace, TraceEvent, Violation};

/// The first suspect of a violation: the earliest loss of a message from or to the node at which it shows that was
/// never made good before it showed.
///
/// A loss is made good by a message that was sent later, arrived, and is of the same kind on the same link, provided
/// its term is not lower: a repetition, or newer state that says the same and more. Of several losses, one between the
/// two nodes concerned goes before others, then one since both last started, then one in the present term of the leader
/// among them, then one by a node itself before one by the network, then the earlier one. A violation that shows at no
/// node in particular is blamed only on what nodes lost themselves.
pub fn suspect(trace: &Trace, violation: &Violation) -> Option<EventId> {
    let end = trace.violation.map_or(trace.events.len(), |id| position(trace, id));
    let events = &trace.events[..end];
    let present = present_term(events, violation);
    let losses = events.iter().enumerate().filter(|(_, e)| e.kind.is_loss());
    losses
        .filter_map(|(at, event)| Some((at, event, event.subject?)))
        .filter(|(_, event, subject)| match violation.node {
            Some(node) => subject.from == node || subject.to == node,
            None => event.kind == EventKind::Discard,
        })
        .filter(|(at, event, subject)| !is_made_good(trace, events, *at, event, *subject))
        .min_by_key(|(at, event, subject)| {
            let concerned = |node: NodeId| violation.node == Some(node) || violation.peer == Some(node);
            let between = violation.peer.is_none() || (concerned(subject.from) && concerned(subject.to));
            let fresh = !started_after(events, *at, *subject);
            let timely = match (subject.term, present) {
                (Some(term), Some(present)) => Some(term == present),
                _ => None,
            };
            let own = event.kind == EventKind::Discard;
            (Reverse((between, fresh, rank(timely), own)), event.id)
        })
        .map(|(_, event, _)| event.id)
}

/// In the present term is best, without a term is second.
const fn rank(timely: Option<bool>) -> u8 {
    match timely {
        Some(true) => 2,
        None => 1,
        Some(false) => 0,
    }
}

fn position(trace: &Trace, id: EventId) -> usize {
    trace.events.partition_point(|e| e.id < id)
}

/// The term of the last message that one of the nodes concerned sent, or lost, while it led.
fn present_term(events: &[TraceEvent], violation: &Violation) -> Option<u64> {
    let concerned = |node: NodeId| {
        (violation.node.is_none() && violation.peer.is_none())
            || violation.node == Some(node)
            || violation.peer == Some(node)
    };
    events.iter().rev().find_map(|event| {
        let subject = event.subject.filter(|s| event.node == Some(s.from) && concerned(s.from))?;
        if event.role == Some(Role::Leader) { subject.term } else { None }
    })
}

/// Whether sender or receiver was started after an event.
fn started_after(events: &[TraceEvent], at: usize, subject: Subject) -> bool {
    let ends = [Some(subject.from), Some(subject.to)];
    events[at..].iter().any(|e| e.kind == EventKind::Boot && ends.contains(&e.node))
}

/// Whether something that arrived stands for what was lost.
fn is_made_good(trace: &Trace, events: &[TraceEvent], at: usize, loss: &TraceEvent, lost: Subject) -> bool {
    let sent = sending(trace, loss);
    let same = |s: Subject| s.from == lost.from && s.to == lost.to && s.name == lost.name;
    let arrivals = |events: &'_ [TraceEvent], stands: &dyn Fn(&TraceEvent, Subject) -> bool| {
        let arrived = |e: &TraceEvent| e.kind == EventKind::Recv;
        events.iter().any(|e| arrived(e) && e.subject.is_some_and(|s| same(s) && stands(e, s)))
    };
    // The other copy of a duplicate, whenever it came.
    let copy = |e: &TraceEvent, _: Subject| loss.cause == e.cause && is_send(trace, e.cause);
    let later = |e: &TraceEvent, s: Subject| {
        let since = sending(trace, e) > sent;
        since && (s.key == lost.key || s.term.is_none() || s.term >= lost.term)
    };
    arrivals(events, &copy) || arrivals(&events[at..], &later)
}

fn is_send(trace: &Trace, id: EventId) -> bool {
    trace.event(id).is_some_and(|e| e.kind == EventKind::Send)
}

/// The sending a message's event goes back to; the event itself if the message never left.
fn sending(trace: &Trace, event: &TraceEvent) -> EventId {
    if is_send(trace, event.cause) { event.cause } else { event.id }
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
        for (from, to, name) in [(n(1), n(2), "Rows"), (n(1), n(3), "State"), (n(2), n(1), "State")] {
            let sent = sketch.send(NONE, from, to, name, 3);
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
    fn a_violation_at_no_node_is_blamed_on_what_a_node_lost_itself() {
        let mut sketch = Sketch::new();
        sketch.lose(Drop, NONE, n(1), n(3), "State", 3);
        let loss = sketch.lose(Discard, NONE, n(1), n(2), "State", 3);
        let violation = Violation { node: None, peer: None, ..stranded(n(2), n(1)) };
        assert_eq!(suspect(&sketch.trace(), &violation), Some(loss));
    }
}
