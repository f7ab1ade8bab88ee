//! Every rule of this system has a run that breaks it, and its message is what an engineer reads.

use super::{RelayMonitor, claims, owed, queue, safety};
use crate::command::Command;
use crate::message::{Announcement, Body, Message};
use crate::node::RelayNode;
use crate::settings::{OPTIONS, Settings};
use crate::timer::Timer;
use whitewater_check::ElectionView;
use whitewater_sim::{
    Action, Cluster, Effect, Kind, Losing, Monitor, NodeId, Options, Phase, Progress, Script, Seen, Span,
    Step, Target, Time, Trigger, Verdict, Violation, What, World,
};

/// What a monitor is told of announcements that is not so.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rumour {
    None,
    /// Whoever is behind made the announcement that somebody else made.
    Early,
    /// Whoever answers a subscriber has announced a term that nobody comes to.
    InAnswer,
    /// As a node starts that has decided about rows, n3 has rolled back every row there is.
    AtStart,
    /// Whoever announces something announced a vote for each server, in a term that nobody comes to, as its disk died.
    LastWords,
}

/// A monitor that knows less than there is, and that may not know who was told what.
struct Deceived {
    monitor: RelayMonitor,
    sees_no_commands: bool,
    /// Whether it takes those for deliveries, and else for timers that go off.
    sees_deliveries: bool,
    rumour: Rumour,
    /// Whether it looks after each step whether the monitor believes of nodes what they say.
    compares: bool,
}

/// The messages with announcements among what a node did.
fn announcements(effects: &[Effect<RelayNode>]) -> impl Iterator<Item = (NodeId, &Message, &Announcement)> {
    effects.iter().filter_map(|effect| match effect {
        Effect::Send { to, message } => Some((*to, message, message.body.announcement()?)),
        _ => None,
    })
}

impl Deceived {
    /// What the monitor says to a message that a node is said to have sent.
    fn hears(
        &mut self,
        seen: &Seen<'_, RelayNode>,
        (node, died): (NodeId, bool),
        (to, message): (NodeId, Message),
        cluster: &Cluster<RelayNode>,
    ) -> Result<(), Violation> {
        let (effects, what) = ([Effect::Send { to, message }], What::Fired(Timer::Election));
        let (event, time) = (seen.event, seen.time);
        self.monitor.observe(&Seen { event, time, node, what, effects: &effects, died }, cluster)
    }
}

impl Monitor<RelayNode> for Deceived {
    fn observe(&mut self, seen: &Seen<'_, RelayNode>, cluster: &Cluster<RelayNode>) -> Result<(), Violation> {
        let rumour = self.rumour;
        for (to, message, said) in announcements(seen.effects) {
            let is_behind = |&node: &NodeId| {
                node != seen.node && cluster.view(node).is_some_and(|view| view.durable_term() < said.term)
            };
            if let Some(behind) = cluster.servers().find(is_behind).filter(|_| rumour == Rumour::Early) {
                self.hears(seen, (behind, false), (to, message.clone()), cluster)?;
            }
            if rumour == Rumour::InAnswer && matches!(message.body, Body::SubscribeReply(_)) {
                let body = Body::SubscribeReply(Announcement { term: said.term + 50, ..*said });
                let message = Message { body, ..message.clone() };
                self.hears(seen, (seen.node, false), (to, message), cluster)?;
            }
            for candidate in (0..3).map(NodeId::server).filter(|_| rumour == Rumour::LastWords) {
                let body =
                    Body::Announce(Announcement { term: said.term + 50, vote: Some(candidate), ..*said });
                let message = Message { body, ..message.clone() };
                self.hears(seen, (seen.node, true), (to, message), cluster)?;
            }
        }
        if self.sees_no_commands && matches!(seen.what, What::Commanded { .. }) {
            let Seen { event, time, node, effects, died, .. } = *seen;
            let from = NodeId::server(usize::from(node.position() == 0));
            let kind = Kind { code: 0, name: "Announce" };
            let what = match self.sees_deliveries {
                true => What::Delivered { from, kind, key: 0, sent: Time::ZERO },
                false => What::Fired(Timer::Election),
            };
            return self.monitor.observe(&Seen { event, time, node, what, effects, died }, cluster);
        }
        let has_started = matches!(seen.what, What::Booted) && !seen.died;
        let queue = cluster.view(seen.node).and_then(RelayNode::queue);
        if rumour == Rumour::AtStart && has_started && queue.is_some_and(|queue| !queue.fates().is_empty()) {
            self.monitor.queue.presume_all_rolled_back();
            let found = self.monitor.observe(seen, cluster);
            return Err(found.expect_err("the start is looked at as such"));
        }
        self.monitor.observe(seen, cluster)?;
        let lives = !matches!(seen.what, What::Crashed) && !seen.died;
        if let Some(view) = cluster.view(seen.node).filter(|_| self.compares && lives) {
            let chose = |said: &Announcement| said.vote.filter(|_| said.term == view.term());
            let chosen = announcements(seen.effects).find_map(|(_, _, said)| chose(said));
            let knows = self.monitor.safety.knows(seen.node, view);
            assert!(knows && (chosen.is_none() || view.vote() == chosen), "{} at {}", seen.node, seen.time);
        }
        Ok(())
    }

    fn begin(
        &mut self,
        phase: Phase,
        now: Time,
        cluster: &Cluster<RelayNode>,
        inject: &mut Vec<(NodeId, Command)>,
    ) {
        self.monitor.begin(phase, now, cluster, inject);
    }

    fn owed(&mut self, now: Time, cluster: &Cluster<RelayNode>) -> Progress {
        self.monitor.owed(now, cluster)
    }
}

fn at(millis: u64) -> Trigger {
    Trigger::At(Time::from_millis(millis))
}

/// The leader of three servers writes, and n2 is told to stand for election.
fn script(seed: u64) -> Script {
    let tell = |millis, target, text: &str| {
        Step::new(at(millis), Action::Operate { target, text: text.to_owned(), every: None })
    };
    let mut steps: Vec<Step> =
        (0..20).map(|n| tell(900 + 10 * n, Target::Leader, &format!("propose x={n}"))).collect();
    steps.push(tell(1_500, Target::Node(NodeId::server(1)), "campaign"));
    Script { seed, steps, horizon: Span::from_millis(2_000), ..Script::default() }
}

/// The same, and n1 starts again.
fn starting_again(seed: u64) -> Script {
    let mut script = script(seed);
    let crash = Action::Crash { node: Target::Node(NodeId::server(0)), losing: Losing::Unsynced, at_call: 0 };
    script.steps.push(Step { until: Some(at(1_800)), ..Step::new(at(1_700), crash) });
    script
}

/// What a run breaks.
fn broken(script: &Script, deceive: impl Fn(&mut Deceived)) -> Option<Violation> {
    let mut options = Options::new();
    options.set(OPTIONS, "queue", "on").unwrap();
    let settings = Settings::new(&options, script.servers);
    let monitor = RelayMonitor::new(&settings, script);
    let mut deceived = Deceived {
        monitor,
        sees_no_commands: false,
        sees_deliveries: false,
        rumour: Rumour::None,
        compares: false,
    };
    deceive(&mut deceived);
    match World::<RelayNode, _>::new(script, settings, deceived, false).unwrap().run().verdict {
        Verdict::Violated(violation) => Some(violation),
        _ => None,
    }
}

/// The first run that breaks this rule.
fn sample(rule: claims::Claim, deceive: impl Fn(&mut Deceived)) -> Violation {
    let found =
        (0..100).filter_map(|seed| broken(&script(seed), &deceive)).find(|found| found.rule == rule.0);
    found.unwrap_or_else(|| panic!("no run breaks {}", rule.0))
}

#[test]
fn a_run_that_is_not_lied_about_breaks_nothing() {
    assert_eq!(broken(&script(1), |_| {}), None);
}

#[test]
fn every_rule_is_asked_and_its_message_names_who_did_what() {
    let impatient = |deceived: &mut Deceived| deceived.monitor.debts.catch_up = Span::ZERO;
    let surprised = |deceived: &mut Deceived| {
        deceived.sees_no_commands = true;
        deceived.monitor.needless.since = Some(Time::ZERO);
    };
    let mut samples = safety::tests::samples();
    samples.push(owed::tests::sample());
    samples.push(sample(claims::FOLLOWER_CATCHES_UP, impatient));
    samples.push(sample(claims::NO_NEEDLESS_ELECTION, surprised));
    samples.extend(queue::tests::samples());
    samples.push(sample(claims::QUEUE_DRAINS, impatient));
    let shown: Vec<claims::Claim> = samples.iter().map(|sample| (sample.rule, sample.claim)).collect();
    assert_eq!(shown, RelayMonitor::rules(), "each rule has a run that breaks it, in the order of the rules");
    let further = [safety::tests::further(), owed::tests::further()].concat();
    let mut text = String::new();
    for sample in &samples {
        text += &format!("{}\n  claim    {}\n", sample.rule, sample.claim);
        for said in [sample].into_iter().chain(further.iter().filter(|said| said.rule == sample.rule)) {
            text += &format!("  message  {}\n", said.message);
        }
    }
    insta::assert_snapshot!("messages", text);
}

/// The rules that runs break whose monitor is told this.
fn rules_broken(deceive: impl Fn(&mut Deceived)) -> Vec<&'static str> {
    rules_broken_in(script, deceive)
}

fn rules_broken_in(script: fn(u64) -> Script, deceive: impl Fn(&mut Deceived)) -> Vec<&'static str> {
    (0..6).filter_map(|seed| broken(&script(seed), &deceive)).map(|found| found.rule).collect()
}

#[test]
fn what_a_node_announces_is_held_against_its_disk() {
    let early = rules_broken(|deceived| deceived.rumour = Rumour::Early);
    assert_eq!(early, ["announced-is-durable"; 6]);
}

#[test]
fn what_a_node_announces_to_a_new_subscriber_is_held_against_its_disk_as_well() {
    let answered = rules_broken(|deceived| deceived.rumour = Rumour::InAnswer);
    assert_eq!(answered, ["announced-is-durable"; 6]);
}

#[test]
fn the_monitor_believes_of_a_node_after_each_step_what_that_says_of_itself() {
    assert_eq!(rules_broken_in(starting_again, |deceived| deceived.compares = true), [""; 0]);
}

#[test]
fn what_a_node_has_decided_is_looked_at_again_when_it_starts() {
    let at_start = rules_broken_in(starting_again, |deceived| deceived.rumour = Rumour::AtStart);
    assert_eq!(at_start, ["confirmed-kept"; 6]);
}

#[test]
fn a_needless_election_is_found_whether_a_timer_or_a_message_sets_it_off() {
    for sees_deliveries in [false, true] {
        sample(claims::NO_NEEDLESS_ELECTION, |deceived| {
            (deceived.sees_no_commands, deceived.sees_deliveries) = (true, sees_deliveries);
            deceived.monitor.needless.since = Some(Time::ZERO);
        });
    }
}

#[test]
fn what_a_node_announces_as_its_disk_dies_counts() {
    let last_words = rules_broken(|deceived| deceived.rumour = Rumour::LastWords);
    assert_eq!(last_words, ["vote-once"; 6]);
}

#[test]
fn what_becomes_of_the_queue_of_a_node_is_held_against_what_became_of_it_elsewhere() {
    let presumed = rules_broken(|deceived| deceived.monitor.queue.presume_all_rolled_back());
    assert_eq!(presumed, ["confirmed-kept"; 6]);
}
