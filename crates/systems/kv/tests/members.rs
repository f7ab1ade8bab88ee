//! The members of the store change, its storage works by threads, and its snapshots go in pieces: nothing is lost by it.

use whitewater_kv::{KV, SPECS};
use whitewater_sim::{
    Action, EventKind, Losing, NodeId, Options, Outcome, Script, Span, Step, System, Target, Time, Trigger,
    Verdict,
};

fn server(number: usize) -> Target {
    Target::Node(NodeId::server(number - 1))
}

fn at(millis: u64) -> Trigger {
    Trigger::At(Time::from_millis(millis))
}

fn operation(millis: u64, target: Target, text: &str) -> Step {
    Step::new(at(millis), Action::Operate { target, text: text.to_owned(), every: None })
}

fn down(node: Target, from: u64, until: u64) -> Step {
    let crash = Action::Crash { node, losing: Losing::Some, at_call: 0 };
    Step { until: Some(at(until)), ..Step::new(at(from), crash) }
}

/// Servers of which the first three are the first members, and n1 leads.
fn run(servers: usize, mut steps: Vec<Step>, values: &[(&str, &str)]) -> Outcome {
    // Sessions take up to 20 ms.
    steps.insert(0, operation(60, server(1), "campaign"));
    let mut options = Options::new();
    let changing = [("membership", "changing"), ("founders", "3")];
    changing.iter().chain(values).for_each(|(name, value)| options.set(SPECS, name, value).unwrap());
    let horizon = Span::from_millis(2_500);
    let script = Script { seed: 3, servers, clients: 1, steps, horizon, ..Script::default() };
    let outcome = KV.run(&script, &options, true).expect("the script is valid");
    assert_eq!(outcome.verdict, Verdict::Pass);
    outcome
}

fn replies(outcome: &Outcome) -> Vec<&str> {
    let events = &outcome.trace.as_ref().expect("it was recorded").events;
    events.iter().filter(|event| event.kind == EventKind::Reply).map(|event| event.text.as_str()).collect()
}

fn writes(count: u64) -> Vec<Step> {
    let client = Target::Node(NodeId::client(0));
    (0..count).map(|n| operation(300 + n * 20, client, &format!("append a v{n}"))).collect()
}

#[test]
fn a_server_that_starts_empty_learns_is_promoted_and_decides() {
    let mut steps = writes(20);
    steps.push(operation(400, Target::Leader, "learn n4"));
    steps.push(operation(900, Target::Leader, "promote n4"));
    steps.push(operation(1_100, Target::Leader, "remove n2"));
    steps.push(operation(1_300, Target::Leader, "remove n3"));
    // Without n4 nobody could decide any more.
    let client = Target::Node(NodeId::client(0));
    steps.push(operation(1_600, client, "append a last"));
    let outcome = run(4, steps, &[]);
    let replies = replies(&outcome);
    assert_eq!(replies.iter().filter(|reply| reply.ends_with(" changed")).count(), 4);
    for mark in ["learner-added", "learner-promoted", "member-removed"] {
        assert!(outcome.marks.contains(&mark), "{mark}");
    }
}

#[test]
fn two_servers_are_replaced_through_a_joint_membership() {
    let mut steps = writes(20);
    steps.push(operation(600, Target::Leader, "replace n2,n3 by n4,n5"));
    let outcome = run(5, steps, &[]);
    for mark in ["joint-entered", "joint-left", "voter-added", "member-removed"] {
        assert!(outcome.marks.contains(&mark), "{mark}");
    }
}

#[test]
fn a_joint_membership_that_is_explicit_stays_until_it_is_left() {
    let mut steps = writes(10);
    steps.push(operation(600, Target::Leader, "replace n3 by n4 explicitly"));
    steps.push(operation(800, Target::Leader, "add n5"));
    steps.push(operation(1_000, Target::Leader, "leave"));
    let outcome = run(5, steps, &[]);
    let all = replies(&outcome);
    let of = |op: &str| all.iter().find(|reply| reply.starts_with(op)).copied();
    assert_eq!(of("op11 "), Some("op11 changed"));
    assert_eq!(of("op12 "), Some("op12 refused"), "a joint membership takes no other change");
    assert_eq!(of("op13 "), Some("op13 changed"));
    assert!(outcome.marks.contains(&"change-proposed-out-of-turn"));
}

#[test]
fn a_leader_that_is_removed_steps_down_and_may_come_back() {
    let mut steps = writes(20);
    steps.push(operation(600, server(1), "remove n1"));
    steps.push(operation(1_500, Target::Leader, "add n1"));
    let outcome = run(3, steps, &[]);
    assert!(outcome.marks.contains(&"leader-removed-itself"));
    assert!(outcome.marks.contains(&"member-added-again"));
}

#[test]
fn threads_that_are_slow_lose_nothing() {
    let mut steps = writes(60);
    steps.push(down(server(1), 700, 900));
    steps.push(down(server(2), 1_200, 1_300));
    steps.extend((0..40).map(|n| operation(1_500 + n, Target::Leader, &format!("append b w{n}"))));
    let values = [("storage", "async"), ("apply-time", "10ms"), ("apply-bytes", "1")];
    let outcome = run(3, steps, &values);
    assert!(outcome.marks.contains(&"apply-behind"));
    assert!(outcome.figures.acknowledged_writes > 30);
}

#[test]
fn a_snapshot_comes_in_pieces_to_a_server_that_was_down() {
    let mut steps = writes(80);
    steps.push(down(server(3), 350, 1_950));
    let values = [("snapshot-entries", "10"), ("snapshot-trail", "0"), ("snapshot-piece-bytes", "256")];
    let outcome = run(3, steps, &values);
    assert!(outcome.marks.contains(&"snapshot-in-pieces"));
    assert!(outcome.marks.contains(&"snapshot-installed"));
}

#[test]
fn a_newcomer_gets_a_snapshot_that_knows_it() {
    let mut steps = writes(60);
    steps.push(operation(1_600, Target::Leader, "add n4"));
    let outcome = run(4, steps, &[("snapshot-entries", "40"), ("snapshot-trail", "0")]);
    assert!(outcome.marks.contains(&"snapshot-made-for-newcomer"));
    assert!(outcome.marks.contains(&"snapshot-installed"));
}

#[test]
fn a_lone_server_keeps_what_it_acknowledged_through_crashes() {
    for storage in ["sync", "async"] {
        let mut steps = writes(60);
        steps.extend((0..4).map(|n| down(server(1), 500 + n * 300, 600 + n * 300)));
        let outcome = run(1, steps, &[("storage", storage), ("snapshot-entries", "7")]);
        assert!(outcome.figures.acknowledged_writes > 20, "{storage}");
        assert!(outcome.marks.contains(&"started-from-snapshot"), "{storage}");
    }
}
