//! The store in the world: it serves its clients, and no fault makes it lie or stay stuck.

use whitewater_kv::{KV, SPECS};
use whitewater_sim::{
    Action, Condition, Decision, Draw, EventKind, Fault, Losing, NodeId, Options, Outcome, Pattern, Pin,
    Ratio, Role, Script, Span, Step, System, Target, Time, Trigger, Verdict,
};

fn n(number: usize) -> NodeId {
    NodeId::server(number - 1)
}

fn at(millis: u64) -> Trigger {
    Trigger::At(Time::from_millis(millis))
}

fn operation(when: Trigger, target: Target, text: &str) -> Step {
    Step::new(when, Action::Operate { target, text: text.to_owned(), every: None })
}

fn client(number: usize) -> Target {
    Target::Node(NodeId::client(number - 1))
}

fn options(values: &[(&str, &str)]) -> Options {
    let mut options = Options::new();
    values.iter().for_each(|(name, value)| options.set(SPECS, name, value).unwrap());
    options
}

fn run(script: &Script, options: &Options) -> Outcome {
    KV.run(script, options, true).expect("the script is valid")
}

/// Three servers and two clients on a steady network.
fn quiet(steps: Vec<Step>) -> Script {
    Script { seed: 5, clients: 2, steps, horizon: Span::from_millis(1_500), ..Script::default() }
}

fn replies(outcome: &Outcome) -> Vec<&str> {
    let events = &outcome.trace.as_ref().expect("it was recorded").events;
    events.iter().filter(|event| event.kind == EventKind::Reply).map(|event| event.text.as_str()).collect()
}

/// Faults of every kind the script has, at random.
fn wild(seed: u64) -> Script {
    let mut draw = Draw::from_value(seed);
    let servers = if draw.chance(1, 2) { 3 } else { 5 };
    let mut script =
        Script { seed, servers, clients: 3, horizon: Span::from_millis(3_000), ..Script::default() };
    script.network.loss = Ratio::of(draw.below(50), 1_000);
    script.network.duplicate = Ratio::of(draw.below(50), 1_000);
    script.network.reorder = Ratio::of(draw.below(100), 1_000);
    script.network.reorder_window = Span::from_millis(20);
    script.disk.high = Span::from_micros(draw.below(3_000));
    script.disk.failures = draw.below(100) as u16;
    for number in 0..60 {
        let when = Trigger::At(Time::from_millis(draw.below(3_000)));
        let (target, text) = KV.draw_operation(&mut draw, number, &script, &Options::new());
        script.steps.push(operation(when, target, &text));
    }
    for _ in 0..draw.within(2, 6) {
        let node = Target::Node(NodeId::server(draw.below(servers as u64) as usize));
        let at_call = if draw.chance(1, 2) { 0 } else { draw.within(1, 9) as u32 };
        let action = match draw.below(4) {
            0 | 1 => Action::Crash { node, losing: Losing::Some, at_call },
            2 => Action::Partition(vec![
                vec![Target::Leader],
                (1..=servers).map(|s| Target::Node(n(s))).collect(),
            ]),
            _ => Action::Hold(Pattern {
                from: Some(n(1).into()),
                name: Some("session-ready".into()),
                ..Pattern::default()
            }),
        };
        let mut step = Step::new(Trigger::At(Time::from_millis(draw.below(2_800))), action);
        step.until = Some(Trigger::After(Span::from_millis(draw.within(5, 700))));
        script.steps.push(step);
    }
    script
}

#[test]
fn clients_write_and_read_what_they_wrote() {
    let outcome = run(
        &quiet(vec![
            operation(at(400), client(1), "append a x"),
            operation(at(500), client(2), "append a y"),
            operation(at(600), client(1), "get a"),
            operation(at(700), client(2), "put r 1"),
            operation(at(800), client(1), "cas r 2 3"),
            operation(at(900), client(1), "cas r 1 3"),
            operation(at(1_000), client(2), "get r"),
        ]),
        &Options::new(),
    );
    assert_eq!(outcome.verdict, Verdict::Pass);
    let replies = replies(&outcome);
    let expected = ["op0 ok", "op1 ok", "op2 value x,y", "op3 ok", "op4 differs", "op5 ok", "op6 value 3"];
    assert_eq!(replies[..7], expected, "the rest is asked by the checks");
}

#[test]
fn a_read_at_any_time_takes_either_way() {
    for reads in ["index", "log"] {
        for forwarding in ["on", "off"] {
            let steps =
                (0..10).map(|i| operation(at(400 + 50 * i), client(1 + i as usize % 2), "get a")).collect();
            let outcome = run(&quiet(steps), &options(&[("reads", reads), ("forwarding", forwarding)]));
            assert_eq!(outcome.verdict, Verdict::Pass);
            assert!(
                replies(&outcome)[..10].iter().all(|reply| reply.ends_with("no value")),
                "{reads} {forwarding}"
            );
        }
    }
}

#[test]
fn a_server_proposes_for_itself_only_as_leader() {
    let outcome = run(
        &quiet(vec![
            operation(at(700), Target::Leader, "append a x"),
            operation(at(700), Target::Follower(0), "append a y"),
            operation(at(800), client(1), "get a"),
        ]),
        &Options::new(),
    );
    assert_eq!(outcome.verdict, Verdict::Pass);
    let mut replies = replies(&outcome)[..3].to_vec();
    replies.sort_unstable();
    assert_eq!(replies, ["op0 ok", "op1 refused", "op2 value x"]);
}

#[test]
fn without_a_majority_a_request_ends_unknown_or_refused_and_never_done() {
    let mut script = quiet(vec![
        operation(at(400), client(1), "append a x"),
        operation(at(1_000), client(2), "append a y"),
    ]);
    script.horizon = Span::from_millis(6_000);
    for server in [1, 2] {
        let crash = Action::Crash { node: Target::Node(n(server)), losing: Losing::Some, at_call: 0 };
        script.steps.push(Step { until: Some(Trigger::End), ..Step::new(at(10), crash) });
    }
    let outcome = run(&script, &options(&[("client-attempts", "3")]));
    assert_eq!(outcome.verdict, Verdict::Pass, "nothing is owed without a majority");
    assert_eq!(outcome.figures.acknowledged_writes, 0);
    assert_eq!(replies(&outcome).len(), 2);
}

#[test]
fn a_new_leader_reaches_a_follower_whose_session_was_not_ready_when_it_won() {
    let ready = |to: NodeId| Pattern {
        name: Some("session-ready".into()),
        from: Some(n(1).into()),
        to: Some(to.into()),
        ..Pattern::default()
    };
    let wins = Trigger::When(Condition::Takes(Target::Node(n(1)), Role::Leader), Span::ZERO);
    let hold = Step { until: Some(wins), ..Step::new(at(0), Action::Hold(ready(n(2)))) };
    let starts = Trigger::When(Condition::Fires(ready(n(3))), Span::from_millis(20));
    let campaign = operation(starts, Target::Node(n(1)), "campaign");
    let outcome = run(&quiet(vec![hold, campaign]), &options(&[("session-start-high", "3ms")]));
    assert_eq!(outcome.verdict, Verdict::Pass);
    assert!(outcome.marks.contains(&"append-without-session"), "{:?}", outcome.marks);
    assert_eq!(outcome.unfired, []);
}

#[test]
fn a_server_whose_sync_failed_comes_back_with_what_was_durable() {
    let mut script =
        quiet((0..40).map(|i| operation(at(300 + 20 * i), client(1), &format!("append a v{i}"))).collect());
    script.disk.failures = 1_000;
    script.disk.high = Span::from_millis(1);
    let outcome = run(&script, &Options::new());
    assert_eq!(outcome.verdict, Verdict::Pass);
    assert!(
        outcome.marks.contains(&"started-again-after-failed-sync") && outcome.figures.acknowledged_writes > 0
    );
}

#[test]
fn a_leader_hands_over_its_leadership_when_it_is_told_to() {
    let mut steps: Vec<Step> =
        (1..=3).map(|to| operation(at(400 + 200 * to), Target::Leader, &format!("transfer n{to}"))).collect();
    steps.extend(
        (1..=3).map(|who| operation(at(500 + 200 * who), Target::Node(n(who as usize)), "append a x")),
    );
    let outcome = run(&quiet(steps), &Options::new());
    assert_eq!(outcome.verdict, Verdict::Pass);
    let replies = replies(&outcome);
    let done = replies.iter().filter(|reply| reply.ends_with(" ok")).count();
    assert!(done >= 3, "a server proposes for itself only while it leads: {replies:?}");
}

#[test]
fn what_a_node_cannot_do_it_declines() {
    let outcome = run(
        &quiet(vec![
            operation(at(0), Target::Node(n(1)), "transfer n2"),
            operation(at(100), client(1), "campaign"),
            operation(at(900), Target::Leader, "transfer n9"),
        ]),
        &Options::new(),
    );
    assert_eq!(outcome.verdict, Verdict::Pass);
    assert_eq!(replies(&outcome)[..3], ["op0 declined", "op1 declined", "op2 declined"]);
}

#[test]
fn reads_go_to_any_server_and_find_what_was_written_before() {
    let steps = (0..9)
        .flat_map(|i| {
            let write = operation(at(400 + 60 * i), client(1), &format!("append a v{i}"));
            [write, operation(at(430 + 60 * i), client(2), "get a")]
        })
        .collect();
    let outcome = run(&quiet(steps), &options(&[("read-at", "any")]));
    assert_eq!(outcome.verdict, Verdict::Pass);
    assert!(outcome.marks.contains(&"read-at-follower"), "{:?}", outcome.marks);
    assert!(replies(&outcome).contains(&"op17 value v0,v1,v2,v3,v4,v5,v6,v7,v8"));
}

/// A steady stream of writes, and options that make snapshots often.
fn snapshots_often(also: &[(&str, &str)]) -> (Script, Options) {
    let script =
        quiet((0..50).map(|i| operation(at(300 + 20 * i), client(1), &format!("append a v{i}"))).collect());
    let mut options = options(&[("snapshot-entries", "5"), ("snapshot-trail", "0")]);
    also.iter().for_each(|(name, value)| options.set(SPECS, name, value).unwrap());
    (script, options)
}

#[test]
fn a_server_that_comes_back_late_is_brought_up_by_a_snapshot() {
    for refusals in ["0", "3"] {
        let (mut script, options) = snapshots_often(&[("snapshot-refusals", refusals)]);
        let crash = Action::Crash { node: Target::Node(n(3)), losing: Losing::Some, at_call: 0 };
        script.steps.push(Step { until: Some(at(1_100)), ..Step::new(at(400), crash) });
        let outcome = run(&script, &options);
        assert_eq!(outcome.verdict, Verdict::Pass);
        for mark in
            ["snapshot-sent", "snapshot-installed", "started-from-snapshot", "compacted-what-a-peer-lacks"]
        {
            assert!(outcome.marks.contains(&mark), "{mark} is not among {:?}", outcome.marks);
        }
        assert_eq!(replies(&outcome)[..50].iter().filter(|reply| reply.ends_with(" ok")).count(), 50);
    }
}

#[test]
fn a_snapshot_that_is_lost_on_its_way_is_sent_again() {
    let (mut script, options) = snapshots_often(&[]);
    let crash = Action::Crash { node: Target::Node(n(3)), losing: Losing::Some, at_call: 0 };
    script.steps.push(Step { until: Some(at(800)), ..Step::new(at(400), crash) });
    let snapshots = Pattern { name: Some("MsgSnap".into()), to: Some(n(3).into()), ..Pattern::default() };
    script.steps.push(Step { until: Some(at(1_200)), ..Step::new(at(0), Action::Drop(snapshots)) });
    let outcome = run(&script, &options);
    assert_eq!(outcome.verdict, Verdict::Pass);
    assert!(outcome.marks.contains(&"snapshot-lost"), "{:?}", outcome.marks);
}

#[test]
fn a_full_disk_and_writes_that_fail_stop_a_server_for_a_while_only() {
    let (mut script, options) = snapshots_often(&[]);
    (script.disk.full, script.disk.write_failures, script.disk.read_failures) = (15_000, 2_000, 10_000);
    let outcome = run(&script, &options);
    assert_eq!(outcome.verdict, Verdict::Pass);
    assert!(outcome.marks.contains(&"write-refused-by-disk"), "{:?}", outcome.marks);
}

#[test]
fn a_single_server_keeps_what_it_has_acknowledged() {
    let (mut script, options) = snapshots_often(&[]);
    script.servers = 1;
    (script.disk.high, script.disk.sector_bytes) = (Span::from_millis(3), 512);
    for start in [500, 700, 900, 1_100] {
        let crash = Action::Crash { node: Target::Node(n(1)), losing: Losing::Some, at_call: 0 };
        script
            .steps
            .push(Step { until: Some(Trigger::After(Span::from_millis(30))), ..Step::new(at(start), crash) });
    }
    let outcome = run(&script, &options);
    assert_eq!(outcome.verdict, Verdict::Pass);
    assert!(outcome.figures.acknowledged_writes > 20, "{}", outcome.figures.acknowledged_writes);
}

#[test]
fn faults_of_every_kind_break_no_rule_with_frequent_snapshots_and_torn_sectors() {
    let (mut installed, mut restored) = (0, 0);
    for seed in 0..120 {
        let mut script = wild(seed);
        let mut draw = Draw::from_value(seed ^ 0x5ec7);
        script.disk.sector_bytes = if draw.chance(1, 2) { 512 } else { 64 };
        (script.disk.full, script.disk.write_failures) = (draw.below(500) as u16, draw.below(500) as u16);
        let trail = draw.within(0, 10).to_string();
        let options = options(&[
            ("snapshot-entries", &draw.within(5, 30).to_string()),
            ("snapshot-trail", &trail),
            ("segment-bytes", "512"),
        ]);
        let outcome = KV.run(&script, &options, false).unwrap();
        assert_eq!(outcome.verdict, Verdict::Pass, "seed {seed}");
        installed += u64::from(outcome.marks.contains(&"snapshot-installed"));
        restored += u64::from(outcome.marks.contains(&"started-from-snapshot"));
    }
    assert!(installed > 20 && restored > 60, "{installed} {restored}");
}

#[test]
fn disks_that_forget_and_decay_break_nothing_that_is_owed() {
    const RUNS: u64 = 150;
    let (mut damaged, mut repaired) = (0, 0);
    for seed in 0..RUNS {
        let mut script = wild(seed);
        let mut draw = Draw::from_value(seed ^ 0xd15c);
        let often = |draw: &mut Draw| if draw.chance(1, 2) { draw.below(2_000) as u16 } else { 0 };
        script.disk.sector_bytes = if draw.chance(3, 4) { 512 } else { 0 };
        (script.disk.full, script.disk.write_failures) = (often(&mut draw), often(&mut draw));
        (script.disk.read_failures, script.disk.stalls) = (often(&mut draw), often(&mut draw));
        script.disk.stall = Span::from_millis(50);
        script.disk.busy_high = Span::from_micros(draw.below(500));
        let faults = &mut script.disk.faults;
        faults.rot = often(&mut draw) * 10;
        if draw.chance(1, 3) {
            (faults.lies, faults.lost_writes) = (often(&mut draw), often(&mut draw));
            (faults.misdirected, faults.everywhere) = (often(&mut draw), draw.chance(1, 4));
        }
        let options =
            options(&[("snapshot-entries", &draw.within(5, 30).to_string()), ("segment-bytes", "512")]);
        let outcome = KV.run(&script, &options, false).unwrap();
        assert_eq!(outcome.verdict, Verdict::Pass, "seed {seed}");
        damaged += u64::from(outcome.marks.contains(&"log-found-damaged"));
        repaired += u64::from(outcome.marks.contains(&"log-repaired-by-peers"));
    }
    assert!(damaged > RUNS / 10 && repaired > RUNS / 20, "{damaged} {repaired}");
}

#[test]
fn a_single_server_whose_log_is_damaged_stays_down() {
    let mut damaged = 0;
    for seed in 0..30 {
        let (mut script, options) = snapshots_often(&[]);
        (script.servers, script.seed) = (1, seed);
        (script.disk.faults.rot, script.disk.faults.everywhere) = (u16::MAX, true);
        for start in [500, 550, 600, 650, 700, 750] {
            let crash = Action::Crash { node: Target::Node(n(1)), losing: Losing::Some, at_call: 0 };
            let until = Some(Trigger::After(Span::from_millis(20)));
            script.steps.push(Step { until, ..Step::new(at(start), crash) });
        }
        let outcome = run(&script, &options);
        assert_eq!(outcome.verdict, Verdict::Pass, "seed {seed}");
        assert!(!outcome.marks.contains(&"log-repaired-by-peers"));
        damaged += u64::from(outcome.marks.contains(&"log-found-damaged"));
    }
    assert!(damaged > 3, "{damaged}");
}

#[test]
fn faults_of_every_kind_break_no_rule() {
    let (mut crashes, mut lost, mut acknowledged) = (0, 0, 0);
    for seed in 0..120 {
        let outcome = KV.run(&wild(seed), &Options::new(), false).unwrap();
        assert_eq!(outcome.verdict, Verdict::Pass, "seed {seed}");
        crashes += outcome.counters.crashes;
        lost += outcome.counters.bites[Fault::UnsyncedLost];
        acknowledged += outcome.figures.acknowledged_writes;
    }
    assert!(crashes > 100 && lost > 30 && acknowledged > 1_000, "{crashes} {lost} {acknowledged}");
}

#[test]
fn a_run_is_the_same_twice_and_while_it_is_watched() {
    for seed in 0..10 {
        let run = |record| KV.run(&wild(seed), &Options::new(), record).unwrap();
        let (first, second, watched) = (run(false), run(false), run(true));
        assert_eq!((first.hash, first.counters), (second.hash, second.counters));
        assert_eq!((first.hash, first.counters), (watched.hash, watched.counters));
    }
}

#[test]
fn clusters_of_any_size_serve_their_clients() {
    for servers in [1, 2, 4, 7, 9] {
        let steps =
            (0..10).map(|i| operation(at(500 + 30 * i), client(1), &format!("append a v{i}"))).collect();
        let outcome = run(&Script { servers, ..quiet(steps) }, &Options::new());
        assert_eq!(outcome.verdict, Verdict::Pass, "{servers} servers");
        assert!(outcome.figures.acknowledged_writes >= 10, "{servers} servers");
    }
}

/// A server that asked before could win, forget the term in a crash, and win it once more with other entries.
#[test]
fn a_server_asks_for_votes_only_when_its_term_is_on_its_disk() {
    let mut script = quiet(vec![operation(at(80), Target::Node(n(1)), "campaign")]);
    (script.disk.low, script.disk.high) = (Span::from_millis(7), Span::from_millis(7));
    let outcome = run(&script, &options(&[("pre-vote", "off")]));
    let events = &outcome.trace.as_ref().expect("it was recorded").events;
    let first = |kind, name: &str| {
        let is = |event: &&whitewater_sim::TraceEvent| {
            event.node == Some(n(1)) && event.kind == kind && event.text.contains(name)
        };
        events.iter().find(is).map(|event| event.time).expect("it happens")
    };
    assert_eq!(first(EventKind::Sync, "done"), Time::from_millis(87));
    assert_eq!(first(EventKind::Send, "MsgVote "), Time::from_millis(87));
}

/// The disks of these servers take nothing between 1.07 s and 1.61 s: windows 4 and 5 of 268 ms.
fn full_disks(servers: &[usize], steps: Vec<Step>) -> Script {
    let mut script = quiet(steps);
    script.disk.full = 1;
    for (&server, number) in servers.iter().flat_map(|server| [(server, 4), (server, 5)]) {
        let decision = Decision::Disk { node: n(server), what: "full".into(), number, value: 1 };
        script.pins.push(Pin { decision, note: None });
    }
    script.horizon = Span::from_millis(2_500);
    script
}

/// When each of the operations was answered, in milliseconds.
fn answered_at(outcome: &Outcome) -> Vec<(String, u64)> {
    let events = &outcome.trace.as_ref().expect("it was recorded").events;
    let replies = events.iter().filter(|event| event.kind == EventKind::Reply);
    replies.map(|event| (event.text.clone(), event.time.nanos() / 1_000_000)).collect()
}

#[test]
fn full_disks_stop_writes_and_not_reads_and_all_goes_on_when_there_is_room() {
    for storage in ["sync", "async"] {
        let steps = vec![
            operation(at(700), client(1), "put r old"),
            operation(at(1_100), client(1), "put r new"),
            operation(at(1_200), client(2), "get r"),
            operation(at(1_400), client(2), "get r"),
        ];
        let outcome = run(&full_disks(&[1, 2, 3], steps), &options(&[("storage", storage)]));
        assert_eq!(outcome.verdict, Verdict::Pass);
        let answered = answered_at(&outcome);
        let when = |text: &str| answered.iter().find(|(reply, _)| reply == text).map(|&(_, millis)| millis);
        assert!(when("op2 value old").is_some_and(|millis| millis < 1_300), "{storage}: {answered:?}");
        assert!(when("op3 value old").is_some_and(|millis| millis < 1_500), "{storage}: {answered:?}");
        assert!(
            when("op1 ok").is_some_and(|millis| (1_610..2_300).contains(&millis)),
            "{storage}: {answered:?}"
        );
    }
}

#[test]
fn a_leader_whose_disk_is_full_serves_what_its_followers_have_made_durable() {
    for leader in 1..=3 {
        let steps = vec![
            Step::new(
                at(600),
                Action::Operate { target: Target::Node(n(leader)), text: "campaign".into(), every: None },
            ),
            operation(at(1_100), client(1), "put r new"),
            operation(at(1_300), client(2), "get r"),
        ];
        let outcome = run(&full_disks(&[leader], steps), &Options::new());
        assert_eq!(outcome.verdict, Verdict::Pass);
        let answered = answered_at(&outcome);
        let early = |text: &str| answered.iter().any(|(reply, millis)| reply == text && *millis < 1_500);
        assert!(early("op1 ok") && early("op2 value new"), "n{leader}: {answered:?}");
    }
}
