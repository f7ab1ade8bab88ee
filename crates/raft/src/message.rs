//! Messages between nodes, and between a node and its storage threads.

use crate::entry::{Entries, EntryId};
use crate::identity::{APPEND_THREAD, APPLY_THREAD, NONE, NodeId};
use crate::state::Snapshot;
use std::rc::Rc;

/// What a message is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum MessageKind {
    /// Entries to be appended by the leader; carries no term, so that it survives being forwarded.
    #[default]
    Propose,
    /// Entries of the leader for a follower (Raft paper, section 5.3).
    Append,
    /// Whether a follower took the entries.
    AppendResponse,
    /// A candidate asks for a vote (Raft paper, section 5.2).
    Vote,
    /// The answer to [`MessageKind::Vote`].
    VoteResponse,
    /// A snapshot for a follower whose entries were compacted away (Raft paper, section 7).
    Snapshot,
    /// The leader shows that it is alive.
    Heartbeat,
    /// Every heartbeat is answered.
    HeartbeatResponse,
    /// Hand the leadership to the node in `from`.
    TransferLeader,
    /// The receiver is to campaign at once (Raft thesis, section 3.10).
    TimeoutNow,
    /// A linearizable read is asked for; carries no term (Raft thesis, section 6.4).
    ReadIndex,
    /// The index at which the read may be served.
    ReadIndexResponse,
    /// Would the receiver vote for me? (Raft thesis, section 9.6)
    PreVote,
    /// The answer to [`MessageKind::PreVote`].
    PreVoteResponse,
    /// Work for the append thread: make entries, hard state and snapshot durable, then deliver `responses`.
    StorageAppend,
    /// The append thread is done.
    StorageAppendResponse,
    /// Work for the apply thread: apply entries, then deliver `responses`.
    StorageApply,
    /// The apply thread is done.
    StorageApplyResponse,
}

impl MessageKind {
    /// Every kind, in the order of declaration.
    pub const ALL: [MessageKind; 18] = [
        MessageKind::Propose,
        MessageKind::Append,
        MessageKind::AppendResponse,
        MessageKind::Vote,
        MessageKind::VoteResponse,
        MessageKind::Snapshot,
        MessageKind::Heartbeat,
        MessageKind::HeartbeatResponse,
        MessageKind::TransferLeader,
        MessageKind::TimeoutNow,
        MessageKind::ReadIndex,
        MessageKind::ReadIndexResponse,
        MessageKind::PreVote,
        MessageKind::PreVoteResponse,
        MessageKind::StorageAppend,
        MessageKind::StorageAppendResponse,
        MessageKind::StorageApply,
        MessageKind::StorageApplyResponse,
    ];

    /// The name by which etcd prints this kind.
    pub fn name(self) -> &'static str {
        match self {
            MessageKind::Propose => "MsgProp",
            MessageKind::Append => "MsgApp",
            MessageKind::AppendResponse => "MsgAppResp",
            MessageKind::Vote => "MsgVote",
            MessageKind::VoteResponse => "MsgVoteResp",
            MessageKind::Snapshot => "MsgSnap",
            MessageKind::Heartbeat => "MsgHeartbeat",
            MessageKind::HeartbeatResponse => "MsgHeartbeatResp",
            MessageKind::TransferLeader => "MsgTransferLeader",
            MessageKind::TimeoutNow => "MsgTimeoutNow",
            MessageKind::ReadIndex => "MsgReadIndex",
            MessageKind::ReadIndexResponse => "MsgReadIndexResp",
            MessageKind::PreVote => "MsgPreVote",
            MessageKind::PreVoteResponse => "MsgPreVoteResp",
            MessageKind::StorageAppend => "MsgStorageAppend",
            MessageKind::StorageAppendResponse => "MsgStorageAppendResp",
            MessageKind::StorageApply => "MsgStorageApply",
            MessageKind::StorageApplyResponse => "MsgStorageApplyResp",
        }
    }

    /// Whether the message answers another one, and so makes no sense from a stranger.
    #[inline]
    pub fn is_response(self) -> bool {
        matches!(
            self,
            MessageKind::AppendResponse
                | MessageKind::VoteResponse
                | MessageKind::HeartbeatResponse
                | MessageKind::ReadIndexResponse
                | MessageKind::PreVoteResponse
                | MessageKind::StorageAppendResponse
                | MessageKind::StorageApplyResponse
        )
    }

    /// Whether the message passes only between a node and its own storage threads.
    #[inline]
    pub fn is_local(self) -> bool {
        matches!(
            self,
            MessageKind::StorageAppend
                | MessageKind::StorageAppendResponse
                | MessageKind::StorageApply
                | MessageKind::StorageApplyResponse
        )
    }

    /// Whether the message belongs to an election or a pre-election.
    #[inline]
    pub fn is_vote(self) -> bool {
        matches!(
            self,
            MessageKind::Vote
                | MessageKind::VoteResponse
                | MessageKind::PreVote
                | MessageKind::PreVoteResponse
        )
    }

    /// Whether a sender may only let the message out once what it promises is durable.
    #[inline]
    pub(crate) fn is_promise(self) -> bool {
        matches!(self, MessageKind::AppendResponse | MessageKind::VoteResponse | MessageKind::PreVoteResponse)
    }

    /// Whether only the leader of the message's term sends it.
    #[inline]
    pub const fn is_from_leader(self) -> bool {
        matches!(self, MessageKind::Append | MessageKind::Heartbeat | MessageKind::Snapshot)
    }
}

/// One message: a small head, entries, and a box for what few messages carry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// What the message is about.
    pub kind: MessageKind,
    /// Responses only: the request was refused.
    pub reject: bool,
    /// Vote requests only: sent for a transfer of leadership, and so to be heard in spite of a leader's lease.
    pub transfer: bool,
    /// The sender.
    pub from: NodeId,
    /// The receiver.
    pub to: NodeId,
    /// The sender's term; in a pre-vote the term it would campaign in; 0 in what is not bound to a term.
    pub term: u64,
    /// The term of the entry at `index`; in a rejection the term at `reject_hint`, or 0 if unknown.
    pub log_term: u64,
    /// The position the message is about: the entry before `entries`, the last entry of a candidate, the
    /// acknowledged or rejected position, the index of a read.
    pub index: u64,
    /// The sender's commit index, as far as the receiver may use it.
    pub commit: u64,
    /// Rejections of appends only: where the logs may agree.
    pub reject_hint: u64,
    /// Heartbeats and their responses: the sequence number of the last read this round confirms. Vote requests:
    /// the candidate's priority. Rejections of appends: the index from which a snapshot is asked for.
    pub context: u64,
    /// Entries to append, to apply, or the one that names a read.
    pub entries: Entries,
    /// What only snapshots and storage work carry.
    pub extra: Option<Box<Extra>>,
}

/// The rare parts of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extra {
    /// The vote to be stored, in storage work.
    pub vote: NodeId,
    /// The snapshot to install.
    pub snapshot: Option<Rc<Snapshot>>,
    /// What to deliver once the storage work is done, in this order.
    pub responses: Vec<Message>,
}

impl Message {
    /// A message with everything but kind and addresses empty.
    pub fn new(kind: MessageKind, from: NodeId, to: NodeId) -> Message {
        Message { kind, from, to, ..Message::default() }
    }

    /// The snapshot this message carries.
    pub fn snapshot(&self) -> Option<&Rc<Snapshot>> {
        self.extra.as_ref().and_then(|extra| extra.snapshot.as_ref())
    }

    /// The vote this storage work stores, or [`NONE`].
    pub fn vote(&self) -> NodeId {
        self.extra.as_ref().map_or(NONE, |extra| extra.vote)
    }

    /// What to deliver once this storage work is done.
    pub fn responses(&self) -> &[Message] {
        self.extra.as_ref().map_or(&[], |extra| &extra.responses)
    }

    /// Takes out what to deliver once this storage work is done.
    pub fn take_responses(&mut self) -> Vec<Message> {
        self.extra.as_mut().map(|extra| std::mem::take(&mut extra.responses)).unwrap_or_default()
    }

    /// Term and index in one.
    #[inline]
    pub fn log_id(&self) -> EntryId {
        EntryId { term: self.log_term, index: self.index }
    }

    /// Whether the network has no part in this message: it goes to the sender itself or a storage thread.
    pub fn stays_at_home(&self) -> bool {
        self.from == self.to
            || [self.from, self.to].iter().any(|&end| end == APPEND_THREAD || end == APPLY_THREAD)
    }
}
