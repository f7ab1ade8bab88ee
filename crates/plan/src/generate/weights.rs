//! Weights and ranges of generated plans, as data: what to change to search elsewhere.
//!
//! What finds races is drawing the ranges themselves, run by run. Changing a number here gives seeds another meaning;
//! saved failures and scenarios hold whole plans and do not care.

use whitewater_sim::{DiskContract, Shape, Span, Topology};

/// Numbers of servers, with their weights.
pub(super) const SERVERS: [(usize, u32); 9] =
    [(3, 24), (5, 16), (1, 1), (2, 2), (4, 4), (6, 2), (7, 3), (8, 1), (9, 2)];

/// Times keep that many digits, so that a script can be read.
pub(super) const SIGNIFICANT_DIGITS: u32 = 3;

/// Shortest one-way delay: log-uniform in this range, in microseconds ...
pub(super) const DELAY_LOW_MICROS: (u64, u64) = (100, 5_000);
/// ... but at most this part of the shortest election timeout, so that settling can keep to it.
pub(super) const DELAY_LOW_PART: u64 = 20;
/// Longest one-way delay: so many times the shortest, log-uniform ...
pub(super) const DELAY_FACTOR: (u64, u64) = (1, 30);
/// ... but at most this part of the shortest election timeout: a slower network elects nobody.
pub(super) const DELAY_HIGH_PART: u64 = 4;
/// While settling a one-way delay is at most this part of the shortest election timeout; a round trip is then a fifth
/// of it, and progress may be asked for.
pub(super) const SETTLE_DELAY_PART: u64 = 10;

/// A round trip is at most this part of it, whatever the disks take: what no check asks for progress beyond.
pub(super) const SETTLE_ROUND_TRIP_PART: u64 = 4;

/// Horizon: log-uniform, in longest election timeouts.
pub(super) const HORIZON_TIMEOUTS: (u64, u64) = (8, 50);
/// Settling takes at most so many longest election timeouts.
pub(super) const SETTLE_TIMEOUTS: u64 = 40;

/// Operations of a run: the larger of two log-uniform draws.
pub(super) const OPERATIONS: (u64, u64) = (20, 400);

/// Lost messages of the whole network, in thousandths, log-uniform.
pub(super) const LOSS_PERMILLE: (u64, u64) = (1, 100);
/// Messages delivered twice, in thousandths, log-uniform.
pub(super) const DUPLICATE_PERMILLE: (u64, u64) = (1, 200);
/// Messages delayed so that others overtake them, in thousandths, log-uniform.
pub(super) const REORDER_PERMILLE: (u64, u64) = (5, 500);

/// Messages found damaged, in thousandths, log-uniform.
pub(super) const CORRUPT_PERMILLE: (u64, u64) = (1, 50);
/// Messages that go to another server, in thousandths, log-uniform.
pub(super) const MISDELIVER_PERMILLE: (u64, u64) = (1, 20);
/// How delays of the whole network are spread, if not evenly.
pub(super) const SHAPES: [Shape; 2] = [Shape::LongTail, Shape::Bimodal];

/// Longest time a sync takes: log-uniform from here ...
pub(super) const SYNC_LATENCY_LOW: Span = Span::from_micros(50);
/// ... to this part of the shortest election timeout.
pub(super) const SYNC_PART: u64 = 10;
/// Syncs that fail, in thousandths, log-uniform.
pub(super) const SYNC_FAILURES_PERMILLE: (u64, u64) = (1, 20);

/// What swarm plans trust disks with, where their system stands it. `Lossy` is the best contract that is drawn: whether
/// calls fail at all is decided trouble by trouble, so that some of those plans are honest. Disks that lose
/// or damage what was durable excuse some checks, so few plans have them; a profile of their name has them always.
pub(super) const DISK_CONTRACTS: [(DiskContract, u32); 3] =
    [(DiskContract::Lossy, 6), (DiskContract::Lying, 1), (DiskContract::Rotten, 1)];

/// Syncs that stall, in thousandths, log-uniform.
pub(super) const STALLS_PERMILLE: (u64, u64) = (1, 50);
/// The longest stall, in longest election timeouts: long enough to lose an election over. The shortest is a heartbeat.
pub(super) const STALL_TIMEOUTS: u64 = 4;
/// Longest time another call keeps its node busy: log-uniform from here ...
pub(super) const BUSY_LOW: Span = Span::from_micros(1);
/// ... to this part of the shortest election timeout: one input may make several calls, and elections must still be won.
pub(super) const BUSY_PART: u64 = 200;
/// Bytes of a sector with their weights. 512 and 4096 are those of real disks; the small ones tear records that are
/// shorter than those.
pub(super) const SECTOR_BYTES: [(u32, u32); 4] = [(512, 3), (4096, 2), (64, 1), (16, 1)];
/// Writes, renames and removals that fail, in thousandths, log-uniform.
pub(super) const WRITE_FAILURES_PERMILLE: (u64, u64) = (1, 20);
/// Loads that fail, in thousandths, log-uniform. Files are loaded only when a node starts, so they fail often.
pub(super) const READ_FAILURES_PERMILLE: (u64, u64) = (10, 300);
/// Windows of time in which a disk is full, in thousandths, log-uniform.
pub(super) const FULL_PERMILLE: (u64, u64) = (10, 200);
/// Room of a small disk in bytes, log-uniform: from what a few dozen operations fill to what hardly any run does.
pub(super) const CAPACITY_BYTES: (u64, u64) = (2_048, 131_072);
/// Syncs that lie, in thousandths, log-uniform. Only a lie that a crash follows bites.
pub(super) const LIES_PERMILLE: (u64, u64) = (5, 500);
/// Writes that are lost or go elsewhere, in thousandths, log-uniform.
pub(super) const ASTRAY_PERMILLE: (u64, u64) = (1, 50);
/// Loads that find a bit flipped, in thousandths, log-uniform. As with failing loads, there are few of them.
pub(super) const ROT_PERMILLE: (u64, u64) = (20, 500);

/// Of the runs whose disks may not be trusted, one in so many may have disks wiped or replaced by older ones. Such a disk
/// nearly always takes promises back that others count on, and then little is owed, while disks that rot are repaired.
pub(super) const EXCHANGES_ONE_IN: u64 = 2;

/// Faults of a family that is on, log-uniform.
pub(super) const FAULTS_OF_A_FAMILY: (u64, u64) = (1, 6);
/// Of the faults of a family beyond the first one in so many is kept; drawn per run, so that some runs are dense and others
/// leave their faults the room to bite.
pub(super) const FURTHER_FAULTS_ONE_IN: [u64; 4] = [1, 2, 4, 16];
/// The longest fault, in longest election timeouts. The shortest is one way of a message.
pub(super) const FAULT_TIMEOUTS: u64 = 20;
/// Faults begin within this share of the horizon, so that they can still bite: (part, of).
pub(super) const FAULTS_BEGIN_WITHIN: (u64, u64) = (9, 10);
/// Late faults begin within so many longest election timeouts of the horizon.
pub(super) const LATE_TIMEOUTS: u64 = 4;
/// A bad link loses, damages, reorders, repeats or mixes up so much, in thousandths, log-uniform.
pub(super) const LOSSY_PERMILLE: (u64, u64) = (20, 1_000);
/// A crash that waits for a storage call waits for one of the next so many, log-uniform.
pub(super) const CRASH_CALLS: (u64, u64) = (1, 20);
/// A crash in the middle of a step comes after one of the next so many effects, log-uniform.
pub(super) const CRASH_EFFECTS: (u64, u64) = (1, 60);
/// A choked link lets messages of so many bytes pass, log-uniform.
pub(super) const CHOKE_BYTES: (u64, u64) = (16, 4_096);
/// A kept copy comes after so many elections, log-uniform.
pub(super) const REPLAY_ELECTIONS: (u64, u64) = (1, 4);
/// The rate of a clock in hundredths of the true one, log-uniform.
pub(super) const CLOCK_HUNDREDTHS: (u64, u64) = (25, 400);
/// A slow node takes at most this part of the shortest election timeout for each input.
pub(super) const SLOWNESS_PART: u64 = 20;
/// A member that is slow for good takes at most this part of it: with a few hundred messages waiting it still answers
/// within a fraction of the timeout, and progress is owed.
pub(super) const SLOW_MEMBER_PART: u64 = 2_000;
/// What flapping cuts do, with their weights.
pub(super) const FLAPPING: [(Topology, u32); 2] = [(Topology::Groups, 3), (Topology::OneWay, 1)];

/// Single messages are picked among the first so many of their kind on their link, log-uniform.
pub(super) const MESSAGE_NUMBERS: (u64, u64) = (1, 20);
/// How long after what they wait for faults begin, at most, in longest election timeouts.
pub(super) const AFTER_TIMEOUTS: u64 = 2;

/// When a fault begins.
#[derive(Clone, Copy, Debug)]
pub(super) enum Moment {
    /// At any time.
    Time,
    /// Shortly before faults are over: what they leave behind then is what progress must come out of.
    Late,
    /// When somebody wins an election.
    AnyLeads,
    /// When one node takes a role.
    NodeTakes,
    /// When a message of a kind leaves or arrives.
    Message,
    /// When a timer of a node goes off.
    Timer,
}

/// Moments with their weights.
pub(super) const MOMENTS: [(Moment, u32); 6] = [
    (Moment::Time, 6),
    (Moment::Late, 3),
    (Moment::AnyLeads, 3),
    (Moment::NodeTakes, 3),
    (Moment::Message, 2),
    (Moment::Timer, 1),
];

/// When a fault ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ending {
    /// After a time.
    Time,
    /// When somebody stands for election: what comes back then meets an election that is going on.
    Campaigns,
    /// When somebody wins an election.
    Leads,
}

/// Ends of faults with their weights.
pub(super) const ENDINGS: [(Ending, u32); 3] =
    [(Ending::Time, 4), (Ending::Campaigns, 1), (Ending::Leads, 1)];

/// Whom a fault hits.
#[derive(Clone, Copy, Debug)]
pub(super) enum Victim {
    /// A node drawn beforehand.
    Node,
    /// Whoever leads.
    Leader,
    /// One of those who do not.
    Follower,
}

/// Victims of faults that may hit anybody, with their weights.
pub(super) const VICTIMS: [(Victim, u32); 3] =
    [(Victim::Node, 2), (Victim::Leader, 2), (Victim::Follower, 1)];

/// What a fault that outlasts settling does to its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lasting {
    /// It stays down.
    Down,
    /// Its process stays stopped.
    Paused,
    /// It is cut off both ways.
    CutOff,
    /// It hears and is not heard.
    Mute,
    /// It is heard and does not hear.
    Deaf,
    /// It reaches one member of the majority only.
    Bridge,
    /// It reaches only the broken node before it, or a member of the majority if it is the first.
    Chain,
    /// The cut around it comes and goes.
    Flaps,
}

/// Of the runs with lasting faults one in so many leaves no majority whole, but one server that reaches everybody.
pub(super) const STAR_ONE_IN: u64 = 12;

/// Lasting faults with their weights. Those by which a node still reaches a part of the majority are few: without pre-vote
/// and check-quorum such a node may lawfully disturb every leader for ever, and no progress is owed.
pub(super) const LASTING: [(Lasting, u32); 8] = [
    (Lasting::Down, 8),
    (Lasting::Paused, 2),
    (Lasting::CutOff, 6),
    (Lasting::Mute, 4),
    (Lasting::Deaf, 1),
    (Lasting::Bridge, 1),
    (Lasting::Chain, 1),
    (Lasting::Flaps, 1),
];
