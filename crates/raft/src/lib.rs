//! Raft as a value: messages in, Ready out; no clock, no randomness, no I/O.
//!
//! A [`RawNode`] is one member of a group that keeps one log. Its owner brings everything that touches the world: a
//! network, a disk, a clock, dice. In return the same input always leads to the same output, so a whole group runs on one
//! thread, in a test, in any order of events. It stays on that thread: entries are shared without atomics, so nothing of it is
//! `Send`, and whoever gives storage work to real threads hands them bytes.
//!
//! Message for message this is what etcd's Raft does; its own test files run against this crate. There are no dependencies
//! and no `unsafe`.
//!
//! # Three nodes
//!
//! ```
//! use std::collections::VecDeque;
//! use whitewater_raft::{Config, MemoryStorage, Message, RawNode, Role, decode_entry};
//!
//! type Node = RawNode<MemoryStorage>;
//!
//! /// Does what a node wants done: store, send, apply. See `Ready` for what exactly has to be done, and in which order.
//! fn drain(node: &mut Node, wire: &mut VecDeque<Message>, applied: &mut Vec<String>) {
//!     while node.has_ready() {
//!         let ready = node.ready();
//!         let storage = node.storage_mut();
//!         if let Some(snapshot) = &ready.snapshot {
//!             storage.apply_snapshot((**snapshot).clone()).expect("snapshots only move forward");
//!         }
//!         storage.append(&ready.entries);
//!         if let Some(hard_state) = ready.hard_state {
//!             storage.set_hard_state(hard_state);
//!         }
//!         // A disk would be synced here, before anything is sent.
//!         wire.extend(ready.messages);
//!         for entry in &ready.committed_entries {
//!             match decode_entry(entry.kind, &entry.data) {
//!                 Some(change) => drop(node.apply_conf_change(&change)),
//!                 None => applied.push(String::from_utf8_lossy(&entry.data).into_owned()),
//!             }
//!         }
//!         node.advance();
//!     }
//! }
//!
//! let mut nodes: Vec<Node> = (1..=3)
//!     .map(|id| RawNode::new(Config::new(id), MemoryStorage::with_voters([1, 2, 3])))
//!     .collect::<Result<_, _>>()?;
//! let mut applied = vec![Vec::new(); 3];
//! let mut wire = VecDeque::new();
//!
//! // Time is counted in ticks. The node says how many may pass before it does something, and from which range it wants its
//! // election timeout drawn; here everybody gets another one.
//! for (node, timeout) in nodes.iter_mut().zip([11, 15, 18]) {
//!     assert_eq!(node.take_timeout_request(), Some(10..20));
//!     node.set_randomized_timeout(timeout);
//! }
//! let due = nodes[0].ticks_until_due().expect("a voter waits for its timeout");
//! nodes.iter_mut().for_each(|node| node.tick_by(due));
//!
//! let mut run = |nodes: &mut Vec<Node>| {
//!     loop {
//!         for (node, applied) in nodes.iter_mut().zip(&mut applied) {
//!             drain(node, &mut wire, applied);
//!         }
//!         let Some(message) = wire.pop_front() else { return applied.clone() };
//!         // Without an error: nobody here says what a correct peer would not say.
//!         nodes[message.to as usize - 1].step(message).expect("a correct message");
//!     }
//! };
//! run(&mut nodes);
//! assert_eq!(nodes[0].role(), Role::Leader);
//!
//! nodes[2].propose("x=1")?; // Passed on to the leader.
//! let applied = run(&mut nodes);
//! assert_eq!(applied[0], ["", "x=1"]); // The empty entry opens the leader's term.
//! assert_eq!(nodes[1].commit_index(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Driving a node
//!
//! Whatever happens, the steps are the same: give the node what happened, ask it for a timeout request
//! ([`RawNode::take_timeout_request`]), then do what [`Ready`] says until there is none. Its obligations are the whole
//! contract. [`RawNode::ready_into`] reuses the memory of the last one: a node in a steady state allocates only for the
//! payloads it is given.
//!
//! Quiet time can be skipped: nothing happens for [`RawNode::ticks_until_due`] ticks, and [`RawNode::tick_by`] catches up
//! with all of them. Ticks that have passed are to be counted before a message is stepped, as a node that heard from its
//! leader recently treats some messages differently.
//!
//! # What the rooms are
//!
//! * The log: `log`, its tail that is not stored yet in `unstable`, [`Storage`] below.
//! * A leader's view of its peers: [`Progress`] with [`Inflights`], for all members in [`Tracker`].
//! * Who decides: [`Majority`] and [`Joint`], changed by [`Changer`].
//! * Votes, reads and the clock of ticks: `votes`, `reads`, `clock`.
//! * What a node does, by duty: `step` (which messages come in), `election`, `follower`, `leader`, `replication`, `proposal`,
//!   `read_index`, `transfer`, `membership`, `ticking`, `storage_work`.
//!
//! # When it panics
//!
//! No message makes a node panic: what no correct peer would say is an error of [`RawNode::step`], what is late is ignored.
//! Reads of the storage may fail at any time. What is left are broken contracts:
//!
//! * a storage whose first index is 0, or lies more than one behind its last (when the node starts);
//! * a storage that returns entries from another index than the one asked for;
//! * a second [`Ready`] taken before [`RawNode::advance`], or `advance` with
//!   [`Config::async_storage_writes`];
//! * writing to a [`MemoryStorage`] so that a gap would be left in it;
//! * [`Inflights::add`] on a full window, for those who use it alone;
//! * and assertions on the core's own transitions, such as that a leader never becomes a candidate. They cannot be reached
//!   from outside; should one fire, the core is wrong.
//!
//! # Proving it
//!
//! * `cargo test -p whitewater-raft --features mutants` shows that every rule of the seed is missed when it is removed.
//! * `cargo run --profile fuzz -p whitewater-raft --example hostile -- --steps 10000000` steps arbitrary messages into nodes in
//!   arbitrary states; `--seed N` starts elsewhere, and is what a panic is reported with.
//! * `cargo run -p whitewater-conformance -- PATH...` runs etcd's own test files.
//! * `cargo run --release --bin pair` and `--bin allocations` in `benches/raft-rs` measure it beside raft-rs.
//!
//! # Where the rules come from
//!
//! The Raft paper (Ongaro and Ousterhout, extended version) and Ongaro's thesis, cited at the places that follow them;
//! etcd-io/raft for everything they leave open; raft-rs for [`Config::priority`] and [`Config::follower_snapshots`].

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
