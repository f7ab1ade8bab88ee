//! What a monitor sees reaches every rule: told wrong things of servers that do all right, it finds what is wrong with them.

use super::KvMonitor;
use super::testing::{broken_in, script};
use crate::command::{Command, Text};
use crate::message::KvMessage;
use crate::node::KvNode;
use crate::options::Settings;
use crate::server::Server;
use crate::timer::KvTimer;
use whitewater_check::{Answered, Asked, Deed, Ended};
use whitewater_raft::MessageKind;
use whitewater_sim::{
    Action, Cluster, Decision, Effect, Monitor, NodeId, OpId, Options, Phase, Pin, Progress, Script, Seen,
    Span, Step, Target, Time, Trigger, Violation, What,
};

/// What a monitor is told that is not so.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lie {
    None,
    /// A server that gives its vote gives it to another as well, as its disk dies.
    LastWords,
    /// A server whose process has died of its disk gives its vote twice.
    WordsOfTheDead,
    /// Faults are over from the middle of the run on, and nobody was told to do anything.
    AllIsOver,
    /// A write was acknowledged that nobody ever made.
    Ghost,
}

struct Misled {
    monitor: KvMonitor,
    lie: Lie,
    is_over: bool,
    /// A message with a vote that somebody sent.
    vote: Option<KvMessage>,
}

fn text(text: &str) -> Text {
    Text::new(text.as_bytes())
}

fn view(cluster: &Cluster<KvNode>, node: NodeId) -> Option<&Server> {
    cluster.view(node).and_then(KvNode::server)
}

/// The message with a vote among what a node did.
fn vote_in(effects: &[Effect<KvNode>]) -> Option<&KvMessage> {
    effects.iter().find_map(|effect| match effect {
        Effect::Send { message, .. } => match message {
            KvMessage::Raft { message: inner, .. } => {
                (inner.kind == MessageKind::VoteResponse && !inner.reject).then_some(message)
            }
            _ => None,
        },
        _ => None,
    })
}

impl Misled {
    /// Says that a node sent this vote, but to that candidate.
    fn votes(
        &mut self,
        seen: &Seen<'_, KvNode>,
        (node, candidate, died): (NodeId, usize, bool),
        vote: &KvMessage,
        cluster: &Cluster<KvNode>,
    ) -> Result<(), Violation> {
        let mut message = vote.clone();
        let KvMessage::Raft { message: inner, .. } = &mut message else { return Ok(()) };
        inner.to = candidate as u64 + 1;
        let effects = [Effect::Send { to: NodeId::server(candidate), message }];
        let (event, time, what) = (seen.event, seen.time, What::Fired(KvTimer::Tick));
        self.monitor.observe(&Seen { event, time, node, what, effects: &effects, died }, cluster)
    }
}

impl Monitor<KvNode> for Misled {
    fn observe(&mut self, seen: &Seen<'_, KvNode>, cluster: &Cluster<KvNode>) -> Result<(), Violation> {
        let Seen { event, time, node, effects, died, .. } = *seen;
        if let Some(vote) = vote_in(effects).cloned() {
            if self.lie == Lie::LastWords {
                for candidate in 0..3 {
                    self.votes(seen, (node, candidate, true), &vote, cluster)?;
                }
            }
            self.vote = Some(vote);
        }
        let is_halted = |&node: &NodeId| view(cluster, node).is_some_and(Server::is_halted);
        let dead = cluster.servers().find(is_halted).filter(|_| self.lie == Lie::WordsOfTheDead);
        if let (Some(dead), Some(vote)) = (dead, self.vote.clone()) {
            for candidate in 0..3 {
                self.votes(seen, (dead, candidate, false), &vote, cluster)?;
            }
        }
        if self.lie == Lie::AllIsOver && time > Time::from_millis(600) {
            if !self.is_over {
                self.is_over = true;
                self.monitor.begin(Phase::Settle, time, cluster, &mut Vec::new());
            }
            if matches!(seen.what, What::Commanded { .. }) && node.is_server() {
                let what = What::Fired(KvTimer::Tick);
                return self.monitor.observe(&Seen { event, time, node, what, effects, died }, cluster);
            }
        }
        self.monitor.observe(seen, cluster)
    }

    fn begin(
        &mut self,
        phase: Phase,
        now: Time,
        cluster: &Cluster<KvNode>,
        inject: &mut Vec<(NodeId, Command)>,
    ) {
        if self.lie != Lie::Ghost {
            return;
        }
        if phase == Phase::Cycled {
            let (op, node) = (OpId(5_000), NodeId::client(0));
            let clients = &mut self.monitor.clients;
            clients.asked(op, Asked { node, at: now }, &text("a"), Deed::Append(text("ghost")), true);
            let told = clients.told(op, node, &Ended::Done, Answered { at: now, ..Answered::default() });
            told.expect("a write breaks nothing");
        }
        self.monitor.begin(phase, now, cluster, inject);
    }

    fn owed(&mut self, now: Time, cluster: &Cluster<KvNode>) -> Progress {
        if self.lie == Lie::Ghost { self.monitor.owed(now, cluster) } else { Progress::Done }
    }
}

/// The rules that some runs break whose monitor is told lies; `more` adds to what the runs are.
fn broken(lie: Lie, more: impl Fn(&mut Script)) -> Vec<&'static str> {
    let run = |seed| {
        let mut script = script(seed, 5);
        more(&mut script);
        broken_in(&script, &[("pre-vote", "off")], |settings| {
            let monitor = KvMonitor::new(&script, settings);
            Misled { monitor, lie, is_over: false, vote: None }
        })
    };
    (0..12).filter_map(run).collect()
}

/// The process of n1 is not started again once a sync has failed.
fn dying(script: &mut Script) {
    (script.disk.failures, script.disk.high) = (4_000, Span::from_millis(1));
    for (start, number) in (1..8).flat_map(|start| (1..4).map(move |number| (start, number))) {
        let (node, name, span) = (NodeId::server(0), "restart".to_owned(), Span::from_millis(3_600_000));
        script.pins.push(Pin {
            decision: Decision::Timer { node, name, peer: None, start, number, span },
            note: None,
        });
    }
}

/// Somebody stands for election although there is a leader.
fn standing(script: &mut Script) {
    for position in 0..3 {
        let target = Target::Node(NodeId::server(position));
        let action = Action::Operate { target, text: "campaign".to_owned(), every: None };
        script.steps.push(Step::new(Trigger::At(Time::from_millis(900 + 100 * position as u64)), action));
    }
}

#[test]
fn what_a_server_sends_counts_even_as_its_disk_dies_and_after_its_process_did() {
    assert_eq!(broken(Lie::None, dying), [""; 0]);
    let last_words = broken(Lie::LastWords, |_| {});
    assert!(last_words.iter().all(|rule| *rule == "vote-once") && last_words.len() == 12, "{last_words:?}");
    let dead = broken(Lie::WordsOfTheDead, dying);
    assert!(dead.contains(&"vote-once"), "{dead:?}");
}

#[test]
fn what_a_server_does_once_faults_are_over_is_held_against_what_it_owes() {
    assert_eq!(broken(Lie::None, standing), [""; 0]);
    let over = broken(Lie::AllIsOver, standing);
    assert!(over.contains(&"leader-kept"), "{over:?}");
}

#[test]
fn the_last_reads_are_held_against_everything_that_was_acknowledged() {
    let ghost = broken(Lie::Ghost, |_| {});
    assert!(ghost.iter().all(|rule| *rule == "final-durability") && ghost.len() > 6, "{ghost:?}");
}

#[test]
fn a_key_that_nobody_can_decide_about_is_counted() {
    let script = script(1, 5);
    let mut monitor = KvMonitor::new(&script, &Settings::read(&Options::new()));
    monitor.clients.search_within(0);
    let (key, node) = (text("a"), NodeId::client(0));
    let deeds = [(Deed::Put(text("x")), Ended::Done), (Deed::Swap(text("x"), text("x")), Ended::Done)];
    for (number, (deed, ended)) in (0..).zip(deeds.into_iter().cycle().take(6)) {
        let at = Time::from_millis(u64::from(number));
        monitor.clients.asked(OpId(number), Asked { node, at }, &key, deed, true);
        monitor.clients.told(OpId(number), node, &ended, Answered { at, ..Answered::default() }).unwrap();
    }
    assert_eq!(Monitor::<KvNode>::end(&mut monitor), Ok(()));
    assert_eq!(Monitor::<KvNode>::figures(&monitor).undecided, 1);
}
