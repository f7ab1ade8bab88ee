//! What of a recorded run is background: messages and timers at which nothing changes, and on which nothing told depends.
//!
//! A message counts if its receiver remarks on it, or shows another state or role after it; if one that counts was sent for
//! it; or if the script speaks of its kind. One that was lost counts if its kind ever does. All else comes and goes: that
//! heartbeats carry on, or that a protocol gossips beside what is told, is no part of the story.

use crate::words::remarks;
use std::collections::BTreeSet;
use whitewater_plan::Plan;
use whitewater_sim::{
    Action, EventId, EventKind, NodeId, Pattern, Subject, Target, Trace, TraceEvent, Trigger,
};

/// The events of a run that are background. `changes` are those at which a node takes another role.
pub(crate) fn background(plan: &Plan, trace: &Trace, changes: &BTreeSet<EventId>) -> BTreeSet<EventId> {
    let mentioned = patterns(plan);
    let is_mentioned = |event: &TraceEvent| {
        event.subject.is_some_and(|subject| mentioned.iter().any(|pattern| speaks_of(pattern, &subject)))
    };
    let mut counts: BTreeSet<EventId> = trace
        .events
        .iter()
        .filter(|event| {
            !is_loss(event) && (changes.contains(&event.id) || is_news(event) || is_mentioned(event))
        })
        .map(|event| event.id)
        .collect();
    for event in counts.clone() {
        add_causes(trace, event, &mut counts);
    }
    let quiet = |event: &&TraceEvent| is_message(event) && !counts.contains(&event.id);
    let arrivals = |counts_too: bool| -> BTreeSet<&'static str> {
        let arrived = trace.events.iter().filter(|event| event.kind == EventKind::Recv);
        let such = arrived.filter(|event| !counts_too || counts.contains(&event.id));
        such.filter_map(|event| event.subject.map(|subject| subject.name)).collect()
    };
    // Of a kind that never arrives nobody knows whether it would count.
    let (telling, arriving) = (arrivals(true), arrivals(false));
    let is_idle = |event: &&TraceEvent| {
        let name = event.subject.map_or("", |subject| subject.name);
        !is_loss(event) || !is_mentioned(event) && arriving.contains(name) && !telling.contains(name)
    };
    trace.events.iter().filter(quiet).filter(is_idle).map(|event| event.id).collect()
}

/// Whether it is about a message or timer: only those can be background.
fn is_message(event: &TraceEvent) -> bool {
    let is_such =
        matches!(event.kind, EventKind::Recv | EventKind::Timer | EventKind::Hold) || is_loss(event);
    is_such && event.subject.is_some()
}

fn is_loss(event: &TraceEvent) -> bool {
    event.kind.is_loss() || event.kind == EventKind::Hold
}

/// Whether something is to be said of an event by itself.
fn is_news(event: &TraceEvent) -> bool {
    event.state.is_some() || !remarks(event).is_empty()
}

/// Adds the messages for which the message of an event was sent, and those for which they were.
fn add_causes(trace: &Trace, of: EventId, counts: &mut BTreeSet<EventId>) {
    let mut next = trace.event(of).and_then(|event| trace.event(event.cause));
    while let Some(event) = next {
        match event.kind {
            EventKind::Send => {}
            EventKind::Recv if counts.insert(event.id) => {}
            _ => return,
        }
        next = trace.event(event.cause);
    }
}

/// Every pattern of messages or timers in the script that names a kind.
fn patterns(plan: &Plan) -> Vec<&Pattern> {
    let all = plan.script.steps.iter().flat_map(|step| {
        let claimed = match &step.action {
            Action::Expect(condition, _) | Action::Never(condition) => condition.pattern(),
            other => other.pattern(),
        };
        [awaited(&step.when), step.until.as_ref().and_then(awaited), claimed].into_iter().flatten()
    });
    all.filter(|pattern| pattern.name.is_some()).collect()
}

/// What a moment says of messages or timers.
fn awaited(trigger: &Trigger) -> Option<&Pattern> {
    match trigger {
        Trigger::When(condition, _) => condition.pattern(),
        _ => None,
    }
}

/// Whether a pattern names the kind of a message or timer, and its ends as far as it names nodes.
fn speaks_of(pattern: &Pattern, subject: &Subject) -> bool {
    let is_end = |end: Option<Target>, node: NodeId| match end.and_then(Target::node) {
        Some(named) => named == node,
        None => true,
    };
    let named = pattern.name.as_deref() == Some(subject.name);
    named && is_end(pattern.from, subject.from) && is_end(pattern.to, subject.to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traces::{Sketch, n, plan};
    use whitewater_sim::{Step, Time};

    fn quiet(sketch: Sketch, plan: &Plan) -> Vec<EventId> {
        background(plan, &sketch.trace(), &BTreeSet::new()).into_iter().collect()
    }

    #[test]
    fn a_message_of_which_nothing_is_said_is_background_unless_one_that_counts_was_sent_for_it() {
        let mut sketch = Sketch::new();
        let asked = sketch.send(EventId::NONE, n(1), n(2), "Ask", 1);
        let heard = sketch.receive(asked, "");
        let answered = sketch.send(heard, n(2), n(1), "Answer", 1);
        sketch.receive(answered, "is elected");
        let chatted = sketch.send(EventId::NONE, n(1), n(2), "Chat", 1);
        let chat = sketch.receive(chatted, "");
        assert_eq!(quiet(sketch, &plan()), [chat]);
    }

    #[test]
    fn a_message_after_which_its_receiver_stands_otherwise_is_no_background() {
        let mut sketch = Sketch::new();
        let sent = sketch.send(EventId::NONE, n(1), n(2), "Rows", 1);
        let received = sketch.receive(sent, "");
        let mut trace = sketch.trace();
        assert_eq!(background(&plan(), &trace, &BTreeSet::new()), BTreeSet::from([received]));
        trace.events[received.0 as usize].state = Some("1 row".to_owned());
        assert_eq!(background(&plan(), &trace, &BTreeSet::new()), BTreeSet::new());
    }

    #[test]
    fn what_was_lost_counts_if_its_kind_does_or_never_arrives() {
        let mut sketch = Sketch::new();
        for (name, note) in [("Rows", "are taken"), ("Chat", "")] {
            let sent = sketch.send(EventId::NONE, n(1), n(2), name, 1);
            sketch.receive(sent, note);
        }
        let received = EventId(3);
        for name in ["Rows", "Vote"] {
            sketch.lose(EventKind::Cut, EventId::NONE, n(1), n(2), name, 2);
        }
        let chat = sketch.lose(EventKind::Cut, EventId::NONE, n(1), n(2), "Chat", 2);
        assert_eq!(quiet(sketch, &plan()), [received, chat]);
    }

    #[test]
    fn what_the_script_speaks_of_is_no_background_there() {
        let mut sketch = Sketch::new();
        let mut heard = |to: usize| {
            let sent = sketch.send(EventId::NONE, n(1), n(to), "Chat", 1);
            sketch.receive(sent, "")
        };
        let (_, other) = (heard(2), heard(3));
        let mut plan = plan();
        let pattern = Pattern { name: Some("Chat".into()), to: Some(n(2).into()), ..Pattern::default() };
        plan.script.steps.push(Step {
            when: Trigger::At(Time::ZERO),
            action: Action::Drop(Pattern { number: Some(9), ..pattern }),
            until: None,
            note: None,
        });
        assert_eq!(quiet(sketch, &plan), [other]);
    }
}
