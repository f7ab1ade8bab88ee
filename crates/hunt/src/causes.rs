//! Walks a recorded run backwards: from an event to what brought it about.

use crate::words::remarks;
use whitewater_sim::{EventId, EventKind, NodeId, Role, Trace, TraceEvent};

/// The event and what brought it about, backwards, to one that began by itself. An event that is not in the trace gives
/// an empty list.
///
/// A rule that is found broken because time is up has no event that broke it: the run stands at some event, perhaps of
/// another node, at which nothing was done. If its node refused messages, the last refusal stands for the cause.
pub fn causes(trace: &Trace, event: EventId) -> Vec<EventId> {
    let mut chain = Vec::new();
    let mut next = trace.event(event);
    while let Some(event) = next {
        chain.push(event.id);
        next = before(trace, event);
    }
    chain
}

/// What brought an event about, if it did not begin by itself.
pub(crate) fn before<'a>(trace: &'a Trace, event: &TraceEvent) -> Option<&'a TraceEvent> {
    trace.event(cause(trace, event)).filter(|cause| cause.id < event.id)
}

/// The cause of an event, or what stands for it.
fn cause(trace: &Trace, event: &TraceEvent) -> EventId {
    if event.kind != EventKind::Violation || broken_by(trace, event).is_some() {
        return event.cause;
    }
    let refusal = event.node.and_then(|node| last_refusal(trace, node, event.id));
    refusal.map_or(event.cause, |refusal| refusal.id)
}

/// The event that broke a rule, if it was one: something that its node did at that time.
pub(crate) fn broken_by<'a>(trace: &'a Trace, violation: &TraceEvent) -> Option<&'a TraceEvent> {
    let cause = trace.event(violation.cause)?;
    let acts = matches!(cause.kind, EventKind::Boot | EventKind::Crash) || !remarks(cause).is_empty();
    let there = violation.node.is_none() || cause.node == violation.node;
    (acts && there && cause.time == violation.time).then_some(cause)
}

/// The refusal that began an unbroken row of equal ones, of which `last` is the last: no message of the kind was taken on
/// that link in between. With it how many they are.
pub(crate) fn refusals(trace: &Trace, last: &TraceEvent) -> (EventId, usize) {
    let link = |e: &TraceEvent| e.subject.map(|s| (s.from, s.to, s.name));
    let earlier = trace.events.iter().rev().skip_while(|e| e.id > last.id);
    let alike = earlier.filter(|e| e.kind == EventKind::Recv && link(e) == link(last));
    let row = alike.take_while(|e| is_refusal(e));
    row.fold((last.id, 0), |(_, count), event| (event.id, count + 1))
}

/// The last message that a node refused before an event; if it refused any of a leader, the last of those.
pub(crate) fn last_refusal(trace: &Trace, node: NodeId, before: EventId) -> Option<&TraceEvent> {
    let refused = |e: &&TraceEvent| e.id < before && e.node == Some(node) && is_refusal(e);
    let led = |e: &&TraceEvent| trace.event(e.cause).is_some_and(|sent| sent.role == Some(Role::Leader));
    let mut refusals = trace.events.iter().rev().filter(refused);
    let last = refusals.clone().next();
    refusals.find(led).or(last)
}

/// Whether a node remarked that it did not take the message it received. A vote that is refused is an answer.
pub(crate) fn is_refusal(event: &TraceEvent) -> bool {
    let refuses = |note: &String| {
        let note = note.to_ascii_lowercase();
        !note.contains("vote") && ["refus", "reject", "ignor", "skip"].iter().any(|word| note.contains(word))
    };
    event.kind == EventKind::Recv && event.notes.iter().any(refuses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traces::{Sketch, n};

    #[test]
    fn a_chain_ends_at_an_event_that_began_by_itself() {
        let mut sketch = Sketch::new();
        let start = sketch.timer(n(1), "election");
        let other = sketch.timer(n(3), "election");
        let sent = sketch.send(start, n(1), n(2), "Vote", 1);
        let received = sketch.receive(sent, "granted");
        let trace = sketch.trace();
        assert_eq!(causes(&trace, received), [received, sent, start]);
        assert_eq!(causes(&trace, other), [other]);
        assert_eq!(causes(&trace, EventId(99)), []);
    }

    #[test]
    fn what_is_found_when_time_is_up_goes_back_to_the_last_refusal() {
        let mut sketch = Sketch::new();
        let sent = sketch.send(EventId::NONE, n(1), n(2), "Rows", 1);
        let refused = sketch.receive(sent, "refused: no leader known");
        let heartbeat = sketch.timer(n(2), "heartbeat");
        let violation = sketch.violation(heartbeat, n(2));
        assert_eq!(causes(&sketch.trace(), violation), [violation, refused, sent]);
    }

    #[test]
    fn a_row_of_refusals_begins_after_the_last_message_that_was_taken() {
        let mut sketch = Sketch::new();
        let mut rows = |note: &str| {
            let sent = sketch.send(EventId::NONE, n(1), n(2), "Rows", 1);
            sketch.receive(sent, note)
        };
        rows("refused");
        rows("");
        let first = rows("refused");
        let last = rows("refused");
        let trace = sketch.trace();
        let last = trace.event(last).unwrap();
        assert_eq!(refusals(&trace, last), (first, 2));
    }

    #[test]
    fn what_breaks_a_rule_at_once_is_its_own_cause() {
        let mut sketch = Sketch::new();
        let sent = sketch.send(EventId::NONE, n(1), n(2), "Rows", 1);
        sketch.receive(sent, "refused: no leader known");
        let vote = sketch.push(EventKind::Timer, Some(n(2)), EventId::NONE, "election", "votes n2");
        let violation = sketch.violation_at_once(vote, n(2));
        assert_eq!(causes(&sketch.trace(), violation), [violation, vote]);
    }

    #[test]
    fn a_refusal_of_a_leader_goes_before_a_later_one_of_somebody_else() {
        let mut sketch = Sketch::new();
        let mut refused = |from, role| {
            sketch.role(from, role);
            let sent = sketch.send(EventId::NONE, from, n(2), "Rows", 1);
            sketch.receive(sent, "refused")
        };
        let of_leader = refused(n(1), Role::Leader);
        refused(n(3), Role::Follower);
        let violation = sketch.violation(EventId::NONE, n(2));
        assert_eq!(causes(&sketch.trace(), violation)[1], of_leader);
    }

    #[test]
    fn what_is_noticed_when_another_node_acts_goes_back_to_the_last_refusal() {
        let mut sketch = Sketch::new();
        let sent = sketch.send(EventId::NONE, n(1), n(2), "Rows", 1);
        let refused = sketch.receive(sent, "refused: no leader known");
        let other = sketch.push(EventKind::Timer, Some(n(3)), EventId::NONE, "election", "votes n3");
        let violation = sketch.violation_at_once(other, n(2));
        assert_eq!(causes(&sketch.trace(), violation), [violation, refused, sent]);
    }
}
