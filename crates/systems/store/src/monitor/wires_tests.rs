//! What a monitor sees of servers and clients reaches every rule: told wrong things of those that do all right, it finds fault
//! with them.

use super::StoreMonitor;
use super::testing::{Between, Honest, Node, at, broken, run, run_as, script, settings, told};
use crate::command::{Reply, Text};
use crate::message::StoreMessage;
use crate::options::{Reads, Settings};
use crate::paper::{Kind, Message};
use crate::timer::StoreTimer;
use std::cell::Cell;
use std::rc::Rc;
use whitewater_check::{Answered, Asked, Deed, ElectionView, Ended, PROGRESS_RULES, RaftRules};
use whitewater_sim::{
    Action, Cluster, Decision, Effect, Losing, Monitor, NodeId, OpId, Pin, Script, Seen, Span, Step, Target,
    Time, Trigger, Verdict, Violation, What,
};

fn text(text: &str) -> Text {
    text.into()
}

/// The message with a vote among what a server did.
fn vote_in(effects: &[Effect<Node>]) -> Option<&Message> {
    effects.iter().find_map(|effect| match effect {
        Effect::Send { message: StoreMessage::Core(message), .. } => {
            (message.kind == Kind::VoteReply && !message.rejects).then_some(message)
        }
        _ => None,
    })
}

/// A vote that was given is given to these as well.
#[derive(Clone, Copy)]
enum Votes {
    /// By the same server in the same step.
    Live,
    /// By the same server to itself.
    ToItself,
    /// By the same server as its disk dies.
    LastWords,
    /// By another one whose process has died of its disk.
    OfTheDead,
}

struct MoreVotes(Votes, Option<Message>);

impl MoreVotes {
    fn say(
        &self,
        monitor: &mut StoreMonitor,
        seen: &Seen<'_, Node>,
        (node, died): (NodeId, bool),
        (vote, cluster): (&Message, &Cluster<Node>),
    ) -> Result<(), Violation> {
        let is_to = |to: &NodeId| matches!(self.0, Votes::ToItself) == (*to == node);
        let send = |to| Effect::Send { to, message: StoreMessage::Core(vote.clone()) };
        let effects: Vec<Effect<Node>> = cluster.servers().filter(is_to).map(send).collect();
        let (event, time, what) = (seen.event, seen.time, What::Fired(StoreTimer::Tick));
        monitor.observe(&Seen { event, time, node, what, effects: &effects, died }, cluster)
    }
}

impl Between for MoreVotes {
    fn observe(
        &mut self,
        monitor: &mut StoreMonitor,
        seen: &Seen<'_, Node>,
        cluster: &Cluster<Node>,
    ) -> Result<(), Violation> {
        if let Some(vote) = vote_in(seen.effects) {
            self.1 = Some(vote.clone());
            match self.0 {
                Votes::Live | Votes::ToItself => {
                    self.say(monitor, seen, (seen.node, false), (vote, cluster))?
                }
                Votes::LastWords => self.say(monitor, seen, (seen.node, true), (vote, cluster))?,
                Votes::OfTheDead => {}
            }
        }
        let is_dead = |&node: &NodeId| cluster.view(node).is_some_and(Node::is_dead);
        if let (Votes::OfTheDead, Some(dead), Some(vote)) = (self.0, cluster.servers().find(is_dead), &self.1)
        {
            self.say(monitor, seen, (dead, false), (vote, cluster))?;
        }
        monitor.observe(seen, cluster)
    }
}

/// Syncs fail, and processes die of it; that of n1 is then not started again.
fn dying(seed: u64) -> Script {
    let mut script = failing(seed);
    for (start, number) in (1..8).flat_map(|start| (1..4).map(move |number| (start, number))) {
        let (node, name, span) = (NodeId::server(0), "restart".to_owned(), Span::from_millis(3_600_000));
        let decision = Decision::Timer { node, name, peer: None, start, number, span };
        script.pins.push(Pin { decision, note: None });
    }
    script
}

fn failing(seed: u64) -> Script {
    let mut script = script(seed);
    (script.disk.failures, script.disk.high) = (2_000, Span::from_millis(1));
    script
}

fn crashing(seed: u64) -> Script {
    let mut script = script(seed);
    let crash = Action::Crash { node: Target::Leader, losing: Losing::Unsynced, at_call: 0 };
    let until = Some(Trigger::After(Span::from_millis(200)));
    script.steps.push(Step { until, ..Step::new(at(700), crash) });
    script
}

#[test]
fn every_rule_is_in_the_list_once() {
    let names: Vec<&str> = StoreMonitor::rules().iter().map(|(name, _)| *name).collect();
    let own = ["linearizable", "started-again", "no-phantom-value", "final-durability"];
    let raft = RaftRules::rules().into_iter().chain(PROGRESS_RULES).map(|(name, _)| name);
    for name in raft.chain(own) {
        assert_eq!(names.iter().filter(|known| **known == name).count(), 1, "{name}");
    }
}

#[test]
fn a_toy_that_crashes_or_loses_its_process_breaks_no_rule() {
    for (name, script) in
        [("calm", script as fn(u64) -> Script), ("crashing", crashing), ("failing", failing)]
    {
        assert_eq!(broken(&[], script, || Honest), [""; 0], "{name}");
    }
}

#[test]
fn what_a_server_sends_to_others_counts_even_as_its_disk_dies_and_after_its_process_did() {
    let votes = |script: fn(u64) -> Script, votes| broken(&[], script, || MoreVotes(votes, None));
    assert_eq!(votes(script, Votes::Live), ["grants-durable"; 6]);
    assert_eq!(votes(script, Votes::ToItself), [""; 0]);
    assert_eq!(votes(script, Votes::LastWords), ["vote-once"; 6]);
    let dead = votes(dying, Votes::OfTheDead);
    assert!(dead.contains(&"vote-once"), "{dead:?}");
}

/// Compares who is up by the books with who is, and the life that it is in.
struct Roll;

impl Between for Roll {
    fn observe(
        &mut self,
        monitor: &mut StoreMonitor,
        seen: &Seen<'_, Node>,
        cluster: &Cluster<Node>,
    ) -> Result<(), Violation> {
        monitor.observe(seen, cluster)?;
        if seen.node.is_server() && !seen.died {
            let crashed = matches!(seen.what, What::Crashed);
            let lives = !crashed && cluster.view(seen.node).and_then(Node::server).is_some();
            assert_eq!(monitor.rules.is_up(seen.node), lives, "{} at {}", seen.node, seen.time);
            if let Some(view) = cluster.view(seen.node).and_then(Node::server) {
                assert_eq!(
                    monitor.lives[seen.node.position()],
                    view.life(),
                    "{} at {}",
                    seen.node,
                    seen.time
                );
            }
        }
        Ok(())
    }
}

#[test]
fn a_server_is_up_in_the_books_while_its_process_lives() {
    assert_eq!(broken(&[], crashing, || Roll), [""; 0]);
    let dead = run(&failing(1), &[], Roll);
    assert_eq!(dead.verdict, Verdict::Pass);
    assert!(dead.marks.contains(&crate::marks::STARTED_AGAIN));
}

/// What is said of a server.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Rumour {
    #[default]
    None,
    /// It has promised a vote.
    Promised,
    /// It has started.
    Started,
}

/// Compares the term of servers in the books with the one they are in; and whether nobody looked where they are in another.
#[derive(Clone, Default)]
struct Terms {
    /// Steps after which somebody was in a term that only it knows, and steps after which nobody was.
    steps: Rc<Cell<(u32, u32)>>,
    /// What a server is said to have done as it came to such a term.
    rumour: Rumour,
}

impl Between for Terms {
    fn observe(
        &mut self,
        monitor: &mut StoreMonitor,
        seen: &Seen<'_, Node>,
        cluster: &Cluster<Node>,
    ) -> Result<(), Violation> {
        let (node, position) = (seen.node, seen.node.position());
        let view = cluster.view(node).filter(|_| node.is_server()).and_then(Node::server);
        let Some(view) = view.filter(|_| !matches!(seen.what, What::Crashed) && !seen.died) else {
            return monitor.observe(seen, cluster);
        };
        let is_start = matches!(seen.what, What::Booted);
        let before = monitor.rules.standing(node).term;
        let (hidden, open) = self.steps.get();
        if self.rumour != Rumour::None && !is_start && view.durable_term() < view.term() {
            let vote = Message { kind: Kind::VoteReply, term: view.term(), ..Message::default() };
            let vote = [Effect::Send { to: NodeId::server(1), message: StoreMessage::Core(vote) }];
            let (what, effects) = match self.rumour {
                Rumour::Started => (What::Booted, &[][..]),
                _ => (What::Fired(StoreTimer::Tick), &vote[..]),
            };
            let (event, time) = (seen.event, seen.time);
            let told = monitor.observe(&Seen { event, time, node, what, effects, died: false }, cluster);
            assert_eq!(monitor.unseen[position], 0, "it is looked at");
            return told;
        }
        monitor.observe(seen, cluster)?;
        let books = (monitor.rules.standing(node).term, monitor.unseen[position]);
        if books == (view.term(), 0) {
            self.steps.set((hidden, open + 1));
        } else {
            assert_eq!(books, (before, view.term()), "{node} at {}", seen.time);
            assert!(view.durable_term() < view.term(), "{node} at {}", seen.time);
            self.steps.set((hidden + 1, open));
        }
        Ok(())
    }
}

#[test]
fn a_term_is_out_of_sight_only_while_a_sole_voter_alone_knows_it_and_says_nothing() {
    let slow = |servers| {
        let mut script = script(1);
        (script.servers, script.disk.low, script.disk.high) =
            (servers, Span::from_millis(1), Span::from_millis(3));
        script.settle.limit = Span::ZERO;
        script
    };
    let guarded = |guarded| {
        let mut settings = settings(&[]);
        settings.guarded = guarded;
        settings
    };
    let steps = |servers, is_guarded| {
        let terms = Terms::default();
        run_as(&slow(servers), guarded(is_guarded), terms.clone());
        terms.steps.get()
    };
    let (hidden, open) = steps(1, true);
    assert!(hidden > 0 && open > hidden, "{hidden} {open}");
    assert_eq!([steps(1, false).0, steps(3, true).0], [0, 0]);
    let told = |rumour| run_as(&slow(1), guarded(true), Terms { rumour, ..Terms::default() }).verdict;
    let Verdict::Violated(violation) = told(Rumour::Promised) else {
        panic!("it has promised what its disk does not have")
    };
    assert_eq!(violation.rule, "grants-durable");
    told(Rumour::Started);
}

/// Answers every read by what nobody wrote.
struct Invents;

impl Between for Invents {
    fn observe(
        &mut self,
        monitor: &mut StoreMonitor,
        seen: &Seen<'_, Node>,
        cluster: &Cluster<Node>,
    ) -> Result<(), Violation> {
        use crate::command::Answer;
        let invented = seen.effects.iter().find_map(|effect| match effect {
            Effect::Reply { op, reply: Reply::Done(Answer::Value(_)) } => Some(*op),
            _ => None,
        });
        let Some(op) = invented else { return monitor.observe(seen, cluster) };
        let effects = [Effect::Reply { op, reply: Reply::Done(Answer::Value(Some(text("nobody's")))) }];
        let (event, time, node) = (seen.event, seen.time, seen.node);
        let what = What::Fired(StoreTimer::Attempt);
        monitor.observe(&Seen { event, time, node, what, effects: &effects, died: false }, cluster)
    }
}

#[test]
fn what_clients_and_servers_answer_is_held_against_what_was_written() {
    assert_eq!(broken(&[], script, || Invents), ["no-phantom-value"; 6]);
    let at_servers = |seed| {
        let mut script = script(seed);
        let read = Action::Operate { target: Target::Leader, text: "get a".to_owned(), every: None };
        script.steps = vec![Step::new(at(1_200), read)];
        script.settle.limit = Span::ZERO;
        script
    };
    assert_eq!(broken(&[], at_servers, || Invents), ["no-phantom-value"; 6]);
}

#[test]
fn the_history_tells_when_a_client_began_what_had_to_wait_and_in_which_order_servers_did_it() {
    let mut script = script(1);
    script.steps = vec![
        told(NodeId::client(0), 700, "append a x"),
        told(NodeId::client(0), 700, "append a y"),
        told(NodeId::client(0), 700, "get a"),
    ];
    let outcome = run(&script, &[], Honest);
    assert_eq!(outcome.figures.acknowledged_writes, 4, "and a fresh one in each phase");
    let history = outcome.history.expect("clients are followed");
    let of_a = history.lines().filter(|line| line.contains(r#""key":"a""#) && line.contains("invoke"));
    let number = |line: &str, name: &str| {
        let (_, rest) = line.split_once(name)?;
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u64>().ok()
    };
    let began: Vec<u64> = of_a.filter_map(|line| number(line, r#""time":"#)).collect();
    assert_eq!(began[0], 700_000_000);
    assert!(began.len() >= 3 && began.is_sorted_by(|a, b| a < b), "one after the other: {history}");
    let places: Vec<u64> = history.lines().filter_map(|line| number(line, r#""place":"#)).collect();
    assert!(places.len() > 3 && places.is_sorted(), "{history}");
}

/// A monitor that was told of a write, and of a later read that does not see it.
fn stale(script: &Script, settings: &Settings) -> Result<(), Violation> {
    let mut monitor = StoreMonitor::new(script, settings);
    let key = text("a");
    let deeds = [(Deed::Put(text("x")), Ended::Done), (Deed::Read, Ended::Value(None))];
    for ((number, (deed, ended)), client) in (0..).zip(deeds).zip([0, 1]) {
        let (at, node) = (Time::from_millis(u64::from(number)), NodeId::client(client));
        monitor.clients.asked(OpId(number), Asked { node, at }, &key, deed, true);
        monitor.clients.rules_mut().blind("acknowledged-kept").expect("there is such a rule");
        monitor.clients.told(OpId(number), node, &ended, Answered { at, ..Answered::default() })?;
    }
    let result = Monitor::<Node>::end(&mut monitor);
    if let Err(violation) = &result {
        assert_eq!(Monitor::<Node>::evidence(&monitor, violation).len(), 2);
    }
    result
}

#[test]
fn reads_by_a_lease_may_be_old_only_where_time_is_disturbed_or_they_are_taken_for_what_they_are() {
    let (target, calm) = (Target::Node(NodeId::server(0)), script(1));
    let disturbed = |action| {
        let mut script = script(1);
        script.steps.push(Step { until: Some(at(900)), ..Step::new(at(800), action) });
        script
    };
    let clock = Action::Clock { node: target, change: whitewater_sim::ClockChange::Freeze };
    let slow = Action::Slow { node: target, low: Span::ZERO, high: Span::from_millis(1) };
    let reading = |reads| {
        let mut settings = settings(&[]);
        (settings.reads, settings.guarded) = (reads, false);
        settings
    };
    let lease = reading(Reads::Lease);
    let guarded = |mut settings: Settings| {
        settings.guarded = true;
        settings
    };
    for script in [clock, slow, Action::Pause(target)].map(disturbed) {
        assert_eq!(stale(&script, &lease), Ok(()));
        let rule = |reads| stale(&script, &reading(reads)).unwrap_err().rule;
        assert_eq!([rule(Reads::Index), rule(Reads::Log)], ["linearizable"; 2]);
    }
    assert_eq!(stale(&calm, &lease).unwrap_err().rule, "linearizable");
    assert_eq!(stale(&calm, &guarded(lease.clone())), Ok(()));
    assert_eq!(stale(&calm, &guarded(reading(Reads::Index))).unwrap_err().rule, "linearizable");
    assert_eq!(stale(&disturbed(Action::FailSyncs(target)), &lease).unwrap_err().rule, "linearizable");
}

#[test]
fn a_key_that_nobody_can_decide_about_is_counted() {
    let mut monitor = StoreMonitor::new(&script(1), &settings(&[]));
    monitor.clients.search_within(0);
    let (key, node) = (text("a"), NodeId::client(0));
    let deeds = [(Deed::Put(text("x")), Ended::Done), (Deed::Swap(text("x"), text("x")), Ended::Done)];
    for (number, (deed, ended)) in (0..).zip(deeds.into_iter().cycle().take(6)) {
        let at = Time::from_millis(u64::from(number));
        monitor.clients.asked(OpId(number), Asked { node, at }, &key, deed, true);
        monitor.clients.told(OpId(number), node, &ended, Answered { at, ..Answered::default() }).unwrap();
    }
    assert_eq!(Monitor::<Node>::end(&mut monitor), Ok(()));
    assert_eq!(Monitor::<Node>::figures(&monitor).undecided, 1);
}
