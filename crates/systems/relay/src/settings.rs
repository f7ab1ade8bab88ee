//! The options of the system: what there is, what swarm plans draw, and the same as values.

use crate::bug::Planted;
use crate::outlet::NotReady;
use crate::raft::{Later, Mode};
use whitewater_sim::{NodeId, OptionSpec, Options, Script, Span, Timing, Values};

/// All options. Times are scaled down from those of a real deployment; what counts is how they compare with each other.
pub const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: "relay-not-ready",
        about: "What becomes of a broadcast while a relay is not ready: before the patch, as mailed, as merged.",
        values: Values::Words(&["drop", "latch", "mailbox"]),
        default: "mailbox",
        per_node: false,
        drawn: false,
    },
    OptionSpec {
        name: "election-mode",
        about: "How far a node takes part in elections.",
        values: Values::Words(&["off", "voter", "candidate"]),
        default: "candidate",
        per_node: true,
        drawn: true,
    },
    OptionSpec {
        name: "election-timeout",
        about: "How long a node waits at least for an election to be won.",
        values: Values::Time { low: Span::from_millis(100), high: Span::from_millis(400) },
        default: "150ms",
        per_node: false,
        drawn: true,
    },
    OptionSpec {
        name: "election-shift",
        about: "How much longer it may wait, drawn each time, in percent of the election timeout.",
        values: Values::Number { low: 50, high: 100 },
        default: "100",
        per_node: false,
        drawn: true,
    },
    OptionSpec {
        name: "heartbeat",
        about: "Time between two heartbeats of a relay; a leader not heard of for four of them is dead.",
        values: Values::Time { low: Span::from_millis(25), high: Span::from_millis(80) },
        default: "40ms",
        per_node: false,
        drawn: true,
    },
    OptionSpec {
        name: "relay-start-low",
        about: "Shortest time a relay needs to start up.",
        values: Values::Time { low: Span::from_micros(200), high: Span::from_millis(20) },
        default: "1ms",
        per_node: false,
        drawn: true,
    },
    OptionSpec {
        name: "relay-start-high",
        about: "Longest time a relay needs to start up; at least the shortest.",
        values: Values::Time { low: Span::from_millis(1), high: Span::from_millis(200) },
        default: "10ms",
        per_node: false,
        drawn: true,
    },
    OptionSpec {
        name: "queue-delay",
        about: "Longest time a message between the tx thread and a relay thread waits in its queue.",
        values: Values::Time { low: Span::from_micros(10), high: Span::from_millis(2) },
        default: "200us",
        per_node: false,
        drawn: true,
    },
    later(
        "queue",
        "Whether writes wait for a quorum: a queue with an owner, claimed in the term of its election.",
    ),
    later("witness", "Whether no election is called while somebody is known to see the leader."),
    later("fencing", "Whether a leader that is connected to fewer than a quorum resigns."),
    later("split-vote", "Whether an election that nobody can win any more is called again early."),
    OptionSpec {
        name: "quorum",
        about: "How many nodes decide an election or confirm a write, as this node sees it; 0 for a majority.",
        values: Values::Number { low: 0, high: 16 },
        default: "0",
        per_node: true,
        drawn: false,
    },
];

/// Something that later releases brought. Without it the model is that of April 2021.
const fn later(name: &'static str, about: &'static str) -> OptionSpec {
    OptionSpec {
        name,
        about,
        values: Values::Words(&["off", "on"]),
        default: "off",
        per_node: false,
        drawn: false,
    }
}

/// The options as values.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What becomes of a broadcast while a relay is not ready.
    pub not_ready: NotReady,
    /// How far each server takes part in elections, by position.
    pub modes: Vec<Mode>,
    /// Shortest wait for an election to be won.
    pub election_low: Span,
    /// Longest wait for an election to be won.
    pub election_high: Span,
    /// Time between two heartbeats.
    pub heartbeat: Span,
    /// Shortest start of a relay.
    pub relay_start_low: Span,
    /// Longest start of a relay.
    pub relay_start_high: Span,
    /// Longest wait in a queue between threads.
    pub queue_delay: Span,
    /// Writes wait for a quorum.
    pub queue: bool,
    /// Elections wait until nobody sees the leader.
    pub witness: bool,
    /// A leader without a quorum of connections resigns.
    pub fencing: bool,
    /// A split election is called again early.
    pub split_vote: bool,
    /// How many nodes are a quorum, for each server, by position.
    pub quorums: Vec<u32>,
    /// The bug planted in it, if any.
    pub planted: Planted,
}

impl Settings {
    /// The options of a run.
    pub fn new(options: &Options, servers: usize) -> Settings {
        let span = |name| options.span(OPTIONS, name);
        let mode = |position| match options.text_at(OPTIONS, "election-mode", NodeId::server(position)) {
            "off" => Mode::Off,
            "voter" => Mode::Voter,
            _ => Mode::Candidate,
        };
        let quorum = |position| {
            let given = options.text_at(OPTIONS, "quorum", NodeId::server(position));
            match given.parse::<u32>() {
                Ok(0) | Err(_) => whitewater_check::majority(servers) as u32,
                Ok(quorum) => quorum,
            }
        };
        let election = span("election-timeout");
        let shift = election.times(options.number(OPTIONS, "election-shift")).part(100);
        Settings {
            not_ready: match options.text(OPTIONS, "relay-not-ready") {
                "drop" => NotReady::Drop,
                "latch" => NotReady::Latch,
                _ => NotReady::Mailbox,
            },
            modes: (0..servers).map(mode).collect(),
            election_low: election,
            election_high: election + shift,
            heartbeat: span("heartbeat"),
            relay_start_low: span("relay-start-low"),
            relay_start_high: span("relay-start-high").max(span("relay-start-low")),
            queue_delay: span("queue-delay"),
            queue: options.text(OPTIONS, "queue") == "on",
            witness: options.text(OPTIONS, "witness") == "on",
            fencing: options.text(OPTIONS, "fencing") == "on",
            split_vote: options.text(OPTIONS, "split-vote") == "on",
            quorums: (0..servers).map(quorum).collect(),
            planted: Planted::named(options.planted()),
        }
    }

    /// What elections do differently from the release that is modelled.
    pub fn later(&self) -> Later {
        Later {
            judges_votes_twice: self.queue,
            asks_witnesses: self.witness,
            notices_splits: self.split_vote,
            planted: self.planted,
        }
    }

    /// How many nodes are a quorum, as a server sees it.
    pub fn quorum(&self, node: NodeId) -> u32 {
        self.quorums[node.position()]
    }

    /// How far a server takes part in elections.
    pub fn mode(&self, node: NodeId) -> Mode {
        self.modes[node.position()]
    }

    /// After how long without a sign a peer is taken for dead.
    pub fn death_timeout(&self) -> Span {
        self.heartbeat.times(4)
    }

    /// How long an applier waits for the first sign of a relay that may be starting up.
    pub fn start_patience(&self) -> Span {
        self.relay_start_high + self.death_timeout()
    }

    /// How long a gap in a connection may stay open.
    pub fn gap_patience(&self) -> Span {
        self.heartbeat.times(2)
    }

    /// Times that plans are made to fit.
    pub fn timing(&self) -> Timing {
        Timing {
            election_low: self.election_low.min(self.death_timeout()),
            election_high: self.election_high.max(self.death_timeout()),
            heartbeat: self.heartbeat,
        }
    }

    /// Time in which a follower that is connected to a lasting leader has applied its rows, but for a bug.
    ///
    /// Twice a connection that is already dead when the leader begins: until that is noticed, a new one is made, and its
    /// relay has started up; then queues, links and disks for announcement, rows and acknowledgement.
    pub fn catch_up_bound(&self, script: &Script) -> Span {
        let notice = self.start_patience() + self.gap_patience();
        let connect = self.heartbeat + self.death_timeout() + self.start_patience();
        let (one_way, sync) = (settle_delay(script), script.disk.high);
        (notice + connect).times(2) + (one_way + sync + self.queue_delay).times(20)
    }
}

/// Longest one-way delay while settling, with the time that a slow receiver takes.
pub fn settle_delay(script: &Script) -> Span {
    script.network.delay_high.min(script.settle.delay_high) + script.lasting_slowness()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_values_of_their_options() {
        let mut options = Options::new();
        for spec in OPTIONS {
            options.set(OPTIONS, spec.name, spec.default).unwrap();
        }
    }

    #[test]
    fn modes_are_given_for_all_nodes_or_for_one() {
        let mut options = Options::new();
        options.set(OPTIONS, "election-mode", "voter").unwrap();
        options.set(OPTIONS, "election-mode.n1", "candidate").unwrap();
        let settings = Settings::new(&options, 3);
        assert_eq!(settings.modes, [Mode::Candidate, Mode::Voter, Mode::Voter]);
    }

    #[test]
    fn a_queue_is_much_faster_than_a_heartbeat() {
        // The rule on needless elections relies on it: a broadcast needs at most four queues to reach the connection.
        let span = |name: &str, high: bool| match OPTIONS.iter().find(|s| s.name == name).unwrap().values {
            Values::Time { low, high: longest } => {
                if high {
                    longest
                } else {
                    low
                }
            }
            _ => Span::ZERO,
        };
        assert!(span("queue-delay", true).times(4) < span("heartbeat", false));
    }
}
