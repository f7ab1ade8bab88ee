//! Pieces of scripts for the tests of this system.
#![allow(dead_code, reason = "every test file uses some of them")]

use whitewater_relay::RELAY;
use whitewater_sim::{
    Action, Condition, EventKind, Losing, Network, NodeId, Options, Outcome, Pattern, Role, Script, Span,
    Step, System, Target, Time, Trigger,
};

pub(crate) const N1: NodeId = NodeId::server(0);
pub(crate) const N2: NodeId = NodeId::server(1);
pub(crate) const N3: NodeId = NodeId::server(2);

/// Messages or timers of that name on a link.
pub(crate) fn pattern(name: &str, from: NodeId, to: NodeId) -> Pattern {
    Pattern {
        name: Some(name.to_owned()),
        from: Some(from.into()),
        to: Some(to.into()),
        ..Pattern::default()
    }
}

pub(crate) fn at(millis: u64) -> Trigger {
    Trigger::At(Time::from_millis(millis))
}

/// `after` milliseconds after a timer goes off.
pub(crate) fn fires(name: &str, from: NodeId, to: NodeId, after: u64) -> Trigger {
    Trigger::When(Condition::Fires(pattern(name, from, to)), Span::from_millis(after))
}

/// When a node takes a role.
pub(crate) fn takes(node: NodeId, role: Role) -> Trigger {
    Trigger::When(Condition::Takes(Target::Node(node), role), Span::ZERO)
}

pub(crate) fn tell(node: NodeId, when: Trigger, text: &str) -> Step {
    Step::new(when, Action::Operate { target: Target::Node(node), text: text.to_owned(), every: None })
}

pub(crate) fn during(when: Trigger, until: Trigger, action: Action) -> Step {
    Step { until: Some(until), ..Step::new(when, action) }
}

pub(crate) fn crash(node: NodeId) -> Action {
    Action::Crash { node: Target::Node(node), losing: Losing::Some, at_call: 0 }
}

/// Three servers with two milliseconds from each to each.
pub(crate) fn script(steps: Vec<Step>) -> Script {
    let delay = Span::from_millis(2);
    let network = Network { delay_low: delay, delay_high: delay, ..Network::default() };
    Script { seed: 0x5445, network, steps, horizon: Span::from_millis(50), ..Script::default() }
}

pub(crate) fn options(values: &[(&str, &str)]) -> Options {
    let mut options = Options::new();
    options.set(RELAY.options(), "relay-start-high", "2ms").unwrap();
    for (name, value) in values {
        options.set(RELAY.options(), name, value).unwrap();
    }
    options
}

pub(crate) fn run(script: &Script, values: &[(&str, &str)]) -> Outcome {
    RELAY.run(script, &options(values), true).unwrap()
}

/// Names of messages and timers in events of a kind.
pub(crate) fn names(outcome: &Outcome, kind: EventKind) -> Vec<&'static str> {
    let events = &outcome.trace.as_ref().unwrap().events;
    events.iter().filter(|e| e.kind == kind).filter_map(|e| e.subject.map(|s| s.name)).collect()
}

/// Whether a node remarked something like that.
pub(crate) fn noted(outcome: &Outcome, text: &str) -> bool {
    outcome.trace.as_ref().unwrap().events.iter().flat_map(|e| &e.notes).any(|note| note.contains(text))
}
