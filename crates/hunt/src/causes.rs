//! Walks a recorded run backwards: from an event to what brought it about.

use whitewater_sim::{EventId, EventKind, NodeId, Trace, TraceEvent};

/// The event and what brought it about, backwards, to one that began by itself. An event that is not in the trace gives
/// an empty list.
///
/// A rule that is found broken only when time is up has no event that broke it. If its node refused messages, the last
/// refusal stands for that event, else the last thing that happened at the node.
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
    let refusal = || last_refusal(trace, event.node?, event.id).map(|refusal| refusal.id);
    match trace.event(event.cause) {
        Some(cause) if event.kind == EventKind::Violation && cause.time < event.time => {
            refusal().unwrap_or(cause.id)
        }
        None if event.kind == EventKind::Violation => refusal().unwrap_or(EventId::NONE),
        _ => event.cause,
    }
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

/// The last message that a node refused before an event.
pub(crate) fn last_refusal(trace: &Trace, node: NodeId, before: EventId) -> Option<&TraceEvent> {
    let earlier = trace.events.iter().rev().skip_while(|e| e.id >= before);
    earlier.into_iter().find(|e| e.node == Some(node) && is_refusal(e))
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
        let vote = sketch.timer(n(2), "election");
        let violation = sketch.violation_at_once(vote, n(2));
        assert_eq!(causes(&sketch.trace(), violation), [violation, vote]);
    }
}
