//! What other rules see of a failing run when each of them watches it alone, and whose cause came first.
//!
//! A run ends at the first rule that is found broken, and that need not be the one whose cause came first: that no order
//! explains some answers is found when all is over, and another rule may have ended the run by then. So a failing run is looked
//! at again, once for each rule, before it is told: whose cause came first, what comes of what was found, and what else is
//! wrong. A search does without.

use std::collections::BTreeSet;
use whitewater_plan::Plan;
use whitewater_sim::{
    ClientOperation, EventId, EventKind, NodeId, Outcome, System, Trace, TraceEvent, Verdict, Violation,
    Watch,
};

/// Events of a run that is looked at again; a longer one takes too long with every rule.
const EVENTS_MAX: u64 = 400_000;

/// How the cause of what a rule sees lies to the cause of what was reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It came before.
    Before,
    /// It is the same event.
    Same,
    /// It came later, and what was reported may have brought it about: a message or a node has carried it there.
    Behind,
    /// It came later, and nothing has carried what was reported there.
    Beside,
}

/// What a rule sees that watches alone.
#[derive(Clone, Debug)]
pub struct Sight {
    /// What it says.
    pub violation: Violation,
    /// The run, recorded up to there.
    pub outcome: Outcome,
    /// The event that it goes back to.
    pub cause: EventId,
    /// How that lies to the cause of what was reported.
    pub place: Place,
}

/// Every other rule that is broken in a failing run, those with the earliest causes first. None for a run that is too long,
/// of a system whose rules cannot watch alone, or that was not recorded.
pub fn sights(system: &dyn System, plan: &Plan, reported: &Outcome) -> Vec<Sight> {
    let (Verdict::Violated(violation), Some(_)) = (&reported.verdict, &reported.trace) else {
        return Vec::new();
    };
    if reported.counters.events > EVENTS_MAX {
        return Vec::new();
    }
    let alone =
        |rule, record| system.run_watched(&plan.script, &plan.options, Watch::Only(rule), record).ok();
    let breaks = |rule: &str, outcome: &Outcome| outcome.verdict.rule() == rule;
    let others = system.rules().into_iter().map(|(rule, _)| rule).filter(|rule| *rule != violation.rule);
    let broken = others.filter(|rule| alone(rule, false).is_some_and(|outcome| breaks(rule, &outcome)));
    let seen = broken.filter_map(|rule| alone(rule, true)).filter_map(|outcome| Sight::of(reported, outcome));
    let mut sights: Vec<Sight> = seen.collect();
    sights.sort_by_key(|sight| sight.cause);
    sights
}

impl Sight {
    /// What the run ended with that a rule watched alone, beside what was reported of the same plan.
    fn of(reported: &Outcome, outcome: Outcome) -> Option<Sight> {
        let Verdict::Violated(violation) = outcome.verdict.clone() else { return None };
        let (first, trace) = (reported.trace.as_ref()?, outcome.trace.as_ref()?);
        let (own, cause) = (cause_of(reported)?, cause_of(&outcome)?);
        // Up to there it is the same run. Then the reported one ends, or phases are shorter as less is waited for.
        let same = first.events.iter().zip(&trace.events).take_while(|(a, b)| is_same(a, b)).count();
        let in_common = |id: EventId| trace.events[..same].last().is_some_and(|last| id <= last.id);
        let place = match cause {
            cause if cause == own && in_common(own) => Place::Same,
            cause if cause < own && in_common(cause) => Place::Before,
            cause if carries(trace, own, cause) => Place::Behind,
            _ => Place::Beside,
        };
        Some(Sight { violation, cause, place, outcome })
    }
}

fn is_same(a: &TraceEvent, b: &TraceEvent) -> bool {
    let of = |event: &TraceEvent| (event.id, event.time, event.node, event.kind);
    of(a) == of(b) && a.text == b.text
}

/// The event that a violation goes back to: of what clients were told the last answer of those that no order explains, since
/// from then on nothing could make it right; of what a node did that deed. What is missing when time is up goes back no
/// further than that, since the loss that is suspected may have nothing to do with it.
pub(crate) fn cause_of(outcome: &Outcome) -> Option<EventId> {
    let (Verdict::Violated(violation), Some(trace)) = (&outcome.verdict, &outcome.trace) else { return None };
    let found = trace.event(trace.violation?)?;
    if let Some(told) = last_answer(trace, &outcome.evidence) {
        return Some(told);
    }
    // What is found when time is up is found at a moment at which its node has done nothing.
    let is_deed = |deed: &&TraceEvent| {
        deed.time == found.time && (violation.node.is_none() || deed.node == violation.node)
    };
    Some(trace.event(found.cause).filter(is_deed).map_or(found.id, |deed| deed.id))
}

/// The event by which the last of some operations that has an end was answered.
pub(crate) fn last_answer(trace: &Trace, evidence: &[ClientOperation]) -> Option<EventId> {
    let last = evidence
        .iter()
        .filter(|operation| operation.ended.is_some())
        .max_by_key(|operation| operation.ended)?;
    let answers = |event: &&TraceEvent| {
        event.kind == EventKind::Reply && event.node == Some(last.client) && Some(event.time) == last.ended
    };
    let reply = trace.events.iter().find(answers)?;
    // The answer of a client is brought about by the message with it.
    Some(trace.event(reply.cause).map_or(reply.id, |cause| cause.id))
}

/// Whether messages and nodes may have carried what an event was about to a later one.
fn carries(trace: &Trace, from: EventId, to: EventId) -> bool {
    let (mut events, mut nodes) = (BTreeSet::from([from]), BTreeSet::<NodeId>::new());
    nodes.extend(trace.event(from).and_then(|event| event.node));
    for event in trace.events.iter().filter(|event| from < event.id && event.id <= to) {
        let is_reached = event.node.is_some_and(|node| nodes.contains(&node));
        if is_reached || events.contains(&event.cause) {
            events.insert(event.id);
            nodes.extend(event.node);
        }
    }
    events.contains(&to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traces::{Sketch, n, outcome, stranded};
    use whitewater_sim::Time;

    const NONE: EventId = EventId::NONE;

    fn broken(sketch: Sketch, node: usize) -> Outcome {
        outcome(sketch.trace(), Verdict::Violated(stranded(n(node), n(1))))
    }

    /// n1 votes, which is sent to n2, and n3 votes by itself; then whatever comes.
    fn run() -> (Sketch, [EventId; 3]) {
        let mut sketch = Sketch::new();
        let first = sketch.push(EventKind::Timer, Some(n(1)), NONE, "election", "votes n1");
        let sent = sketch.send(first, n(1), n(2), "Vote", 1);
        let taken = sketch.receive(sent, "votes n1");
        let beside = sketch.push(EventKind::Timer, Some(n(3)), NONE, "election", "votes n3");
        (sketch, [first, taken, beside])
    }

    /// Where what n`node` did at an event lies to what n`own` did at another.
    fn place(own: (usize, EventId), other: (usize, EventId)) -> Place {
        let at_once = |(node, event): (usize, EventId)| {
            let (mut sketch, _) = run();
            sketch.violation_at_once(event, n(node));
            let mut outcome = broken(sketch, node);
            let trace = outcome.trace.as_mut().expect("it is recorded");
            // A violation stands at the time of its deed.
            let time = trace.event(event).expect("it is there").time;
            trace.events.last_mut().expect("it is the last").time = time;
            outcome
        };
        Sight::of(&at_once(own), at_once(other)).expect("both are violations").place
    }

    #[test]
    fn what_a_message_carries_comes_behind_and_what_nobody_carries_comes_beside() {
        let (_, [first, taken, beside]) = run();
        assert_eq!(place((1, first), (2, taken)), Place::Behind);
        assert_eq!(place((1, first), (3, beside)), Place::Beside);
        assert_eq!(place((2, taken), (1, first)), Place::Before);
        assert_eq!(place((2, taken), (2, taken)), Place::Same);
    }

    #[test]
    fn what_is_missing_when_time_is_up_comes_last_whatever_was_lost_before() {
        let mut sketch = Sketch::new();
        sketch.lose(EventKind::Discard, NONE, n(1), n(2), "State", 1);
        let deed = sketch.push(EventKind::Timer, Some(n(3)), NONE, "election", "votes n3");
        sketch.violation_at_once(deed, n(3));
        let early = broken(sketch, 3);
        let mut sketch = Sketch::new();
        sketch.lose(EventKind::Discard, NONE, n(1), n(2), "State", 1);
        sketch.push(EventKind::Timer, Some(n(3)), NONE, "election", "votes n3");
        for _ in 0..20 {
            sketch.timer(n(3), "heartbeat");
        }
        let found = sketch.violation(NONE, n(2));
        let late = broken(sketch, 2);
        let sight = Sight::of(&early, late.clone()).expect("both are violations");
        assert_eq!((sight.cause, sight.place), (found, Place::Beside));
        let other = Sight::of(&late, early).expect("both are violations");
        assert_eq!((other.cause, other.place), (deed, Place::Before));
    }

    #[test]
    fn what_clients_saw_goes_back_to_the_last_answer_of_those_that_no_order_explains() {
        let client = NodeId::client(0);
        let told = |sketch: &mut Sketch| {
            let sent = sketch.send(NONE, n(1), client, "Response", 1);
            let taken = sketch.receive(sent, "");
            let reply = sketch.push(EventKind::Reply, Some(client), taken, "op1 reads no value", "");
            (taken, reply)
        };
        let mut sketch = Sketch::new();
        let (taken, reply) = told(&mut sketch);
        let deed = sketch.push(EventKind::Timer, Some(n(3)), NONE, "election", "votes n3");
        let at = |trace: &Trace, id| trace.event(id).expect("it is there").time;
        let mut late = broken(sketch, 1);
        let trace = late.trace.as_mut().expect("it is recorded");
        let ended = Some(at(trace, reply));
        let over = TraceEvent {
            id: EventId(deed.0 + 1),
            kind: EventKind::Violation,
            node: None,
            ..trace.events[0].clone()
        };
        trace.violation = Some(over.id);
        trace.events.push(TraceEvent { time: Time::from_millis(900), cause: NONE, ..over });
        let operation = |ended| ClientOperation { client, text: "reads no value".into(), began: None, ended };
        late.evidence = vec![operation(ended), operation(None)];

        let mut sketch = Sketch::new();
        told(&mut sketch);
        let deed = sketch.push(EventKind::Timer, Some(n(3)), NONE, "election", "votes n3");
        sketch.violation_at_once(deed, n(3));
        let sight = Sight::of(&broken(sketch, 3), late).expect("both are violations");
        assert_eq!((sight.cause, sight.place), (taken, Place::Before));
    }
}
