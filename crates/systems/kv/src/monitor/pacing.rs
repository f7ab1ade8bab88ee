//! Pace in the words of the rules: whom a leader says something to, what waits for an acknowledgement, and for its disk.

use super::leases::ordered;
use crate::message::KvMessage;
use crate::node::KvNode;
use crate::options::Settings;
use crate::server::{Server, Taken};
use crate::timer::KvTimer;
use whitewater_check::{Beat, LogView, Membership, PaceRules, Standing};
use whitewater_raft::{Message, MessageKind};
use whitewater_sim::{Effect, NodeId, Role, Seen, Violation, What};

/// The rules over pace.
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
    #[inline]
    pub(super) fn observe(
        &mut self,
        seen: &Seen<'_, KvNode>,
        view: &Server,
        (before, after): (&Standing, &Standing),
        membership: Membership,
    ) -> Result<(), Violation> {
        let own = 1 << seen.node.position();
        let waited = self.waiting & own != 0;
        let waits = view.waits_for_disk();
        self.waiting = if waits { self.waiting | own } else { self.waiting & !own };
        let is_free = !waited && !view.is_held_up();
        let leads = after.role == Role::Leader;
        match view.taken() {
            Some(taken) if taken.kind == MessageKind::Append && is_free => self.refuses(seen, view, taken)?,
            Some(taken) if taken.kind == MessageKind::AppendResponse && !taken.rejects && leads => {
                self.acknowledged(seen, view, taken, after.term, is_free)?;
            }
            _ => {}
        }
        if leads {
            if waited && waits && before.role == Role::Leader {
                self.is_silent(seen, after.term)?;
            }
            if is_free && view.is_handing_over() {
                self.hands_over(seen, view, after.term)?;
            }
            self.beat(seen, view, after.term, membership)?;
        }
        Ok(())
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
    #[inline]
    fn beat(
        &mut self,
        seen: &Seen<'_, KvNode>,
        view: &Server,
        term: u64,
        membership: Membership,
    ) -> Result<(), Violation> {
        self.rules.beat(&Beat {
            leader: seen.node,
            term,
            ticks: view.ticks(),
            interval_ticks: (self.interval_ticks)(view.settings()),
            members: membership.everybody(),
            said: said(seen),
            is_held_up: view.is_held_up(),
        })
    }

    /// A peer has acknowledged something: does it count, and does anything go on waiting that it would have room for?
    #[inline]
    fn acknowledged(
        &mut self,
        seen: &Seen<'_, KvNode>,
        view: &Server,
        taken: Taken,
        term: u64,
        is_free: bool,
    ) -> Result<(), Violation> {
        let Some(matched) = view.match_index(taken.from) else { return Ok(()) };
        let link = (seen.node, taken.from);
        if taken.term < term {
            return self.rules.acknowledged_late(link, (term, taken.term), matched);
        }
        self.rules.acknowledged(link, term, matched, || {
            let next = view.next_index(taken.from)?;
            // A snapshot goes instead of what is compacted away, if there is one to be had.
            let may_go = is_free && next >= view.first_index() && !view.is_window_full(taken.from);
            // One that cannot leave brings the next position back.
            let went = said(seen) & 1 << taken.from.position() != 0;
            (may_go && !went).then(|| (next, view.memory_last_index()))
        })
    }

    /// A follower was given an append: does it refuse what it cannot but have?
    fn refuses(&self, seen: &Seen<'_, KvNode>, view: &Server, taken: Taken) -> Result<(), Violation> {
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
        self.rules.refused((seen.node, taken.from), taken.term, taken.index, view.commit())
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

/// Whom a server said something to, a bit each by position. What cannot leave because there is no session was said all the
/// same.
#[inline]
fn said(seen: &Seen<'_, KvNode>) -> u16 {
    seen.effects.iter().fold(0, |said, effect| match effect {
        Effect::Send { to, .. } | Effect::Discard { to, .. } if to.is_server() => said | 1 << to.position(),
        _ => said,
    })
}
