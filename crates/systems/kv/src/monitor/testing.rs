//! Runs whose monitor is told what is not so, for the tests of the monitor.

use super::KvMonitor;
use crate::command::Command;
use crate::node::KvNode;
use crate::options::{SPECS, Settings};
use whitewater_sim::{
    Action, Cluster, Monitor, NodeId, Options, Phase, Progress, Script, Seen, Span, Step, Target, Time,
    Trigger, Verdict, Violation, World,
};

/// Options of a run.
pub(super) type Chosen = [(&'static str, &'static str)];

/// Three servers, and a client that writes two hundred times from 300 ms on, every so many milliseconds.
pub(super) fn script(seed: u64, every_millis: u64) -> Script {
    let write = |number: u64| {
        let (at, target) = (Trigger::At(Time::from_millis(300 + every_millis * number)), Target::Leader);
        Step::new(at, Action::Operate { target, text: format!("append a v{number}"), every: None })
    };
    let steps = (0..200).map(write).collect();
    Script { seed, clients: 1, steps, horizon: Span::from_millis(1_500), ..Script::default() }
}

/// Who stands between a world and a monitor, and tells it what it likes.
pub(super) struct Told<F> {
    pub(super) monitor: KvMonitor,
    pub(super) tell: F,
}

impl<F> Monitor<KvNode> for Told<F>
where
    F: FnMut(&mut KvMonitor, &Seen<'_, KvNode>, &Cluster<KvNode>) -> Result<(), Violation>,
{
    fn observe(&mut self, seen: &Seen<'_, KvNode>, cluster: &Cluster<KvNode>) -> Result<(), Violation> {
        (self.tell)(&mut self.monitor, seen, cluster)
    }

    fn begin(
        &mut self,
        phase: Phase,
        now: Time,
        cluster: &Cluster<KvNode>,
        inject: &mut Vec<(NodeId, Command)>,
    ) {
        self.monitor.begin(phase, now, cluster, inject);
    }

    fn allowance(&self) -> Span {
        self.monitor.allowance()
    }

    fn owed(&mut self, now: Time, cluster: &Cluster<KvNode>) -> Progress {
        self.monitor.owed(now, cluster)
    }

    fn missed(&self, now: Time, violation: Violation) -> Violation {
        self.monitor.missed(now, violation)
    }
}

/// The rule that a run breaks, as the monitor has it that `watch` makes for its settings.
pub(super) fn broken_in<M: Monitor<KvNode>>(
    script: &Script,
    chosen: &Chosen,
    watch: impl FnOnce(&Settings) -> M,
) -> Option<&'static str> {
    let mut options = Options::new();
    for (name, value) in chosen {
        options.set(SPECS, name, value).unwrap();
    }
    let settings = Settings::read(&options);
    let monitor = watch(&settings);
    match World::<KvNode, _>::new(script, settings, monitor, false).unwrap().run().verdict {
        Verdict::Violated(violation) => Some(violation.rule),
        _ => None,
    }
}
