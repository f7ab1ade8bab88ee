//! A replication with election by broadcast: relays, appliers and the moment in between.
pub mod applier;
pub mod command;
pub mod cursor;
pub mod inbound;
pub mod marks;
pub mod message;
pub mod monitor;
pub mod node;
pub mod outlet;
pub mod raft;
pub mod record;
pub mod relay;
pub mod row;
pub mod settings;
pub mod system;
pub mod timer;
pub mod vclock;
pub mod wal;

pub use system::{RELAY, Relay};
