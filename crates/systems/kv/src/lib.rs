//! A replicated key-value store on the Raft core, over transport sessions, with clients that retry.
//!
//! Servers keep the log of [`whitewater_raft`] in a [`whitewater_wal`] on their disk, give it up behind snapshots, and answer clients when an entry is applied. Between two
//! servers lies a session that has to be started before anything passes, and again whenever the peer was restarted.

mod bugs;
mod bytes;
mod client;
mod command;
mod control;
mod image;
mod log;
mod machine;
mod marks;
mod message;
mod monitor;
mod naming;
mod node;
mod options;
mod order;
mod proposal;
mod requests;
mod server;
mod session;
mod spine;
mod system;
mod ticking;
mod timer;

pub use client::Client;
pub use command::{Answer, Command, Operation, Reply, Text};
pub use control::Control;
pub use log::Log;
pub use message::{KvMessage, Outcome, Session};
pub use monitor::KvMonitor;
pub use node::KvNode;
pub use options::{Reads, SPECS, Settings};
pub use order::{MembershipChange, Order};
pub use server::Server;
pub use system::{KV, Kv};
pub use timer::KvTimer;
