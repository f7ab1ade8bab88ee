//! What the world promises to nodes, scripts and checks.

mod common;

use common::*;
use whitewater_sim::*;

fn kinds(outcome: &Outcome, kind: EventKind) -> Vec<&TraceEvent> {
    outcome.trace.as_ref().unwrap().events.iter().filter(|e| e.kind == kind).collect()
}

fn all_faults() -> Script {
    let network = Network {
        loss: Ratio::of(1, 10),
        duplicate: Ratio::of(1, 10),
        reorder: Ratio::of(1, 5),
        reorder_window: Span::from_millis(20),
        ..Network::default()
    };
    let steps = vec![
        step(
            at(50),
            Action::Crash { node: Target::Node(n(2)), losing: Losing::Some, at_call: 0 },
            Some(at(90)),
        ),
        step(
            at(60),
            Action::Partition(vec![vec![Target::Node(n(1))], vec![Target::Node(n(3))]]),
            Some(at(80)),
        ),
        order(at(10), n(2), "write 7"),
    ];
    Script { network, ..short(steps) }
}

#[test]
fn the_same_script_gives_the_same_run_recorded_or_not() {
    let script = all_faults();
    let recorded = run(&script);
    let bare = World::<Toy, _>::new(&script, Manner::default(), Unchecked, false).unwrap().run();
    assert_eq!(recorded.hash, bare.hash);
    assert_eq!(recorded.counters, bare.counters);
    assert_eq!(recorded.hash, run(&script).hash);
    assert_ne!(recorded.hash, run(&Script { seed: 43, ..script }).hash);
}

#[test]
fn the_hash_of_a_known_run_is_the_same_in_every_build() {
    assert_eq!(run(&all_faults()).hash.to_string(), "0x6ba1c38e4498a2d97a687ff6884616b6");
}

#[test]
fn what_happens_is_counted() {
    let counters = run(&all_faults()).counters;
    assert_eq!((counters.crashes, counters.restarts), (1, 1));
    assert!(counters.deliveries > 200);
}

#[test]
fn a_calm_run_has_no_faults() {
    let counters = run(&short(vec![])).counters;
    assert!(counters.faults().iter().all(|(_, count)| *count == 0), "{counters:?}");
}

#[test]
fn every_event_but_the_first_of_a_chain_has_an_earlier_cause() {
    let trace = run(&all_faults()).trace.unwrap();
    assert!(trace.events.windows(2).all(|pair| pair[0].id < pair[1].id));
    for event in &trace.events {
        if event.kind == EventKind::Recv {
            let cause = trace.event(event.cause).expect("a message was sent");
            assert!(cause.id < event.id);
            assert_eq!(cause.kind, EventKind::Send);
            assert_eq!(cause.subject, event.subject);
        }
    }
}

#[test]
fn what_was_synced_survives_a_crash() {
    let crash = Action::Crash { node: Target::Node(n(1)), losing: Losing::Unsynced, at_call: 0 };
    let outcome = run(&short(vec![order(at(5), n(1), "write 99"), step(at(20), crash, Some(at(40)))]));
    let boots = kinds(&outcome, EventKind::Boot);
    let again = boots.iter().find(|e| e.node == Some(n(1)) && e.time == Time::from_millis(40)).unwrap();
    assert_eq!(again.notes, ["counter 99"]);
}

#[test]
fn a_crash_at_a_storage_call_leaves_nothing_of_what_follows_it() {
    let crash = Action::Crash { node: Target::Node(n(1)), losing: Losing::Some, at_call: 2 };
    let outcome = run(&short(vec![step(at(5), crash, Some(at(40))), order(at(10), n(1), "write 99")]));
    assert_eq!(outcome.counters.replies, 0, "the reply comes after the sync at which it died");
    assert_eq!((outcome.counters.crashes, outcome.counters.restarts), (1, 1));
}

#[test]
fn a_node_may_die_while_it_starts_and_starts_again_later() {
    let crash = Action::Crash { node: Target::Node(n(1)), losing: Losing::Some, at_call: 1 };
    let first = Action::Crash { node: Target::Node(n(1)), losing: Losing::Some, at_call: 0 };
    let steps = vec![step(at(20), first, Some(at(40))), step(at(30), crash, Some(at(60)))];
    let outcome = run(&short(steps));
    assert_eq!(outcome.verdict, Verdict::Pass);
    let boots = kinds(&outcome, EventKind::Boot)
        .iter()
        .filter(|e| e.node == Some(n(1)))
        .map(|e| e.time)
        .collect::<Vec<_>>();
    assert_eq!(boots[..3], [0, 40, 60].map(Time::from_millis));
}

#[test]
fn an_operation_waits_for_the_step_that_brings_it_about() {
    let leads = Trigger::When(Condition::Takes(Target::Any, Role::Leader), Span::ZERO);
    let outcome = run(&short(vec![order(at(5), n(1), "lead"), order(leads, n(1), "write 3")]));
    let [first, second] = kinds(&outcome, EventKind::Operate)[..] else { panic!("two operations") };
    assert_eq!((first.time, second.time), (Time::from_millis(5), Time::from_millis(5)));
    assert_eq!(outcome.counters.replies, 1);
}

#[test]
fn a_crash_forgets_timers_and_messages_find_nobody() {
    let crash = Action::Crash { node: Target::Node(n(1)), losing: Losing::Some, at_call: 0 };
    let outcome = run(&short(vec![step(at(50), crash, Some(Trigger::End))]));
    let late = |e: &&&TraceEvent| e.node == Some(n(1)) && e.time > Time::from_millis(50);
    assert_eq!(kinds(&outcome, EventKind::Timer).iter().filter(late).count(), 0);
    assert!(outcome.counters.bites[Fault::Undeliverable] > 0);
    assert_eq!(outcome.trace.unwrap().final_states[0].1, "down", "until end outlasts settling");
}

#[test]
fn a_node_that_is_crashed_as_a_message_leaves_does_nothing_after_it() {
    let third = Pattern {
        name: Some("Ping".into()),
        from: Some(n(1).into()),
        to: Some(n(2).into()),
        number: Some(3),
        ..Pattern::default()
    };
    let crash = Action::Crash { node: Target::Node(n(1)), losing: Losing::Some, at_call: 0 };
    let leaves = Trigger::When(Condition::Leaves(third), Span::ZERO);
    let outcome = run(&short(vec![step(leaves, crash, Some(Trigger::End))]));
    let sends = |to| {
        let to_peer = |e: &&&TraceEvent| e.text.starts_with(&format!("n1->{to} Ping"));
        kinds(&outcome, EventKind::Send).iter().filter(to_peer).count()
    };
    assert_eq!((sends(n(2)), sends(n(3))), (3, 2));
    let down = kinds(&outcome, EventKind::Crash)[0].id;
    assert!(!kinds(&outcome, EventKind::Timer).iter().any(|e| e.node == Some(n(1)) && e.id > down));
}

#[test]
fn a_node_that_is_down_from_the_first_moment_never_starts() {
    let crash = Action::Crash { node: Target::Node(n(3)), losing: Losing::Some, at_call: 0 };
    let outcome = run(&short(vec![step(at(0), crash, Some(Trigger::End))]));
    assert!(kinds(&outcome, EventKind::Boot).iter().all(|e| e.node != Some(n(3))));
    assert_eq!(outcome.counters.crashes, 0);
}

#[test]
fn a_cut_stops_one_direction_only() {
    let cut = Action::Cut { from: Target::Node(n(1)), to: Target::Node(n(2)) };
    let outcome = run(&short(vec![step(at(0), cut, Some(Trigger::End))]));
    let received = |from, to| {
        let link = |e: &&&TraceEvent| e.subject.is_some_and(|s| (s.from, s.to) == (from, to));
        kinds(&outcome, EventKind::Recv).iter().filter(link).count()
    };
    assert_eq!(received(n(1), n(2)), 0);
    assert!(received(n(2), n(1)) > 0);
}

#[test]
fn a_hold_keeps_timers_until_its_condition_and_lets_them_go_at_once() {
    let hold = Action::Hold(Pattern {
        name: Some("ready".into()),
        from: Some(n(1).into()),
        to: Some(n(2).into()),
        ..Pattern::default()
    });
    let leads = Trigger::When(Condition::Takes(Target::Node(n(3)), Role::Leader), Span::ZERO);
    let script =
        short(vec![step(at(0), hold, Some(leads)), order(at(5), n(1), "lead"), order(at(70), n(3), "lead")]);
    let outcome = run(&script);
    let held = kinds(&outcome, EventKind::Hold);
    assert_eq!((held[0].time, held[0].text.as_str()), (Time::from_millis(6), "ready n1->n2"));
    let fired: Vec<_> =
        kinds(&outcome, EventKind::Timer).into_iter().filter(|e| e.text == "ready n1->n2").collect();
    assert_eq!(fired.iter().map(|e| e.time).collect::<Vec<_>>(), [Time::from_millis(70)]);
    assert_eq!(outcome.unfired, []);
}

#[test]
fn a_deviation_hits_the_message_it_names() {
    let third = Pattern {
        name: Some("Ping".into()),
        from: Some(n(1).into()),
        to: Some(n(2).into()),
        number: Some(3),
        ..Pattern::default()
    };
    let outcome = run(&short(vec![step(at(0), Action::Drop(third.clone()), None)]));
    assert_eq!(outcome.counters.bites[Fault::Drop], 1);
    let outcome = run(&short(vec![step(at(0), Action::Duplicate(third, Span::from_millis(1)), None)]));
    assert_eq!((outcome.counters.bites[Fault::Drop], outcome.counters.bites[Fault::Repeat]), (0, 1));
}

#[test]
fn a_role_at_an_end_of_a_message_is_who_has_it_at_that_moment() {
    let pattern = Pattern {
        name: Some("Ping".into()),
        from: Some(Target::Leader),
        to: Some(Target::Follower(0)),
        ..Pattern::default()
    };
    let steps = vec![
        step(at(0), Action::Lossy(pattern, Ratio::of(1, 1)), None),
        order(at(5), n(1), "lead"),
        order(at(20), n(3), "lead"),
    ];
    let outcome = run(&short(steps));
    let lost = kinds(&outcome, EventKind::Drop);
    let links: Vec<_> = lost.iter().filter_map(|e| e.subject.map(|s| (e.time, s.from, s.to))).collect();
    assert!(links.iter().any(|(_, from, to)| (*from, *to) == (n(1), n(2))));
    assert!(links.iter().any(|(_, from, to)| (*from, *to) == (n(3), n(1))));
    for (time, from, to) in links {
        let led_by_the_third = time >= Time::from_millis(20);
        assert_eq!((from, to), if led_by_the_third { (n(3), n(1)) } else { (n(1), n(2)) });
        assert!(time >= Time::from_millis(5));
    }
}

#[test]
fn a_step_whose_moment_never_comes_is_told() {
    let leads = |node| Trigger::When(Condition::Takes(Target::Node(node), Role::Leader), Span::ZERO);
    let steps = vec![
        order(leads(n(3)), n(1), "ping"),
        step(at(0), Action::Hold(Pattern::default()), Some(leads(n(3)))),
        order(at(5), n(1), "lead"),
    ];
    assert_eq!(run(&short(steps)).unfired, [0, 1]);
}

#[test]
fn a_step_that_never_meets_the_message_or_storage_call_it_is_about_is_told() {
    let pings = |number| Pattern { name: Some("Ping".into()), number: Some(number), ..Pattern::default() };
    let dies = |at_call| Action::Crash { node: Target::Node(n(2)), losing: Losing::Some, at_call };
    let steps = vec![
        order(at(5), n(1), "ping"),
        step(at(0), Action::Drop(pings(1)), None),
        step(at(0), Action::Drop(pings(9_999)), None),
        step(at(0), Action::Delay(pings(9_999), Span::from_millis(1)), None),
        step(at(0), Action::Duplicate(pings(9_999), Span::from_millis(1)), None),
        step(at(0), Action::Hold(pings(9_999)), None),
        step(at(0), dies(9_999), None),
        // Of a share of messages there may be none.
        step(at(0), Action::Lossy(pings(9_999), Ratio::of(1, 2)), None),
    ];
    assert_eq!(run(&short(steps)).unfired, [2, 3, 4, 5, 6]);
}

#[test]
fn a_step_that_was_to_end_before_it_began_is_told() {
    let apart = || Action::Partition(vec![vec![Target::Node(n(1))], vec![Target::Node(n(2))]]);
    let steps = vec![step(at(50), apart(), Some(at(20))), step(at(50), apart(), Some(at(60)))];
    assert_eq!(run(&short(steps)).unfired, [0]);
}

#[test]
fn a_repeated_operation_is_given_until_it_ends_and_skips_rounds_without_a_target() {
    let every = Some(Span::from_millis(10));
    let writes = Action::Operate { target: Target::Leader, text: "write 5".into(), every };
    let outcome = run(&short(vec![step(at(0), writes, Some(at(55))), order(at(25), n(1), "lead")]));
    let times: Vec<Time> = kinds(&outcome, EventKind::Reply).iter().map(|e| e.time).collect();
    assert_eq!(times, [30, 40, 50].map(Time::from_millis));
}

#[test]
fn an_operation_at_the_leader_finds_the_newest_one() {
    let at_leader =
        Step::new(at(50), Action::Operate { target: Target::Leader, text: "write 5".into(), every: None });
    let outcome = run(&short(vec![order(at(5), n(1), "lead"), order(at(9), n(3), "lead"), at_leader]));
    assert_eq!(kinds(&outcome, EventKind::Reply)[0].node, Some(n(3)));
}

#[test]
fn a_panic_of_a_node_is_a_verdict() {
    let outcome = run(&short(vec![order(at(5), n(2), "panic")]));
    let Verdict::Crashed { node, message, location } = outcome.verdict else {
        panic!("{:?}", outcome.verdict)
    };
    assert_eq!((node, message.as_str()), (n(2), "told to"));
    assert!(location.contains("common"), "{location}");
}

#[test]
fn a_node_that_sends_without_end_is_stopped() {
    let outcome = run(&short(vec![order(at(5), n(2), "flood")]));
    let most = Limits::default().steps.into();
    assert_eq!(outcome.verdict, Verdict::Exhausted { limit: Limit::Steps, most, node: Some(n(2)) });
}

#[test]
fn every_limit_is_a_verdict() {
    let exhausted = |limits| run(&Script { limits, ..short(vec![]) }).verdict;
    let limits = Limits::default();
    let verdict = |limit, most| Verdict::Exhausted { limit, most, node: None };
    assert_eq!(exhausted(Limits { events: 50, ..limits }), verdict(Limit::Events, 50));
    assert_eq!(exhausted(Limits { queue: 5, ..limits }), verdict(Limit::Queue, 5));
    let time = Span::from_millis(100);
    assert_eq!(exhausted(Limits { time, ..limits }), verdict(Limit::Time, time.nanos()));
    assert_eq!(exhausted(limits), Verdict::Pass);
}

#[test]
fn a_script_that_is_not_valid_is_refused() {
    let refusal =
        |script: &Script| World::<Toy, _>::new(script, Manner::default(), Unchecked, false).err().unwrap();
    assert!(refusal(&Script { servers: 0, ..Script::default() }).contains("1 to 16"));
    assert!(refusal(&short(vec![order(at(0), n(1), "dance")])).contains("no order"));
    assert!(refusal(&short(vec![order(at(0), n(4), "ping")])).contains("n4"));
    assert!(refusal(&short(vec![order(Trigger::End, n(1), "ping")])).contains("give it a time"));
    let any = Action::Crash { node: Target::Any, losing: Losing::Some, at_call: 0 };
    assert!(refusal(&short(vec![step(at(0), any, None)])).contains("name one"));
}

#[test]
fn a_node_in_two_groups_of_a_partition_belongs_to_the_first() {
    let groups = vec![vec![Target::Leader], vec![Target::Node(n(1)), Target::Node(n(2)), Target::Node(n(3))]];
    let outcome =
        run(&short(vec![order(at(5), n(2), "lead"), step(at(50), Action::Partition(groups), None)]));
    let later = |e: &&&TraceEvent| (100..200).contains(&(e.time.nanos() / 1_000_000));
    let heard =
        |node| kinds(&outcome, EventKind::Recv).iter().filter(later).filter(|e| e.node == Some(node)).count();
    assert_eq!(heard(n(2)), 0);
    assert!(heard(n(1)) > 0 && heard(n(3)) > 0);
}

/// Fails as soon as node 2 hears something, or owes for ever.
struct Strict {
    owes: bool,
}

fn broken(message: &str) -> Violation {
    Violation {
        rule: "silence",
        claim: "Nobody speaks.",
        message: message.into(),
        node: Some(n(2)),
        peer: None,
    }
}

impl Monitor<Toy> for Strict {
    fn observe(&mut self, seen: &Seen<'_, Toy>, cluster: &Cluster<Toy>) -> Result<(), Violation> {
        match seen.what {
            What::Delivered { .. } if !self.owes && seen.node == n(2) => {
                assert!(!cluster.view(n(2)).unwrap().heard.is_empty(), "the step has been taken");
                Err(broken("n2 heard something"))
            }
            _ => Ok(()),
        }
    }

    fn owed(&mut self, _: Time, _: &Cluster<Toy>) -> Progress {
        if self.owes { Progress::Waiting(broken("still noise")) } else { Progress::Done }
    }
}

#[test]
fn a_broken_rule_ends_the_run_at_the_event_that_broke_it() {
    let outcome =
        World::<Toy, _>::new(&short(vec![]), Manner::default(), Strict { owes: false }, true).unwrap().run();
    assert_eq!(outcome.verdict, Verdict::Violated(broken("n2 heard something")));
    let trace = outcome.trace.unwrap();
    let violation = trace.event(trace.violation.unwrap()).unwrap();
    assert_eq!(trace.event(violation.cause).unwrap().kind, EventKind::Recv);
}

/// Breaks a rule at a crash, or when everything is over.
struct Late {
    at_crash: bool,
}

impl Monitor<Toy> for Late {
    fn observe(&mut self, seen: &Seen<'_, Toy>, _: &Cluster<Toy>) -> Result<(), Violation> {
        let breaks = self.at_crash && matches!(seen.what, What::Crashed);
        if breaks { Err(broken("n2 is gone")) } else { Ok(()) }
    }

    fn owed(&mut self, _: Time, _: &Cluster<Toy>) -> Progress {
        Progress::Done
    }

    fn end(&mut self) -> Result<(), Violation> {
        if self.at_crash { Ok(()) } else { Err(broken("it was all in vain")) }
    }
}

#[test]
fn a_rule_may_be_broken_by_a_crash_and_by_all_that_happened() {
    let crash = Action::Crash { node: Target::Node(n(2)), losing: Losing::Some, at_call: 0 };
    let script = short(vec![step(at(40), crash, None)]);
    let run = |at_crash| {
        let outcome =
            World::<Toy, _>::new(&script, Manner::default(), Late { at_crash }, true).unwrap().run();
        let violation = outcome.trace.and_then(|trace| trace.event(trace.violation?).map(|event| event.time));
        (outcome.verdict, violation.map(|time| time == Time::from_millis(40)))
    };
    assert_eq!(run(true), (Verdict::Violated(broken("n2 is gone")), Some(true)));
    assert_eq!(run(false), (Verdict::Violated(broken("it was all in vain")), Some(false)));
}

/// Breaks a rule as soon as n1 sends anything after 30 ms.
struct Gagged;

impl Monitor<Toy> for Gagged {
    fn observe(&mut self, seen: &Seen<'_, Toy>, _: &Cluster<Toy>) -> Result<(), Violation> {
        let sends = seen.effects.iter().any(|effect| matches!(effect, Effect::Send { .. }));
        let is_late = seen.time >= Time::from_millis(30);
        if sends && is_late && seen.node == n(1) {
            return Err(Violation { node: Some(n(1)), ..broken("n1 spoke") });
        }
        Ok(())
    }

    fn owed(&mut self, _: Time, _: &Cluster<Toy>) -> Progress {
        Progress::Done
    }
}

#[test]
fn who_broke_a_rule_has_the_role_it_had_then_even_if_it_crashed_in_that_step() {
    let crash = Action::CrashAfter {
        node: Target::Node(n(1)),
        losing: Losing::Some,
        effect: Countable::Sends,
        number: 1,
    };
    let role = |steps| {
        let outcome = World::<Toy, _>::new(&short(steps), Manner::default(), Gagged, true).unwrap().run();
        assert_eq!(outcome.verdict.rule(), "silence");
        (outcome.role, outcome.counters.crashes)
    };
    let (alive, none) = role(vec![]);
    assert!(alive.is_some() && none == 0);
    assert_eq!(role(vec![step(at(20), crash, Some(at(150)))]), (alive, 1));
}

#[test]
fn a_monitor_may_allow_more_time_than_the_script() {
    struct Patient;
    impl Monitor<Toy> for Patient {
        fn observe(&mut self, _: &Seen<'_, Toy>, _: &Cluster<Toy>) -> Result<(), Violation> {
            Ok(())
        }
        fn allowance(&self) -> Span {
            Span::from_millis(70)
        }
        fn owed(&mut self, _: Time, _: &Cluster<Toy>) -> Progress {
            Progress::Waiting(broken("still noise"))
        }
    }
    let script = short(vec![]);
    let outcome = World::<Toy, _>::new(&script, Manner::default(), Patient, true).unwrap().run();
    assert_eq!(outcome.time, Time::ZERO + script.horizon + script.settle.limit + Span::from_millis(70));
}

#[test]
fn what_is_owed_and_never_paid_is_the_verdict_at_the_bound() {
    let script = short(vec![]);
    let outcome =
        World::<Toy, _>::new(&script, Manner::default(), Strict { owes: true }, true).unwrap().run();
    let message = "still noise; it was owed within 4s from 200ms on";
    assert_eq!(outcome.verdict, Verdict::Violated(broken(message)));
    assert_eq!(outcome.time, Time::ZERO + script.horizon + script.settle.limit);
}

/// Writes once a phase and owes nothing.
struct Writer;

impl Monitor<Toy> for Writer {
    fn observe(&mut self, _: &Seen<'_, Toy>, _: &Cluster<Toy>) -> Result<(), Violation> {
        Ok(())
    }

    fn begin(&mut self, _: Phase, _: Time, _: &Cluster<Toy>, inject: &mut Vec<(NodeId, Order)>) {
        inject.push((n(1), Order::Write(1)));
    }

    fn owed(&mut self, _: Time, _: &Cluster<Toy>) -> Progress {
        Progress::Done
    }
}

#[test]
fn no_sync_fails_any_more_once_faults_are_over() {
    let disk = DiskTiming { failures: u16::MAX, ..DiskTiming::default() };
    let failing =
        |script: &Script| World::<Toy, _>::new(script, Manner::default(), Writer, true).unwrap().run();
    let unanswered = |outcome: Outcome| outcome.counters.operations - outcome.counters.replies;
    let early = failing(&Script { disk, ..short(vec![order(at(5), n(1), "write 7")]) });
    assert_eq!(unanswered(early), 1, "a write whose sync fails is not answered");
    assert_eq!(unanswered(failing(&Script { disk, ..short(vec![]) })), 0);
}
