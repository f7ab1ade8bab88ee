//! The door for checks: a monitor sees every step of a run, says what is broken and what is still owed.

use crate::cluster::Cluster;
use crate::disk::Ticket;
use crate::effects::Effect;
use crate::id::NodeId;
use crate::node::{Kind, Node, OpId};
use crate::time::{Span, Time};
use crate::trace::EventId;
use crate::verdict::{ClientOperation, Figures, Violation};

/// What a step was an answer to.
pub enum What<'a, N: Node> {
    /// The node started.
    Booted,
    /// It received a message.
    Delivered {
        /// From whom.
        from: NodeId,
        /// What kind.
        kind: Kind,
        /// Its content key.
        key: u64,
        /// When it was sent.
        sent: Time,
    },
    /// A timer went off.
    Fired(N::Timer),
    /// It was given a command.
    Commanded {
        /// The operation.
        op: OpId,
        /// What was asked.
        command: &'a N::Command,
    },
    /// A sync came back.
    Synced(Ticket),
    /// A sync failed.
    SyncFailed(Ticket),
    /// It crashed; its view is gone.
    Crashed,
}

/// One step of one node.
pub struct Seen<'a, N: Node> {
    /// Number of the event.
    pub event: EventId,
    /// When.
    pub time: Time,
    /// Which node.
    pub node: NodeId,
    /// What it answered to.
    pub what: What<'a, N>,
    /// What it did.
    pub effects: &'a [Effect<N>],
    /// Whether its disk died under it: it sent what it sent, but what it shows of itself is worth nothing, and it crashes
    /// after this step.
    pub died: bool,
}

/// The part of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Faults happen; only safety is owed.
    Faults,
    /// Faults are over, but for those that last to the end; progress is owed.
    Settle,
    /// As [`Phase::Settle`], after every node was crashed and restarted.
    Cycled,
}

/// What is still owed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Nothing.
    Done,
    /// This; it is the violation if the bound passes.
    Waiting(Violation),
}

/// Rules over the steps of a run.
pub trait Monitor<N: Node> {
    /// Sees a step of a node, before its effects take place. An error ends the run.
    ///
    /// # Errors
    /// The rule that is broken.
    fn observe(&mut self, seen: &Seen<'_, N>, cluster: &Cluster<N>) -> Result<(), Violation>;

    /// A phase begins. `inject` takes commands the monitor wants to be given to nodes now, such as a fresh write.
    fn begin(
        &mut self,
        phase: Phase,
        now: Time,
        cluster: &Cluster<N>,
        inject: &mut Vec<(NodeId, N::Command)>,
    ) {
        let _ = (phase, now, cluster, inject);
    }

    /// Time beyond the script's limit that the phase which has just begun may take, for what the plan alone does not tell:
    /// how much data somebody lacks.
    fn allowance(&self) -> Span {
        Span::ZERO
    }

    /// What is still owed, asked every [`Monitor::interval`] while settling.
    fn owed(&mut self, now: Time, cluster: &Cluster<N>) -> Progress;

    /// The bound on what is owed passed: the violation as it is reported, perhaps with more to explain it.
    fn missed(&self, now: Time, violation: Violation) -> Violation {
        let _ = now;
        violation
    }

    /// How often [`Monitor::owed`] is asked.
    fn interval(&self) -> Span {
        Span::from_millis(20)
    }

    /// The run is over, and nothing was broken so far: what only all of it together can show.
    ///
    /// # Errors
    /// The rule that is broken.
    fn end(&mut self) -> Result<(), Violation> {
        Ok(())
    }

    /// What clients asked and were told, an event per line, if it follows them.
    fn history(&self) -> Option<String> {
        None
    }

    /// If this violation is about what clients see: the fewest of their operations that show it, in any order.
    fn evidence(&self, violation: &Violation) -> Vec<ClientOperation> {
        let _ = violation;
        Vec::new()
    }

    /// What it counted.
    fn figures(&self) -> Figures {
        Figures::default()
    }
}

/// Checks nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unchecked;

impl<N: Node> Monitor<N> for Unchecked {
    fn observe(&mut self, _: &Seen<'_, N>, _: &Cluster<N>) -> Result<(), Violation> {
        Ok(())
    }

    fn owed(&mut self, _: Time, _: &Cluster<N>) -> Progress {
        Progress::Done
    }
}
