//! The same operations on the core and on raft-rs 0.7.0, each with its log in memory.
//!
//! Both sides take every message through `step` and do everything the resulting Ready demands: store, send, apply, advance.

pub mod ours;
pub mod theirs;

/// The payload of one entry, in bytes.
pub const PAYLOAD_BYTES: usize = 64;

/// One operation, repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A follower takes an append with one entry.
    Append,
    /// A leader takes the acknowledgement that commits one entry.
    AppendResponse,
    /// A follower takes a heartbeat.
    Heartbeat,
    /// A leader takes the answer to a heartbeat from a follower that has everything.
    HeartbeatResponse,
    /// A proposal is committed and applied on every node of a group of this size.
    ProposeToCommit(u64),
}

impl Operation {
    /// Every operation.
    pub const ALL: [Operation; 6] = [
        Operation::Append,
        Operation::AppendResponse,
        Operation::Heartbeat,
        Operation::HeartbeatResponse,
        Operation::ProposeToCommit(3),
        Operation::ProposeToCommit(5),
    ];

    /// What to print.
    pub fn name(self) -> String {
        match self {
            Operation::Append => "append at a follower".to_string(),
            Operation::AppendResponse => "append response at a leader".to_string(),
            Operation::Heartbeat => "heartbeat at a follower".to_string(),
            Operation::HeartbeatResponse => "heartbeat response at a leader".to_string(),
            Operation::ProposeToCommit(nodes) => format!("propose to commit, {nodes} nodes"),
        }
    }
}

/// A side of the comparison, ready to repeat one operation.
pub trait Side {
    /// Prepares a number of repetitions: what is sent to the node is built before the clock starts.
    fn prepare(&mut self, count: u64);

    /// Does what was prepared, and nothing else.
    fn run(&mut self);
}

/// Both sides of one operation: the core first.
pub fn sides(operation: Operation) -> (Box<dyn Side>, Box<dyn Side>) {
    (Box::new(ours::Bench::new(operation)), Box::new(theirs::Bench::new(operation)))
}

/// The payload of an entry.
pub fn payload(number: u64) -> Vec<u8> {
    let mut bytes = vec![0; PAYLOAD_BYTES];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    bytes
}
