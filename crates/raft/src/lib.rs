//! Raft as a value: messages in, Ready out; no clock, no randomness, no I/O.

mod bug;
mod changer;
mod clock;
mod conf_change;
mod config;
mod describe;
mod election;
mod entry;
mod error;
mod follower;
mod identity;
mod inflights;
mod leader;
mod log;
mod membership;
mod memory_storage;
mod message;
mod progress;
mod proposal;
mod quorum;
mod raft;
mod raw_node;
mod read_index;
mod reads;
mod ready;
mod replication;
mod state;
mod status;
mod step;
mod storage;
mod storage_work;
mod ticking;
mod tracker;
mod transfer;
mod unstable;
mod votes;

#[cfg(feature = "mutants")]
pub use bug::Bug;
pub use changer::{Changed, Changer};
pub use conf_change::{Change, ChangeKind, ChangeStep, ConfChange, ConfChangeV2, Transition, decode_entry};
pub use config::{Config, ReadMode};
pub use entry::{
    Entries, Entry, EntryId, EntryKind, Payload, encoded_size_bytes, fitting, payload_size_bytes,
};
pub use error::{ConfChangeError, ConfigError, StepError, StorageError};
pub use identity::{APPEND_THREAD, APPLY_THREAD, NONE, NodeId, POSITION_MAX, is_node, is_storage_thread};
pub use inflights::Inflights;
pub use memory_storage::MemoryStorage;
pub use message::{Extra, Message, MessageKind};
pub use progress::{Progress, ProgressState};
pub use quorum::{Joint, Majority, VoteResult};
pub use raw_node::RawNode;
pub use ready::Ready;
pub use state::{ConfState, HardState, ReadState, Role, Snapshot, SoftState};
pub use status::Status;
pub use storage::Storage;
pub use tracker::{Configuration, Tracker};
