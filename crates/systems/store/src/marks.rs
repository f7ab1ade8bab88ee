//! Situations worth meeting: campaigns count the runs that met them and say which were never met.

/// Names every mark once, as a constant and in a list.
macro_rules! marks {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        $($(#[$doc])* pub(crate) const $name: &str = $text;)*
        /// Every mark a node can set.
        pub(crate) const ALL: &[&str] = &[$($text),*];
    };
}

marks! {
    /// A message came in while something was being written.
    STEPPED_WHILE_WRITING = "stepped-while-writing",
    /// A client's entry stood where another leader's was committed.
    PROPOSAL_OVERWRITTEN = "proposal-overwritten",
    /// A request was proposed again at the same server, where its entry was in the log.
    REQUEST_REPEATED = "request-repeated-at-its-server",
    /// A snapshot was sent to a peer.
    SNAPSHOT_SENT = "snapshot-sent",
    /// A snapshot of a peer took the place of the log.
    SNAPSHOT_INSTALLED = "snapshot-installed",
    /// A snapshot did not arrive, as far as its sender knows.
    SNAPSHOT_LOST = "snapshot-lost",
    /// A server was started from a snapshot.
    STARTED_FROM_SNAPSHOT = "started-from-snapshot",
    /// The log was busy with a snapshot or the disk took nothing, and the write is tried again.
    WRITE_TRIED_AGAIN = "write-tried-again",
    /// A read had its index before that was applied.
    READ_WAITED = "read-waited-for-its-index",
    /// A server that does not lead was asked for a read.
    READ_AT_FOLLOWER = "read-at-follower",
    /// A request was passed on to the leader.
    FORWARDED = "request-forwarded",
    /// A leader was asked to hand over its leadership.
    TRANSFER_BEGUN = "transfer-begun",
    /// A server asked its leader for a snapshot although its log is whole.
    SNAPSHOT_REQUESTED = "snapshot-requested",
    /// A member was added, removed, or became a learner, in one step.
    MEMBER_CHANGED = "member-changed",
    /// Several members change at once.
    JOINT_ENTERED = "joint-membership-entered",
    /// They have changed.
    JOINT_LEFT = "joint-membership-left",
    /// A process died of its disk.
    PROCESS_DIED = "process-died-of-its-disk",
    /// And was started again.
    STARTED_AGAIN = "process-started-again",
    /// A change of the membership was put into the log.
    CHANGE_BEGUN = "membership-change-begun",
    /// A peer was reported to be out of reach.
    UNREACHABLE = "peer-reported-unreachable",
    /// A client had too much to do and refused an operation.
    CLIENT_BUSY = "client-too-busy",
}
