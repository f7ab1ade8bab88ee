//! How a run ended, and everything a campaign keeps of it.

use crate::digest::TraceHash;
use crate::disk::DiskCounts;
use crate::fault::{Bites, Fault};
use crate::id::NodeId;
use crate::node::Role;
use crate::pins::Pin;
use crate::time::{Span, Time};
use crate::trace::Trace;
use std::fmt;

/// A rule that was broken, as a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Name of the rule.
    pub rule: &'static str,
    /// What the rule claims, in one sentence.
    pub claim: &'static str,
    /// What is wrong, in one sentence of the domain.
    pub message: String,
    /// The node at which it shows.
    pub node: Option<NodeId>,
    /// The other node concerned, such as the leader of a stranded follower.
    pub peer: Option<NodeId>,
}

/// What a client did, where a rule over what clients see was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientOperation {
    /// Who asked.
    pub client: NodeId,
    /// What it did and was told, such as `reads x`.
    pub text: String,
    /// When it began; none if it counts as begun at any time.
    pub began: Option<Time>,
    /// When it ended; none if its client never learnt of an end, so that it may have taken place or not.
    pub ended: Option<Time>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every rule held and everything owed was paid.
    Pass,
    /// A rule was broken.
    Violated(Violation),
    /// A node panicked.
    Crashed {
        /// Which.
        node: NodeId,
        /// What it said.
        message: String,
        /// File and line.
        location: String,
    },
    /// A limit of the run was hit.
    Exhausted {
        /// Which.
        limit: Limit,
        /// How many it allows; nanoseconds where it is one on time.
        most: u64,
        /// The node that hit it, if it was one.
        node: Option<NodeId>,
    },
    /// The same plan did not give the same run. Made by whoever runs a plan twice.
    Nondeterministic,
}

/// A limit of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Events of the run.
    Events,
    /// Events waiting at once.
    Queue,
    /// Simulated time.
    Time,
    /// Things done within one input.
    Steps,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limit::Events => "events of a run",
            Limit::Queue => "events waiting at once",
            Limit::Time => "simulated time",
            Limit::Steps => "effects of one input",
        })
    }
}

impl Verdict {
    /// Whether nothing was found.
    pub fn is_pass(&self) -> bool {
        *self == Verdict::Pass
    }

    /// The node it is about, if it is one.
    pub fn node(&self) -> Option<NodeId> {
        match self {
            Verdict::Violated(violation) => violation.node,
            Verdict::Crashed { node, .. } => Some(*node),
            Verdict::Exhausted { node, .. } => *node,
            Verdict::Pass | Verdict::Nondeterministic => None,
        }
    }

    /// The name it is reported under: the rule, or `panic`, `limit` or `nondeterministic`.
    pub fn rule(&self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Violated(violation) => violation.rule,
            Verdict::Crashed { .. } => "panic",
            Verdict::Exhausted { .. } => "limit",
            Verdict::Nondeterministic => "nondeterministic",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Pass => f.write_str("pass"),
            Verdict::Violated(violation) => f.write_str(&violation.message),
            // The line of the source is no behaviour: it would change traces that nothing has changed.
            Verdict::Crashed { node, message, .. } => write!(f, "{node} panicked: {message}"),
            Verdict::Exhausted { limit, most, node } => exhausted(*limit, *most, *node, f),
            Verdict::Nondeterministic => f.write_str("the same plan gave two different runs"),
        }
    }
}

/// Which limit was hit, by whom, and how much it allows.
fn exhausted(limit: Limit, most: u64, node: Option<NodeId>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match (limit, node) {
        (Limit::Steps, Some(node)) => write!(f, "{node} does more than {most} things upon one input"),
        (Limit::Queue, Some(node)) => {
            write!(f, "more than {most} events wait for {node}, which is busy or stopped")
        }
        (Limit::Queue, None) => write!(f, "more than {most} events wait at once"),
        (Limit::Time, None) => {
            write!(f, "the run takes more than {} of simulated time", Span::from_nanos(most))
        }
        (Limit::Events, None) => write!(f, "the run takes more than {most} events"),
        (limit, _) => write!(f, "more than {most} {limit}"),
    }
}

/// What a world counts. Each is a number of events of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Everything that happened.
    pub events: u64,
    /// Messages that reached a node that was up.
    pub deliveries: u64,
    /// Messages sent.
    pub sent: u64,
    /// Messages stopped by a cut link.
    pub cut: u64,
    /// Messages and timers held back by a step.
    pub held: u64,
    /// Crashes.
    pub crashes: u64,
    /// Restarts, the power cycle not counted.
    pub restarts: u64,
    /// Messages that a node itself gave up, see [`crate::Effects::discard`].
    pub discarded: u64,
    /// Timers that went off.
    pub timers: u64,
    /// What disks did besides what they were asked for.
    pub disks: DiskCounts,
    /// Operations given to nodes.
    pub operations: u64,
    /// Answers to operations.
    pub replies: u64,
    /// Times a server became leader.
    pub leader_changes: u64,
    /// How often each kind of fault bit.
    pub bites: Bites,
}

impl Counters {
    /// Number of kinds of faults.
    pub const FAULTS: usize = Fault::COUNT;

    /// Kinds of faults with how often each bit in the run.
    pub fn faults(&self) -> [(&'static str, u64); Counters::FAULTS] {
        Fault::ALL.map(|fault| (fault.name(), self.bites[fault]))
    }

    /// Takes over what disks have counted.
    pub(crate) fn count_disks(&mut self) {
        let DiskCounts { syncs_failed, failed, full, stalled, lied, astray, rotten } = self.disks;
        self.bites[Fault::SyncFailed] = syncs_failed;
        self.bites[Fault::CallFailed] = failed;
        self.bites[Fault::Full] = full;
        self.bites[Fault::Stall] = stalled;
        self.bites[Fault::Lie] = lied;
        self.bites[Fault::Astray] = astray;
        self.bites[Fault::Rot] = rotten;
    }
}

/// What monitors count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Writes a client was told to be done.
    pub acknowledged_writes: u64,
    /// Progress that was not owed under the plan.
    pub not_owed: u64,
    /// Why it was not, for at most [`Figures::PHASES`] of them in their order; the rest is empty.
    pub not_owed_because: [&'static str; Figures::PHASES],
    /// Progress that was owed and excused.
    pub excused: u64,
    /// Keys of whose operations nobody could say within the budget whether some order explains them.
    pub undecided: u64,
}

impl Figures {
    /// Phases of a run in which progress may be owed: before the power cycle and after it.
    pub const PHASES: usize = 2;

    /// Counts a phase in which nothing is owed, with the reason in a word or two, joined by hyphens.
    pub fn owe_nothing(&mut self, because: &'static str) {
        if let Some(free) = self.not_owed_because.iter_mut().find(|because| because.is_empty()) {
            *free = because;
        }
        self.not_owed += 1;
    }

    /// Why nothing was owed: each reason once.
    pub fn reasons(&self) -> impl Iterator<Item = &'static str> {
        let [first, second] = self.not_owed_because;
        let other = if second == first { "" } else { second };
        [first, other].into_iter().filter(|because| !because.is_empty())
    }
}

/// A run, finished.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How it ended.
    pub verdict: Verdict,
    /// Simulated time at the end.
    pub time: Time,
    /// What nodes saw and did.
    pub hash: TraceHash,
    /// What the world counted.
    pub counters: Counters,
    /// What the monitor counted.
    pub figures: Figures,
    /// Interesting situations that were met, in order of first meeting.
    pub marks: Vec<&'static str>,
    /// Steps of the script that never began, never ended or never met what they are about, by position.
    pub unfired: Vec<usize>,
    /// The step whose claim was broken, by position, if that is what the verdict is about.
    pub claim: Option<usize>,
    /// Pins that no decision met, by position.
    pub unmet: Vec<usize>,
    /// The role of the node the verdict is about when it was found, whatever befell the node in the same step; none if it is
    /// about no node or that node was down.
    pub role: Option<Role>,
    /// Time spent before settling.
    pub faulty: Span,
    /// If a trace was recorded: the decisions that a run without a seed would not make by itself, in order. With them
    /// pinned it is the same run.
    pub decisions: Vec<Pin>,
    /// The trace, if it was recorded.
    pub trace: Option<Trace>,
    /// The files of every server's disk at the end, if a trace was recorded.
    pub disks: Vec<(NodeId, Vec<DiskFile>)>,
    /// With the trace, what clients asked and were told, an event per line, if the system has clients that are followed.
    pub history: Option<String>,
    /// With the trace, if a rule over what clients see was broken: the fewest of their operations that show it.
    pub evidence: Vec<ClientOperation>,
}

/// A file of a disk: its name and its bytes as the node would see them.
pub type DiskFile = (String, Vec<u8>);
