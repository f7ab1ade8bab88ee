//! Options that stores around any Raft have in common, as data and as the settings that cores read.

use std::ops::Range;
use whitewater_sim::{NodeId, OptionSpec, Options, SERVERS_MAX, Span, Timing, Values};

const SWITCH: Values = Values::Words(&["on", "off"]);

/// An option that plans draw, and that is `on` or `off`.
pub const fn switch(name: &'static str, default: &'static str, about: &'static str) -> OptionSpec {
    drawn(name, SWITCH, default, about)
}

/// An option that plans draw.
pub const fn drawn(
    name: &'static str,
    values: Values,
    default: &'static str,
    about: &'static str,
) -> OptionSpec {
    OptionSpec { name, about, values, default, per_node: false, drawn: true }
}

const fn number(low: u64, high: u64) -> Values {
    Values::Number { low, high }
}

/// The options of a core: those of this module that it has, by name, then its own.
///
/// ```
/// use whitewater_store::options::{self, switch};
/// const OPTIONS: &[whitewater_sim::OptionSpec] =
///     whitewater_store::options! { TICK, PRE_VOTE; switch("batch", "off", "Whether appends wait for others.") };
/// assert_eq!(OPTIONS.iter().map(|option| option.name).collect::<Vec<_>>(), ["tick", "pre-vote", "batch"]);
/// ```
#[macro_export]
macro_rules! options {
    ($($shared:ident),+ $(,)?; $($own:expr),* $(,)?) => { &[$($crate::options::$shared,)+ $($own),*] };
}

/// Time between two ticks.
pub const TICK: OptionSpec = drawn(
    "tick",
    Values::Time { low: Span::from_millis(1), high: Span::from_millis(50) },
    "10ms",
    "Time between two ticks of the core.",
);
/// Shortest election timeout.
pub const ELECTION_TICKS: OptionSpec = drawn(
    "election-ticks",
    number(5, 20),
    "10",
    "Ticks of the shortest election timeout, E; the longest has 2E-1.",
);
/// Time between heartbeats.
pub const HEARTBEAT_TICKS: OptionSpec = drawn(
    "heartbeat-ticks",
    number(1, 6),
    "1",
    "Ticks between two heartbeats, at most a third of the election timeout.",
);
/// Pre-vote.
pub const PRE_VOTE: OptionSpec =
    drawn("pre-vote", SWITCH, "on", "Whether a node asks if it could win before it raises its term.");
/// Check-quorum.
pub const CHECK_QUORUM: OptionSpec =
    drawn("check-quorum", SWITCH, "on", "Whether a leader that hears of no majority steps down.");
/// Size of an append.
pub const MESSAGE_SIZE: OptionSpec = drawn(
    "message-size",
    number(0, 65_536),
    "65536",
    "Bytes of entries in one append at most; 0 sends single entries.",
);
/// Appends under way.
pub const IN_FLIGHT: OptionSpec = drawn(
    "in-flight",
    number(1, 256),
    "256",
    "Appends under way to one follower at most; fewer if they are small.",
);
/// Overlapping writes.
pub const STORAGE: OptionSpec = drawn(
    "storage",
    Values::Words(&["overlaps", "waits"]),
    "overlaps",
    "Whether a node takes inputs while its disk is at work, or waits.",
);
/// Manners of its user.
pub const GUARDS: OptionSpec = OptionSpec {
    drawn: false,
    ..switch("guards", "on", "Whether it is kept from what is known to stall or to end it, see FINDINGS.")
};
/// How reads are made linearizable.
pub const READS: OptionSpec = drawn(
    "reads",
    Values::Words(&["index", "lease", "log"]),
    "index",
    "Whether reads ask a majority for the read index, trust the lease of the leader, or go through the log.",
);
/// Where clients read.
pub const READ_AT: OptionSpec = drawn(
    "read-at",
    Values::Words(&["leader", "any"]),
    "leader",
    "Whether clients read at whom they believe to lead or at any server, one after the other.",
);
/// Proposals at followers.
pub const FORWARDING: OptionSpec = drawn(
    "forwarding",
    SWITCH,
    "off",
    "Whether followers pass proposals on to the leader instead of refusing them.",
);
/// Snapshots.
pub const SNAPSHOT_ENTRIES: OptionSpec = drawn(
    "snapshot-entries",
    number(5, 1_000),
    "1000",
    "Entries that are applied between two snapshots of the state.",
);
/// Entries kept.
pub const SNAPSHOT_TRAIL: OptionSpec = drawn(
    "snapshot-trail",
    number(0, 100),
    "20",
    "Entries before a snapshot that are kept for followers that are a little behind.",
);
/// Snapshots that take their time.
pub const SNAPSHOT_REFUSALS: OptionSpec = drawn(
    "snapshot-refusals",
    number(0, 3),
    "0",
    "How often a snapshot is not ready when it is asked for, before it is.",
);
/// Files of the log.
pub const SEGMENT_BYTES: OptionSpec =
    drawn("segment-bytes", number(256, 65_536), "65536", "Bytes at which a file of the log is closed.");
/// Members that change.
pub const MEMBERSHIP: OptionSpec = drawn(
    "membership",
    Values::Words(&["fixed", "changing"]),
    "fixed",
    "Whether plans change the members, and some servers may be none at first.",
);
/// Members at first.
pub const FOUNDERS: OptionSpec = drawn(
    "founders",
    number(0, 9),
    "0",
    "Members of the first membership where it changes, the first of the servers; 0 for all of them.",
);
/// Attempts of clients.
pub const CLIENT_ATTEMPTS: OptionSpec =
    drawn("client-attempts", number(2, 20), "10", "Attempts of a client at one request before it gives up.");

/// How reads are made linearizable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// A majority says who leads.
    Index,
    /// Whoever led a moment ago leads: that trusts that time passes alike everywhere. Where processes are stopped or clocks are
    /// wrong such reads may be old, and are not held to more; nor anywhere, with [`Settings::guarded`].
    Lease,
    /// They are entries of the log.
    Log,
}

/// What nodes read from the options. What a core has no option for has the value it would have by default.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Time between two ticks.
    pub tick: Span,
    /// Ticks of the shortest election timeout.
    pub election_ticks: u64,
    /// Ticks between two heartbeats.
    pub heartbeat_ticks: u64,
    /// Ask before standing for election.
    pub pre_vote: bool,
    /// Step down without a majority.
    pub check_quorum: bool,
    /// Bytes of entries in one append.
    pub message_size_max_bytes: u64,
    /// Appends under way to one follower.
    pub inflight_count_max: u64,
    /// Take inputs while the disk is at work.
    pub overlapping: bool,
    /// The store keeps the core from what a user of a Raft is better not to do, though it may not be told so: nobody without a
    /// vote is made to stand for election; nobody asks for a snapshot before all it has is committed; and a sole voter takes no
    /// input and sends nothing before its disk has what it has decided, which a crash could take from it otherwise. And reads by
    /// a lease are taken for what they are: perhaps old. Without pre-votes and check-quorum members are only removed, as
    /// others may never hear of their leader. And who waits for a snapshot that it asked for starts its process again when it hears
    /// of a later term.
    pub guarded: bool,
    /// How reads are made linearizable.
    pub reads: Reads,
    /// Clients read at any server.
    pub read_at_any: bool,
    /// Followers pass proposals on.
    pub forwarding: bool,
    /// Entries between two snapshots.
    pub snapshot_entries: u64,
    /// Entries kept before a snapshot.
    pub snapshot_trail: u64,
    /// How often a snapshot is not ready.
    pub snapshot_refusals: u32,
    /// Size of a file of the log.
    pub segment_bytes: usize,
    /// Plans change the members.
    pub changing: bool,
    /// Servers of the first membership; there may be fewer.
    pub founders: usize,
    /// Attempts at one request.
    pub client_attempts: u32,
    /// The options of the system.
    specs: &'static [OptionSpec],
    options: Options,
}

/// More bytes than any entry of the operations that plans draw.
const ENTRY_BYTES_MAX: u64 = 128;

/// Appends of that size that may be under way on a network that reorders them: a rejection of one that came too early starts
/// the window over, and where many small ones are needed most of them come too early.
const fn window_max(message_size_bytes: u64) -> u64 {
    2 + message_size_bytes / 64
}

impl Settings {
    /// Reads the options of a system that has these.
    pub fn read(options: &Options, specs: &'static [OptionSpec]) -> Settings {
        let text = |spec: &OptionSpec| match specs.iter().any(|known| known.name == spec.name) {
            true => options.text(specs, spec.name).to_owned(),
            false => spec.default.to_owned(),
        };
        let number =
            |spec: &OptionSpec| text(spec).parse::<u64>().expect("values are checked when they are given");
        let is = |spec: &OptionSpec, word: &str| text(spec) == word;
        let has = |spec: &OptionSpec| specs.iter().any(|known| known.name == spec.name);
        let election_ticks = number(&ELECTION_TICKS);
        let message_size_max_bytes = number(&MESSAGE_SIZE);
        let changing = has(&MEMBERSHIP) && is(&MEMBERSHIP, "changing");
        Settings {
            tick: whitewater_sim::parse_span(&text(&TICK)).expect("values are checked when they are given"),
            election_ticks,
            heartbeat_ticks: number(&HEARTBEAT_TICKS).min(election_ticks / 3).max(1),
            // Progress that is owed depends on these: what a core cannot do it does not do.
            pre_vote: has(&PRE_VOTE) && is(&PRE_VOTE, "on"),
            check_quorum: has(&CHECK_QUORUM) && is(&CHECK_QUORUM, "on"),
            message_size_max_bytes,
            inflight_count_max: number(&IN_FLIGHT).min(window_max(message_size_max_bytes)),
            overlapping: has(&STORAGE) && is(&STORAGE, "overlaps"),
            guarded: has(&GUARDS) && is(&GUARDS, "on"),
            reads: match text(&READS).as_str() {
                _ if !has(&READS) => Reads::Log,
                "index" => Reads::Index,
                "lease" => Reads::Lease,
                _ => Reads::Log,
            },
            read_at_any: is(&READ_AT, "any"),
            forwarding: is(&FORWARDING, "on"),
            snapshot_entries: number(&SNAPSHOT_ENTRIES),
            snapshot_trail: number(&SNAPSHOT_TRAIL),
            snapshot_refusals: number(&SNAPSHOT_REFUSALS) as u32,
            segment_bytes: number(&SEGMENT_BYTES) as usize,
            changing,
            founders: match number(&FOUNDERS) as usize {
                some @ 1.. if changing => some,
                _ => SERVERS_MAX,
            },
            client_attempts: number(&CLIENT_ATTEMPTS) as u32,
            specs,
            options: options.clone(),
        }
    }

    /// The value of an option that is the core's own.
    pub fn own(&self, name: &str) -> &str {
        self.options.text(self.specs, name)
    }

    /// The value of an option of the core's own that each server has for itself.
    pub fn own_at(&self, name: &str, node: NodeId) -> &str {
        self.options.text_at(self.specs, name, node)
    }

    /// Ticks from which election timeouts are drawn.
    pub fn election_range(&self) -> Range<u64> {
        self.election_ticks..2 * self.election_ticks
    }

    /// Entries that one append surely has room for.
    pub(crate) fn entries_per_append(&self) -> u64 {
        (self.message_size_max_bytes / ENTRY_BYTES_MAX).max(1)
    }

    /// The shortest election timeout, E.
    pub fn election_timeout(&self) -> Span {
        self.tick.times(self.election_ticks)
    }

    /// Times that plans are made to fit.
    pub fn timing(&self) -> Timing {
        Timing {
            election_low: self.election_timeout(),
            election_high: self.tick.times(2 * self.election_ticks - 1),
            heartbeat: self.tick.times(self.heartbeat_ticks),
        }
    }
}
