//! A script as data: the cluster, its network and disks, faults as intervals, operations, deviations and the horizon.
//!
//! Whatever a script leaves open, such as the delay of each message, follows from its seed. Everything here has a
//! one-line text form; the grammar lives in the plan crate.

use crate::disk::{DiskTiming, FaultBudget};
use crate::id::NodeId;
use crate::node::Role;
use crate::time::{Span, Time};

/// Everything a world needs to run, apart from the options of the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// Fills whatever the script leaves open.
    pub seed: u64,
    /// Number of servers, 1 to [`crate::SERVERS_MAX`].
    pub servers: usize,
    /// Number of clients, 0 to [`crate::CLIENTS_MAX`].
    pub clients: usize,
    /// How links behave unless a step says otherwise.
    pub network: Network,
    /// How disks behave.
    pub disk: DiskTiming,
    /// Faults, operations and deviations.
    pub steps: Vec<Step>,
    /// When faults end and settling begins.
    pub horizon: Span,
    /// What settling is like.
    pub settle: Settle,
    /// Limits of the run; hitting one is a verdict.
    pub limits: Limits,
}

/// How links behave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// Shortest one-way delay.
    pub delay_low: Span,
    /// Longest one-way delay.
    pub delay_high: Span,
    /// Share of messages that are lost.
    pub loss: Ratio,
    /// Share of deliveries that are followed by a second one.
    pub duplicate: Ratio,
    /// Share of messages that are delayed by up to [`Network::reorder_window`] more.
    pub reorder: Ratio,
    /// Longest additional delay of a reordered message.
    pub reorder_window: Span,
}

/// A share as a fraction of 65,536, so that it is exact and needs no float.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ratio(pub u16);

/// What settling is like: the time after the faults, in which progress is owed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settle {
    /// Longest time to wait for what is owed, counted twice: before and after the power cycle.
    pub limit: Span,
    /// Longest one-way delay while settling.
    pub delay_high: Span,
    /// Whether every node is crashed and restarted once after settling, and owes the same again.
    pub power_cycle: bool,
}

/// Limits of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Events of a run.
    pub events: u64,
    /// Events waiting at once.
    pub queue: usize,
    /// Things a node may do within one input.
    pub steps: u32,
    /// Simulated time of a run, settling included.
    pub time: Span,
}

/// One line of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// When it begins.
    pub when: Trigger,
    /// What it does.
    pub action: Action,
    /// When it ends. `None` for what has no duration; a fault without an end lasts until faults are over.
    pub until: Option<Trigger>,
    /// A remark for people; it appears in the trace.
    pub note: Option<String>,
}

/// A moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// A time of the world.
    At(Time),
    /// So long after the step has begun; only as an end.
    After(Span),
    /// So long after a condition holds.
    When(Condition, Span),
    /// The end of the run. A fault with this end outlasts settling, and its damage is excused; only an expectation begins
    /// then.
    End,
}

/// Something the world can see happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// A node takes a role: `n1 leads`.
    Takes(Target, Role),
    /// A timer goes off, such as `relay-ready n1->n2`.
    Fires(Pattern),
    /// A message is delivered: `n1->n2 MsgApp arrives`.
    Arrives(Pattern),
    /// A message is sent: `n1->n2 MsgApp leaves`.
    Leaves(Pattern),
    /// A figure of a node, one of [`crate::System::figures`], is at least this: `n2 reaches commit 5`.
    Reaches(Target, String, u64),
}

/// Which node is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// This one.
    Node(NodeId),
    /// Any node; only in conditions.
    Any,
    /// The server that leads the highest term at that moment.
    Leader,
    /// A server that is up and does not lead: 0 is the first one after the leader, counting round the cluster.
    Follower(u8),
}

/// Which messages or timers are meant; what is left out matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    /// Name of the message kind or the timer.
    pub name: Option<String>,
    /// Sender of the message or owner of the timer.
    pub from: Option<NodeId>,
    /// Receiver of the message or peer of the timer.
    pub to: Option<NodeId>,
    /// Term of the message.
    pub term: Option<u64>,
    /// Only the so-manieth that matches otherwise, from 1.
    pub number: Option<u32>,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A server crashes; it restarts from its disk at the end of the interval.
    Crash {
        /// Which.
        node: Target,
        /// What becomes of data that was not synced.
        losing: Losing,
        /// The crash comes at this storage call of the node, counted from the trigger on; 0 crashes at once.
        at_call: u32,
    },
    /// Links between the groups are cut both ways. A node in no group keeps all its links, a node in several belongs to
    /// the first.
    Partition(Vec<Vec<Target>>),
    /// One direction is cut.
    Cut {
        /// Sender.
        from: Target,
        /// Receiver.
        to: Target,
    },
    /// Matching messages and timers wait until the end of the interval.
    Hold(Pattern),
    /// Matching messages are lost.
    Drop(Pattern),
    /// Matching messages arrive so much later.
    Delay(Pattern, Span),
    /// Matching messages arrive a second time, so much later.
    Duplicate(Pattern, Span),
    /// Matching messages are lost with this probability.
    Lossy(Pattern, Ratio),
    /// A command for a node, in the text form of its system.
    Operate {
        /// Whom it is given to.
        target: Target,
        /// The command.
        text: String,
        /// It is given again so often until the step ends; a round without a target that is up is skipped.
        every: Option<Span>,
    },
    /// What the script claims: the condition holds at that moment, or comes true within so long.
    Expect(Condition, Option<Span>),
    /// What the script claims: the condition does not come true during the interval.
    Never(Condition),
}

/// What a crash does to data that was not synced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Losing {
    /// A drawn part is lost.
    #[default]
    Some,
    /// All of it is lost: `losing unsynced`.
    Unsynced,
}

impl Condition {
    /// Every node it names.
    pub fn nodes(&self) -> Vec<NodeId> {
        match self {
            Condition::Takes(Target::Node(node), _) | Condition::Reaches(Target::Node(node), ..) => {
                vec![*node]
            }
            Condition::Takes(..) | Condition::Reaches(..) => Vec::new(),
            Condition::Fires(p) | Condition::Arrives(p) | Condition::Leaves(p) => {
                p.from.into_iter().chain(p.to).collect()
            }
        }
    }

    /// The node at which it comes true, if it names one: a sender, a receiver, the owner of a timer or state.
    pub fn place(&self) -> Option<NodeId> {
        match self {
            Condition::Takes(Target::Node(node), _) | Condition::Reaches(Target::Node(node), ..) => {
                Some(*node)
            }
            Condition::Takes(..) | Condition::Reaches(..) => None,
            Condition::Fires(pattern) | Condition::Leaves(pattern) => pattern.from,
            Condition::Arrives(pattern) => pattern.to,
        }
    }
}

impl Ratio {
    /// Never.
    pub const NEVER: Ratio = Ratio(0);

    /// `numerator` of `denominator`, rounded down; at most 65,535 of 65,536. Panics if `denominator` is zero.
    pub const fn of(numerator: u64, denominator: u64) -> Ratio {
        let parts = numerator * 65_536 / denominator;
        Ratio(if parts > 65_535 { 65_535 } else { parts as u16 })
    }
}

impl Default for Network {
    fn default() -> Network {
        Network {
            delay_low: Span::from_millis(1),
            delay_high: Span::from_millis(10),
            loss: Ratio::NEVER,
            duplicate: Ratio::NEVER,
            reorder: Ratio::NEVER,
            reorder_window: Span::ZERO,
        }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { events: 2_000_000, queue: 200_000, steps: 10_000, time: Span::from_millis(3_600_000) }
    }
}

impl Default for Script {
    fn default() -> Script {
        Script {
            seed: 0,
            servers: 3,
            clients: 0,
            network: Network::default(),
            disk: DiskTiming::default(),
            steps: Vec::new(),
            horizon: Span::from_millis(2_000),
            settle: Settle {
                limit: Span::from_millis(4_000),
                delay_high: Span::from_millis(10),
                power_cycle: true,
            },
            limits: Limits::default(),
        }
    }
}

impl Script {
    /// Checks what types do not.
    ///
    /// # Errors
    /// Says in one sentence which value is out of range, or which step names a node that is not there.
    pub fn validate(&self) -> Result<(), String> {
        if !(1..=crate::SERVERS_MAX).contains(&self.servers) {
            return Err(format!("{} servers: there may be 1 to {}", self.servers, crate::SERVERS_MAX));
        }
        if self.clients > crate::CLIENTS_MAX {
            return Err(format!("{} clients: there may be at most {}", self.clients, crate::CLIENTS_MAX));
        }
        if self.network.delay_low > self.network.delay_high {
            return Err(format!(
                "delay {}..{}: the first is the longer one",
                self.network.delay_low, self.network.delay_high
            ));
        }
        self.disk.validate()?;
        self.steps.iter().enumerate().try_for_each(|(at, step)| {
            step.check_moments().map_err(|wrong| format!("step {} {wrong}", at + 1))?;
            step.nodes().into_iter().try_for_each(|node| match self.has(node) {
                true => Ok(()),
                false => Err(format!("step {} names {node}, which is not in the cluster", at + 1)),
            })
        })
    }

    /// Which servers' disks may lie or rot; it follows from the script alone.
    pub fn fault_budget(&self) -> FaultBudget {
        FaultBudget::draw(self.seed, self.servers, self.disk.faults)
    }

    /// Whether the cluster has that node.
    pub fn has(&self, node: NodeId) -> bool {
        node.position() < if node.is_server() { self.servers } else { self.clients }
    }
}

impl Step {
    /// A step without end and note.
    pub fn new(when: Trigger, action: Action) -> Step {
        Step { when, action, until: None, note: None }
    }

    /// Checks that it begins at a moment there is, and does something to a node there is.
    fn check_moments(&self) -> Result<(), &'static str> {
        let is_last_claim = self.when == Trigger::End && matches!(self.action, Action::Expect(_, None));
        if matches!(self.when, Trigger::After(_) | Trigger::End) && !is_last_claim {
            return Err("begins relative to itself or at the end: give it a time or a condition");
        }
        if let Action::Expect(condition, within) = &self.action {
            if self.until.is_some() {
                return Err("is expected and has an end: say `within` how long it comes true");
            }
            let is_state = matches!(condition, Condition::Takes(..) | Condition::Reaches(..));
            if within.is_none() && !is_state {
                return Err("expects something that happens: say `within` how long");
            }
        }
        let any = |target: &Target| *target == Target::Any;
        let nobody = match &self.action {
            Action::Crash { node, .. } | Action::Operate { target: node, .. } => any(node),
            Action::Partition(groups) => groups.iter().flatten().any(any),
            Action::Cut { from, to } => any(from) || any(to),
            _ => false,
        };
        if matches!(self.action, Action::Operate { every: Some(Span::ZERO), .. }) {
            return Err("repeats without a pause: give it a length of time");
        }
        if nobody { Err("does something to `any` node: name one, or a role") } else { Ok(()) }
    }

    /// Every node the step names.
    pub fn nodes(&self) -> Vec<NodeId> {
        let mut nodes = Vec::new();
        let mut target = |t: &Target| {
            if let Target::Node(node) = t {
                nodes.push(*node);
            }
        };
        match &self.action {
            Action::Crash { node, .. } | Action::Operate { target: node, .. } => target(node),
            Action::Partition(groups) => groups.iter().flatten().for_each(target),
            Action::Cut { from, to } => {
                target(from);
                target(to);
            }
            Action::Hold(p) | Action::Drop(p) | Action::Delay(p, _) => {
                nodes.extend(p.from.into_iter().chain(p.to))
            }
            Action::Duplicate(p, _) | Action::Lossy(p, _) => nodes.extend(p.from.into_iter().chain(p.to)),
            Action::Expect(condition, _) | Action::Never(condition) => nodes.extend(condition.nodes()),
        }
        for trigger in [Some(&self.when), self.until.as_ref()].into_iter().flatten() {
            if let Trigger::When(condition, _) = trigger {
                nodes.extend(condition.nodes());
            }
        }
        nodes
    }
}
