//! What a node does with an input: sends, timers, replies, disk calls, draws, marks and notes, in order.

use crate::disk::Disk;
use crate::draw::{Key, spread};
use crate::id::NodeId;
use crate::names::Windowed;
use crate::node::{Node, OpId};
use crate::panics;
use crate::pins::{DrawSite, PinBook};
use crate::time::Span;
use std::fmt::{self, Write};

/// One thing a node did. Monitors see the whole list of a step before the world acts on it.
pub enum Effect<N: Node> {
    /// A message for another node, or for itself.
    Send {
        /// Its receiver.
        to: NodeId,
        /// The message.
        message: N::Message,
    },
    /// A timer set, to go off after a span the world draws from this range.
    SetTimer {
        /// Which; one that was set before is replaced.
        timer: N::Timer,
        /// Shortest span, in the node's own time.
        low: Span,
        /// Longest span.
        high: Span,
    },
    /// A timer taken back.
    CancelTimer(N::Timer),
    /// An answer to a command.
    Reply {
        /// The operation.
        op: OpId,
        /// The answer.
        reply: N::Reply,
    },
    /// The node itself lost a message that it would have had to send.
    Discard {
        /// Whom it was meant for.
        to: NodeId,
        /// The message.
        message: N::Message,
        /// Why, in a few words.
        why: &'static str,
    },
    /// An interesting situation was met.
    Mark(&'static str),
    /// A remark for the trace; made only when a trace is recorded.
    Note(String),
}

/// The list of effects of the step that is going on, with what the node draws from.
pub(crate) struct Outbox<N: Node> {
    pub(crate) effects: Vec<Effect<N>>,
    pub(crate) steps: u32,
    pub(crate) steps_max: u32,
    pub(crate) recording: bool,
}

impl<N: Node> Outbox<N> {
    pub(crate) fn new(steps_max: u32, recording: bool) -> Self {
        Outbox { effects: Vec::new(), steps: 0, steps_max, recording }
    }
}

/// Sources a node draws from: one counter per site, restarted in every window of time.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeDraws {
    pub(crate) key: Key,
    sites: Vec<(u64, Windowed)>,
}

impl NodeDraws {
    pub(crate) fn new(key: Key) -> Self {
        NodeDraws { key, sites: Vec::new() }
    }

    fn next(&mut self, site: u64, window: u32) -> u64 {
        let position = match self.sites.iter().position(|(s, _)| *s == site) {
            Some(position) => position,
            None => {
                self.sites.push((site, Windowed::default()));
                self.sites.len() - 1
            }
        };
        let occurrence = self.sites[position].1.next(window);
        self.key.at(site, occurrence)
    }
}

/// After how many effects of a kind a node crashes, in the middle of its step; 0 is never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fuse {
    pub(crate) sends: u32,
    pub(crate) replies: u32,
}

/// Counts an effect. True if it was the one after which the node crashes.
#[inline]
fn burns(fuse: &mut u32) -> bool {
    if *fuse == 0 {
        return false;
    }
    *fuse -= 1;
    *fuse == 0
}

/// The hands of a node while it handles one input.
///
/// Once the disk has died under it - the script crashes the node at one of its storage calls - nothing it still does
/// leaves the node.
pub struct Effects<'a, N: Node> {
    pub(crate) id: NodeId,
    pub(crate) disk: &'a mut Disk,
    pub(crate) outbox: &'a mut Outbox<N>,
    pub(crate) draws: &'a mut NodeDraws,
    pub(crate) fuse: &'a mut Fuse,
    pub(crate) window: u32,
    pub(crate) book: Option<&'a mut PinBook>,
    pub(crate) incarnation: u32,
}

impl<N: Node> Effects<'_, N> {
    /// The node that acts.
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// The node's disk.
    pub fn disk(&mut self) -> &mut Disk {
        self.disk
    }

    /// Sends a message; the network decides whether and when it arrives.
    #[inline]
    pub fn send(&mut self, to: NodeId, message: N::Message) {
        self.push(Effect::Send { to, message });
        if burns(&mut self.fuse.sends) {
            self.disk.die();
        }
    }

    /// Sets `timer` to go off once after a span from `low` to `high` of local time, replacing it if it is set.
    /// The world draws the span. A crash forgets it. Panics if `low > high`.
    #[inline]
    pub fn set_timer(&mut self, timer: N::Timer, low: Span, high: Span) {
        assert!(low <= high, "a timer's range is empty: {low} to {high}");
        self.push(Effect::SetTimer { timer, low, high });
    }

    /// Takes `timer` back if it is set.
    #[inline]
    pub fn cancel_timer(&mut self, timer: N::Timer) {
        self.push(Effect::CancelTimer(timer));
    }

    /// Answers operation `op`.
    pub fn reply(&mut self, op: OpId, reply: N::Reply) {
        self.push(Effect::Reply { op, reply });
        if burns(&mut self.fuse.replies) {
            self.disk.die();
        }
    }

    /// Says that the node itself lost `message`, which was meant for `to`: the first thing a report suspects.
    pub fn discard(&mut self, to: NodeId, message: N::Message, why: &'static str) {
        self.push(Effect::Discard { to, message, why });
    }

    /// Says that an interesting situation was met; campaigns count the runs that met it.
    pub fn mark(&mut self, name: &'static str) {
        self.push(Effect::Mark(name));
    }

    /// Adds a remark to the event in a recorded trace. Costs nothing in a campaign: write
    /// `fx.note(format_args!("term {old}->{new}"))`.
    #[inline]
    pub fn note(&mut self, text: fmt::Arguments<'_>) {
        if self.outbox.recording {
            let mut line = String::new();
            let _ = line.write_fmt(text);
            self.push(Effect::Note(line));
        }
    }

    /// Whether a trace is recorded. For skipping work that only makes text; never decide anything else by it.
    pub fn is_recording(&self) -> bool {
        self.outbox.recording
    }

    /// A number from `low` to `high` drawn by the world for `site`: a [`DrawSite`] or a number of the node's own
    /// choosing. Draws of one site do not shift those of another.
    pub fn draw(&mut self, site: impl Into<DrawSite>, low: u64, high: u64) -> u64 {
        assert!(low <= high, "an empty range");
        let site = site.into();
        let drawn = spread(self.draws.next(site.hash, self.window), low, high);
        match &mut self.book {
            None => drawn,
            Some(book) => book.draw(self.id, site, self.incarnation, (low, high), drawn),
        }
    }

    #[inline]
    fn push(&mut self, effect: Effect<N>) {
        self.outbox.steps += 1;
        if self.outbox.steps > self.outbox.steps_max {
            panics::exhausted();
        }
        if self.disk.is_dead() {
            return;
        }
        self.outbox.effects.push(effect);
    }
}
