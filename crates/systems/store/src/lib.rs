//! A replicated key-value store around any Raft: the adapter of somebody else's Raft brings the Raft alone.
//!
//! Implement [`Core`] for it - what comes in, what it wants stored and sent, what it shows of itself - and [`Store`] makes a
//! system of it: clients that retry, a durable log with snapshots on simulated disks, every rule over logs, elections and
//! clients, and the progress that is owed. The commands are those of the project's own store, so that both can run one plan.

mod client;
mod command;
pub mod core;
mod dead;
pub mod etcd;
mod log;
mod machine;
mod marks;
pub mod membership;
mod message;
mod monitor;
mod node;
mod number;
pub mod options;
pub mod outline;
mod owing;
pub mod paper;
mod place;
mod raftpb;
mod request;
mod server;
mod spine;
mod system;
mod timer;
#[cfg(test)]
mod toy;

pub use client::Client;
pub use command::{Answer, Change, Command, Operation, Reply, Text, parse};
pub use core::{Core, Entry, HardState, Notice, Order, REQUEST, ReadId, Seat, Shown, Snapshot, Todo};
pub use dead::Dead;
pub use log::{Gap, Log};
pub use membership::{Part, Step};
pub use message::{Outcome, StoreMessage};
pub use monitor::{Clients, StoreMonitor, follow_clients};
pub use node::StoreNode;
pub use number::{number_of, numbers_in, server_of, set_of_numbers};
pub use options::{Reads, Settings};
pub use outline::{Claim, EntryOutline, Outline, Outlined};
pub use place::Place;
pub use request::Content;
pub use server::Server;
pub use system::Store;
pub use timer::StoreTimer;
