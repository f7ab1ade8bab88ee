//! Looking at a node without touching it: for operators and for invariant checkers.

use crate::entry::Entry;
use crate::identity::NodeId;
use crate::progress::Progress;
use crate::raw_node::RawNode;
use crate::state::{HardState, Role};
use crate::storage::Storage;
use crate::tracker::Configuration;

/// A node at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The node.
    pub id: NodeId,
    /// Term, vote and commit index.
    pub hard_state: HardState,
    /// The role.
    pub role: Role,
    /// The leader it follows, or [`NONE`](crate::NONE).
    pub leader: NodeId,
    /// The last index the application confirmed.
    pub applied: u64,
    /// The node that is to lead next, or [`NONE`](crate::NONE).
    pub transferee: NodeId,
    /// Who is in the group.
    pub configuration: Configuration,
    /// What a leader knows about each member, in ascending order of ids; empty on other roles.
    pub progress: Vec<Progress>,
}

impl<S: Storage> RawNode<S> {
    /// Everything an operator wants to know.
    pub fn status(&self) -> Status {
        let leads = self.raft.role == Role::Leader;
        Status {
            id: self.raft.id,
            hard_state: self.raft.hard_state(),
            role: self.raft.role,
            leader: self.raft.leader,
            applied: self.raft.log.applied,
            transferee: self.raft.transferee,
            configuration: self.raft.tracker.configuration.clone(),
            progress: if leads { self.raft.tracker.peers.clone() } else { Vec::new() },
        }
    }

    /// The id of this node.
    pub fn id(&self) -> NodeId {
        self.raft.id
    }

    /// The current term.
    pub fn term(&self) -> u64 {
        self.raft.term
    }

    /// The node this one voted for in the current term, or [`NONE`](crate::NONE).
    pub fn vote(&self) -> NodeId {
        self.raft.vote
    }

    /// The role.
    pub fn role(&self) -> Role {
        self.raft.role
    }

    /// The leader this node follows, or [`NONE`](crate::NONE).
    pub fn leader(&self) -> NodeId {
        self.raft.leader
    }

    /// The node that is to lead next, or [`NONE`](crate::NONE).
    pub fn transferee(&self) -> NodeId {
        self.raft.transferee
    }

    /// Term, vote and commit index.
    pub fn hard_state(&self) -> HardState {
        self.raft.hard_state()
    }

    /// The commit index.
    pub fn commit_index(&self) -> u64 {
        self.raft.log.committed
    }

    /// The last index that was handed to the application.
    pub fn applying_index(&self) -> u64 {
        self.raft.log.applying
    }

    /// The last index the application confirmed.
    pub fn applied_index(&self) -> u64 {
        self.raft.log.applied
    }

    /// The index of the first entry in the log.
    pub fn first_index(&self) -> u64 {
        self.raft.log.first_index()
    }

    /// The index of the last entry in the log, durable or not.
    pub fn last_index(&self) -> u64 {
        self.raft.log.last_index()
    }

    /// The last index that the storage has confirmed.
    pub fn stable_index(&self) -> u64 {
        self.raft.log.unstable.offset - 1
    }

    /// The entries that the storage has not confirmed, in order.
    pub fn unstable_entries(&self) -> &[Entry] {
        &self.raft.log.unstable.entries
    }

    /// The last index of the snapshot that is on its way to the storage, if there is one: the log begins behind it.
    #[inline]
    pub fn installing_snapshot(&self) -> Option<u64> {
        self.raft.log.unstable.snapshot.as_ref().map(|snapshot| snapshot.index)
    }

    /// The term of the entry at `index`, from `first_index() - 1` on; `None` outside of the log, or if reading fails.
    pub fn term_at(&self, index: u64) -> Option<u64> {
        self.raft.log.term(index).ok()
    }

    /// The entry at `index`; `None` outside of the log, or if reading fails.
    pub fn entry_at(&self, index: u64) -> Option<Entry> {
        let log = &self.raft.log;
        if index >= log.unstable.offset {
            return log.unstable.entries.get((index - log.unstable.offset) as usize).cloned();
        }
        let mut one = Vec::with_capacity(1);
        if index < log.first_index() {
            return None;
        }
        log.storage.entries(index, index + 1, u64::MAX, &mut one).ok()?;
        one.pop()
    }

    /// What this node, if it leads, knows about every member, in ascending order of ids.
    pub fn progress(&self) -> &[Progress] {
        &self.raft.tracker.peers
    }

    /// Who is in the group.
    pub fn configuration(&self) -> &Configuration {
        &self.raft.tracker.configuration
    }

    /// Payload of uncommitted proposals as the quota counts it, in bytes.
    pub fn uncommitted_size_bytes(&self) -> u64 {
        self.raft.uncommitted_size_bytes
    }

    /// How many reads wait for a confirmation.
    pub fn waiting_read_count(&self) -> usize {
        self.raft.reads.count()
    }

    /// After how many ticks without a leader this node campaigns.
    pub fn randomized_timeout(&self) -> u32 {
        self.raft.clock.timeout_ticks
    }

    /// How many ticks passed since this node last heard from its leader, voted or campaigned.
    pub fn election_elapsed(&self) -> u32 {
        self.raft.clock.election_elapsed
    }
}
