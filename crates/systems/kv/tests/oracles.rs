//! Each rule of this system alone has a run that breaks it: whoever adds one without a run, or blinds one, is told here.
//!
//! The rules over any Raft, over clients and over progress have their runs beside them, in `check`.

use whitewater_check::{BoundRules, ClientRules, LeaseRules, PROGRESS_RULES, PaceRules, RaftRules};
use whitewater_kv::{KV, SPECS};
use whitewater_sim::{
    Action, Decision, Losing, NodeId, Options, Outcome, Pattern, Pin, Script, Span, Step, System, Target,
    Time, Trigger, Verdict, Violation, Watch,
};

fn n1() -> NodeId {
    NodeId::server(0)
}

fn at(millis: u64) -> Trigger {
    Trigger::At(Time::from_millis(millis))
}

/// Three servers and a client that appends and reads.
fn busy(seed: u64) -> (Script, Options) {
    let operation = |number: u64| {
        let text = if number % 4 == 3 { "get a".to_owned() } else { format!("append a v{number}") };
        let target = Target::Node(NodeId::client(0));
        Step::new(at(300 + 20 * number), Action::Operate { target, text, every: None })
    };
    let steps = (0..40).map(operation).collect();
    let script = Script { seed, clients: 1, steps, horizon: Span::from_millis(1_500), ..Script::default() };
    let mut options = Options::new();
    options.set(SPECS, "disk-excuses", "off").unwrap();
    (script, options)
}

fn crash(script: &mut Script, millis: u64) {
    let crash = Action::Crash { node: Target::Node(n1()), losing: Losing::Unsynced, at_call: 0 };
    let until = Some(Trigger::After(Span::from_millis(20)));
    script.steps.push(Step { until, ..Step::new(at(millis), crash) });
}

/// A timer of a server does not go off any more that is set in any of its first lives.
fn never(script: &mut Script, node: NodeId, timer: &str) {
    for (start, number) in (1..8).flat_map(|start| (1..4).map(move |number| (start, number))) {
        let (name, span) = (timer.to_owned(), Span::from_millis(3_600_000));
        let decision = Decision::Timer { node, name, peer: None, start, number, span };
        script.pins.push(Pin { decision, note: None });
    }
}

/// Disks say that all is durable, and lose everything when all servers crash.
fn old_answers(seed: u64) -> (Script, Options) {
    let (mut script, options) = busy(seed);
    (script.disk.faults.lies, script.disk.faults.everywhere) = (u16::MAX, true);
    for position in 0..3 {
        let node = Target::Node(NodeId::server(position));
        let crash = Action::Crash { node, losing: Losing::Unsynced, at_call: 0 };
        script.steps.push(Step { until: Some(at(820)), ..Step::new(at(800), crash) });
    }
    (script, options)
}

/// A disk rots.
fn damage(seed: u64) -> (Script, Options) {
    let (mut script, options) = busy(seed);
    (script.disk.faults.rot, script.disk.faults.everywhere) = (u16::MAX, true);
    [500, 600, 700, 800].into_iter().for_each(|millis| crash(&mut script, millis));
    (script, options)
}

/// Processes whose syncs fail are not started again.
fn dead_processes(seed: u64) -> (Script, Options) {
    let (mut script, options) = busy(seed);
    (script.disk.failures, script.disk.high) = (1_000, Span::from_millis(1));
    never(&mut script, n1(), "restart");
    (script, options)
}

/// A server that found its log damaged asks its peers once, and they do not hear it.
fn unheard(seed: u64) -> (Script, Options) {
    let (mut script, mut options) = damage(seed);
    options.set(SPECS, "disk-excuses", "on").unwrap();
    let fences = Pattern { name: Some("Fence".into()), ..Pattern::default() };
    script.steps.push(Step { until: Some(at(1_500)), ..Step::new(at(0), Action::Drop(fences)) });
    never(&mut script, n1(), "fence");
    script.settle.power_cycle = false;
    (script, options)
}

type Breaking = fn(u64) -> (Script, Options);

const RUNS: &[(&str, Breaking)] = &[
    ("linearizable", old_answers),
    ("log-found-whole", damage),
    ("started-again", dead_processes),
    ("damage-repaired", unheard),
];

#[test]
fn copies_of_a_rule_look_on_and_leave_the_run_as_it_is() {
    let (script, options) = old_answers(0);
    let run = |watch| KV.run_watched(&script, &options, watch, false);
    let alone = run(Watch::All).expect("the script is valid");
    for rule in [
        "election-safety",
        "appends-fit",
        "log-matching",
        "voters-loyal",
        "window-bounded",
        "heartbeats-on-time",
    ] {
        for look in [true, false] {
            let outcome = run(Watch::Copies { rule, count: 3, look }).expect("there is such a rule");
            assert_eq!((outcome.hash, &outcome.verdict), (alone.hash, &alone.verdict), "{rule}");
        }
    }
    for rule in ["linearizable", "nobody"] {
        assert!(run(Watch::Copies { rule, count: 3, look: true }).is_err(), "{rule}");
    }
}

/// The first violation of a rule over some seeds, with nobody else watching.
fn broken(name: &str, breaking: Breaking) -> Option<Violation> {
    (0..60).find_map(|seed| {
        let (script, options) = breaking(seed);
        let outcome =
            KV.run_watched(&script, &options, Watch::Only(name), false).expect("the script is valid");
        match outcome.verdict {
            Verdict::Violated(violation) if violation.rule == name => Some(violation),
            _ => None,
        }
    })
}

#[test]
fn every_rule_that_only_this_system_has_is_broken_by_a_run_of_its_own() {
    // Those over leases and bounds are held to narrower limits beside the monitor.
    let beside = LeaseRules::rules().into_iter().chain(BoundRules::rules()).chain(PaceRules::rules());
    let others =
        RaftRules::rules().into_iter().chain(beside).chain(ClientRules::rules()).chain(PROGRESS_RULES);
    let others: Vec<&str> = others.map(|(name, _)| name).collect();
    let own = KV.rules().into_iter().map(|(name, _)| name).filter(|name| !others.contains(name));
    assert_eq!(RUNS.iter().map(|(name, _)| *name).collect::<Vec<_>>(), own.collect::<Vec<_>>());
    let mut text = String::new();
    for (name, breaking) in RUNS {
        let violation = broken(name, *breaking).unwrap_or_else(|| panic!("{name} is never broken"));
        assert_eq!(violation.rule, *name);
        text += &format!("{name}\n  claim    {}\n  message  {}\n", violation.claim, violation.message);
    }
    insta::assert_snapshot!("messages", text);
}

#[test]
fn what_clients_saw_is_at_hand_where_a_rule_over_clients_is_broken_and_nowhere_else() {
    let recorded = |breaking: Breaking, checks: &str| -> Vec<Outcome> {
        let run = |seed| {
            let (script, mut options) = breaking(seed);
            options.set(SPECS, "checks", checks).unwrap();
            KV.run(&script, &options, true).expect("the script is valid")
        };
        (0..20).map(run).filter(|outcome| !outcome.verdict.is_pass()).collect()
    };
    let of_clients = recorded(old_answers, "clients");
    assert!(of_clients.len() > 3, "{}", of_clients.len());
    for Outcome { verdict, evidence, .. } in of_clients {
        assert!(evidence.iter().all(|operation| operation.client == NodeId::client(0)), "{evidence:?}");
        let reads = evidence.iter().filter(|operation| operation.text.starts_with("reads "));
        let writes = evidence.iter().filter(|operation| operation.text.starts_with("appends "));
        assert!(reads.count() > 0 && writes.count() > 0, "{verdict}: {evidence:?}");
    }
    let of_servers = recorded(damage, "all");
    assert!(!of_servers.is_empty());
    assert!(of_servers.iter().all(|outcome| outcome.evidence.is_empty()));
}

#[test]
fn rules_over_any_raft_and_any_client_are_asked_about_this_store() {
    for name in ["durable-log-kept", "acknowledged-kept"] {
        assert!(broken(name, old_answers).is_some(), "{name}");
    }
}
