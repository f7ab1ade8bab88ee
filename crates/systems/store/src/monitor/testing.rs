//! Runs of a toy whose monitor is told what is not so, for the tests of the monitor.

use super::StoreMonitor;
use crate::command::Command;
use crate::core::Core;
use crate::node::StoreNode;
use crate::options::Settings;
use crate::toy::Toy;
use whitewater_sim::{
    Action, Cluster, Figures, Monitor, NodeId, Options, Outcome, Phase, Progress, Script, Seen, Span, Step,
    Target, Time, Trigger, Verdict, Violation, World,
};

/// A node of the toy.
pub(super) type Node = StoreNode<Toy>;

/// Options of a run.
pub(super) type Chosen = [(&'static str, &'static str)];

/// Who stands between a world and a monitor, and may say what is not so.
pub(super) trait Between: Sized {
    fn observe(
        &mut self,
        monitor: &mut StoreMonitor,
        seen: &Seen<'_, Node>,
        cluster: &Cluster<Node>,
    ) -> Result<(), Violation> {
        monitor.observe(seen, cluster)
    }

    fn begin(
        &mut self,
        monitor: &mut StoreMonitor,
        (phase, now): (Phase, Time),
        cluster: &Cluster<Node>,
        inject: &mut Vec<(NodeId, Command)>,
    ) {
        monitor.begin(phase, now, cluster, inject);
    }
}

/// Says all as it is.
#[derive(Clone, Copy)]
pub(super) struct Honest;

impl Between for Honest {}

struct Misled<B> {
    monitor: StoreMonitor,
    between: B,
}

impl<B: Between> Monitor<Node> for Misled<B> {
    fn observe(&mut self, seen: &Seen<'_, Node>, cluster: &Cluster<Node>) -> Result<(), Violation> {
        self.between.observe(&mut self.monitor, seen, cluster)
    }

    fn begin(
        &mut self,
        phase: Phase,
        now: Time,
        cluster: &Cluster<Node>,
        inject: &mut Vec<(NodeId, Command)>,
    ) {
        self.between.begin(&mut self.monitor, (phase, now), cluster, inject);
    }

    fn allowance(&self) -> Span {
        Monitor::<Node>::allowance(&self.monitor)
    }

    fn owed(&mut self, now: Time, cluster: &Cluster<Node>) -> Progress {
        self.monitor.owed(now, cluster)
    }

    fn missed(&self, now: Time, violation: Violation) -> Violation {
        Monitor::<Node>::missed(&self.monitor, now, violation)
    }

    fn end(&mut self) -> Result<(), Violation> {
        Monitor::<Node>::end(&mut self.monitor)
    }

    fn history(&self) -> Option<String> {
        Monitor::<Node>::history(&self.monitor)
    }

    fn figures(&self) -> Figures {
        Monitor::<Node>::figures(&self.monitor)
    }
}

pub(super) fn at(millis: u64) -> Trigger {
    Trigger::At(Time::from_millis(millis))
}

/// A step that tells a node to do something.
pub(super) fn told(node: NodeId, millis: u64, text: &str) -> Step {
    let target = Target::Node(node);
    Step::new(at(millis), Action::Operate { target, text: text.to_owned(), every: None })
}

/// Three servers, and a client that writes and reads forty times from 300 ms on.
pub(super) fn script(seed: u64) -> Script {
    let operation = |number: u64| {
        let text = if number % 4 == 3 { "get a".to_owned() } else { format!("append a v{number}") };
        told(NodeId::client(0), 300 + 20 * number, &text)
    };
    let steps = (0..40).map(operation).collect();
    let mut script =
        Script { seed, clients: 1, steps, horizon: Span::from_millis(1_500), ..Script::default() };
    script.network.delay_high = Span::from_millis(5);
    script
}

pub(super) fn settings(chosen: &Chosen) -> Settings {
    let mut options = Options::new();
    for (name, value) in chosen {
        options.set(Toy::OPTIONS, name, value).expect("there is such an option");
    }
    Settings::read(&options, Toy::OPTIONS)
}

pub(super) fn run(script: &Script, chosen: &Chosen, between: impl Between) -> Outcome {
    run_as(script, settings(chosen), between)
}

pub(super) fn run_as(script: &Script, settings: Settings, between: impl Between) -> Outcome {
    let monitor = StoreMonitor::new(script, &settings);
    let world = World::<Node, _>::new(script, settings, Misled { monitor, between }, true);
    world.expect("the script is valid").run()
}

/// What a run breaks.
pub(super) fn violation(script: &Script, chosen: &Chosen, between: impl Between) -> Option<Violation> {
    match run(script, chosen, between).verdict {
        Verdict::Pass => None,
        Verdict::Violated(violation) => {
            let known = StoreMonitor::rules();
            assert!(known.contains(&(violation.rule, violation.claim)), "it is in the list: {violation:?}");
            Some(violation)
        }
        other => panic!("the run comes to an end: {other}"),
    }
}

/// The rules that some runs break.
pub(super) fn broken<B: Between>(
    chosen: &Chosen,
    script: impl Fn(u64) -> Script,
    between: impl Fn() -> B,
) -> Vec<&'static str> {
    (0..6).filter_map(|seed| violation(&script(seed), chosen, between())).map(|found| found.rule).collect()
}
