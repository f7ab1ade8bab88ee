//! What can go wrong that a caller can meet; broken structure panics instead.

use crate::identity::NodeId;
use std::fmt;

/// Why [`RawNode::step`](crate::RawNode::step) or a method of the node refused its input.
///
/// A refused message changes nothing beyond the term and the role the message itself entitles to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StepError {
    /// The proposal was not taken and the caller may try again: no leader is known, forwarding is off,
    /// the leader has left its configuration, hands over its leadership, or has too much uncommitted.
    ProposalDropped,
    /// A response from a node that is not part of the configuration.
    PeerNotFound,
    /// A message of a kind, or from a sender, that only this node itself may produce.
    LocalMessage,
    /// A message without a sender.
    MissingSender,
    /// A term or an index larger than [`POSITION_MAX`](crate::POSITION_MAX).
    PositionTooLarge,
    /// A proposal without entries.
    EmptyProposal,
    /// A proposed configuration change that cannot be decoded.
    MalformedConfChange,
    /// A read request or response that does not carry exactly one entry.
    MalformedRead,
    /// An append whose entries have gaps, fall in term, or come from a term above the message's.
    MalformedAppend,
    /// A snapshot from a term above the message's, or whose configuration contradicts itself.
    MalformedSnapshot,
    /// An append that contradicts what this node knows to be committed.
    ConflictsWithCommitted {
        /// The first index at which the two logs differ.
        index: u64,
        /// The commit index of this node.
        committed: u64,
    },
    /// A commit index beyond the end of the log: the log lost entries that were acknowledged.
    CommitBeyondLog {
        /// The commit index in the message.
        commit: u64,
        /// The last index of this node's log.
        last_index: u64,
    },
    /// An acknowledgement for entries that this leader never had.
    AckBeyondLog {
        /// The acknowledged index.
        index: u64,
        /// The last index of this node's log.
        last_index: u64,
    },
    /// The report of a storage thread that something was applied which is not committed.
    AppliedBeyondCommit {
        /// The index that is reported to be applied.
        applied: u64,
        /// The commit index of this node.
        committed: u64,
    },
    /// Forgetting the leader is refused under lease reads, where it would make a lease a lie.
    LeaseReads,
    /// A snapshot was asked for that cannot be: the option is off, there is no leader to ask, this node
    /// leads itself, or one is under way.
    SnapshotRequestDropped,
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StepError::ProposalDropped => write!(f, "raft proposal dropped"),
            StepError::PeerNotFound => write!(f, "raft: cannot step as peer not found"),
            StepError::LocalMessage => write!(f, "raft: cannot step raft local message"),
            StepError::MissingSender => write!(f, "raft: message lacks a sender"),
            StepError::PositionTooLarge => write!(f, "raft: term or index is too large"),
            StepError::EmptyProposal => write!(f, "raft: proposal has no entries"),
            StepError::MalformedConfChange => write!(f, "raft: configuration change cannot be decoded"),
            StepError::MalformedRead => write!(f, "raft: read must carry exactly one entry"),
            StepError::MalformedAppend => write!(f, "raft: entries of an append do not follow each other"),
            StepError::MalformedSnapshot => write!(f, "raft: snapshot contradicts itself"),
            StepError::ConflictsWithCommitted { index, committed } => {
                write!(f, "raft: entry {index} conflicts with committed entry (committed {committed})")
            }
            StepError::CommitBeyondLog { commit, last_index } => {
                write!(f, "raft: commit {commit} is beyond the log (last index {last_index})")
            }
            StepError::AckBeyondLog { index, last_index } => {
                write!(f, "raft: acknowledged {index} is beyond the log (last index {last_index})")
            }
            StepError::AppliedBeyondCommit { applied, committed } => {
                write!(f, "raft: applied {applied} is beyond the commit index {committed}")
            }
            StepError::LeaseReads => write!(f, "raft: cannot forget the leader under lease reads"),
            StepError::SnapshotRequestDropped => write!(f, "raft: snapshot request dropped"),
        }
    }
}

impl std::error::Error for StepError {}

/// Why a [`Storage`](crate::Storage) could not answer.
///
/// The core copes with any of them at any moment: `Compacted` leads to a snapshot, everything else means
/// "not now" and is tried again at the next occasion.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StorageError {
    /// The position was compacted away, possibly a moment ago.
    Compacted,
    /// The position is beyond the end of the log.
    Unavailable,
    /// A snapshot is being made and not ready yet.
    SnapshotTemporarilyUnavailable,
    /// The snapshot offered is not newer than the one in place.
    SnapshotOutOfDate,
    /// Anything else: a failed read, a broken disk.
    Other(&'static str),
}

impl fmt::Display for StorageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StorageError::Compacted => write!(f, "requested index is unavailable due to compaction"),
            StorageError::Unavailable => write!(f, "requested entry at index is unavailable"),
            StorageError::SnapshotTemporarilyUnavailable => write!(f, "snapshot is temporarily unavailable"),
            StorageError::SnapshotOutOfDate => {
                write!(f, "requested index is older than the existing snapshot")
            }
            StorageError::Other(reason) => write!(f, "storage: {reason}"),
        }
    }
}

impl std::error::Error for StorageError {}

/// Why a node could not be created.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// A field of [`Config`](crate::Config) breaks a rule.
    Field {
        /// The name of the field.
        field: &'static str,
        /// What must hold for it, and how to mend it.
        mend: &'static str,
    },
    /// The storage could not say how the node left off.
    Storage(StorageError),
    /// The commit index that was stored lies outside of the log that was stored.
    CommitOutOfRange {
        /// The stored commit index.
        commit: u64,
        /// The smallest commit index this log allows.
        low: u64,
        /// The last index of the log.
        high: u64,
    },
    /// The applied index lies outside of what is committed.
    AppliedOutOfRange {
        /// The applied index in the configuration.
        applied: u64,
        /// The smallest applied index this log allows.
        low: u64,
        /// The commit index.
        high: u64,
    },
    /// The stored membership contradicts itself.
    Membership(ConfChangeError),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::Field { field, mend } => write!(f, "config: {field}: {mend}"),
            ConfigError::Storage(error) => write!(f, "config: storage: {error}"),
            ConfigError::CommitOutOfRange { commit, low, high } => {
                write!(f, "config: stored commit {commit} is outside of the log [{low}, {high}]")
            }
            ConfigError::AppliedOutOfRange { applied, low, high } => {
                write!(
                    f,
                    "config: applied: {applied} is outside of [{low}, {high}]; give what the application holds"
                )
            }
            ConfigError::Membership(error) => write!(f, "config: stored membership: {error}"),
        }
    }
}

impl std::error::Error for ConfigError {}

impl From<StorageError> for ConfigError {
    fn from(error: StorageError) -> ConfigError {
        ConfigError::Storage(error)
    }
}

/// Why a configuration change cannot be applied to the configuration in place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfChangeError {
    /// No voter would be left.
    RemovedAllVoters,
    /// A simple change may add or remove one voter.
    MoreThanOneVoter,
    /// A simple change while a joint configuration is in place.
    SimpleInJoint,
    /// A joint change while a joint configuration is in place.
    AlreadyJoint,
    /// A joint configuration needs voters to start from.
    ZeroVoterJoint,
    /// There is no joint configuration to leave.
    NotJoint,
    /// A configuration names a node twice, or one that cannot be.
    Contradiction(NodeId),
}

impl fmt::Display for ConfChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfChangeError::RemovedAllVoters => write!(f, "removed all voters"),
            ConfChangeError::MoreThanOneVoter => {
                write!(f, "more than one voter changed without entering joint config")
            }
            ConfChangeError::SimpleInJoint => write!(f, "can't apply simple config change in joint config"),
            ConfChangeError::AlreadyJoint => write!(f, "config is already joint"),
            ConfChangeError::ZeroVoterJoint => write!(f, "can't make a zero-voter config joint"),
            ConfChangeError::NotJoint => write!(f, "can't leave a non-joint config"),
            ConfChangeError::Contradiction(id) => write!(f, "node {id} contradicts the configuration"),
        }
    }
}

impl std::error::Error for ConfChangeError {}
