//! Interesting situations a node can meet; campaigns count the runs that met them.
//!
//! Some are for one value of `relay-not-ready` only: a broadcast is lost with `drop`; with `latch` one is sent stale, at
//! teardown or with a younger vector clock, and two are on the way; with `mailbox` one waits for another. With `mailbox`
//! a cursor never starts again from nothing.

macro_rules! marks {
    ($($(#[$about:meta])* $constant:ident = $name:literal,)*) => {
        $($(#[$about])* pub const $constant: &str = $name;)*
        /// All of them.
        pub const MARKS: &[&str] = &[$($name),*];
    };
}

marks! {
    /// A node won an election.
    ELECTED = "elected",
    /// A leader was replaced by a higher term.
    DEPOSED = "deposed",
    /// A vote was refused because the candidate lacks rows.
    VOTE_REFUSED = "vote-refused-for-missing-rows",
    /// A candidate met a competing one in its term.
    COMPETING = "competing-candidates",
    /// A node heard that its leader leads no more, in the same term.
    RESIGNED = "leader-resigned",
    /// A message of an outdated term came.
    OUTDATED = "outdated-term",
    /// Term or vote changed while a write was in progress.
    CHANGED_DURING_WRITE = "election-state-changed-during-write",
    /// A heartbeat came while a write was in progress.
    HEARTBEAT_DURING_WRITE = "heartbeat-during-write",
    /// A broadcast was thrown away because the relay was not ready.
    BROADCAST_LOST = "broadcast-lost-before-relay-ready",
    /// A broadcast waited because the relay was not ready.
    BROADCAST_KEPT = "broadcast-kept-before-relay-ready",
    /// A broadcast that had waited went out when the relay was ready.
    BROADCAST_DELIVERED = "kept-broadcast-sent",
    /// A kept broadcast that is not the present state went out.
    BROADCAST_STALE = "stale-broadcast-sent",
    /// A kept broadcast went out when a connection was torn down.
    BROADCAST_AT_TEARDOWN = "broadcast-sent-at-teardown",
    /// A kept broadcast went out with a vector clock younger than itself.
    BROADCAST_LIVE_VCLOCK = "broadcast-with-a-younger-vclock",
    /// Two broadcasts were on their way to one relay.
    TWO_ON_THE_WAY = "two-broadcasts-on-the-way",
    /// A broadcast waited behind one that was on its way.
    ONE_WAITS = "broadcast-waits-for-another",
    /// A relay started its cursor again for a new leader.
    CURSOR_RESTART = "cursor-restarted",
    /// A relay started its cursor again from before what its subscriber had when it subscribed.
    CURSOR_RESTART_BLIND = "cursor-restarted-from-nothing",
    /// An applier refused rows of a node that is not its leader.
    ROWS_REJECTED = "rows-rejected",
    /// An applier got rows that it had.
    ROWS_REPEATED = "rows-repeated",
    /// A node without elections accepted rows of one that does not lead.
    ROWS_FROM_ANYBODY = "rows-accepted-from-anybody",
    /// A gap in a connection did not close.
    GAP = "connection-broken-by-a-gap",
    /// A connection was silent for too long.
    SILENCE = "connection-broken-by-silence",
    /// A connection turned out not to exist at the other end.
    RESET = "connection-reset",
    /// A relay ended because its subscriber did not acknowledge anything.
    DEAF_SUBSCRIBER = "relay-ended-for-lack-of-acks",
    /// A subscriber came back while its old relay was still there.
    REPLACED = "relay-replaced",
    /// A leader was asked for a write before it had claimed the queue.
    NOT_CLAIMED = "written-before-claimed",
    /// A leader heard of a later term by an acknowledgement.
    TERM_BY_ACK = "term-by-acknowledgement",
    /// A leader resigned because it was connected to no quorum.
    FENCED = "leader-fenced",
    /// A relay kept quiet because it heard nothing of the thread that leads.
    TX_SILENT = "relay-quiet-for-lack-of-tx",
    /// A failed sync made a node start again from its disk.
    SYNC_FAILED = "started-again-after-failed-sync",
}
