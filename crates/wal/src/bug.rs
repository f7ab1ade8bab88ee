//! Bugs that can be planted, each at the guard it removes; without the feature `mutants` there are none.

/// A mistake real stores have made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// An append says it is durable and is not synced.
    ReplyBeforeSync,
    /// After a failed sync the log syncs again, hears that all is well and goes on.
    RetryAfterFailedSync,
    /// The name of a new snapshot is not made durable.
    RenameWithoutDirectorySync,
    /// A snapshot gets its name before its data is durable.
    RenameBeforeSync,
    /// A new segment begins while the old one is not durable, so that a later append is durable first.
    SecondAppendDurableFirst,
    /// Hard state and entries of one batch are written one after the other.
    TwoWrites,
    /// The old snapshot is removed before the new one is in force.
    OldSnapshotRemovedEarly,
    /// A snapshot from a peer comes into force, and the log before it is given up in another write.
    SnapshotWithoutRestore,
    /// Entries that are overwritten stay in memory.
    CacheNotTruncated,
    /// In recovery an entry that replaces another takes its place alone: those behind it come back.
    TailComesBack,
    /// Recovery does not ask whether a frame follows the one before it.
    ChainIgnored,
    /// Recovery does not compare checksums.
    ChecksumIgnored,
}

impl Bug {
    /// All of them.
    pub const ALL: [Bug; 12] = [
        Bug::ReplyBeforeSync,
        Bug::RetryAfterFailedSync,
        Bug::RenameWithoutDirectorySync,
        Bug::RenameBeforeSync,
        Bug::SecondAppendDurableFirst,
        Bug::TwoWrites,
        Bug::OldSnapshotRemovedEarly,
        Bug::SnapshotWithoutRestore,
        Bug::CacheNotTruncated,
        Bug::TailComesBack,
        Bug::ChainIgnored,
        Bug::ChecksumIgnored,
    ];
}
