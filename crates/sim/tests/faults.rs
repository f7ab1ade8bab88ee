//! Each kind of fault bites where a script has it, and with its effect taken away its count is zero.

mod common;

use common::*;
use whitewater_sim::*;

fn node(number: usize) -> Target {
    Target::Node(n(number))
}

fn everybody() -> Vec<Target> {
    (1..=5).map(node).collect()
}

fn crash(losing: Losing, at_call: u32) -> Action {
    Action::Crash { node: node(1), losing, at_call }
}

fn pattern() -> Pattern {
    Pattern { name: Some("Ping".to_owned()), from: Some(n(1).into()), ..Pattern::default() }
}

fn during(action: Action) -> Vec<Step> {
    vec![step(at(30), action, Some(at(150)))]
}

fn clock(change: ClockChange) -> Action {
    Action::Clock { node: node(1), change }
}

fn topology(topology: Topology, groups: Vec<Vec<Target>>, flapping: Option<u64>) -> Vec<Step> {
    let flapping = flapping.map(Span::from_millis);
    during(Action::Topology { topology, groups, flapping })
}

fn networked(network: Network) -> Script {
    Script { network, ..script(Vec::new()) }
}

fn disks(disk: DiskTiming) -> Script {
    let mut steps: Vec<Step> = (0..80).map(|k| order(at(2 * k), n(1 + k as usize % 5), "write 1")).collect();
    steps.push(step(
        at(100),
        Action::Crash { node: node(2), losing: Losing::Some, at_call: 0 },
        Some(at(110)),
    ));
    Script { disk, ..script(steps) }
}

fn unseen(faults: DiskFaults) -> Script {
    disks(DiskTiming { faults: DiskFaults { everywhere: true, ..faults }, ..DiskTiming::default() })
}

/// Five toys; the first one leads from the beginning, others later.
fn script(mut steps: Vec<Step>) -> Script {
    steps.extend([
        order(at(5), n(1), "lead"),
        order(at(90), n(2), "lead"),
        order(at(120), n(3), "lead"),
        order(at(60), n(1), "write 12"),
        order(at(100), n(1), "time"),
    ]);
    Script { servers: 5, ..short(steps) }
}

/// A script in which a fault bites.
fn biting(fault: Fault) -> Script {
    let default = Network::default();
    let timing = DiskTiming::default();
    let ms = Span::from_millis;
    let half = Ratio::of(1, 2);
    let (leader, others) = (vec![Target::Leader], everybody());
    match fault {
        Fault::Loss => networked(Network { loss: half, ..default }),
        Fault::Duplicate => networked(Network { duplicate: half, ..default }),
        Fault::Reorder => networked(Network { reorder: half, reorder_window: ms(20), ..default }),
        Fault::LongTail => networked(Network { shape: Shape::LongTail, ..default }),
        Fault::Bimodal => networked(Network { shape: Shape::Bimodal, ..default }),
        Fault::Corrupt => networked(Network { corrupt: half, ..default }),
        Fault::Misdeliver => networked(Network { misdeliver: half, ..default }),
        Fault::LossyLink => script(during(Action::Lossy(pattern(), half))),
        Fault::Drop => script(during(Action::Drop(pattern()))),
        Fault::Choke => script(during(Action::Choke(pattern(), 7))),
        Fault::Repeat => script(during(Action::Duplicate(pattern(), ms(3)))),
        Fault::SlowLink => script(during(Action::Delay(pattern(), ms(3)))),
        Fault::Jitter => {
            let (low, high, shape) = (ms(1), ms(9), Shape::Bimodal);
            script(during(Action::Jitter { pattern: pattern(), low, high, shape }))
        }
        Fault::Replay => script(during(Action::Replay(pattern(), 1))),
        Fault::ReplayOverRestart => {
            let mut steps = during(Action::Replay(pattern(), 1));
            steps.push(step(at(70), crash(Losing::Some, 0), Some(at(75))));
            script(steps)
        }
        Fault::Clog => script(during(Action::Clog { from: Target::Leader, to: node(2) })),
        Fault::HoldMessage => script(during(Action::Hold(pattern()))),
        Fault::HoldTimer => {
            let name = Some("beat".to_owned());
            script(during(Action::Hold(Pattern { name, from: Some(n(1).into()), ..Pattern::default() })))
        }
        Fault::Cut => script(during(Action::Cut { from: node(1), to: node(2) })),
        Fault::Isolate => script(during(Action::Partition(vec![vec![node(2)], others]))),
        Fault::Split => script(during(Action::Partition(vec![vec![node(2), node(3)], others]))),
        Fault::Straddle => {
            script(during(Action::Partition(vec![vec![Target::Leader, Target::Follower(0)], others])))
        }
        Fault::CutLeader => script(during(Action::Partition(vec![leader, others]))),
        Fault::Ring => script(topology(Topology::Ring, vec![others], None)),
        Fault::Chain => script(topology(Topology::Chain, vec![others], None)),
        Fault::Bridge => {
            let groups = vec![vec![node(1), node(2)], vec![node(3)], vec![node(4), node(5)]];
            script(topology(Topology::Bridge, groups, None))
        }
        Fault::OneWay => script(topology(Topology::OneWay, vec![vec![node(2)], others], None)),
        Fault::Flap => script(topology(Topology::Groups, vec![vec![node(2)], others], Some(15))),
        Fault::ClockRate => script(during(clock(ClockChange::Rate(Rate::of(3, 2))))),
        Fault::ClockFreeze => script(during(clock(ClockChange::Freeze))),
        Fault::ClockForward => script(during(clock(ClockChange::Forward(ms(100))))),
        Fault::ClockBack => script(during(clock(ClockChange::Back(ms(100))))),
        Fault::ClockOffset => script(vec![step(at(0), clock(ClockChange::Forward(ms(5_000))), None)]),
        Fault::Crash | Fault::CrashLeader | Fault::Undeliverable => script(during(crash(Losing::Some, 0))),
        Fault::CrashAtCall => script(during(crash(Losing::Some, 2))),
        Fault::CrashAtSend | Fault::CrashAtReply => {
            let effect = if fault == Fault::CrashAtSend { Countable::Sends } else { Countable::Replies };
            let action = Action::CrashAfter { node: node(1), losing: Losing::Some, effect, number: 1 };
            script(during(action))
        }
        Fault::UnsyncedLost => {
            let mut script = script(vec![step(at(65), crash(Losing::Unsynced, 0), Some(at(150)))]);
            script.disk = DiskTiming { low: ms(50), high: ms(50), ..timing };
            script
        }
        Fault::WipedDisk => script(vec![step(at(100), crash(Losing::Everything, 0), Some(at(130)))]),
        Fault::OlderDisk => script(during(Action::Rewind(node(1)))),
        Fault::Roll => {
            script(during(Action::Roll { node: node(1), option: "extra".to_owned(), value: "on".to_owned() }))
        }
        Fault::Pause => script(during(Action::Pause(node(1)))),
        Fault::SlowNode => script(during(Action::Slow { node: node(1), low: ms(1), high: ms(2) })),
        Fault::SlowSync => disks(DiskTiming { high: ms(2), ..timing }),
        Fault::Busy => disks(DiskTiming { busy_low: ms(1), busy_high: ms(2), ..timing }),
        Fault::Stall => disks(DiskTiming { high: ms(1), stalls: 60_000, stall: ms(50), ..timing }),
        Fault::SyncFailed => disks(DiskTiming { high: ms(1), failures: 30_000, ..timing }),
        Fault::CallFailed => disks(DiskTiming { write_failures: 30_000, ..timing }),
        Fault::Full => disks(DiskTiming { capacity_bytes: 16, ..timing }),
        Fault::Lie => unseen(DiskFaults { lies: 60_000, ..DiskFaults::default() }),
        Fault::Astray => unseen(DiskFaults { lost_writes: 60_000, ..DiskFaults::default() }),
        // One write only, so that the bit flips in it.
        Fault::Rot => Script {
            disk: unseen(DiskFaults { rot: 60_000, ..DiskFaults::default() }).disk,
            ..script(vec![step(at(100), crash(Losing::Some, 0), Some(at(130)))])
        },
    }
}

const OPTIONS: &[OptionSpec] = &[OptionSpec {
    name: "extra",
    about: "Whether it pings once more when it starts.",
    values: Values::Words(&["off", "on"]),
    default: "off",
    per_node: false,
    drawn: false,
}];

fn outcome(script: &Script, without: FaultSet) -> Outcome {
    let mut world = World::<Toy, _>::new(script, Manner::default(), Unchecked, false).unwrap();
    for (step, _) in script.rolls(&Options::new(), OPTIONS).unwrap() {
        world.roll(step, Manner { extra_ping: true, ..Manner::default() });
    }
    world.without(without).run()
}

#[test]
fn each_fault_bites_where_a_script_has_it_and_not_once_its_effect_is_taken_away() {
    for fault in Fault::ALL {
        let script = biting(fault);
        let with = outcome(&script, FaultSet::NONE);
        assert_eq!(with.verdict, Verdict::Pass, "{}", fault.name());
        assert!(with.counters.bites[fault] > 0, "{} never bites", fault.name());
        // Nobody is down but for a crash: the message finds its receiver there if nobody crashes.
        let cause = if fault == Fault::Undeliverable { Fault::Crash } else { fault };
        let without = outcome(&script, FaultSet::NONE.with(cause));
        assert_eq!(without.counters.bites[fault], 0, "{} is counted without effect", fault.name());
        assert_ne!(with.hash, without.hash, "{} has no effect that anybody sees", fault.name());
    }
}

#[test]
fn a_script_without_a_fault_counts_none() {
    for fault in Fault::ALL {
        let calm = outcome(&script(Vec::new()), FaultSet::NONE);
        assert_eq!(calm.counters.bites[fault], 0, "{}", fault.name());
    }
}

#[test]
fn each_fault_is_seen_in_the_scripts_that_have_it() {
    assert!(script(Vec::new()).faults().is_empty());
    // These come with others: a crash may hit the leader, lose something, and leave messages without a receiver.
    let follow = [Fault::CrashLeader, Fault::UnsyncedLost, Fault::Undeliverable, Fault::ReplayOverRestart];
    for fault in Fault::ALL {
        assert!(biting(fault).faults().has(fault) || follow.contains(&fault), "{}", fault.name());
    }
}

fn times(outcome: &Outcome, kind: EventKind, of: NodeId) -> Vec<Time> {
    let events = outcome.trace.as_ref().unwrap().events.iter();
    events.filter(|event| event.kind == kind && event.node == Some(of)).map(|event| event.time).collect()
}

#[test]
fn a_step_makes_the_syncs_of_one_disk_fail_until_it_ends() {
    let failing = |of: usize| {
        let failing = step(at(30), Action::FailSyncs(node(of)), Some(at(150)));
        Script {
            steps: disks(DiskTiming::default()).steps.into_iter().chain([failing]).collect(),
            ..script(Vec::new())
        }
    };
    let bites = |script: &Script, without| outcome(script, without).counters.bites[Fault::SyncFailed];
    let failed = bites(&failing(1), FaultSet::NONE);
    assert!(failed > 1, "{failed} syncs failed");
    assert!(failing(1).faults().has(Fault::SyncFailed));
    assert_eq!(failing(1).contract(), DiskContract::Lossy);
    assert_eq!(bites(&failing(1), FaultSet::NONE.with(Fault::SyncFailed)), 0);
    let short =
        Script { steps: vec![step(at(31), Action::FailSyncs(node(1)), Some(at(32)))], ..script(Vec::new()) };
    assert_eq!(bites(&short, FaultSet::NONE), 0, "nothing is written meanwhile");
}

#[test]
fn a_stopped_process_does_nothing_and_then_everything_it_missed() {
    let outcome = run(&script(during(Action::Pause(node(1)))));
    let within = |time: &&Time| Time::from_millis(30) < **time && **time < Time::from_millis(150);
    for kind in [EventKind::Recv, EventKind::Timer, EventKind::Operate] {
        assert_eq!(times(&outcome, kind, n(1)).iter().filter(within).count(), 0, "{kind:?}");
    }
    let at_end = times(&outcome, EventKind::Recv, n(1));
    assert!(at_end.iter().filter(|time| **time == Time::from_millis(150)).count() > 20);
    assert_eq!(outcome.counters.replies, 2, "the write that came meanwhile is answered");
}

#[test]
fn a_process_that_is_stopped_by_what_it_sends_does_nothing_more() {
    let leaves = Pattern { to: Some(n(2).into()), ..pattern() };
    let begins = Trigger::When(Condition::Leaves(leaves), Span::ZERO);
    // What it did in that step keeps it busy for a while as well.
    let slow = Action::Slow { node: node(1), low: Span::from_nanos(1), high: Span::from_nanos(1) };
    let steps = vec![step(at(0), slow, None), step(begins, Action::Pause(node(1)), Some(at(150)))];
    let outcome = run(&script(steps));
    let sent = times(&outcome, EventKind::Send, n(1));
    let stopped =
        sent.iter().filter(|time| **time < Time::from_millis(150)).max().expect("it sends something");
    assert!(*stopped < Time::from_millis(30), "it goes on until {stopped}");
    let at_end = times(&outcome, EventKind::Recv, n(1));
    assert!(at_end.iter().filter(|time| **time >= Time::from_millis(150)).count() > 20);
}

#[test]
fn a_stopped_process_that_crashes_has_missed_what_came() {
    let mut steps = during(Action::Pause(node(1)));
    steps.push(step(at(80), crash(Losing::Some, 0), Some(at(100))));
    let outcome = run(&script(steps));
    let beats = times(&outcome, EventKind::Timer, n(1));
    let after =
        beats.iter().filter(|time| **time > Time::from_millis(100) && **time < Time::from_millis(150));
    assert!(after.count() > 3, "it is a new process, which nobody has stopped");
    assert!(outcome.counters.bites[Fault::Undeliverable] > 10);
}

#[test]
fn a_fast_clock_beats_more_often_and_one_that_stands_still_not_at_all() {
    let beats = |change| {
        let outcome = run(&script(during(clock(change))));
        let within = |time: &&Time| Time::from_millis(30) < **time && **time <= Time::from_millis(150);
        times(&outcome, EventKind::Timer, n(1)).iter().filter(within).count()
    };
    assert!((10..=13).contains(&beats(ClockChange::Rate(Rate::TRUE))));
    assert!((22..=26).contains(&beats(ClockChange::Rate(Rate::of(2, 1)))));
    assert!((5..=7).contains(&beats(ClockChange::Rate(Rate::of(1, 2)))));
    assert_eq!(beats(ClockChange::Freeze), 0);
}

#[test]
fn a_clock_that_stood_still_goes_on() {
    let outcome = run(&script(during(clock(ClockChange::Freeze))));
    let beats = times(&outcome, EventKind::Timer, n(1));
    assert!(beats.iter().filter(|time| **time > Time::from_millis(150)).count() > 3);
}

#[test]
fn a_server_crashes_after_so_many_messages_and_sends_no_more() {
    let action =
        Action::CrashAfter { node: node(1), losing: Losing::Some, effect: Countable::Sends, number: 6 };
    let outcome = run(&script(during(action)));
    let sends = times(&outcome, EventKind::Send, n(1));
    let crashed = times(&outcome, EventKind::Crash, n(1))[0];
    let until_crash = |time: &&Time| Time::from_millis(30) <= **time && **time <= crashed;
    assert_eq!(sends.iter().filter(until_crash).count(), 6);
}

#[test]
fn a_wiped_server_has_forgotten_what_it_wrote_and_an_older_disk_knows_what_was_there_before() {
    let notes = |steps: Vec<Step>| {
        let outcome = run(&script(steps));
        let events = &outcome.trace.as_ref().unwrap().events;
        let boots = events.iter().filter(|e| e.kind == EventKind::Boot && e.node == Some(n(1)));
        boots.map(|e| e.notes[0].clone()).collect::<Vec<_>>()
    };
    // The write comes at 60 ms, the power cycle at the end.
    let lost = step(at(100), crash(Losing::Everything, 0), Some(at(110)));
    assert_eq!(notes(vec![lost]), ["counter 0", "counter 0", "counter 0"]);
    let kept = step(at(100), crash(Losing::Unsynced, 0), Some(at(110)));
    assert_eq!(notes(vec![kept]), ["counter 0", "counter 12", "counter 12"]);
    let before = step(at(50), Action::Rewind(node(1)), Some(at(100)));
    assert_eq!(notes(vec![before]), ["counter 0", "counter 0", "counter 0"]);
    let after = step(at(70), Action::Rewind(node(1)), Some(at(100)));
    assert_eq!(notes(vec![after]), ["counter 0", "counter 12", "counter 12"]);
}

#[test]
fn a_copy_that_was_kept_comes_after_its_elections_even_to_another_incarnation() {
    let one = Pattern { to: Some(n(2).into()), number: Some(1), ..pattern() };
    let outcome = run(&script(vec![
        step(at(30), Action::Replay(one, 2), Some(at(150))),
        step(at(70), crash(Losing::Some, 0), Some(at(75))),
    ]));
    let bites = outcome.counters.bites;
    assert_eq!((bites[Fault::Replay], bites[Fault::ReplayOverRestart]), (1, 1));
    assert!(outcome.trace.unwrap().events.iter().any(|event| {
        event.kind == EventKind::Recv && event.node == Some(n(2)) && event.time >= Time::from_millis(120)
    }));
}

#[test]
fn a_clog_loses_nothing_and_keeps_the_order() {
    let outcome = run(&script(during(Action::Clog { from: node(1), to: node(2) })));
    let events = &outcome.trace.as_ref().unwrap().events;
    let over = |e: &&TraceEvent| e.subject.is_some_and(|s| s.from == n(1) && s.to == n(2));
    let held: Vec<u64> = events
        .iter()
        .filter(|e| e.kind == EventKind::Hold)
        .filter(over)
        .map(|e| e.subject.unwrap().key)
        .collect();
    let came: Vec<u64> = events
        .iter()
        .filter(|e| e.kind == EventKind::Recv && e.time == Time::from_millis(150))
        .filter(over)
        .map(|e| e.subject.unwrap().key)
        .collect();
    assert!(held.len() > 10 && came.starts_with(&held), "{held:?} {came:?}");
}

#[test]
fn a_cut_that_comes_and_goes_lets_messages_through_in_between() {
    let outcome = run(&script(topology(Topology::Groups, vec![vec![node(2)], everybody()], Some(20))));
    let cut = times(&outcome, EventKind::Cut, n(2));
    let came = times(&outcome, EventKind::Recv, n(2));
    for (from, to, is_cut) in [(30, 50, true), (50, 70, false), (70, 90, true), (90, 110, false)] {
        let within = |time: &&Time| Time::from_millis(from) < **time && **time < Time::from_millis(to);
        assert_eq!(cut.iter().any(|time| within(&time)), is_cut, "{from}");
        assert_eq!(came.iter().any(|time| within(&time)), !is_cut, "{from}");
    }
}

#[test]
fn a_slow_node_handles_one_input_at_a_time() {
    let slow = Action::Slow { node: node(1), low: Span::from_millis(2), high: Span::from_millis(2) };
    let outcome = run(&script(during(slow)));
    let mut handled = times(&outcome, EventKind::Recv, n(1));
    handled.extend(times(&outcome, EventKind::Timer, n(1)));
    handled.retain(|time| (Time::from_millis(33)..Time::from_millis(149)).contains(time));
    handled.sort_unstable();
    assert!(handled.windows(2).all(|pair| pair[1].since(pair[0]) >= Span::from_millis(2)), "{handled:?}");
}

#[test]
fn only_servers_whose_disks_are_exchanged_may_have_forgotten_and_a_minority_of_them_is_lying() {
    let wiped = |numbers: &[usize]| {
        let all = numbers.iter().map(|&number| {
            let action = Action::Crash { node: node(number), losing: Losing::Everything, at_call: 0 };
            step(at(100), action, Some(at(110)))
        });
        script(all.collect())
    };
    assert_eq!(wiped(&[]).contract(), DiskContract::Honest);
    assert_eq!(wiped(&[2, 4]).contract(), DiskContract::Lying);
    assert_eq!(wiped(&[1, 2, 4]).contract(), DiskContract::Unlimited);
    let budget = wiped(&[2, 4]).fault_budget();
    let struck: Vec<usize> = (1..=5).filter(|&number| budget.strikes(n(number))).collect();
    assert_eq!(struck, [2, 4]);
}

#[test]
fn what_waits_for_a_slow_node_costs_no_more_events_than_there_is_of_it() {
    let slow = Action::Slow { node: node(1), low: Span::from_millis(40), high: Span::from_millis(40) };
    let calm = outcome(&script(Vec::new()), FaultSet::NONE).counters;
    let busy = outcome(&script(during(slow)), FaultSet::NONE).counters;
    assert!(busy.bites[Fault::SlowNode] > 1);
    assert!(busy.events < calm.events + calm.events / 5, "{} instead of {}", busy.events, calm.events);
}

/// Faults of the network as a whole that a step brings about on one link and for one kind of message.
#[test]
fn what_befalls_all_messages_may_befall_those_of_one_link_and_kind() {
    let (half, ms) = (Ratio::of(1, 2), Span::from_millis);
    let from_n1_to_n2 = || Pattern { to: Some(n(2).into()), ..pattern() };
    let cases = [
        (Fault::Reorder, Action::Reorder { pattern: from_n1_to_n2(), share: half, window: ms(20) }),
        (Fault::Duplicate, Action::DuplicateSome { pattern: from_n1_to_n2(), share: half, after: ms(3) }),
        (Fault::Misdeliver, Action::MisdeliverSome(from_n1_to_n2(), half)),
        (Fault::Corrupt, Action::Corrupt(from_n1_to_n2(), half)),
    ];
    for (fault, action) in cases {
        let script = script(during(action));
        assert!(script.faults().has(fault), "{}", fault.name());
        let sole = outcome(&script, FaultSet::NONE);
        let all = outcome(&biting(fault), FaultSet::NONE);
        assert!(sole.counters.bites[fault] > 0, "{}", fault.name());
        assert!(sole.counters.bites[fault] < all.counters.bites[fault] / 4, "{}", fault.name());
        let without = outcome(&script, FaultSet::NONE.with(fault));
        assert_eq!(without.counters.bites[fault], 0, "{}", fault.name());
        assert_ne!(without.hash, sole.hash, "{}", fault.name());
        let never = outcome(&spared(&script), FaultSet::NONE);
        assert_eq!(never.counters.bites[fault], 0, "a share of nothing hits nothing: {}", fault.name());
    }
}

/// The same steps with a share of nothing.
fn spared(script: &Script) -> Script {
    let mut spared = script.clone();
    for step in &mut spared.steps {
        match &mut step.action {
            Action::Reorder { share, .. } | Action::DuplicateSome { share, .. } => *share = Ratio::NEVER,
            Action::MisdeliverSome(_, share) | Action::Corrupt(_, share) => *share = Ratio::NEVER,
            _ => {}
        }
    }
    spared
}

#[test]
fn a_script_keeps_the_faults_it_is_told_to_and_none_other() {
    for fault in Fault::ALL {
        let mut script = biting(fault);
        let had = script.faults();
        script.keep_faults(had);
        assert_eq!(outcome(&script, FaultSet::NONE).hash, outcome(&biting(fault), FaultSet::NONE).hash);
        script.keep_faults(FaultSet::NONE);
        assert!(script.faults().is_empty(), "{}: {:?}", fault.name(), script.faults());
        let bites = outcome(&script, FaultSet::NONE).counters.bites;
        assert_eq!(bites[fault], 0, "{}", fault.name());
        let operations = |script: &Script| {
            script.steps.iter().filter(|step| matches!(step.action, Action::Operate { .. })).count()
        };
        assert_eq!(operations(&script), operations(&biting(fault)), "{}", fault.name());
    }
    let mut leader = script(during(Action::Partition(vec![vec![Target::Leader], everybody()])));
    leader.drop_faults(FaultSet::NONE.with(Fault::CutLeader));
    assert!(leader.faults().is_empty(), "a step of two kinds is of each of them");
    let mut both = script(during(Action::Pause(node(1))));
    both.steps.extend(during(Action::Drop(pattern())));
    both.network.loss = Ratio::of(1, 2);
    both.keep_faults(FaultSet::NONE.with(Fault::Pause));
    assert_eq!(both.faults().iter().collect::<Vec<_>>(), [Fault::Pause]);
}
