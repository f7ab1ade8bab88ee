//! Showing a step to the monitor, and what becomes of a rule that is broken: the end, or a note if the run goes on.

use crate::cluster::Cluster;
use crate::monitor::{Monitor, Seen};
use crate::node::Node;
use crate::panics::guard;
use crate::verdict::{Verdict, Violation};

/// What became of rules so far.
#[derive(Debug, Default)]
pub(super) struct Watching {
    /// Whether the run goes on when a rule is broken.
    pub(super) goes_on: bool,
    /// The monitor could make nothing of what it saw any more.
    is_blind: bool,
    /// The rule that was broken first, if the run went on.
    pub(super) first: Option<Violation>,
    broken: Vec<&'static str>,
}

impl Watching {
    fn note(&mut self, rules: impl IntoIterator<Item = &'static str>) {
        for rule in rules {
            if !self.broken.contains(&rule) {
                self.broken.push(rule);
            }
        }
    }

    /// Shows a step to a monitor.
    ///
    /// # Errors
    /// A rule is broken, and that ends the run.
    #[inline]
    pub(super) fn show<N: Node, M: Monitor<N>>(
        &mut self,
        monitor: &mut M,
        seen: &Seen<'_, N>,
        cluster: &Cluster<N>,
    ) -> Result<(), Violation> {
        let result = match self.first {
            None => monitor.observe(seen, cluster),
            Some(_) => self.show_again(monitor, seen, cluster),
        };
        result.or_else(|violation| self.weigh(monitor, violation))
    }

    /// Shows a step to a monitor that has seen a rule broken. What it counts on may be wrong from then on, so that it may
    /// panic: then it looks no more.
    #[cold]
    fn show_again<N: Node, M: Monitor<N>>(
        &mut self,
        monitor: &mut M,
        seen: &Seen<'_, N>,
        cluster: &Cluster<N>,
    ) -> Result<(), Violation> {
        if self.is_blind {
            return Ok(());
        }
        guard(|| monitor.observe(seen, cluster)).unwrap_or_else(|_| {
            self.is_blind = true;
            Ok(())
        })
    }

    #[cold]
    fn weigh<N: Node, M: Monitor<N>>(&mut self, monitor: &M, violation: Violation) -> Result<(), Violation> {
        self.note([violation.rule]);
        self.note(monitor.others());
        if !self.goes_on {
            return Err(violation);
        }
        self.first.get_or_insert(violation);
        Ok(())
    }

    /// The rules that were broken, with that of the verdict.
    pub(super) fn broken_by(&self, verdict: Option<&Verdict>) -> Vec<&'static str> {
        let mut broken = self.broken.clone();
        let last = verdict.filter(|verdict| !verdict.is_pass()).map(Verdict::rule);
        broken.extend(last.filter(|last| !self.broken.contains(last)));
        broken
    }
}
