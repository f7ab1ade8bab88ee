//! What is owed when faults are over is asked for, waited for and held against everybody, and of nobody who cannot pay.

use super::StoreMonitor;
use super::settling::FRESH_KEY;
use super::testing::{Between, Honest, Node, at, broken, run, script, settings, told, violation};
use crate::client::Client;
use crate::command::{Command, Operation, Reply, Text};
use crate::options::Settings;
use crate::timer::StoreTimer;
use std::cell::RefCell;
use whitewater_check::{Answered, Asked, Deed, Ended, Membership};
use whitewater_sim::{
    Action, ClockChange, Cluster, Decision, Effect, Monitor, NodeId, OpId, Pattern, Phase, Pin, Rate, Script,
    Seen, Span, Step, Target, Time, Trigger, Verdict, Violation, What,
};

const C1: NodeId = NodeId::client(0);

fn n(number: usize) -> Target {
    Target::Node(NodeId::server(number - 1))
}

fn lasting(seed: u64, action: Action) -> Script {
    let mut script = script(seed);
    script.steps.push(Step { until: Some(Trigger::End), ..Step::new(at(200), action) });
    script
}

fn flawed(flaw: &'static str) -> Vec<&'static str> {
    broken(&[("flaw", flaw)], script, || Honest)
}

#[test]
fn who_never_comes_to_lead_or_forgets_requests_owes_that() {
    assert_eq!(flawed("none"), [""; 0]);
    assert_eq!(flawed("meek"), ["leader-elected"; 6]);
    assert_eq!(flawed("forgetful"), ["clients-answered"; 6]);
}

#[test]
fn a_missed_bound_is_explained() {
    let missed = |seed| violation(&script(seed), &[("flaw", "stubborn")], Honest);
    let unled = (0..6).filter_map(missed).find(|missed| missed.rule == "leader-elected");
    let message = unled.expect("nobody leads").message;
    assert!(message.contains("the cluster goes round in circles"), "{message}");
}

/// A client is told that nobody knows what came of a fresh operation.
struct Unserved(fn(&Operation) -> bool, Option<OpId>);

impl Between for Unserved {
    fn observe(
        &mut self,
        monitor: &mut StoreMonitor,
        seen: &Seen<'_, Node>,
        cluster: &Cluster<Node>,
    ) -> Result<(), Violation> {
        if let What::Commanded { op, command: Command::Insist(operation) } = seen.what
            && &**operation.key() == FRESH_KEY
            && self.0(operation)
        {
            self.1 = Some(op);
        }
        let replies =
            |effect: &Effect<Node>| matches!(effect, Effect::Reply { op, .. } if Some(*op) == self.1);
        if !seen.effects.iter().any(replies) {
            return monitor.observe(seen, cluster);
        }
        let effects = [Effect::Reply { op: self.1.expect("it was asked for"), reply: Reply::Unknown }];
        let (event, time, node, what) = (seen.event, seen.time, seen.node, What::Fired(StoreTimer::Attempt));
        monitor.observe(&Seen { event, time, node, what, effects: &effects, died: false }, cluster)
    }
}

#[test]
fn a_fresh_write_and_a_fresh_read_are_owed() {
    let unserved = |which: fn(&Operation) -> bool| broken(&[], script, || Unserved(which, None));
    assert_eq!(unserved(|operation| matches!(operation, Operation::Append(..))), ["fresh-write-served"; 6]);
    assert_eq!(unserved(|operation| matches!(operation, Operation::Get(_))), ["fresh-read-served"; 6]);
}

/// Keeps what is written when each phase begins.
struct Keeps<'a>(&'a RefCell<Vec<Text>>);

impl Between for Keeps<'_> {
    fn begin(
        &mut self,
        monitor: &mut StoreMonitor,
        (phase, now): (Phase, Time),
        cluster: &Cluster<Node>,
        inject: &mut Vec<(NodeId, Command)>,
    ) {
        monitor.begin(phase, now, cluster, inject);
        let written = inject.iter().filter_map(|(_, command)| match command {
            Command::Insist(Operation::Append(key, value)) if &**key == FRESH_KEY => Some(value.clone()),
            _ => None,
        });
        self.0.borrow_mut().extend(written);
    }
}

#[test]
fn each_phase_writes_something_else() {
    let kept = RefCell::default();
    assert_eq!(violation(&script(1), &[], Keeps(&kept)), None);
    let [first, second] = &kept.into_inner()[..] else { panic!("there is one write in each phase") };
    assert_ne!(first, second);
}

/// Before the last reads a write was acknowledged that nobody ever made.
struct Ghost;

impl Between for Ghost {
    fn begin(
        &mut self,
        monitor: &mut StoreMonitor,
        (phase, now): (Phase, Time),
        cluster: &Cluster<Node>,
        inject: &mut Vec<(NodeId, Command)>,
    ) {
        if phase == Phase::Cycled {
            let (op, key, deed) = (OpId(5_000), Text::from("a"), Deed::Append(Text::from("ghost")));
            monitor.clients.asked(op, Asked { node: C1, at: now }, &key, deed, true);
            let told =
                monitor.clients.told(op, C1, &Ended::Done, Answered { at: now, ..Answered::default() });
            told.expect("a write breaks nothing");
        }
        monitor.begin(phase, now, cluster, inject);
    }
}

#[test]
fn the_last_reads_are_held_against_everything_that_was_acknowledged() {
    assert_eq!(broken(&[], script, || Ghost), ["final-durability"; 6]);
}

/// Faults are over from the middle of the run on; and perhaps nobody was told to do anything then.
struct AllIsOver {
    hides_orders: bool,
    is_over: bool,
}

impl Between for AllIsOver {
    fn observe(
        &mut self,
        monitor: &mut StoreMonitor,
        seen: &Seen<'_, Node>,
        cluster: &Cluster<Node>,
    ) -> Result<(), Violation> {
        let Seen { event, time, node, effects, died, .. } = *seen;
        if time > Time::from_millis(600) && !self.is_over {
            self.is_over = true;
            monitor.begin(Phase::Settle, time, cluster, &mut Vec::new());
        }
        if self.hides_orders && matches!(seen.what, What::Commanded { .. }) && node.is_server() {
            let what = What::Fired(StoreTimer::Tick);
            return monitor.observe(&Seen { event, time, node, what, effects, died }, cluster);
        }
        monitor.observe(seen, cluster)
    }
}

#[test]
fn an_election_that_somebody_was_told_to_hold_is_none_too_many() {
    let told_to_stand = |seed| {
        let mut script = script(seed);
        let stands = |round: u64| told(NodeId::server(round as usize % 3), 650 + 20 * round, "campaign");
        script.steps = (0..60).map(stands).collect();
        script.horizon = Span::from_millis(2_000);
        script
    };
    let over = |hides_orders| broken(&[], told_to_stand, || AllIsOver { hides_orders, is_over: false });
    assert_eq!(over(false), [""; 0]);
    assert_eq!(over(true), ["elections-bounded"; 6]);
}

/// The process of n1 dies of its disk, and is started again so much later.
fn dead(seed: u64, span: Span) -> Script {
    let mut script = script(seed);
    let until = Some(at(1_450));
    script.steps.push(Step { until, ..Step::new(at(1_200), Action::FailSyncs(n(1))) });
    // Whether or not it leads, it has something to write.
    script.steps.extend([told(NodeId::server(0), 1_250, "campaign"), told(C1, 1_300, "append a last")]);
    for number in 1..8 {
        let (node, name) = (NodeId::server(0), "restart".to_owned());
        let decision = Decision::Timer { node, name, peer: None, start: 1, number, span };
        script.pins.push(Pin { decision, note: None });
    }
    script
}

const NEVER: Span = Span::from_millis(3_600_000);

#[test]
fn a_process_that_died_is_started_again_unless_nothing_is_owed_or_its_machine_stands_still() {
    assert_eq!(broken(&[], |seed| dead(seed, NEVER), || Honest), ["started-again"; 6]);
    let frozen = |seed| {
        let mut script = dead(seed, NEVER);
        let clock = Action::Clock { node: n(2), change: ClockChange::Freeze };
        script.steps.push(Step { until: Some(Trigger::End), ..Step::new(at(1_460), clock) });
        script.settle.power_cycle = false;
        script
    };
    assert_eq!(broken(&[], frozen, || Honest), [""; 0]);
    let stopped = |seed| {
        let mut script = dead(seed, NEVER);
        script.steps.push(Step { until: Some(Trigger::End), ..Step::new(at(1_460), Action::Pause(n(1))) });
        script.settle.power_cycle = false;
        script
    };
    assert_eq!(broken(&[], stopped, || Honest), [""; 0]);
}

/// Clocks come to be wrong behind the back of who decides what is owed.
struct ClocksGoWrong;

impl Between for ClocksGoWrong {
    fn begin(
        &mut self,
        monitor: &mut StoreMonitor,
        (phase, now): (Phase, Time),
        cluster: &Cluster<Node>,
        inject: &mut Vec<(NodeId, Command)>,
    ) {
        monitor.begin(phase, now, cluster, inject);
        monitor.settling.ground.clocks_true = false;
    }
}

#[test]
fn what_is_owed_is_decided_anew_when_a_process_was_started_again() {
    let started_later = |seed| {
        let mut script = dead(seed, Span::from_millis(2_500));
        script.settle.power_cycle = false;
        script
    };
    let meek = &[("flaw", "meek")];
    assert_eq!(broken(meek, started_later, || ClocksGoWrong), [""; 0]);
    assert_eq!(broken(meek, script, || ClocksGoWrong), ["leader-elected"; 6]);
    assert_eq!(broken(meek, started_later, || Honest), ["leader-elected"; 6]);
}

#[test]
fn where_nothing_is_owed_it_is_said_why() {
    let clock = Action::Clock { node: n(2), change: ClockChange::Rate(Rate(30_000)) };
    let outcome = run(&lasting(1, clock), &[("flaw", "meek")], Honest);
    assert_eq!(outcome.verdict, Verdict::Pass);
    assert_eq!(outcome.figures.reasons().collect::<Vec<_>>(), ["clocks-apart"]);
    assert_eq!(outcome.figures.not_owed, 2);
    assert_eq!(run(&script(1), &[], Honest).figures.not_owed, 0);
}

#[test]
fn a_client_that_does_not_reach_everybody_is_owed_no_answer() {
    let servers = [n(1), n(2), n(3)].to_vec();
    let cut = Action::Partition(vec![vec![Target::Node(C1)], servers]);
    assert_eq!(broken(&[], |seed| lasting(seed, cut.clone()), || Honest), [""; 0]);
    for (from, to) in [(Some(Target::Node(C1)), None), (None, Some(Target::Node(C1)))] {
        let lost = Action::Drop(Pattern { from, to, ..Pattern::default() });
        assert_eq!(broken(&[], |seed| lasting(seed, lost.clone()), || Honest), [""; 0]);
    }
}

#[test]
fn who_is_no_member_decides_nothing_where_members_change() {
    let cut = Action::Partition(vec![vec![n(1), n(2)], vec![n(3), n(4), n(5)]]);
    let founded = |seed| Script { servers: 5, ..lasting(seed, cut.clone()) };
    let changing: &[_] = &[("membership", "changing"), ("founders", "3")];
    assert_eq!(broken(changing, founded, || Honest), [""; 0]);
    let outcome = run(&founded(1), changing, FirstThree);
    assert_eq!((outcome.verdict, outcome.figures.not_owed), (Verdict::Pass, 0));
    let meek = [changing, &[("flaw", "meek")]].concat();
    assert_eq!(broken(&meek, founded, || Honest), ["leader-elected"; 6]);
}

/// Looks at what everybody takes for the members when a phase begins, on which it depends what is owed.
struct FirstThree;

impl Between for FirstThree {
    fn begin(
        &mut self,
        monitor: &mut StoreMonitor,
        (phase, now): (Phase, Time),
        cluster: &Cluster<Node>,
        inject: &mut Vec<(NodeId, Command)>,
    ) {
        monitor.begin(phase, now, cluster, inject);
        assert_eq!(monitor.settling.standing.memberships, vec![vec![Membership::of_first(3)]; 5]);
    }
}

/// Looks at the time that the first phase may take, by the requests that are open.
struct Allows(fn(&StoreMonitor, u64) -> bool);

impl Between for Allows {
    fn begin(
        &mut self,
        monitor: &mut StoreMonitor,
        (phase, now): (Phase, Time),
        cluster: &Cluster<Node>,
        inject: &mut Vec<(NodeId, Command)>,
    ) {
        monitor.begin(phase, now, cluster, inject);
        if phase == Phase::Settle {
            let open = cluster.view(C1).and_then(Node::client).map_or(0, Client::open_requests) as u64;
            assert!(open > 10, "{open} requests are open");
            assert!(self.0(monitor, open), "{}", Monitor::<Node>::allowance(monitor));
        }
    }
}

#[test]
fn there_is_time_for_what_is_open_and_for_asking_all_servers_where_members_change() {
    let mut script = script(1);
    script.steps.extend((0..15).map(|number| told(C1, 1_499, &format!("append b x{number}"))));
    let single = &[("message-size", "0")];
    let per_entry = Allows(|monitor, open| {
        let round_trip = monitor.settling.ground.round_trip;
        let (least, most) = (round_trip.times(4 * open), round_trip.times(4 * open + 10));
        (least..=most).contains(&Monitor::<Node>::allowance(monitor))
    });
    assert_eq!(violation(&script, single, per_entry), None);
    let per_server = Allows(|monitor, open| {
        Monitor::<Node>::allowance(monitor) >= monitor.settling.ground.timing.election_low.times(6 * open)
    });
    assert_eq!(violation(&script, &[("membership", "changing")], per_server), None);
}

#[test]
fn what_is_owed_depends_on_the_options_and_times_of_the_run() {
    let ground = |script: &Script, settings: &Settings| StoreMonitor::new(script, settings).settling.ground;
    let (usual, mut slow) = (script(1), script(1));
    for pre_vote in [false, true] {
        let mut settings = settings(&[("message-size", "1280")]);
        (settings.pre_vote, settings.check_quorum) = (pre_vote, !pre_vote);
        let ground = ground(&usual, &settings);
        assert_eq!((ground.pre_vote, ground.check_quorum), (pre_vote, !pre_vote));
        assert_eq!(ground.timing, settings.timing());
        assert_eq!((ground.limit, ground.entries_per_round_trip), (usual.settle.limit, 10));
        assert_eq!(ground.round_trip, (Span::from_millis(5) + usual.disk.high).times(2));
        assert!(ground.clocks_true);
    }
    let wrong = Action::Clock { node: n(1), change: ClockChange::Rate(Rate(30_000)) };
    assert!(!ground(&lasting(1, wrong), &settings(&[])).clocks_true);
    (slow.disk.high, slow.network.delay_high) = (Span::from_millis(3), Span::from_millis(20));
    let delay = slow.settle.delay_high + Span::from_millis(3);
    assert_eq!(ground(&slow, &settings(&[])).round_trip, delay.times(2));
    let slowed = Action::Slow { node: n(1), low: Span::ZERO, high: Span::from_millis(4) };
    let lasting = ground(&lasting(1, slowed), &settings(&[])).round_trip;
    assert_eq!(lasting, (Span::from_millis(9) + usual.disk.high).times(2));
}
