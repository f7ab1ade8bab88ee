//! What may go wrong with a log, and what its owner can do about it.

use whitewater_sim::DiskError;

/// Why a log refuses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WalError {
    /// Something that was durable is not what was written. The owner must not take part in decisions until peers have
    /// given it its data back, see [`crate::Wal::quarantine`].
    #[error("{file} is damaged at byte {offset}: {what}")]
    Damaged {
        /// Name of the file.
        file: String,
        /// Where in the file, in bytes.
        offset: u64,
        /// What is wrong there.
        what: &'static str,
    },
    /// A storage call failed and changed nothing; the log is as it was, and the call may be tried again.
    #[error("{call} {file}: {error}")]
    Disk {
        /// Which call.
        call: &'static str,
        /// Name of the file.
        file: String,
        /// What the disk said.
        error: DiskError,
    },
    /// A sync failed: what was written since the last one may be gone whatever the next sync says. The log takes
    /// nothing more; start again from the disk, see [`crate::Wal::reopen`].
    #[error("a sync of {file} failed: nothing written since the sync before it may be relied on")]
    SyncFailed {
        /// Name of the file.
        file: String,
    },
    /// A sync failed earlier.
    #[error("a sync failed earlier: restart from the disk")]
    Poisoned,
    /// Entries do not follow each other or what is in the log.
    #[error("entry {found} where {expected} should follow")]
    Gap {
        /// Highest index that would have been right.
        expected: u64,
        /// The one that came.
        found: u64,
    },
    /// A snapshot from a peer is being stored, or what was recovered is being synced; until a ticket has come back
    /// nothing can be appended.
    #[error("the log waits for a ticket")]
    Busy,
    /// The snapshot is not newer than the one in force.
    #[error("a snapshot at {found} comes after one at {in_force}")]
    NotNewer {
        /// Index of the one in force.
        in_force: u64,
        /// Index of the one given.
        found: u64,
    },
    /// Entries that no durable snapshot covers cannot be given up.
    #[error("entries up to {asked} cannot be given up: a durable snapshot covers {covered}")]
    NotCovered {
        /// Index asked for.
        asked: u64,
        /// Index of the last durable snapshot, 0 if there is none.
        covered: u64,
    },
}

impl WalError {
    /// Whether there was no room; reading goes on, and writing will when there is.
    pub fn is_full(&self) -> bool {
        matches!(self, WalError::Disk { error: DiskError::Full, .. })
    }
}
