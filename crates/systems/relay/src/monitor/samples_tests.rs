//! Every rule of this system has a run that breaks it, and its message is what an engineer reads.

use super::{RelayMonitor, claims, owed, queue, safety};
use crate::command::Command;
use crate::node::RelayNode;
use crate::settings::{OPTIONS, Settings};
use crate::timer::Timer;
use whitewater_sim::{
    Action, Cluster, Monitor, NodeId, Options, Phase, Progress, Script, Seen, Span, Step, Target, Time,
    Trigger, Verdict, Violation, What, World,
};

/// A monitor that knows less than there is, and that may not know who was told what.
struct Deceived {
    monitor: RelayMonitor,
    sees_no_commands: bool,
}

impl Monitor<RelayNode> for Deceived {
    fn observe(&mut self, seen: &Seen<'_, RelayNode>, cluster: &Cluster<RelayNode>) -> Result<(), Violation> {
        if self.sees_no_commands && matches!(seen.what, What::Commanded { .. }) {
            let Seen { event, time, node, effects, died, .. } = *seen;
            let what = What::Fired(Timer::Election);
            return self.monitor.observe(&Seen { event, time, node, what, effects, died }, cluster);
        }
        self.monitor.observe(seen, cluster)
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

/// What a run of three servers breaks: their leader writes, and n2 is told to stand for election.
fn broken(seed: u64, deceive: impl Fn(&mut Deceived)) -> Option<Violation> {
    let at = |millis| Trigger::At(Time::from_millis(millis));
    let tell = |millis, target, text: &str| {
        Step::new(at(millis), Action::Operate { target, text: text.to_owned(), every: None })
    };
    let mut steps: Vec<Step> =
        (0..20).map(|n| tell(900 + 10 * n, Target::Leader, &format!("propose x={n}"))).collect();
    steps.push(tell(1_500, Target::Node(NodeId::server(1)), "campaign"));
    let script = Script { seed, steps, horizon: Span::from_millis(2_000), ..Script::default() };
    let mut options = Options::new();
    options.set(OPTIONS, "queue", "on").unwrap();
    let settings = Settings::new(&options, script.servers);
    let monitor = RelayMonitor::new(&settings, &script);
    let mut deceived = Deceived { monitor, sees_no_commands: false };
    deceive(&mut deceived);
    match World::<RelayNode, _>::new(&script, settings, deceived, false).unwrap().run().verdict {
        Verdict::Violated(violation) => Some(violation),
        _ => None,
    }
}

/// The first run that breaks this rule.
fn sample(rule: claims::Claim, deceive: impl Fn(&mut Deceived)) -> Violation {
    let found = (0..100).filter_map(|seed| broken(seed, &deceive)).find(|found| found.rule == rule.0);
    found.unwrap_or_else(|| panic!("no run breaks {}", rule.0))
}

#[test]
fn a_run_that_is_not_lied_about_breaks_nothing() {
    assert_eq!(broken(1, |_| {}), None);
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
    let text: Vec<String> = samples
        .iter()
        .map(|sample| {
            format!("{}\n  claim    {}\n  message  {}\n", sample.rule, sample.claim, sample.message)
        })
        .collect();
    insta::assert_snapshot!("messages", text.concat());
}
