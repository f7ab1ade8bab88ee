//! The small states a node shows and stores: role, hard state, soft state, snapshots, reads.

use crate::entry::{EntryId, Payload};
use crate::identity::NodeId;

/// What a node currently is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Follows a leader, or waits for one.
    #[default]
    Follower,
    /// Asks whether it could win an election, without raising its term (Raft thesis, section 9.6).
    PreCandidate,
    /// Stands for election (Raft paper, section 5.2).
    Candidate,
    /// Leads its term.
    Leader,
}

/// What must survive a crash, beside the log (Raft paper, figure 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HardState {
    /// The latest term this node has seen.
    pub term: u64,
    /// The candidate that got this node's vote in `term`, or [`NONE`](crate::NONE).
    pub vote: NodeId,
    /// The largest index known to be committed; may be stale after a crash, never wrong.
    pub commit: u64,
}

impl HardState {
    /// Whether this says nothing at all.
    pub fn is_empty(&self) -> bool {
        *self == HardState::default()
    }
}

/// What may be forgotten in a crash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SoftState {
    /// The leader this node follows, or [`NONE`](crate::NONE).
    pub leader: NodeId,
    /// The role of this node.
    pub role: Role,
}

/// The membership at one log position, as it is stored in snapshots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfState {
    /// Who votes; in a joint configuration, who votes afterwards.
    pub voters: Vec<NodeId>,
    /// Who receives the log without a vote.
    pub learners: Vec<NodeId>,
    /// Who voted before; empty unless the configuration is joint.
    pub voters_outgoing: Vec<NodeId>,
    /// Outgoing voters that become learners when the joint configuration is left.
    pub learners_next: Vec<NodeId>,
    /// Whether the leader leaves the joint configuration on its own.
    pub auto_leave: bool,
}

impl ConfState {
    /// The same membership with every list in ascending order: equal memberships become equal values.
    pub fn normalized(mut self) -> ConfState {
        self.voters.sort_unstable();
        self.learners.sort_unstable();
        self.voters_outgoing.sort_unstable();
        self.learners_next.sort_unstable();
        self
    }

    /// Whether a node has a part in this membership.
    pub fn contains(&self, id: NodeId) -> bool {
        // `learners_next` is a subset of `voters_outgoing`.
        self.voters.contains(&id) || self.learners.contains(&id) || self.voters_outgoing.contains(&id)
    }
}

/// The state of the application at one log position, with the membership at that position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// The last index the snapshot covers; 0 in an empty snapshot.
    pub index: u64,
    /// The term of the entry at `index`.
    pub term: u64,
    /// The membership at `index`.
    pub conf_state: ConfState,
    /// The state of the application.
    pub data: Payload,
}

impl Snapshot {
    /// Whether this is the absence of a snapshot.
    pub fn is_empty(&self) -> bool {
        self.index == 0
    }

    /// The log position the snapshot ends at.
    pub fn id(&self) -> EntryId {
        EntryId { term: self.term, index: self.index }
    }
}

/// A read that may be served once the application has applied `index`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadState {
    /// The commit index at the time the read was accepted.
    pub index: u64,
    /// What the caller of [`RawNode::read_index`](crate::RawNode::read_index) gave to recognise the read.
    pub context: Payload,
}
