//! Options of the system, as data and as the settings nodes read.

use crate::bugs::Planted;
use whitewater_sim::{OptionSpec, Options, Span, Timing, Values};

const SWITCH: Values = Values::Words(&["on", "off"]);

const fn number(low: u64, high: u64) -> Values {
    Values::Number { low, high }
}

const fn millis(low: u64, high: u64) -> Values {
    Values::Time { low: Span::from_millis(low), high: Span::from_millis(high) }
}

const fn spec(
    name: &'static str,
    values: Values,
    default: &'static str,
    drawn: bool,
    about: &'static str,
) -> OptionSpec {
    OptionSpec { name, about, values, default, per_node: false, drawn }
}

/// Everything that can be set.
pub const SPECS: &[OptionSpec] = &[
    spec("tick", millis(1, 50), "10ms", true, "Time between two ticks of the core."),
    spec(
        "election-ticks",
        number(5, 20),
        "10",
        true,
        "Ticks of the shortest election timeout, E; the longest has 2E-1.",
    ),
    spec(
        "heartbeat-ticks",
        number(1, 6),
        "1",
        true,
        "Ticks between two heartbeats, at most a third of the election timeout.",
    ),
    spec("pre-vote", SWITCH, "on", true, "Whether a node asks if it could win before it raises its term."),
    spec("check-quorum", SWITCH, "on", true, "Whether a leader that hears of no majority steps down."),
    spec(
        "message-size",
        number(0, 65_536),
        "65536",
        true,
        "Bytes of entries in one append at most; 0 sends single entries.",
    ),
    spec(
        "in-flight",
        number(1, 256),
        "256",
        true,
        "Appends under way to one follower at most; fewer if they are small.",
    ),
    spec(
        "reads",
        Values::Words(&["index", "log"]),
        "index",
        true,
        "Whether reads ask a majority for the read index or go through the log.",
    ),
    spec(
        "read-at",
        Values::Words(&["leader", "any"]),
        "leader",
        true,
        "Whether clients read at whom they believe to lead or at any server, one after the other.",
    ),
    // A leader goes on for up to two election timeouts before it finds out that nobody follows: what it reads then is old.
    spec("lease", SWITCH, "off", true, "Whether a leader answers reads at once as long as it leads."),
    spec(
        "lease-excuses",
        SWITCH,
        "on",
        false,
        "Whether the checks forgive a read by a lease that it is old where anything goes wrong; off, it has to be new.",
    ),
    spec(
        "disk-excuses",
        SWITCH,
        "on",
        false,
        "Whether the checks forgive a server what its disk betrayed; off, a disk that lies has to be found out.",
    ),
    spec(
        "checks",
        Values::Words(&["all", "clients"]),
        "all",
        false,
        "Whether every rule counts, or only those about what clients see.",
    ),
    spec(
        "forwarding",
        SWITCH,
        "off",
        true,
        "Whether followers pass proposals on to the leader instead of refusing them.",
    ),
    spec(
        "session-start-low",
        millis(0, 50),
        "2ms",
        true,
        "Shortest time that a new session takes to become ready.",
    ),
    spec(
        "session-start-high",
        millis(0, 300),
        "20ms",
        true,
        "Longest time that a new session takes to become ready.",
    ),
    spec(
        "snapshot-entries",
        number(5, 1_000),
        "1000",
        true,
        "Entries that are applied between two snapshots of the state.",
    ),
    spec(
        "snapshot-trail",
        number(0, 100),
        "20",
        true,
        "Entries before a snapshot that are kept for followers that are a little behind.",
    ),
    spec(
        "snapshot-refusals",
        number(0, 3),
        "0",
        true,
        "How often a snapshot is not ready when it is asked for, before it is.",
    ),
    spec(
        "snapshot-piece-bytes",
        number(0, 4_096),
        "0",
        true,
        "Bytes of a snapshot in one message at most, 256 at least; 0 sends it as a whole.",
    ),
    spec("segment-bytes", number(256, 65_536), "65536", true, "Bytes at which a file of the log is closed."),
    spec(
        "storage",
        Values::Words(&["sync", "async"]),
        "sync",
        true,
        "Whether the core waits for the disk and for applying, or hands both to threads and goes on.",
    ),
    spec(
        "apply-time",
        millis(0, 20),
        "0ms",
        true,
        "Longest time that the apply thread takes for a batch, at most a tenth of the election timeout.",
    ),
    spec(
        "apply-bytes",
        number(1, 1 << 20),
        "1048576",
        true,
        "Bytes of entries in one batch to be applied; a larger entry is a batch of its own.",
    ),
    spec(
        "uncommitted-bytes",
        number(0, 65_536),
        "0",
        true,
        "Bytes that a leader may have proposed and not applied before it refuses more, at least those of one append; 0 for no limit.",
    ),
    spec(
        "in-flight-bytes",
        number(0, 65_536),
        "0",
        true,
        "Bytes under way to one follower at most, at least those of one append; 0 for no limit.",
    ),
    spec(
        "membership",
        Values::Words(&["fixed", "changing"]),
        "fixed",
        true,
        "Whether plans change the members, and some servers may be none at first.",
    ),
    spec(
        "founders",
        number(0, 9),
        "0",
        true,
        "Members of the first membership where it changes, the first of the servers; 0 for all of them.",
    ),
    spec(
        "client-attempts",
        number(2, 20),
        "10",
        true,
        "Attempts of a client at one request before it gives up.",
    ),
];

/// How reads are made linearizable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reads {
    /// A majority confirms that the leader leads; the read waits for what was committed then.
    #[default]
    Index,
    /// The read is an entry of the log.
    Log,
}

/// What nodes read from the options.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Time between two ticks.
    pub tick: Span,
    /// Ticks of the shortest election timeout.
    pub election_ticks: u32,
    /// Ticks between two heartbeats.
    pub heartbeat_ticks: u32,
    /// Ask before standing for election.
    pub pre_vote: bool,
    /// Step down without a majority.
    pub check_quorum: bool,
    /// Bytes of entries in one append.
    pub message_size_max_bytes: u64,
    /// Appends under way to one follower.
    pub inflight_count_max: u32,
    /// How reads are served.
    pub reads: Reads,
    /// Clients read at any server.
    pub read_at_any: bool,
    /// The leader trusts its lease.
    pub lease: bool,
    /// Whether a read by a lease is forgiven that it is old.
    pub lease_excuses: bool,
    /// Followers pass proposals on.
    pub forwarding: bool,
    /// Whether a server is forgiven what its disk betrayed.
    pub disk_excuses: bool,
    /// Whether only the rules about what clients see count.
    pub clients_only: bool,
    /// Shortest start of a session.
    pub session_start_low: Span,
    /// Longest start of a session.
    pub session_start_high: Span,
    /// Entries between two snapshots.
    pub snapshot_entries: u64,
    /// Entries kept before a snapshot.
    pub snapshot_trail: u64,
    /// How often a snapshot is not ready.
    pub snapshot_refusals: u32,
    /// Bytes of a snapshot in one message; 0 for all.
    pub piece_bytes: usize,
    /// Size of a file of the log.
    pub segment_bytes: usize,
    /// The core hands its storage work to threads.
    pub storage_async: bool,
    /// Longest time for a batch of the apply thread.
    pub apply_time: Span,
    /// Bytes of entries in one batch to be applied.
    pub apply_bytes: u64,
    /// Bytes a leader may have uncommitted; 0 for no limit.
    pub uncommitted_bytes: u64,
    /// Bytes under way to one follower; 0 for no limit.
    pub inflight_bytes: u64,
    /// Servers of the first membership; there may be fewer.
    pub founders: usize,
    /// Attempts at one request.
    pub client_attempts: u32,
    /// The bug planted in the server, if there is one.
    pub planted: Planted,
    /// The bug planted in the core, if there is one.
    #[cfg(feature = "mutants")]
    pub bug: Option<whitewater_raft::Bug>,
    /// Whether a server has the bug planted in it or in its core only once it was restarted.
    #[cfg(feature = "mutants")]
    pub bug_waits_for_restart: bool,
    /// The bug planted in the log, if there is one.
    #[cfg(feature = "mutants")]
    pub log_bug: Option<whitewater_wal::Bug>,
}

/// Appends of that size that may be under way on a network that reorders them.
///
/// A leader answers the rejection of an append that came too early by starting its window over. Where many small appends are
/// needed for what a follower lacks, most of them come too early, and each of those starts a window of others.
const fn window_max(message_size_bytes: u64) -> u64 {
    2 + message_size_bytes / 64
}

/// Smallest piece of a snapshot, in bytes: smaller ones would take longer than what is owed has time for.
const PIECE_BYTES_MIN: usize = 256;

/// More bytes than any entry of the operations that plans draw.
const ENTRY_BYTES_MAX: u64 = 128;

impl Settings {
    /// Entries that one append surely has room for.
    pub(crate) fn entries_per_append(&self) -> u64 {
        (self.message_size_max_bytes / ENTRY_BYTES_MAX).max(1)
    }

    /// Reads the options.
    pub fn read(options: &Options) -> Settings {
        let number = |name| options.number(SPECS, name);
        let span = |name| options.span(SPECS, name);
        let is = |name, word| options.text(SPECS, name) == word;
        let election_ticks = number("election-ticks") as u32;
        let session_start_low = span("session-start-low");
        let message_size_max_bytes = number("message-size");
        // A limit below one append would let nothing through.
        let limit = |name| match number(name) {
            0 => 0,
            some => some.max(message_size_max_bytes),
        };
        Settings {
            tick: span("tick"),
            election_ticks,
            heartbeat_ticks: (number("heartbeat-ticks") as u32).min(election_ticks / 3).max(1),
            pre_vote: is("pre-vote", "on"),
            check_quorum: is("check-quorum", "on"),
            message_size_max_bytes,
            inflight_count_max: number("in-flight").min(window_max(message_size_max_bytes)) as u32,
            reads: if is("reads", "log") { Reads::Log } else { Reads::Index },
            read_at_any: is("read-at", "any"),
            // A lease counts on voters that stand by their leader.
            lease: is("lease", "on") && is("check-quorum", "on"),
            lease_excuses: is("lease-excuses", "on"),
            forwarding: is("forwarding", "on"),
            disk_excuses: is("disk-excuses", "on"),
            clients_only: is("checks", "clients"),
            session_start_low,
            session_start_high: span("session-start-high").max(session_start_low),
            snapshot_entries: number("snapshot-entries"),
            snapshot_trail: number("snapshot-trail"),
            snapshot_refusals: number("snapshot-refusals") as u32,
            piece_bytes: match number("snapshot-piece-bytes") as usize {
                0 => 0,
                some => some.max(PIECE_BYTES_MIN),
            },
            segment_bytes: number("segment-bytes") as usize,
            storage_async: is("storage", "async"),
            apply_time: span("apply-time").min(span("tick").times(u64::from(election_ticks)).part(10)),
            apply_bytes: number("apply-bytes"),
            uncommitted_bytes: limit("uncommitted-bytes"),
            inflight_bytes: limit("in-flight-bytes"),
            founders: match number("founders") as usize {
                some @ 1.. if is("membership", "changing") => some,
                _ => whitewater_sim::SERVERS_MAX,
            },
            client_attempts: number("client-attempts") as u32,
            planted: Planted::named(options.planted()),
            #[cfg(feature = "mutants")]
            bug: options.planted().and_then(crate::bugs::of_core),
            #[cfg(feature = "mutants")]
            bug_waits_for_restart: options.planted().is_some_and(crate::bugs::waits_for_restart),
            #[cfg(feature = "mutants")]
            log_bug: options.planted().and_then(crate::bugs::of_log),
        }
    }

    /// The shortest election timeout, E.
    pub fn election_timeout(&self) -> Span {
        self.tick.times(u64::from(self.election_ticks))
    }

    /// The same in a life of a server that was restarted so many times: a bug may wait for that.
    #[cfg(feature = "mutants")]
    pub(crate) fn of_life(mut self, restarts: u32) -> Settings {
        if restarts == 0 && self.bug_waits_for_restart {
            (self.bug, self.planted) = (None, Planted::default());
        }
        self
    }

    /// Times that plans are made to fit.
    pub fn timing(&self) -> Timing {
        Timing {
            election_low: self.election_timeout(),
            election_high: self.tick.times(2 * u64::from(self.election_ticks) - 1),
            heartbeat: self.tick.times(u64::from(self.heartbeat_ticks)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(values: &[(&str, &str)]) -> Settings {
        let mut options = Options::new();
        values.iter().for_each(|(name, value)| options.set(SPECS, name, value).unwrap());
        Settings::read(&options)
    }

    #[test]
    fn heartbeats_come_at_least_three_times_in_an_election_timeout() {
        let settings = given(&[("election-ticks", "5"), ("heartbeat-ticks", "6")]);
        assert_eq!(settings.heartbeat_ticks, 1);
        assert_eq!(given(&[("election-ticks", "20"), ("heartbeat-ticks", "6")]).heartbeat_ticks, 6);
    }

    #[test]
    fn small_appends_have_a_small_window() {
        assert_eq!(given(&[("message-size", "0")]).inflight_count_max, 2);
        assert_eq!(given(&[("message-size", "640"), ("in-flight", "5")]).inflight_count_max, 5);
        assert_eq!(given(&[]).inflight_count_max, 256);
    }

    #[test]
    fn a_limit_lets_one_append_through_unless_there_is_none() {
        let settings =
            given(&[("message-size", "640"), ("uncommitted-bytes", "5"), ("in-flight-bytes", "0")]);
        assert_eq!((settings.uncommitted_bytes, settings.inflight_bytes), (640, 0));
    }

    #[test]
    fn a_session_never_starts_sooner_than_its_shortest_start() {
        let settings = given(&[("session-start-low", "40ms"), ("session-start-high", "5ms")]);
        assert_eq!(settings.session_start_high, Span::from_millis(40));
    }

    #[test]
    fn every_default_is_a_value_of_its_option() {
        for spec in SPECS {
            given(&[(spec.name, spec.default)]);
        }
    }
}
