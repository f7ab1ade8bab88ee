//! The course of a run: faults, settling, power cycle, settling again.

use super::World;
use crate::action::{Action, Losing};
use crate::id::NodeId;
use crate::monitor::{Monitor, Phase, Progress};
use crate::network::{Network, Shape};
use crate::node::Node;
use crate::ratio::Ratio;
use crate::script::Trigger;
use crate::time::{Span, Time};
use crate::trace::{EventId, EventKind};
use crate::verdict::{Verdict, Violation};

impl<N: Node, M: Monitor<N>> World<N, M> {
    pub(super) fn run_phases(&mut self) {
        self.start();
        self.run_until(Time::ZERO + self.script.horizon);
        if self.verdict.is_some() {
            return;
        }
        if self.script.settle.limit == Span::ZERO {
            return self.claims_at_end();
        }
        self.heal();
        self.settle(Phase::Settle);
        if self.script.settle.power_cycle && self.verdict.is_none() {
            self.power_cycle();
            self.settle(Phase::Cycled);
        }
        self.claims_at_end();
        if self.verdict.is_none()
            && let Err(violation) = self.monitor.end()
        {
            let cause = violation.node.map_or(EventId::NONE, |node| self.around(node).last_event);
            self.end_with(Verdict::Violated(violation), cause);
        }
    }

    fn start(&mut self) {
        // Faults of the first moment come before the first start: a node that is down then never starts.
        self.schedule_steps();
        for node in self.cluster.nodes() {
            if self.cluster.slots[node.index()].down == 0 && self.verdict.is_none() {
                self.boot(node, EventId::NONE);
            }
        }
    }

    /// Ends every fault that is not to outlast the run, and calms the network.
    fn heal(&mut self) {
        self.record(EventKind::Phase, None, EventId::NONE, None, format_args!("faults are over"));
        self.director.over = true;
        for step in 0..self.script.steps.len() {
            let step_now = &self.script.steps[step];
            // What is expected has a time of its own.
            if Trigger::is_end(step_now.until.as_ref()) || matches!(step_now.action, Action::Expect(..)) {
                continue;
            }
            // A condition that was to end it has not held; the scenario's reader should know.
            let endless = self.director.steps[step].endless;
            self.close_step(step, EventId::NONE);
            self.director.steps[step].endless = endless;
        }
        self.director.stop_waiting();
        for around in self.around.iter_mut().flatten() {
            around.disk.heal();
            around.clock.heal();
        }
        self.kept.clear();
        self.tampers = false;
        let delay_high = self.network.delay_high.min(self.script.settle.delay_high);
        self.network = Network {
            delay_low: self.network.delay_low.min(delay_high),
            delay_high,
            shape: Shape::Uniform,
            corrupt: Ratio::NEVER,
            misdeliver: Ratio::NEVER,
            loss: Ratio::NEVER,
            duplicate: Ratio::NEVER,
            reorder: Ratio::NEVER,
            ..self.network
        };
    }

    /// Waits until nothing is owed any more; at the limit, what is still owed is the verdict.
    fn settle(&mut self, phase: Phase) {
        let mut inject = Vec::new();
        self.monitor.begin(phase, self.now, &self.cluster, &mut inject);
        for (node, command) in inject {
            self.inject(node, command);
        }
        let (begun, bound) = (self.now, self.script.settle.limit + self.monitor.allowance());
        let deadline = begun + bound;
        let interval = self.monitor.interval();
        while self.verdict.is_none() {
            self.run_until(deadline.min(self.now + interval));
            if self.verdict.is_some() {
                return;
            }
            for node in self.cluster.nodes() {
                self.cluster.slots[node.index()].files = self.around(node).disk.list().count();
            }
            match self.monitor.owed(self.now, &self.cluster) {
                Progress::Done if self.now < deadline && self.awaits_claims() => {}
                Progress::Done => return,
                Progress::Waiting(violation) if self.now >= deadline => {
                    let cause = violation.node.map_or(EventId::NONE, |node| self.around(node).last_event);
                    let Violation { message, .. } = &violation;
                    let message = format!("{message}; it was owed within {bound} from {begun} on");
                    let violation = self.monitor.missed(self.now, Violation { message, ..violation });
                    self.end_with(Verdict::Violated(violation), cause);
                }
                Progress::Waiting(_) => {}
            }
        }
    }

    /// Crashes every server that is up, all at once, and starts them again.
    fn power_cycle(&mut self) {
        let event = self.record(EventKind::Phase, None, EventId::NONE, None, format_args!("power cycle"));
        self.cycling = true;
        let up: Vec<NodeId> = self.server_ids().filter(|&node| self.cluster.is_up(node)).collect();
        for &node in &up {
            self.crash(node, Losing::Some, event);
        }
        for &node in &up {
            self.restart(node, event);
        }
    }
}
