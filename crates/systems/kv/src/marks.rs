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
    /// A leader's append was lost at the leader because there was no session with the follower.
    APPEND_WITHOUT_SESSION = "append-without-session",
    /// A peer answered that the session a message came in is gone.
    SESSION_BROKEN = "session-broken-by-restart",
    /// A process died of a failed sync and was started again.
    STARTED_AGAIN = "started-again-after-failed-sync",
    /// Entries that were durable were cut off for those of another leader.
    DURABLE_CUT = "durable-entries-overwritten",
    /// A message came in while the last Ready was being written.
    STEPPED_WHILE_WRITING = "stepped-while-writing",
    /// A client's entry stood where another leader's was committed.
    PROPOSAL_OVERWRITTEN = "proposal-overwritten",
    /// A client's request was applied after the client had gone on to the next one.
    REQUEST_GIVEN_UP = "request-given-up-before-applied",
    /// A request was proposed again at the same server, where its entry was in the log.
    REQUEST_REPEATED = "request-repeated-at-its-server",
    /// A snapshot was sent to a peer.
    SNAPSHOT_SENT = "snapshot-sent",
    /// A snapshot of a peer took the place of the log.
    SNAPSHOT_INSTALLED = "snapshot-installed",
    /// A snapshot did not arrive, as far as its sender knows.
    SNAPSHOT_LOST = "snapshot-lost",
    /// Entries were given up that a peer has not acknowledged.
    COMPACTED_UNDER_PEER = "compacted-what-a-peer-lacks",
    /// The log was compacted between two reads of one step, and the second one missed what the first one had found.
    COMPACTED_BETWEEN_READS = "compacted-between-two-reads",
    /// A server was started from a snapshot.
    STARTED_FROM_SNAPSHOT = "started-from-snapshot",
    /// The disk refused a write, which is tried again.
    WRITE_REFUSED = "write-refused-by-disk",
    /// A server whose disk took nothing did what needs no disk.
    WENT_ON_WITHOUT_DISK = "went-on-without-disk",
    /// A server found damaged what was durable.
    DAMAGED = "log-found-damaged",
    /// A server whose log was damaged has it back from its peers.
    REPAIRED = "log-repaired-by-peers",
    /// A follower passed a read on to its leader.
    READ_PASSED_ON = "read-passed-on",
    /// A follower passed a proposal on to its leader.
    PROPOSAL_PASSED_ON = "proposal-passed-on",
    /// A read had its index before that was applied.
    READ_WAITED = "read-waited-for-its-index",
    /// A leader was asked to hand over its leadership.
    TRANSFER_BEGUN = "transfer-begun",
    /// A leader told another server to take over.
    TAKEOVER_ORDERED = "takeover-ordered",
    /// A joint membership was entered that is left without being asked.
    JOINT_ENTERED = "joint-entered",
    /// A joint membership was entered that stays until it is left on demand.
    JOINT_ENTERED_EXPLICITLY = "joint-entered-explicitly",
    /// A joint membership was left.
    JOINT_LEFT = "joint-left",
    /// A server that was no member became a learner.
    LEARNER_ADDED = "learner-added",
    /// A learner became a voter.
    LEARNER_PROMOTED = "learner-promoted",
    /// A server that was no member became a voter at once.
    VOTER_ADDED = "voter-added",
    /// A voter became a learner, or is to when the joint membership is left.
    VOTER_DEMOTED = "voter-demoted",
    /// A member was removed.
    MEMBER_REMOVED = "member-removed",
    /// A server that was removed became a member again.
    ADDED_AGAIN = "member-added-again",
    /// A leader applied that it is no member any more.
    LEADER_REMOVED_ITSELF = "leader-removed-itself",
    /// A client was told that the membership is what it had asked for.
    CHANGE_ANSWERED = "change-answered",
    /// A change was asked for while another one was under way, or it did not fit a joint membership or a simple one.
    CHANGE_NOT_NOW = "change-proposed-out-of-turn",
    /// A learner that was to become a voter had not caught up, or was none.
    PROMOTION_TOO_EARLY = "promotion-too-early",
    /// Committed entries were not applied, as a snapshot that has them came in before.
    OVERTAKEN_BY_SNAPSHOT = "apply-overtaken-by-snapshot",
    /// Several committed entries waited for the apply thread.
    APPLY_BEHIND = "apply-behind",
    /// The append thread was given work while it had some.
    APPENDS_QUEUED = "appends-queued",
    /// A snapshot went out in pieces.
    SNAPSHOT_IN_PIECES = "snapshot-in-pieces",
    /// Nothing was heard of a piece of a snapshot, and it was sent again.
    PIECE_LOST = "snapshot-piece-lost",
    /// A snapshot in pieces was given up.
    STREAM_GIVEN_UP = "snapshot-stream-given-up",
    /// The receiver of a snapshot in pieces was restarted.
    STREAM_BROKEN = "snapshot-stream-broken-by-restart",
    /// A snapshot was made because the last one does not have a member in it that needs one.
    SNAPSHOT_FOR_NEWCOMER = "snapshot-made-for-newcomer",
    /// A server that does not lead was asked for a read.
    READ_AT_FOLLOWER = "read-at-follower",
    /// A message for another server came in.
    NOT_FOR_ME = "message-for-another-server",
    /// A client had too much to do and refused an operation.
    CLIENT_BUSY = "client-too-busy",
}
