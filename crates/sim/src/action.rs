//! What steps of a script do.

use crate::clock::ClockChange;
use crate::id::NodeId;
use crate::network::Shape;
use crate::ratio::Ratio;
use crate::target::{Condition, Pattern, Target};
use crate::time::Span;

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A server crashes; it restarts from its disk at the end of the interval.
    Crash {
        /// Which.
        node: Target,
        /// What becomes of the data on its disk.
        losing: Losing,
        /// The crash comes at this storage call of the node, counted from the trigger on; 0 crashes at once.
        at_call: u32,
    },
    /// As [`Action::Crash`], but the crash comes in the middle of a step, right after so many effects of a kind.
    CrashAfter {
        /// Which.
        node: Target,
        /// What becomes of the data on its disk.
        losing: Losing,
        /// What is counted.
        effect: Countable,
        /// After how many of them, counted from the trigger on; at least 1.
        number: u32,
    },
    /// A server crashes and comes back, at the end of the interval, with another value for one option of the system.
    Roll {
        /// Which.
        node: Target,
        /// Name of the option.
        option: String,
        /// Its value from then on.
        value: String,
    },
    /// At the end of the interval a server crashes and comes back at once with its disk as it was at the beginning.
    Rewind(Target),
    /// A process is stopped: what comes for it waits until the end of the interval. Its clock goes on.
    Pause(Target),
    /// Every sync of a disk fails, those under way and those of names included, and has lost what it was to make durable.
    FailSyncs(Target),
    /// Every input keeps the node busy for so long; what comes meanwhile waits.
    Slow {
        /// Which.
        node: Target,
        /// Shortest time.
        low: Span,
        /// Longest time.
        high: Span,
    },
    /// The clock of a node goes wrong.
    Clock {
        /// Whose.
        node: Target,
        /// How.
        change: ClockChange,
    },
    /// Links between the groups are cut both ways. A node in no group keeps all its links, a node in several belongs to
    /// the first.
    Partition(Vec<Vec<Target>>),
    /// Links between groups are cut in another way, or again and again.
    Topology {
        /// Which links stay.
        topology: Topology,
        /// The groups; a node in several belongs to the first.
        groups: Vec<Vec<Target>>,
        /// The links are cut and open for so long in turn. Whom roles mean is decided anew each time.
        flapping: Option<Span>,
    },
    /// One direction is cut.
    Cut {
        /// Sender.
        from: Target,
        /// Receiver.
        to: Target,
    },
    /// One direction stands still: its messages queue, and come at the end of the interval in their order.
    Clog {
        /// Sender.
        from: Target,
        /// Receiver.
        to: Target,
    },
    /// Matching messages and timers wait until the end of the interval.
    Hold(Pattern),
    /// Matching messages are lost.
    Drop(Pattern),
    /// Matching messages arrive so much later.
    Delay(Pattern, Span),
    /// Matching messages arrive later by a drawn time.
    Jitter {
        /// Which messages.
        pattern: Pattern,
        /// Shortest additional delay.
        low: Span,
        /// Longest additional delay.
        high: Span,
        /// How it is spread between the two.
        shape: Shape,
    },
    /// Matching messages are delayed with this probability, by up to so much, so that others overtake them.
    Reorder {
        /// Which messages.
        pattern: Pattern,
        /// Share of them.
        share: Ratio,
        /// Longest additional delay.
        window: Span,
    },
    /// Matching messages arrive a second time, so much later. Decided when the first one arrives.
    Duplicate(Pattern, Span),
    /// The same with this probability.
    DuplicateSome {
        /// Which messages.
        pattern: Pattern,
        /// Share of them.
        share: Ratio,
        /// How much later.
        after: Span,
    },
    /// A copy of each matching message is kept when it arrives, and arrives after so many more elections were won, even if
    /// nodes were restarted meanwhile. What is left when faults are over is thrown away.
    Replay(Pattern, u32),
    /// Matching messages are lost with this probability.
    Lossy(Pattern, Ratio),
    /// Matching messages of more than so many bytes are lost.
    Choke(Pattern, u32),
    /// Matching messages arrive damaged with this probability, and the receiver's checksum finds it.
    Corrupt(Pattern, Ratio),
    /// Matching messages are delivered to this server instead.
    Misdeliver(Pattern, NodeId),
    /// Matching messages between servers are delivered with this probability to a server that they were not sent to.
    MisdeliverSome(Pattern, Ratio),
    /// A command for a node, in the text form of its system.
    Operate {
        /// Whom it is given to.
        target: Target,
        /// The command.
        text: String,
        /// It is given again so often until the step ends; a round without a target that is up is skipped.
        every: Option<Span>,
    },
    /// What the script claims: the condition holds at that moment, or comes true within so long.
    Expect(Condition, Option<Span>),
    /// What the script claims: the condition does not come true during the interval.
    Never(Condition),
}

/// What a crash does to data on the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Losing {
    /// A drawn part of what was not synced is lost.
    #[default]
    Some,
    /// All of what was not synced is lost: `losing unsynced`.
    Unsynced,
    /// All of the disk is lost: `losing everything`.
    Everything,
}

/// Effects of a node that a crash can be placed after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Countable {
    /// Messages it sends.
    Sends,
    /// Operations it answers.
    Replies,
}

/// Which links stay when groups are cut apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topology {
    /// Those within a group.
    Groups,
    /// Of each node those to as many nearest neighbours in a ring as make a majority with it. One group.
    Ring,
    /// Those of each group to the next one, too: the middle one is a bridge.
    Bridge,
    /// Those between neighbours in a row. One group.
    Chain,
    /// Those from an earlier group to a later one, too, in that direction: later groups hear and are not heard.
    OneWay,
}

impl Topology {
    /// Every one there is.
    pub const ALL: [Topology; 5] =
        [Topology::Groups, Topology::Ring, Topology::Bridge, Topology::Chain, Topology::OneWay];

    /// Whether it is about one group of nodes in a row.
    pub const fn is_row(self) -> bool {
        matches!(self, Topology::Ring | Topology::Chain)
    }
}

impl Action {
    /// The node that the action does something to, if it is about one node.
    pub fn victim(&self) -> Option<Target> {
        match self {
            Action::Crash { node, .. }
            | Action::CrashAfter { node, .. }
            | Action::Roll { node, .. }
            | Action::Rewind(node)
            | Action::Pause(node)
            | Action::FailSyncs(node)
            | Action::Slow { node, .. }
            | Action::Clock { node, .. } => Some(*node),
            _ => None,
        }
    }

    /// The messages or timers that it singles out.
    pub fn pattern(&self) -> Option<&Pattern> {
        match self {
            Action::Hold(pattern)
            | Action::Drop(pattern)
            | Action::Delay(pattern, _)
            | Action::Jitter { pattern, .. }
            | Action::Reorder { pattern, .. }
            | Action::DuplicateSome { pattern, .. }
            | Action::MisdeliverSome(pattern, _)
            | Action::Duplicate(pattern, _)
            | Action::Replay(pattern, _)
            | Action::Lossy(pattern, _)
            | Action::Choke(pattern, _)
            | Action::Corrupt(pattern, _)
            | Action::Misdeliver(pattern, _) => Some(pattern),
            _ => None,
        }
    }

    /// Whether it decides by chance, message by message: a run that leaves nothing to chance has other means.
    pub fn is_by_chance(&self) -> bool {
        matches!(
            self,
            Action::Lossy(..)
                | Action::Jitter { .. }
                | Action::Reorder { .. }
                | Action::DuplicateSome { .. }
                | Action::Corrupt(..)
                | Action::MisdeliverSome(..)
        )
    }

    /// Everybody it names, as it names them.
    pub fn targets(&self) -> Vec<Target> {
        match self {
            Action::Partition(groups) | Action::Topology { groups, .. } => groups.concat(),
            Action::Cut { from, to } | Action::Clog { from, to } => vec![*from, *to],
            Action::Operate { target, .. } => vec![*target],
            Action::Misdeliver(_, to) => vec![Target::Node(*to)],
            other => other.victim().into_iter().collect(),
        }
    }

    /// Whether it takes links away.
    pub fn cuts_links(&self) -> bool {
        matches!(self, Action::Partition(_) | Action::Topology { .. } | Action::Cut { .. })
    }
}
