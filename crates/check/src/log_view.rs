//! What a Raft with a log shows of itself, and what the messages it sends promise.

use crate::chain::Linked;
use crate::membership::Membership;
use crate::view::ElectionView;
use whitewater_sim::NodeId;

/// A node's log. Indexes count from 1; index 0 is the empty prefix.
///
/// A node that keeps no hashes of prefixes answers [`LogView::term_at`] and [`LogView::chain_at`] from a
/// [`ChainLog`](crate::ChainLog) that it feeds with every entry it appends.
pub trait LogView {
    /// Index of the first entry that was not compacted away. The entry before it still has a term and a chain hash.
    fn first_index(&self) -> u64 {
        1
    }
    /// Index of the last entry that has a known hash, 0 if there is none.
    fn last_index(&self) -> u64;
    /// Index of the last entry in memory; entries behind [`LogView::last_index`] are not yet on their way to the disk, and
    /// nothing else is asked about them.
    fn memory_last_index(&self) -> u64 {
        self.last_index()
    }
    /// Whether the log it shows is the one it acts by, and no snapshot waits to take the place of that.
    fn is_whole(&self) -> bool {
        self.memory_last_index() == self.last_index()
    }
    /// Index up to which the node knows entries to be committed, at most [`LogView::memory_last_index`].
    fn commit(&self) -> u64;
    /// Index up to which the node has applied entries.
    fn applied(&self) -> u64;
    /// Term of the entry at `index`, unless it was compacted away or lies beyond the end. The term of index 0 is 0.
    fn term_at(&self, index: u64) -> Option<u64>;
    /// A hash over all entries up to `index`: equal hashes mean equal prefixes. `None` as for [`LogView::term_at`].
    fn chain_at(&self, index: u64) -> Option<u64>;
    /// Both at once.
    #[inline]
    fn linked_at(&self, index: u64) -> Option<Linked> {
        self.term_at(index).zip(self.chain_at(index)).map(|(term, chain)| Linked { term, chain })
    }
    /// The highest index such that all entries of the present log up to it would be there after a crash at this moment.
    /// Cutting the log in memory lowers it, even if the disk still holds what was cut off.
    fn durable_index(&self) -> u64;
    /// The choice in [`ElectionView::durable_term`] that a crash at this moment cannot take from the node.
    fn durable_vote(&self) -> Option<NodeId>;
    /// While the node leads: the index up to which it takes `peer`'s log to equal its own. Nothing about itself is asked.
    fn match_index(&self, peer: NodeId) -> Option<u64>;
    /// While the node leads: the index of the entry that it sends `peer` next, if it keeps one.
    fn next_index(&self, peer: NodeId) -> Option<u64> {
        let _ = peer;
        None
    }
    /// While the node leads: the last index of the snapshot that `peer` is waited for to have, if it is sent one and no
    /// entries.
    fn snapshot_awaited(&self, peer: NodeId) -> Option<u64> {
        let _ = peer;
        None
    }
    /// While the node leads: all of these three at once.
    #[inline]
    fn tracked(&self, peer: NodeId) -> Tracked {
        Tracked {
            match_index: self.match_index(peer).unwrap_or(0),
            next_index: self.next_index(peer),
            snapshot_awaited: self.snapshot_awaited(peer),
        }
    }
    /// Whether nobody is told up to where the log goes but who leads the term: some implementations tell it candidates and
    /// former leaders as well.
    #[inline]
    fn acknowledges_leaders_only(&self) -> bool {
        true
    }
    /// Whether the node applies nothing that is not on its own disk, because it goes on while its disk writes. Whoever waits
    /// for its disk may apply what others have on theirs.
    #[inline]
    fn applies_durable_only(&self) -> bool {
        false
    }
    /// Every membership of this life with the index from which it holds: first that of the start, then one for each change
    /// applied, and for each snapshot that took the place of the log. Empty if the membership never changes.
    fn memberships(&self) -> &[(u64, Membership)] {
        &[]
    }
    /// Indexes of the entries of the present log that change the membership, in order. Those that were applied may be left
    /// out.
    fn changes(&self) -> &[u64] {
        &[]
    }
    /// A hash of the state machine after [`LogView::applied`], if the node keeps one.
    fn state_hash(&self) -> Option<u64> {
        None
    }
    /// How many messages of its peers the node has refused with an error since it started.
    fn refusals(&self) -> u32 {
        0
    }
    /// The last of them.
    fn last_refusal(&self) -> Option<Refusal> {
        None
    }
}

/// What a leader knows of a peer's log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tracked {
    /// See [`LogView::match_index`]; 0 if there is none.
    pub match_index: u64,
    /// See [`LogView::next_index`].
    pub next_index: Option<u64>,
    /// See [`LogView::snapshot_awaited`].
    pub snapshot_awaited: Option<u64>,
}

/// A Raft with elections and a log.
pub trait RaftView: ElectionView + LogView {}

impl<V: ElectionView + LogView + ?Sized> RaftView for V {}

/// A message of a peer that a node refused with an error instead of handling it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Who sent it.
    pub from: NodeId,
    /// Why it was refused.
    pub why: RefusalReason,
}

/// Why a message of a peer was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalReason {
    /// A forwarded proposal or read found no leader that takes it; its sender tries again.
    ForwardedWithoutLeader,
    /// A response of a node that is no longer part of the configuration.
    ResponseOfStranger,
    /// Anything else, in the words of the node. A correct peer sends nothing that earns it.
    Error(&'static str),
}

/// What a message that leaves a node promises or claims. Messages of a node to itself do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spoken {
    /// A vote, not a pre-vote: a promise not to choose anybody else in the term.
    Grant {
        /// The candidate.
        to: NodeId,
        /// The term of the vote.
        term: u64,
    },
    /// A refused vote or pre-vote, or a refused append: the sender has reached the term.
    Refusal {
        /// The term the message carries.
        term: u64,
    },
    /// An accepted append: the sender has reached the term and will have its log up to the index after any crash.
    AppendResponse {
        /// Whom it answers.
        to: NodeId,
        /// The term the message carries.
        term: u64,
        /// The index it acknowledges.
        index: u64,
    },
    /// A leader sends entries, or none, that are to stand behind one of its own.
    Append {
        /// The follower.
        to: NodeId,
        /// The term the message carries.
        term: u64,
        /// The index of the entry before, 0 if there is none.
        index: u64,
        /// The term of the entry before.
        log_term: u64,
        /// The commit index it tells of.
        commit: u64,
        /// How many entries it carries.
        entries: u64,
    },
    /// A leader sends a snapshot.
    Snapshot {
        /// The term the message carries.
        term: u64,
        /// The index it reaches to.
        index: u64,
    },
    /// A leader tells a node to stand for election at once.
    Order {
        /// The node.
        to: NodeId,
        /// The term of the leader.
        term: u64,
    },
    /// A request for a vote, not for a pre-vote.
    Campaign {
        /// The term of the election.
        term: u64,
        /// Whether it is to be heard in spite of a leader, because the leader wants it.
        takes_over: bool,
    },
    /// Any other message.
    Other {
        /// The term the message carries, 0 if it carries none.
        term: u64,
        /// Whether it is a pre-vote request or a granted pre-vote: these carry a term that nobody has reached yet.
        is_pre_vote: bool,
    },
}

impl Spoken {
    /// The term the message carries.
    #[inline]
    pub const fn term(self) -> u64 {
        match self {
            Spoken::Grant { term, .. }
            | Spoken::Refusal { term }
            | Spoken::AppendResponse { term, .. }
            | Spoken::Append { term, .. }
            | Spoken::Snapshot { term, .. }
            | Spoken::Order { term, .. }
            | Spoken::Campaign { term, .. }
            | Spoken::Other { term, .. } => term,
        }
    }
}

/// What a step of a node was an answer to, as far as the rules care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stimulus {
    /// The node started.
    Booted,
    /// It received a message of this node.
    Delivered(NodeId),
    /// It received a message of this node, which refuses an append.
    Refused(NodeId),
    /// Anything else.
    Other,
}
