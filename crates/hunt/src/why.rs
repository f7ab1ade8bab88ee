//! Chooses the few events that explain a violation: what led to it, what led to the first suspect, and what was between.

use crate::choice::{LEADERS_MAX, chain};
use crate::story::Story;
use std::collections::BTreeSet;
use whitewater_sim::{EventId, EventKind, NodeId, Role, Subject, TraceEvent, Violation};

/// Events an explanation holds at most.
const EVENTS_MAX: usize = 14;

/// Events of each of the two chains.
const CHAIN_MAX: usize = 6;

/// The events that explain a violation, the latest first. Only events that are told are among them.
pub(crate) fn why(story: &Story<'_>, violation: Option<&Violation>) -> Vec<EventId> {
    let trace = story.trace;
    let mut chosen: BTreeSet<EventId> = BTreeSet::new();
    let told = |end: EventId| {
        let chain = chain(trace, end).into_iter().filter(|id| story.name(*id).is_some());
        chain.take(CHAIN_MAX).collect::<Vec<EventId>>()
    };
    // Where an answer to a client is wrong, what went on between it and the moment in which that is found has no part in it.
    chosen.extend(trace.violation.filter(|id| story.name(*id).is_some()));
    for end in [story.answer.or(trace.violation), story.suspect].into_iter().flatten() {
        chosen.extend(told(end));
    }
    if let Some(suspect) = story.suspect.and_then(|id| trace.event(id)) {
        chosen.extend(fault_behind(story, suspect));
    }
    if let Some(answer) = story.answer {
        // Which server is to blame nobody knows; whose answer was wrong may not have known who led.
        let before = trace.events.iter().rev().skip_while(|e| e.id >= answer);
        let led = before.filter(|e| story.new_role(e) == Some(Role::Leader) && story.name(e.id).is_some());
        chosen.extend(led.take(LEADERS_MAX).map(|e| e.id));
        return chosen.into_iter().rev().collect();
    }
    // What happened long before the suspect was got over.
    let from = story.suspect.or(trace.violation).and_then(|end| told(end).pop());
    let nearby = trace.events.iter().rev().take_while(|e| Some(e.id) > from);
    let found = trace.violation.and_then(|id| trace.event(id)).and_then(|e| e.node);
    let nodes: Vec<NodeId> = match violation {
        Some(violation) => violation.node.into_iter().chain(violation.peer).collect(),
        None => found.into_iter().collect(),
    };
    for event in nearby.filter(|e| concerns(e, &nodes) && story.name(e.id).is_some()) {
        if chosen.len() >= EVENTS_MAX {
            break;
        }
        if event.kind == EventKind::Hold || story.new_role(event).is_some() {
            chosen.insert(event.id);
            chosen.extend(opening(story, event));
        }
    }
    chosen.into_iter().rev().collect()
}

/// Whether an event is about these nodes; without any, every event is.
fn concerns(event: &TraceEvent, nodes: &[NodeId]) -> bool {
    let about = |node: &NodeId| nodes.is_empty() || nodes.contains(node);
    match (event.subject, event.node) {
        (Some(Subject { from, to, .. }), _) => about(&from) && about(&to),
        (None, Some(node)) => about(&node),
        (None, None) => false,
    }
}

/// The beginning of the step an event belongs to.
fn opening(story: &Story<'_>, event: &TraceEvent) -> Option<EventId> {
    let step = event.step?;
    let opens = |e: &&TraceEvent| e.kind == EventKind::Open && e.step == Some(step);
    let open = story.trace.events.iter().find(opens)?;
    story.name(open.id).map(|_| open.id)
}

/// The beginning of the fault that brought a loss about: the cut of the link, or the crash of the receiver.
fn fault_behind(story: &Story<'_>, loss: &TraceEvent) -> Option<EventId> {
    let subject = loss.subject?;
    let at = story.trace.events.partition_point(|e| e.id < loss.id);
    let mut closed = BTreeSet::new();
    for event in story.trace.events[..at].iter().rev() {
        let step = event.step.and_then(|at| story.plan.script.steps.get(at));
        let brings = match (loss.kind, event.kind) {
            (EventKind::Down, EventKind::Crash) => event.node == Some(subject.to),
            (EventKind::Cut, EventKind::Close) => {
                closed.insert(event.step);
                false
            }
            (EventKind::Cut, EventKind::Open) if !closed.contains(&event.step) => {
                step.is_some_and(|s| s.action.cuts_links())
            }
            _ => false,
        };
        if brings {
            let told = [event.id, event.cause].into_iter().find(|id| story.name(*id).is_some());
            return told;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traces::{Sketch, n, outcome, plan, stranded};
    use whitewater_sim::{ClientOperation, Outcome, Time, Verdict};

    /// n1 leads, then n2; n1 answers c1, which is found only when the run is over.
    fn old_answer(sketch: &mut Sketch) -> (Vec<EventId>, Vec<ClientOperation>) {
        let client = NodeId::client(0);
        sketch.timer(n(1), "election");
        sketch.timer(n(2), "election");
        sketch.role(n(1), Role::Leader);
        let first = sketch.push(EventKind::Timer, Some(n(1)), EventId::NONE, "wins", "");
        sketch.role(n(2), Role::Leader);
        let second = sketch.push(EventKind::Timer, Some(n(2)), EventId::NONE, "wins", "");
        let asked = sketch.push(EventKind::Operate, Some(client), EventId::NONE, "get a", "");
        let told = sketch.push(EventKind::Timer, Some(client), asked, "an answer comes", "v1");
        let reply = sketch.push(EventKind::Reply, Some(client), told, "value v1", "");
        let ended = Time::from_millis(u64::from(reply.0));
        sketch.push(EventKind::Operate, Some(client), EventId::NONE, "get b", "");
        let operation = ClientOperation {
            client,
            text: "reads v1".to_owned(),
            began: Some(Time::from_millis(u64::from(asked.0))),
            ended: Some(ended),
        };
        (vec![told, asked, second, first], vec![operation])
    }

    #[test]
    fn what_is_found_when_the_run_is_over_is_explained_by_the_wrong_answer_and_by_who_led() {
        let mut sketch = Sketch::new();
        let (expected, evidence) = old_answer(&mut sketch);
        let last = EventId(sketch.push(EventKind::Phase, None, EventId::NONE, "over", "").0);
        sketch.violation(last, NodeId::client(0));
        let trace = sketch.trace();
        let found = trace.violation.expect("it is the last event");
        let violation = stranded(NodeId::client(0), n(1));
        let run =
            |evidence| Outcome { evidence, ..outcome(trace.clone(), Verdict::Violated(violation.clone())) };
        let explained =
            |run: &Outcome| why(&Story::of(&plan(), run).expect("it is recorded"), Some(&violation));
        let events = explained(&run(evidence));
        assert_eq!(events, [vec![found], expected.clone()].concat());
        assert!(
            !explained(&run(Vec::new())).contains(&expected[0]),
            "without an answer that is wrong none is told"
        );
    }
}
