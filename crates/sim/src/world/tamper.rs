//! What happens to messages where they arrive: second copies, damage, wrong receivers, copies kept for later.

use super::director::Tampered;
use super::{Copying, Packet, Pending, World};
use crate::draw::{Draw, fold, spread};
use crate::fault::Fault;
use crate::id::NodeId;
use crate::monitor::Monitor;
use crate::node::{Message, Node};
use crate::pins::{DrawSite, Onward};
use crate::ratio::Ratio;
use crate::time::Span;
use crate::trace::EventKind;

/// Copies that are kept at once; what would be more is not kept.
const KEPT_MAX: usize = 256;

/// Where the draws of what happens at arrival have their addresses.
const TAMPERING: u64 = 0x1d8e_4e27_c47d_124e;

/// Where the delay of a copy that was kept is drawn.
const REPLAYED: DrawSite = DrawSite::new("replayed");

/// A copy that is to come some elections later.
pub(super) struct Kept<N: Node> {
    packet: Packet<N>,
    /// At which count of elections won.
    due: u64,
    /// Incarnations of sender and receiver when it was kept.
    incarnations: (u32, u32),
}

impl<N: Node, M: Monitor<N>> World<N, M> {
    /// Applies what changes messages where they arrive. Gives the packet back if its receiver is to handle it. One that
    /// `is_copied` already is not copied by chance once more.
    pub(super) fn tamper(&mut self, mut packet: Packet<N>, is_copied: bool) -> Option<Packet<N>> {
        let is_copy = packet.copying == Copying::Done;
        let site = TAMPERING ^ u64::from(is_copy);
        let mut draw = Draw::from_value(fold(packet.bits, site));
        // What was decided at sending is not drawn again.
        let by_chance = packet.copying != Copying::Decided;
        let mut corrupt = hits(draw.bits(), self.network.corrupt) && by_chance;
        let mut goes_to = match hits(draw.bits(), self.network.misdeliver) && by_chance {
            true => self.another_server(&packet, &mut draw),
            false => None,
        };
        let mut tampered = Tampered::default();
        if self.director.tampers() && !is_copy {
            let subject = self.subject_of(packet.from, packet.to, &packet.message, packet.key);
            self.cast();
            tampered = self.director.tamper(&subject, packet.bits);
            let fixed = self.book.as_ref().is_some_and(|book| book.is_fixed());
            corrupt |= tampered.corrupt && !fixed;
            if let Some(mut draw) = tampered.astray_by_chance.take().filter(|_| by_chance) {
                goes_to = goes_to.or_else(|| self.another_server(&packet, &mut draw));
            }
            if let Some(after) = tampered.copied_by_chance.filter(|_| by_chance && !is_copied) {
                if let Some(book) = &mut self.book {
                    book.copied(packet.cause.0, after);
                }
                self.copy(&packet, Fault::Duplicate, after);
            }
            if let Some(after) = tampered.copy_after {
                self.copy(&packet, Fault::Repeat, after);
            }
            if let Some(elections) = tampered.replay_after {
                self.keep(&packet, elections);
            }
        }
        if let Some(book) = &mut self.book {
            book.astray(packet.cause.0, goes_to);
        }
        if !by_chance {
            goes_to = Onward::unpacked(packet.bits).at;
        }
        goes_to = tampered.goes_to.or(goes_to);
        if let Some(book) = self.book.as_mut().filter(|_| corrupt) {
            book.damaged(packet.cause.0, is_copy);
        }
        if corrupt && self.bite(Fault::Corrupt) {
            if !packet.message.corrupt(&mut draw) {
                let Packet { from, to, cause, .. } = packet;
                let why = "it is damaged, and its checksum says so";
                self.record_message(EventKind::Drop, Some(to), cause, from, to, &packet.message, why);
                return None;
            }
            packet.key = packet.message.key();
        }
        if let Some(to) = goes_to.filter(|&to| to != packet.to && self.cluster.is_up(to))
            && self.bite(Fault::Misdeliver)
        {
            packet.to = to;
            // The stranger may be busy.
            self.queue.push(self.now, Pending::Packet(Packet { copying: Copying::Done, ..packet }));
            return None;
        }
        Some(packet)
    }

    /// A server that a message between servers may go to by mistake.
    fn another_server(&self, packet: &Packet<N>, draw: &mut Draw) -> Option<NodeId> {
        let servers = self.cluster.servers;
        if packet.copying == Copying::Done
            || servers < 3
            || !packet.from.is_server()
            || !packet.to.is_server()
        {
            return None;
        }
        let others = self.cluster.servers().filter(|&node| node != packet.from && node != packet.to);
        others.into_iter().nth(draw.below(servers as u64 - 2) as usize)
    }

    /// Puts a second copy of a packet on its way.
    pub(super) fn copy(&mut self, packet: &Packet<N>, fault: Fault, delay: Span) {
        let Some(message) = packet.message.duplicate() else { return };
        if self.bite(fault) {
            let Packet { from, to, key, bits, digest, sent, cause, .. } = *packet;
            let copying = Copying::Done;
            let copy = Packet { from, to, message, key, bits, digest, sent, cause, copying };
            self.queue.push(self.now + delay, Pending::Packet(copy));
        }
    }

    fn keep(&mut self, packet: &Packet<N>, elections: u32) {
        if self.kept.len() >= KEPT_MAX || self.director.over {
            return;
        }
        let Some(message) = packet.message.duplicate() else { return };
        let Packet { from, to, key, bits, digest, sent, cause, .. } = *packet;
        let copying = Copying::Done;
        let packet = Packet { from, to, message, key, bits, digest, sent, cause, copying };
        let incarnations = (self.cluster.incarnation(from), self.cluster.incarnation(to));
        let due = self.counters.leader_changes + u64::from(elections);
        self.kept.push(Kept { packet, due, incarnations });
    }

    /// An election was won: copies that have waited for it come.
    pub(super) fn release_kept(&mut self) {
        let won = self.counters.leader_changes;
        let mut at = 0;
        while at < self.kept.len() {
            if self.kept[at].due > won {
                at += 1;
                continue;
            }
            let Kept { packet, incarnations, .. } = self.kept.remove(at);
            if !self.cluster.is_up(packet.to) || !self.bite(Fault::Replay) {
                continue;
            }
            let now = (self.cluster.incarnation(packet.from), self.cluster.incarnation(packet.to));
            if now != incarnations && !self.bite(Fault::ReplayOverRestart) {
                continue;
            }
            let bits = fold(packet.bits, won | 1);
            let (low, high) = (self.network.delay_low.nanos(), self.network.delay_high.nanos());
            let drawn = spread(bits, low, high);
            let delay = match &mut self.book {
                None => drawn,
                Some(book) => book.number(packet.from, REPLAYED, now.0, drawn, low),
            };
            self.queue.push(self.now + Span::from_nanos(delay), Pending::Packet(packet));
        }
    }
}

/// Whether 16 random bits fall into a share.
#[inline]
pub(super) fn hits(bits: u64, share: Ratio) -> bool {
    (bits as u16) < share.0
}
