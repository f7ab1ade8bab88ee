//! What the core reads from stable storage, and how storage may fail it.

use crate::entry::Entry;
use crate::error::StorageError;
use crate::identity::NodeId;
use crate::state::{ConfState, HardState, Snapshot};

/// The durable log, as the core reads it. Only the owner writes.
///
/// Every read may fail at any moment; in particular the log may be compacted between any two reads. See
/// [`StorageError`] for what the core makes of it.
///
/// The log of a storage reaches from the entry after its last snapshot or compaction to the last entry that was
/// written. The term at `first_index() - 1` stays known, because appends are matched against it.
///
/// # The contract
///
/// What was made durable stays until a [`Ready`](crate::Ready) overwrites it, and the answers come from one log. A
/// storage that breaks this makes the core panic rather than lose committed entries; the places are listed in the
/// [crate guide](crate).
pub trait Storage {
    /// The hard state and the membership with which the node starts; both empty for a node without history.
    ///
    /// # Errors
    ///
    /// Any error prevents the node from starting.
    fn initial_state(&self) -> Result<(HardState, ConfState), StorageError>;

    /// Appends the entries `[low, high)` to `into`, or as many as fit into `size_max_bytes`, but at least one.
    ///
    /// # Errors
    ///
    /// [`StorageError::Compacted`] if `low` is not above the compacted part, [`StorageError::Unavailable`] if `high` is
    /// beyond the end. On an error `into` must be as it was.
    fn entries(
        &self,
        low: u64,
        high: u64,
        size_max_bytes: u64,
        into: &mut Vec<Entry>,
    ) -> Result<(), StorageError>;

    /// The term of the entry at `index`, from `first_index() - 1` to `last_index()`.
    ///
    /// # Errors
    ///
    /// [`StorageError::Compacted`] below this range, [`StorageError::Unavailable`] above it.
    fn term(&self, index: u64) -> Result<u64, StorageError>;

    /// The index of the first entry that was not compacted; one more than `last_index()` in an empty log.
    ///
    /// # Errors
    ///
    /// Whatever the storage meets; the core goes on with the last answer it got.
    fn first_index(&self) -> Result<u64, StorageError>;

    /// The index of the last entry. Read once, when the node starts.
    ///
    /// # Errors
    ///
    /// Any error prevents the node from starting.
    fn last_index(&self) -> Result<u64, StorageError>;

    /// The most recent snapshot, for the follower `to`.
    ///
    /// It has to be at least as recent as the configuration change that made `to` a member: a node ignores a snapshot whose
    /// membership does not name it, and the leader goes on waiting for it to be installed.
    ///
    /// `request_index` is 0, or the smallest index the follower asked for, see
    /// [`Config::follower_snapshots`](crate::Config::follower_snapshots).
    ///
    /// # Errors
    ///
    /// [`StorageError::SnapshotTemporarilyUnavailable`] while one is being made: the core asks again at the next occasion,
    /// as it does after any other error.
    fn snapshot(&self, request_index: u64, to: NodeId) -> Result<Snapshot, StorageError>;
}
