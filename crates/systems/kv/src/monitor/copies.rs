//! Copies of a rule beside those that any Raft is under: they look as well, so that what it costs can be told from noise.

use super::bounds::Bounds;
use super::leases::Leases;
use super::pacing::Pacing;
use super::step::Done;
use super::{KvMonitor, beside};
use whitewater_sim::{NodeId, Violation};

/// A copy of the rules over leases, bounds and pace, of which one looks at most.
#[derive(Clone)]
pub(super) struct Copy {
    leases: Leases,
    bounds: Bounds,
    pacing: Pacing,
}

impl Copy {
    /// A copy of those that have not looked at anything yet, in which only one looks, if any.
    pub(super) fn of(monitor: &KvMonitor, looks: Option<&str>) -> Copy {
        let KvMonitor { leases, bounds, pacing, .. } = monitor;
        let mut copy = Copy { leases: leases.clone(), bounds: bounds.clone(), pacing: pacing.clone() };
        for (rule, _) in beside().filter(|(rule, _)| Some(*rule) != looks) {
            let Copy { leases, bounds, pacing } = &mut copy;
            assert!(leases.rules.blind(rule) || bounds.rules.blind(rule) || pacing.rules.blind(rule));
        }
        copy
    }

    /// See [`KvMonitor::forget_life`].
    pub(super) fn forget_life(&mut self, node: NodeId) {
        self.leases.rules.forget(node);
        self.bounds.rules.forget(node);
        self.pacing.forget(node);
    }
}

/// Has copies look at a step of a server.
#[cold]
pub(super) fn observe(copies: &mut [Copy], done: &Done<'_>) -> Result<(), Violation> {
    for Copy { leases, bounds, pacing } in copies {
        leases.observe(done)?;
        bounds.observe(done)?;
        pacing.observe(done)?;
    }
    Ok(())
}
