//! Pins: single decisions of a run by name, with what was decided; and the book in which a world looks them up.
//!
//! A decision is named by what it is about - a message by link, kind, content and its number among equals, a timer by
//! its node and name - and never by its place in the run. So a pin means the same after the code has changed, and a
//! decision that no longer exists is simply not met.

mod book;
mod tape;

pub(crate) use book::{Decided, Onward, PinBook};
pub(crate) use tape::Tape;

use crate::id::NodeId;
use crate::time::Span;

/// One decision of a run that is not left to the seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// Which decision.
    pub decision: Decision,
    /// A remark for people.
    pub note: Option<String>,
}

/// A decision by name, with what was decided.
///
/// `start` counts the starts of the node from 1, `number` counts equal decisions of that start from 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    /// What the network does with a message.
    Message {
        /// Its sender.
        from: NodeId,
        /// Its receiver.
        to: NodeId,
        /// Its kind.
        name: String,
        /// Its content, see [`crate::Message::key`].
        key: u64,
        /// Which start of the sender.
        start: u32,
        /// Which of several equal ones.
        number: u32,
        /// What becomes of it.
        fate: Fate,
    },
    /// How long a timer is set for.
    Timer {
        /// Whose.
        node: NodeId,
        /// Its name.
        name: String,
        /// The peer it is about.
        peer: Option<NodeId>,
        /// Which start of the node.
        start: u32,
        /// Which setting of it.
        number: u32,
        /// How long, in the node's own time.
        span: Span,
    },
    /// What a node draws for itself.
    Draw {
        /// Which node.
        node: NodeId,
        /// The name of the site, or its number as `0x...` if it has no name.
        site: String,
        /// Which start of the node.
        start: u32,
        /// Which draw at the site.
        number: u32,
        /// What was drawn; brought into the range that is asked for.
        value: u64,
    },
    /// What a crash keeps of what was not synced.
    Crash {
        /// Which node.
        node: NodeId,
        /// Which crash of it, from 1.
        number: u32,
        /// What the draws of the crash begin from.
        bits: u64,
    },
    /// Something a disk does besides what it is asked for.
    Disk {
        /// Whose disk.
        node: NodeId,
        /// What, one of [`crate::DISK_DECISIONS`].
        what: String,
        /// At which storage call, or whatever else that decision is numbered by.
        number: u64,
        /// For what happens or not 1 or 0, for times nanoseconds, for places a number that is scaled to the range.
        value: u64,
    },
}

/// What the network does with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// It is lost.
    Lost,
    /// It arrives.
    Arrives {
        /// So long after it was sent.
        after: Span,
        /// And a second time, so long after the first.
        again: Option<Span>,
        /// At this server instead of its receiver.
        at: Option<NodeId>,
    },
}

/// What decides whatever a script leaves open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rest {
    /// The seed.
    #[default]
    Drawn,
    /// Nothing at all, `seed none`: messages take the shortest delay and none is lost, doubled or reordered, disks do
    /// what they are asked for as fast as they can, crashes lose what was not synced, and what a node may draw from a
    /// range lies the further in it the higher its number.
    Fixed,
}

/// Where a node draws, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawSite {
    pub(crate) hash: u64,
    pub(crate) name: &'static str,
}

impl DrawSite {
    /// The site of that name.
    pub const fn new(name: &'static str) -> DrawSite {
        DrawSite { hash: crate::draw::name_hash(name), name }
    }

    /// As pins write it.
    pub(crate) fn text(self) -> String {
        if self.name.is_empty() { format!("{:#x}", self.hash) } else { self.name.to_owned() }
    }
}

impl From<u64> for DrawSite {
    /// A site without a name.
    fn from(hash: u64) -> DrawSite {
        DrawSite { hash, name: "" }
    }
}

impl Pin {
    /// A pin without a note.
    pub fn new(decision: Decision) -> Pin {
        Pin { decision, note: None }
    }

    /// The node whose disk does something behind its back by this pin.
    pub(crate) fn struck(&self) -> Option<NodeId> {
        match &self.decision {
            Decision::Disk { node, what, .. } => crate::disk::is_deceit(what).then_some(*node),
            _ => None,
        }
    }

    /// Every node it names.
    pub fn nodes(&self) -> Vec<NodeId> {
        match &self.decision {
            Decision::Message { from, to, .. } => vec![*from, *to],
            Decision::Timer { node, peer, .. } => [*node].into_iter().chain(*peer).collect(),
            Decision::Draw { node, .. } | Decision::Crash { node, .. } | Decision::Disk { node, .. } => {
                vec![*node]
            }
        }
    }
}
