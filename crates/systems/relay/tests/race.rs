//! The race of the announcement that comes before the relay is ready, played by hand in its three variants.

use whitewater_relay::RELAY;
use whitewater_sim::{
    Action, Condition, EventKind, Losing, Network, NodeId, Options, Outcome, Pattern, Role, Script, Span,
    Step, System, Target, Time, Trigger, Verdict,
};

const N1: NodeId = NodeId::server(0);
const N2: NodeId = NodeId::server(1);
const N3: NodeId = NodeId::server(2);

fn relay_ready(from: NodeId, to: NodeId) -> Pattern {
    let name = Some("relay-ready".to_owned());
    Pattern { name, from: Some(from), to: Some(to), ..Pattern::default() }
}

fn operate(when: Trigger, text: &str) -> Step {
    Step::new(when, Action::Operate { target: Target::Node(N1), text: text.to_owned(), every: None })
}

fn fires(from: NodeId, to: NodeId, after: u64) -> Trigger {
    Trigger::When(Condition::Fires(relay_ready(from, to)), Span::from_millis(after))
}

fn takes(role: Role) -> Trigger {
    Trigger::When(Condition::Takes(Target::Node(N1), role), Span::ZERO)
}

/// Three servers, one of them down. n2 subscribes while n1 stands for election, and can answer at once; the relay from n1
/// to n2 is held until n1 leads, then n1 writes a row.
fn script() -> Script {
    let delay = Span::from_millis(2);
    let down = Action::Crash { node: Target::Node(N3), losing: Losing::Some, at_call: 0 };
    let subscribe =
        Pattern { name: Some("Subscribe".to_owned()), from: Some(N2), to: Some(N1), ..Pattern::default() };
    let start = Trigger::At(Time::ZERO);
    let steps = vec![
        Step { until: Some(Trigger::End), ..Step::new(start.clone(), down) },
        Step { until: Some(takes(Role::Candidate)), ..Step::new(start.clone(), Action::Hold(subscribe)) },
        operate(fires(N2, N1, 1), "campaign"),
        Step { until: Some(takes(Role::Leader)), ..Step::new(start, Action::Hold(relay_ready(N1, N2))) },
        operate(fires(N1, N2, 1), "propose x=1"),
    ];
    let network = Network { delay_low: delay, delay_high: delay, ..Network::default() };
    Script { seed: 0x5445, network, steps, horizon: Span::from_millis(50), ..Script::default() }
}

fn options(not_ready: &str, mode_of_n2: &str) -> Options {
    let mut options = Options::new();
    for (name, value) in
        [("relay-not-ready", not_ready), ("election-mode.n2", mode_of_n2), ("relay-start-high", "2ms")]
    {
        options.set(RELAY.options(), name, value).unwrap();
    }
    options
}

fn run(not_ready: &str, mode_of_n2: &str) -> Outcome {
    RELAY.run(&script(), &options(not_ready, mode_of_n2), true).unwrap()
}

fn kinds(outcome: &Outcome, kind: EventKind) -> Vec<&'static str> {
    let events = &outcome.trace.as_ref().unwrap().events;
    events.iter().filter(|e| e.kind == kind).filter_map(|e| e.subject.map(|s| s.name)).collect()
}

#[test]
fn a_broadcast_that_is_dropped_strands_a_voter_for_ever() {
    let outcome = run("drop", "voter");
    let Verdict::Violated(violation) = &outcome.verdict else { panic!("{}", outcome.verdict) };
    assert_eq!(violation.rule, "follower-catches-up");
    assert_eq!((violation.node, violation.peer), (Some(N2), Some(N1)));
    assert!(violation.message.contains("has applied none of its 2 rows"), "{}", violation.message);
    assert_eq!(kinds(&outcome, EventKind::Discard), ["LeaderAnnounce"]);
    assert!(outcome.marks.contains(&"rows-rejected"));
}

#[test]
fn a_broadcast_that_is_dropped_makes_a_candidate_disturb_a_healthy_leader() {
    let outcome = run("drop", "candidate");
    let Verdict::Violated(violation) = &outcome.verdict else { panic!("{}", outcome.verdict) };
    assert_eq!(violation.rule, "no-needless-election");
    assert_eq!((violation.node, violation.peer), (Some(N2), Some(N1)));
}

#[test]
fn a_broadcast_that_is_kept_arrives_before_the_rows() {
    for not_ready in ["latch", "mailbox"] {
        for mode in ["voter", "candidate"] {
            let outcome = run(not_ready, mode);
            assert_eq!(outcome.verdict, Verdict::Pass, "{not_ready} {mode}");
            assert!(!outcome.marks.contains(&"rows-rejected"), "{not_ready} {mode}");
            assert_eq!(kinds(&outcome, EventKind::Discard), [""; 0]);
        }
    }
}

#[test]
fn a_relay_that_is_ready_in_time_hides_the_race() {
    let mut script = script();
    script.steps.remove(3);
    script.settle.power_cycle = false;
    assert_eq!(RELAY.run(&script, &options("drop", "voter"), false).unwrap().verdict, Verdict::Pass);
}
