//! A deterministic world for any node: time, network, disks, crashes, trace.
//!
//! A [`Node`] handles one input and answers with [`Effects`]. A [`World`] runs the nodes of a [`Script`]: it owns time,
//! draws every delay and every loss from the script's seed, and shows each step to a [`Monitor`].

mod cluster;
mod digest;
mod disk;
pub mod draw;
mod effects;
mod id;
mod monitor;
mod names;
mod node;
mod options;
mod panics;
mod queue;
mod script;
mod system;
mod time;
mod timers;
mod trace;
mod verdict;
mod world;

pub use cluster::Cluster;
pub use digest::{Digest, Digester, TraceHash};
pub use disk::{
    CrashLoss, CrashStates, Disk, DiskContract, DiskCounts, DiskError, DiskFaults, DiskTiming, DiskTrouble,
    FaultBudget, FileId, Sync, Ticket,
};
pub use draw::{Draw, Key, Keys, Site};
pub use effects::{Effect, Effects};
pub use id::{CLIENTS_MAX, Link, NodeId, SERVERS_MAX, SLOTS};
pub use monitor::{Monitor, Phase, Progress, Seen, Unchecked, What};
pub use node::{Boot, Input, Kind, Message, Node, OpId, Role, Timer};
pub use options::{OptionSpec, Options, Values, parse_span};
pub use script::{
    Action, Condition, Limits, Losing, Network, Pattern, Ratio, Script, Settle, Step, Target, Trigger,
};
pub use system::{System, Timing};
pub use time::{LocalTime, Span, Time};
pub use trace::{EventId, EventKind, Subject, Trace, TraceEvent};
pub use verdict::{Counters, DiskFile, Figures, Limit, Outcome, Verdict, Violation};
pub use world::{CLAIM_RULES, World};
