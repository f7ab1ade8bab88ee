//! A monitor of which only one rule counts: what the others find does not end the run.

use crate::cluster::Cluster;
use crate::id::NodeId;
use crate::monitor::{Monitor, Phase, Progress, Seen};
use crate::node::Node;
use crate::time::{Span, Time};
use crate::verdict::{Figures, Violation};

/// Hears what a monitor says of one rule and lets everything else pass.
///
/// Of two rules that the monitor looks at in the same step and that are both broken, it hears the one that comes first only:
/// a monitor that switches its rules off one by one sees more.
#[derive(Debug)]
pub struct Sole<'a, M> {
    monitor: M,
    rule: &'a str,
}

impl<'a, M> Sole<'a, M> {
    /// Hears only what `monitor` says of `rule`.
    pub fn new(monitor: M, rule: &'a str) -> Sole<'a, M> {
        Sole { monitor, rule }
    }

    fn heard(&self, said: Result<(), Violation>) -> Result<(), Violation> {
        said.or_else(|violation| if violation.rule == self.rule { Err(violation) } else { Ok(()) })
    }
}

impl<N: Node, M: Monitor<N>> Monitor<N> for Sole<'_, M> {
    fn observe(&mut self, seen: &Seen<'_, N>, cluster: &Cluster<N>) -> Result<(), Violation> {
        let said = self.monitor.observe(seen, cluster);
        self.heard(said)
    }

    fn begin(
        &mut self,
        phase: Phase,
        now: Time,
        cluster: &Cluster<N>,
        inject: &mut Vec<(NodeId, N::Command)>,
    ) {
        self.monitor.begin(phase, now, cluster, inject);
    }

    fn allowance(&self) -> Span {
        self.monitor.allowance()
    }

    fn owed(&mut self, now: Time, cluster: &Cluster<N>) -> Progress {
        self.monitor.owed(now, cluster)
    }

    fn missed(&self, now: Time, violation: Violation) -> Violation {
        self.monitor.missed(now, violation)
    }

    fn interval(&self) -> Span {
        self.monitor.interval()
    }

    fn end(&mut self) -> Result<(), Violation> {
        let said = self.monitor.end();
        self.heard(said)
    }

    fn figures(&self) -> Figures {
        self.monitor.figures()
    }
}
