//! Pace in the words of the rules: whom a leader says something to, what waits for an acknowledgement, and for its disk.

use super::leases::ordered;
use super::step::Done;
use crate::message::KvMessage;
use crate::node::KvNode;
use crate::options::Settings;
use crate::server::{Server, Taken};
use crate::timer::KvTimer;
use whitewater_check::{Beat, LogView, PaceRules};
use whitewater_raft::{Message, MessageKind};
use whitewater_sim::{Effect, NodeId, Role, Seen, Violation, What};

/// The rules over pace.
#[derive(Clone)]
pub(super) struct Pacing {
    pub(super) rules: PaceRules,
    /// Ticks of the heartbeat interval.
    pub(super) interval_ticks: fn(&Settings) -> u32,
    /// Servers that could do nothing before their disk was done at the end of their last step, a bit each by position.
    waiting: u16,
}

impl Default for Pacing {
    fn default() -> Pacing {
        Pacing {
            rules: PaceRules::default(),
            interval_ticks: |settings| settings.heartbeat_ticks,
            waiting: 0,
        }
    }
}

impl Pacing {
    /// A server has begun another life, or its life is over.
    pub(super) fn forget(&mut self, node: NodeId) {
        self.rules.forget(node);
        self.waiting &= !(1 << node.position());
    }

    /// Looks at a step of a server.
    #[inline(always)]
    pub(super) fn observe(&mut self, done: &Done<'_>) -> Result<(), Violation> {
        let Done { seen, deeds, view, before, after, .. } = *done;
        let own = 1 << seen.node.index();
        let waited = self.waiting & own != 0;
        let waits = view.waits_for_disk();
        self.waiting = if waits { self.waiting | own } else { self.waiting & !own };
        if after.role != Role::Leader {
            let is_free = !waited && !view.is_held_up();
            return match view.taken() {
                Some(taken) if taken.kind == MessageKind::Append && is_free => self.refuses(done, taken),
                _ => Ok(()),
            };
        }
        let is_held_up = view.is_held_up();
        let is_free = !waited && !is_held_up;
        match view.taken() {
            Some(taken) if taken.kind == MessageKind::Append && is_free => self.refuses(done, taken)?,
            Some(taken) if taken.kind == MessageKind::AppendResponse && !taken.rejects => {
                self.acknowledged(done, taken, is_free)?;
            }
            _ => {}
        }
        if waited && waits && before.role == Role::Leader && deeds.has_sent_as_leader() {
            self.is_silent(seen, after.term)?;
        }
        if is_free && view.is_handing_over() && deeds.has_sent(MessageKind::TimeoutNow) {
            self.hands_over(seen, view, after.term)?;
        }
        self.beat(done, is_held_up)
    }

    /// Is anybody told to take over who is not ready for it?
    fn hands_over(&self, seen: &Seen<'_, KvNode>, view: &Server, term: u64) -> Result<(), Violation> {
        let Some((peer, matched)) = ordered(seen).and_then(|peer| Some((peer, view.match_index(peer)?)))
        else {
            return Ok(());
        };
        self.rules.order((seen.node, peer), term, matched, view.memory_last_index())
    }

    /// Who is told nothing for too long by a leader?
    #[inline(always)]
    fn beat(&mut self, done: &Done<'_>, is_held_up: bool) -> Result<(), Violation> {
        let Done { seen, deeds, view, after, membership, .. } = *done;
        self.rules.beat(&Beat {
            leader: seen.node,
            term: after.term,
            ticks: view.ticks(),
            interval_ticks: (self.interval_ticks)(view.settings()),
            members: membership.everybody(),
            said: deeds.said(),
            is_held_up,
        })
    }

    /// A peer has acknowledged something: does it count, and does anything go on waiting that it would have room for?
    #[inline(always)]
    fn acknowledged(&mut self, done: &Done<'_>, taken: &Taken, is_free: bool) -> Result<(), Violation> {
        let Done { seen, deeds, view, after, .. } = *done;
        let Some(matched) = view.match_index(taken.from) else { return Ok(()) };
        let link = (seen.node, taken.from);
        if taken.term < after.term {
            return self.rules.acknowledged_late(link, (after.term, taken.term), matched);
        }
        self.rules.acknowledged(link, after.term, matched, || {
            let next = view.next_index(taken.from)?;
            // A snapshot goes instead of what is compacted away, if there is one to be had.
            let may_go = is_free && next >= view.first_index() && !view.is_window_full(taken.from);
            // One that cannot leave brings the next position back.
            (may_go && !deeds.said_to(taken.from)).then(|| (next, view.memory_last_index()))
        })
    }

    /// A follower was given an append: does it refuse what it cannot but have?
    #[inline(always)]
    fn refuses(&self, done: &Done<'_>, taken: &Taken) -> Result<(), Violation> {
        let Done { seen, deeds, view, .. } = *done;
        // Whoever has not committed so far may refuse it.
        if !deeds.has_sent(MessageKind::AppendResponse) || taken.index > view.commit() {
            return Ok(());
        }
        self.refuses_committed(seen, taken, view.commit())
    }

    #[inline(never)]
    fn refuses_committed(
        &self,
        seen: &Seen<'_, KvNode>,
        taken: &Taken,
        commit: u64,
    ) -> Result<(), Violation> {
        let refuses = |message: &Message| {
            let asks_for_snapshot = message.context != 0;
            let is_refusal = message.kind == MessageKind::AppendResponse && message.reject;
            is_refusal && message.term == taken.term && message.index == taken.index && !asks_for_snapshot
        };
        let refused = seen.effects.iter().any(|effect| match effect {
            Effect::Send { to, message: KvMessage::Raft { message, .. } } => {
                *to == taken.from && refuses(message)
            }
            _ => false,
        });
        if !refused {
            return Ok(());
        }
        self.rules.refused((seen.node, taken.from), taken.term, taken.index, commit)
    }

    /// A leader could do nothing before its disk was done, and it is not done yet.
    fn is_silent(&self, seen: &Seen<'_, KvNode>, term: u64) -> Result<(), Violation> {
        // A disk that is done in a step gives way to what comes next, which may have to wait for it in turn.
        if !matches!(seen.what, What::Delivered { .. } | What::Fired(KvTimer::Tick)) {
            return Ok(());
        }
        let said = seen.effects.iter().find_map(|effect| match effect {
            // The transport may tell a leader of an older term of a newer one, which no core has to do with.
            Effect::Send { to, message: KvMessage::Raft { message, .. } }
                if message.kind.is_from_leader() =>
            {
                Some((*to, message.kind))
            }
            _ => None,
        });
        match said {
            Some((peer, kind)) => self.rules.speak_without_disk((seen.node, peer), term, kind.name()),
            None => Ok(()),
        }
    }
}
