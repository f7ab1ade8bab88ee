//! What an adapter brings: a Raft that somebody wrote, as the store drives it.

use crate::command::Change;
use crate::log::Log;
use crate::options::Settings;
use std::ops::Range;
use std::sync::Arc;
use whitewater_check::{RefusalReason, Spoken};
use whitewater_sim::{Message, NodeId, OptionSpec, Role};

pub use whitewater_wal::{Entry, HardState, Snapshot};

/// Where a core stands and what it is set to.
#[derive(Clone, Debug)]
pub struct Seat {
    /// Who it is.
    pub id: NodeId,
    /// The founders of the cluster, a vote each.
    pub founders: Vec<NodeId>,
    /// How often it was started before: another number in every life of its process.
    pub incarnation: u32,
    /// Options.
    pub settings: Settings,
}

/// The kind of an entry that holds a request; a core gives other numbers to entries of its own.
pub const REQUEST: u8 = 0;

/// What a core wants done, in this order: send what promises nothing, store, then send the rest and take over a snapshot.
/// Committed entries and reads do not wait for what is stored with them.
#[derive(Debug)]
pub struct Todo<M> {
    /// Messages that promise nothing that is not durable yet.
    pub messages: Vec<(NodeId, M)>,
    /// Term, vote and commit index to be stored.
    pub hard_state: Option<HardState>,
    /// Whether it may be lost in a crash, since only the commit index moved.
    pub may_be_lost: bool,
    /// A snapshot to be stored in place of the log.
    pub snapshot: Option<Snapshot>,
    /// Entries to be stored, in place of whatever the log has from the index of the first on.
    pub entries: Vec<Entry>,
    /// Messages to be sent when all of that is durable.
    pub promises: Vec<(NodeId, M)>,
    /// Entries that are committed and durable, each once, in order.
    pub committed: Vec<Entry>,
    /// Reads that may be served when so much is applied: the number they were asked with, and the index.
    pub reads: Vec<(u64, u64)>,
}

impl<M> Default for Todo<M> {
    fn default() -> Todo<M> {
        Todo {
            messages: Vec::new(),
            hard_state: None,
            may_be_lost: false,
            snapshot: None,
            entries: Vec::new(),
            promises: Vec::new(),
            committed: Vec::new(),
            reads: Vec::new(),
        }
    }
}

/// Somebody else's Raft. Every method is called only while the process lives; a crash drops the value, and [`Core::start`] makes
/// another one of what the disk has.
pub trait Core: Sized + 'static {
    /// What its nodes send each other.
    type Message: Message + Clone;
    /// The name of the system.
    const NAME: &'static str;
    /// What it is, in one sentence.
    const ABOUT: &'static str;
    /// The kinds of its messages, as scripts name them.
    const KINDS: &'static [&'static str];
    /// What can be set: some of those in [`crate::options`], and others of its own.
    const OPTIONS: &'static [OptionSpec];

    /// Whether it is right, and makes progress, whatever clocks do: it counts ticks and trusts no lease.
    const NEEDS_NO_CLOCK: bool;

    /// Starts from what the log has.
    fn start(seat: &Seat, log: Log) -> Self;
    /// The log that was given.
    fn log(&self) -> &Log;
    /// The log, to be written to.
    fn log_mut(&mut self) -> &mut Log;

    /// A tick has passed.
    fn tick(&mut self);
    /// A message has come.
    ///
    /// # Errors
    /// The core refuses it with an error instead of handling it.
    fn receive(&mut self, from: NodeId, message: Self::Message) -> Result<(), RefusalReason>;
    /// It stands for election.
    fn campaign(&mut self);
    /// It leads and puts a request into the log, or passes it on to the leader; false if it does neither.
    fn propose(&mut self, data: Arc<[u8]>) -> bool;
    /// It finds out from where on a read is linearizable, and says so in [`Todo::reads`]; false if it does not do that, and the
    /// read has to go through the log.
    fn read(&mut self, number: u64) -> bool {
        let _ = number;
        false
    }
    /// It hands over its leadership; false if it cannot.
    fn transfer(&mut self, to: NodeId) -> bool {
        let _ = to;
        false
    }
    /// It leads and changes the membership; false if it does not.
    fn change(&mut self, change: &Change) -> bool {
        let _ = change;
        false
    }
    /// A snapshot that was sent has come to its receiver, or is taken for lost.
    fn snapshot_sent(&mut self, to: NodeId, arrived: bool) {
        let _ = (to, arrived);
    }
    /// Nothing has come from that peer for a while.
    fn unreachable(&mut self, peer: NodeId) {
        let _ = peer;
    }

    /// Says what it wants done; false if nothing. `todo` is empty.
    fn ready(&mut self, todo: &mut Todo<Self::Message>) -> bool;
    /// What it wanted stored is written, and can be read from its log; after a crash it may be gone.
    fn written(&mut self) {}
    /// Everything it wanted stored so far, up to the so-manieth todo since it was started, is durable.
    fn stored(&mut self, todos: u64);
    /// A committed entry that is no request has been handed on: what it says of the membership holds from now on.
    fn applied(&mut self, entry: &Entry) {
        let _ = entry;
    }
    /// Its log has given up everything up to that index.
    fn compacted(&mut self, index: u64) {
        let _ = index;
    }
    /// Whether it takes inputs while it waits for the disk.
    fn overlaps(&self) -> bool {
        false
    }
    /// The ticks from which its next timeout is to be drawn, if it wants another one since it was asked last.
    fn timeout_wanted(&mut self) -> Option<Range<u64>>;
    /// The timeout that was drawn, in ticks from when it was wanted.
    fn set_timeout(&mut self, ticks: u64);

    /// Its term.
    fn term(&self) -> u64;
    /// Whom it chose in its term.
    fn vote(&self) -> Option<NodeId>;
    /// Its part.
    fn role(&self) -> Role;
    /// Whom it takes for the leader.
    fn leader(&self) -> Option<NodeId>;
    /// Whether that is somebody who leads, and not only the candidate it chose.
    fn names_leader(&self) -> bool {
        true
    }
    /// Index of the last entry it has in memory.
    fn last_index(&self) -> u64;
    /// Up to where it knows entries to be committed.
    fn commit(&self) -> u64;
    /// While it leads: up to where it takes a peer's log to equal its own.
    fn match_index(&self, peer: NodeId) -> Option<u64>;
    /// The membership as of what was applied, in bytes of its own, for a snapshot.
    fn membership(&self) -> Vec<u8>;
    /// What a message to `to` promises or claims.
    fn spoken(to: NodeId, message: &Self::Message) -> Spoken;
    /// The index of the snapshot that a message carries, if it does.
    fn snapshot_in(message: &Self::Message) -> Option<u64> {
        let _ = message;
        None
    }
}

/// The number a server has for cores that count them from 1.
pub fn number_of(node: NodeId) -> u64 {
    node.position() as u64 + 1
}

/// The server of that number; `None` for 0, which is nobody.
pub fn server_of(number: u64) -> Option<NodeId> {
    Some(NodeId::server(usize::try_from(number).ok()?.checked_sub(1)?))
}
