//! The network: what becomes of a message between its sender and its receiver.

use super::tamper::hits;
use super::{Copying, Packet, Pending, World};
use crate::digest::{Digest, Digester};
use crate::draw::{Draw, fold, scale};
use crate::fault::Fault;
use crate::id::{Link, NodeId};
use crate::monitor::Monitor;
use crate::network::{Network, Shape};
use crate::node::{Message, Node};
use crate::pins::{Decided, Onward};
use crate::ratio::Ratio;
use crate::target::Condition;
use crate::time::Span;
use crate::trace::{EventId, EventKind};

impl<N: Node, M: Monitor<N>> World<N, M> {
    /// A node sends: one 64-bit draw, addressed by the message's name, decides loss and delay.
    pub(super) fn send(&mut self, from: NodeId, to: NodeId, message: N::Message, cause: EventId) {
        self.counters.sent += 1;
        let mut digester = Digester::default();
        message.digest(&mut digester);
        let digest = digester.short() ^ (from.index() as u64) << 8 ^ u64::from(message.kind().code);
        self.hash.word(digest.rotate_right(to.index() as u32));
        let key = message.key();
        let bits = self.name_draw(from, to, message.kind().code, key);
        let mut delay = self.delay(bits);
        if hits(bits >> 16, self.network.reorder) && self.bite(Fault::Reorder) {
            let more = scale(fold(bits, 0x9e37_79b9_7f4a_7c15), self.network.reorder_window.nanos() + 1);
            delay = delay + Span::from_nanos(more);
        }
        let mut fate = Fate::Goes;
        if hits(bits, self.network.loss) && self.bite(Fault::Loss) {
            fate = Fate::Lost;
        }
        let (mut bits, mut copying) = (bits, Copying::Drawn);
        if self.book.is_some() {
            (bits, copying) = self.look_up(from, to, &message, bits, &mut delay, &mut fate);
        }
        if self.director.bends_messages() {
            delay = delay + self.bend((from, to), (&message, key), bits, &mut fate);
        }
        if !self.cluster.is_open(Link { from, to }) {
            fate = Fate::Cut;
        }
        let event = match fate {
            Fate::Goes => {
                let event = self.record_message(EventKind::Send, Some(from), cause, from, to, &message, "");
                if self.trace.is_some() {
                    self.remark(format!("arrives {}", self.now + delay));
                }
                event
            }
            Fate::Lost => self.record_message(
                EventKind::Drop,
                Some(from),
                cause,
                from,
                to,
                &message,
                "lost by the network",
            ),
            Fate::Cut => {
                self.count_cut(Link { from, to });
                self.record_message(EventKind::Cut, Some(from), cause, from, to, &message, "the link is cut")
            }
        };
        if let Some(book) = &mut self.book {
            book.sent(event.0);
        }
        let watched = self.director.watches_leaves().then(|| self.subject_of(from, to, &message, key));
        if fate == Fate::Goes {
            let packet =
                Packet { from, to, message, key, bits, digest, sent: self.now, cause: event, copying };
            self.queue.push(self.now + delay, Pending::Packet(packet));
        }
        if let Some(subject) = watched {
            self.meet(event, &subject, |condition| match condition {
                Condition::Leaves(pattern) => Some(pattern),
                _ => None,
            });
        }
    }

    /// Asks the book what becomes of a message; gives bits for its packet.
    #[cold]
    fn look_up(
        &mut self,
        from: NodeId,
        to: NodeId,
        message: &N::Message,
        bits: u64,
        delay: &mut Span,
        fate: &mut Fate,
    ) -> (u64, Copying) {
        let incarnation = self.cluster.incarnation(from);
        let drawn = Decided { lost: *fate == Fate::Lost, delay: *delay, more: None };
        let book = self.book.as_mut().expect("asked for only if there is one");
        let name = (message.kind().name, message.key());
        let shortest = self.network.delay_low;
        let decided = book.message((from, to), name, message, incarnation, drawn, shortest);
        *delay = decided.delay;
        let loses = decided.lost && (drawn.lost || self.bite(Fault::Drop));
        *fate = if loses { Fate::Lost } else { Fate::Goes };
        match decided.more {
            None => (bits, Copying::Drawn),
            Some(more) => (more.packed(), Copying::Decided),
        }
    }

    /// How long a message is under way, if nothing else happens to it.
    #[inline]
    fn delay(&mut self, bits: u64) -> Span {
        let Network { delay_low: low, delay_high: high, shape, .. } = self.network;
        let (nanos, is_slow) = shape.delay(bits, low.nanos(), high.nanos());
        if is_slow {
            let fault = if shape == Shape::LongTail { Fault::LongTail } else { Fault::Bimodal };
            if !self.bite(fault) {
                return low;
            }
        }
        Span::from_nanos(nanos)
    }

    /// The draw that belongs to the message's name: link, kind, content, incarnation of the sender, occurrence.
    #[inline]
    fn name_draw(&mut self, from: NodeId, to: NodeId, kind: u8, key: u64) -> u64 {
        let incarnation = u64::from(self.cluster.incarnation(from));
        let place = (to.index() as u64) << 48 | u64::from(kind) << 32 | incarnation;
        let name = fold(key ^ 0x243f_6a88_85a3_08d3, place ^ 0xa409_3822_299f_31d1);
        let window = self.window();
        let around = self.around(from);
        let occurrence = around.names.occurrence(name, window);
        around.link_key.at(name, occurrence)
    }

    /// A packet comes to the end of its way. It is handed on whole, never back: each time it would be copied.
    pub(super) fn deliver(&mut self, packet: Packet<N>) {
        let (from, to) = (packet.from, packet.to);
        if !self.cluster.is_open(Link { from, to }) {
            self.count_cut(Link { from, to });
            self.record_arrival(EventKind::Cut, Some(to), &packet, "the link is cut");
        } else if !self.director.holds() {
            self.reach(packet);
        } else if let Some(packet) = self.hold_packet(packet) {
            self.reach(packet);
        }
    }

    /// Nothing on the way has held a packet up.
    #[inline]
    fn reach(&mut self, packet: Packet<N>) {
        if !self.cluster.is_up(packet.to) {
            self.counters.bites[Fault::Undeliverable] += 1;
            self.record_arrival(EventKind::Down, None, &packet, "the receiver is down");
            return;
        }
        let mut tampers = self.tampers || self.director.tampers();
        let is_copied = match packet.copying {
            Copying::Drawn => self.maybe_duplicate(&packet),
            Copying::Decided => {
                let onward = Onward::unpacked(packet.bits);
                if let Some(after) = onward.again {
                    self.copy(&packet, Fault::Duplicate, after);
                }
                tampers |= onward.at.is_some();
                onward.again.is_some()
            }
            Copying::Done => false,
        };
        if !tampers {
            self.take_in(packet);
        } else if let Some(packet) = self.tamper(packet, is_copied) {
            self.take_in(packet);
        }
    }

    /// Draws whether a packet comes twice: not before it arrives, as a copy meets the partitions of its own time.
    #[inline]
    fn maybe_duplicate(&mut self, packet: &Packet<N>) -> bool {
        if self.network.duplicate == Ratio::NEVER {
            return false;
        }
        let mut draw = Draw::from_value(packet.bits);
        let comes_twice = hits(draw.bits(), self.network.duplicate);
        if comes_twice {
            let delay = draw.within(self.network.delay_low.nanos(), self.network.delay_high.nanos());
            if let Some(book) = &mut self.book {
                book.copied(packet.cause.0, Span::from_nanos(delay));
            }
            self.copy(packet, Fault::Duplicate, Span::from_nanos(delay));
        }
        comes_twice
    }

    /// Records what became of a packet that does not come to its receiver.
    fn record_arrival(&mut self, kind: EventKind, node: Option<NodeId>, packet: &Packet<N>, remark: &str) {
        let &Packet { from, to, cause, .. } = packet;
        self.record_message(kind, node, cause, from, to, &packet.message, remark);
    }

    /// Applies the steps that single messages out. Gives the additional delay.
    fn bend(
        &mut self,
        (from, to): (NodeId, NodeId),
        (message, key): (&N::Message, u64),
        bits: u64,
        fate: &mut Fate,
    ) -> Span {
        let (subject, size_bytes) = (self.subject_of(from, to, message, key), message.size_bytes());
        self.cast();
        let mut bent = self.director.bend(&subject, size_bytes, fold(bits, 0xe703_7ed1_a0b4_28db));
        if let Some(book) = &mut self.book {
            if book.is_fixed() {
                (bent.lost_by_chance, bent.jitter) = (false, bent.jitter_least);
                bent.overtaken = Span::ZERO;
            } else {
                book.bent(bent.lost_by_chance, bent.jitter + bent.overtaken);
            }
        }
        if bent.lost.is_some_and(|fault| self.bite(fault))
            || (bent.lost_by_chance && self.bite(Fault::LossyLink))
        {
            *fate = Fate::Lost;
        }
        let mut delay = Span::ZERO;
        if bent.delay > Span::ZERO && self.bite(Fault::SlowLink) {
            delay = bent.delay;
        }
        if bent.jitter > Span::ZERO && self.bite(Fault::Jitter) {
            delay = delay + bent.jitter;
        }
        if bent.overtaken > Span::ZERO && self.bite(Fault::Reorder) {
            delay = delay + bent.overtaken;
        }
        delay
    }
}

/// What becomes of a message at sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Goes,
    Lost,
    Cut,
}
