//! A script as data: the cluster, its network and disks, faults as intervals, operations, deviations and the horizon.
//!
//! Whatever a script leaves open, such as the delay of each message, follows from its seed. Everything here has a
//! one-line text form; the grammar lives in the plan crate.

use crate::action::{Action, Losing};
use crate::clock::ClockChange;
use crate::disk::{DiskContract, DiskTiming, FaultBudget};
use crate::id::NodeId;
use crate::network::Network;
use crate::options::{OptionSpec, Options};
use crate::pins::{Pin, Rest};
use crate::target::{Condition, Target};
use crate::time::{Span, Time};

/// Everything a world needs to run, apart from the options of the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// Fills whatever the script leaves open, unless `rest` says that nothing is drawn; it is 0 then.
    pub seed: u64,
    /// Whether what the script leaves open is drawn at all.
    pub rest: Rest,
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
    /// Single decisions that are not left to the seed.
    pub pins: Vec<Pin>,
    /// When faults end and settling begins.
    pub horizon: Span,
    /// What settling is like.
    pub settle: Settle,
    /// Limits of the run; hitting one is a verdict.
    pub limits: Limits,
}

/// What settling is like: the time after the faults, in which progress is owed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settle {
    /// Longest time to wait for what is owed, counted twice: before and after the power cycle. 0: the run ends at the
    /// horizon, and nothing is owed.
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

impl Default for Limits {
    fn default() -> Limits {
        Limits { events: 2_000_000, queue: 200_000, steps: 10_000, time: Span::from_millis(3_600_000) }
    }
}

impl Default for Script {
    fn default() -> Script {
        Script {
            seed: 0,
            rest: Rest::Drawn,
            servers: 3,
            clients: 0,
            network: Network::default(),
            disk: DiskTiming::default(),
            steps: Vec::new(),
            pins: Vec::new(),
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
        })?;
        let strangers = self.pins.iter().flat_map(Pin::nodes).find(|&node| !self.has(node));
        strangers.map_or(Ok(()), |node| Err(format!("a pin names {node}, which is not in the cluster")))
    }

    /// Which servers' disks may lie, rot, be wiped or come back older; it follows from the script alone. Without a seed
    /// those lie or rot of which a pin says so.
    pub fn fault_budget(&self) -> FaultBudget {
        let drawn = match self.rest {
            Rest::Drawn => FaultBudget::draw(self.seed, self.servers, self.disk.faults),
            Rest::Fixed => FaultBudget::of_nodes(self.pins.iter().filter_map(Pin::struck)),
        };
        self.exchanged_disks().fold(drawn, |budget, target| match target {
            Target::Node(node) => budget.with(node),
            _ => self.server_ids().fold(budget, FaultBudget::with),
        })
    }

    /// What may be relied on: what its disks promise, unless a step makes one fail, takes one away or puts an older one back.
    pub fn contract(&self) -> DiskContract {
        let fails = self.steps.iter().any(|step| matches!(step.action, Action::FailSyncs(_)));
        let by_steps = if fails { DiskContract::Lossy } else { DiskContract::Honest };
        let promised = self.disk.contract().max(by_steps);
        if self.exchanged_disks().next().is_none() {
            return promised;
        }
        let budget = self.fault_budget();
        let struck = self.server_ids().filter(|&node| budget.strikes(node)).count();
        promised.max(match struck * 2 < self.servers {
            true => DiskContract::Lying,
            false => DiskContract::Unlimited,
        })
    }

    /// Whose disks are wiped or replaced by older ones.
    fn exchanged_disks(&self) -> impl Iterator<Item = Target> {
        self.steps.iter().filter_map(|step| match step.action {
            Action::Crash { node, losing: Losing::Everything, .. }
            | Action::CrashAfter { node, losing: Losing::Everything, .. }
            | Action::Rewind(node) => Some(node),
            _ => None,
        })
    }

    fn server_ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.servers).map(NodeId::server)
    }

    /// The longest time for which a step keeps a node busy with each input even after faults are over.
    pub fn lasting_slowness(&self) -> Span {
        let lasting = self.steps.iter().filter(|step| step.until == Some(Trigger::End));
        let slowness = lasting.filter_map(|step| match step.action {
            Action::Slow { high, .. } => Some(high),
            _ => None,
        });
        slowness.max().unwrap_or(Span::ZERO)
    }

    /// Whether a step leaves a clock further from the true rate than so many hundredths even after faults are over.
    pub fn has_lasting_clocks_beyond(&self, percent: u64) -> bool {
        let lasting = self.steps.iter().filter(|step| step.until == Some(Trigger::End));
        lasting.into_iter().any(|step| match step.action {
            Action::Clock { change: ClockChange::Freeze, .. } => true,
            Action::Clock { change: ClockChange::Rate(rate), .. } => !rate.is_within_percent(percent),
            _ => false,
        })
    }

    /// Options of servers that come back from a step with another value for one of them, by position of the step; for
    /// [`crate::World::roll`].
    ///
    /// # Errors
    /// Names the option or value that does not exist and lists those that do.
    pub fn rolls(&self, options: &Options, specs: &[OptionSpec]) -> Result<Vec<(usize, Options)>, String> {
        let mut rolls = Vec::new();
        for (at, step) in self.steps.iter().enumerate() {
            if let Action::Roll { option, value, .. } = &step.action {
                let mut rolled = options.clone();
                rolled.set(specs, option, value)?;
                rolls.push((at, rolled));
            }
        }
        Ok(rolls)
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
        match &self.action {
            Action::Expect(..) if self.until.is_some() => {
                return Err("is expected and has an end: say `within` how long it comes true");
            }
            Action::Expect(condition, None)
                if !matches!(condition, Condition::Takes(..) | Condition::Reaches(..)) =>
            {
                return Err("expects something that happens: say `within` how long");
            }
            Action::Operate { every: Some(Span::ZERO), .. } => {
                return Err("repeats without a pause: give it a length of time");
            }
            Action::Topology { flapping: Some(Span::ZERO), .. } => {
                return Err("comes and goes without a pause: give it a length of time");
            }
            Action::CrashAfter { number: 0, .. } => return Err("crashes after no effect: write 1 or more"),
            Action::Slow { low, high, .. } | Action::Jitter { low, high, .. } if low > high => {
                return Err("has a range of times of which the first is the longer one");
            }
            Action::Topology { topology, groups, .. } if topology.is_row() != (groups.len() == 1) => {
                return Err("has another number of groups than its shape");
            }
            _ => {}
        }
        let nobody = self.action.targets().contains(&Target::Any);
        if nobody { Err("does something to `any` node: name one, or a role") } else { Ok(()) }
    }

    /// Every node the step names.
    pub fn nodes(&self) -> Vec<NodeId> {
        let mut nodes: Vec<NodeId> = Vec::new();
        nodes.extend(self.action.targets().into_iter().filter_map(|target| match target {
            Target::Node(node) => Some(node),
            _ => None,
        }));
        nodes.extend(self.action.pattern().into_iter().flat_map(|pattern| pattern.nodes()));
        if let Action::Expect(condition, _) | Action::Never(condition) = &self.action {
            nodes.extend(condition.nodes());
        }
        for trigger in [Some(&self.when), self.until.as_ref()].into_iter().flatten() {
            if let Trigger::When(condition, _) = trigger {
                nodes.extend(condition.nodes());
            }
        }
        nodes
    }
}
