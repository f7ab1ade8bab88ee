//! A deterministic world for any node: time, network, disks, crashes, trace.
//!
//! A [`Node`] handles one input and answers with [`Effects`]. A [`World`] runs the nodes of a [`Script`]: it owns time,
//! draws every delay and every loss from the script's seed, and shows each step to a [`Monitor`].

mod action;
mod canary;
mod clock;
mod cluster;
mod digest;
mod disk;
pub mod draw;
mod effects;
mod fault;
mod id;
mod monitor;
mod names;
mod network;
mod node;
mod on;
mod options;
mod panics;
mod pins;
mod queue;
mod ratio;
mod script;
mod sole;
mod system;
mod target;
mod time;
mod timers;
mod trace;
mod trouble;
mod verdict;
mod world;

pub use action::{Action, Countable, Losing, Topology};
pub use canary::Canary;
pub use clock::{ClockChange, Rate};
pub use cluster::Cluster;
pub use digest::{Digest, Digester, TraceHash};
pub use disk::{
    CrashLoss, CrashStates, DISK_DECISIONS, Disk, DiskContract, DiskCounts, DiskError, DiskFaults,
    DiskTiming, DiskTrouble, FaultBudget, FileId, Sync, Ticket,
};
pub use draw::{Draw, Key, Keys, Site};
pub use effects::{Effect, Effects};
pub use fault::{Bites, Fault, FaultSet};
pub use id::{CLIENTS_MAX, Link, NodeId, SERVERS_MAX, SLOTS};
pub use monitor::{Monitor, Phase, Progress, Seen, Unchecked, What};
pub use network::{Network, Shape};
pub use node::{Boot, Input, Kind, Message, Node, OpId, Role, Timer};
pub use options::{OptionSpec, Options, Values, parse_span};
pub use pins::{Decision, DrawSite, Fate, Pin, Rest};
pub use ratio::Ratio;
pub use script::{Limits, Script, Settle, Step, Trigger};
pub use sole::Sole;
pub use system::{System, Timing, Watch};
pub use target::{Condition, Pattern, Target};
pub use time::{LocalTime, Span, Time};
pub use trace::{EventId, EventKind, Subject, Trace, TraceEvent};
pub use trouble::Trouble;
pub use verdict::{ClientOperation, Counters, DiskFile, Figures, Limit, Outcome, Verdict, Violation};
pub use world::{CLAIM_RULES, World};
