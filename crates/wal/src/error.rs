//! What may go wrong with a log, and what its owner can do about it.

use std::fmt;
use whitewater_sim::DiskError;

/// Why a log refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WalError {
    /// Something that was durable is not what was written. The owner must not take part in decisions until peers have
    /// given it its data back, see [`crate::Wal::quarantine`].
    Damaged {
        /// Name of the file.
        file: String,
        /// Where in the file, in bytes.
        offset: u64,
        /// What is wrong there.
        what: &'static str,
    },
    /// A storage call failed and changed nothing; the log is as it was, and the call may be tried again.
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
    SyncFailed {
        /// Name of the file.
        file: String,
    },
    /// A sync failed earlier.
    Poisoned,
    /// Entries do not follow each other or what is in the log.
    Gap {
        /// Highest index that would have been right.
        expected: u64,
        /// The one that came.
        found: u64,
    },
    /// A snapshot from a peer is being stored, or what was recovered is being synced; until a ticket has come back
    /// nothing can be appended.
    Busy,
    /// The snapshot is not newer than the one in force.
    NotNewer {
        /// Index of the one in force.
        in_force: u64,
        /// Index of the one given.
        found: u64,
    },
    /// Entries that no durable snapshot covers cannot be given up.
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

impl fmt::Display for WalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WalError::Damaged { file, offset, what } => {
                write!(f, "{file} is damaged at byte {offset}: {what}")
            }
            WalError::Disk { call, file, error } => write!(f, "{call} {file}: {error}"),
            WalError::SyncFailed { file } => {
                write!(
                    f,
                    "a sync of {file} failed: nothing written since the sync before it may be relied on"
                )
            }
            WalError::Poisoned => f.write_str("a sync failed earlier: start again from the disk"),
            WalError::Gap { expected, found } => write!(f, "entry {found} where {expected} should follow"),
            WalError::Busy => f.write_str("the log waits for a ticket"),
            WalError::NotNewer { in_force, found } => {
                write!(f, "a snapshot at {found} comes after one at {in_force}")
            }
            WalError::NotCovered { asked, covered } => {
                write!(f, "entries up to {asked} cannot be given up: a durable snapshot covers {covered}")
            }
        }
    }
}

impl std::error::Error for WalError {}
