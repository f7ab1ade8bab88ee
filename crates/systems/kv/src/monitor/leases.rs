//! Leases in the words of the rules: which message means what, and who was answered a read.

use super::step::Done;
use crate::command::Answer;
use crate::message::{KvMessage, Outcome, server};
use crate::node::KvNode;
use crate::options::{Reads, Settings};
use crate::server::{Server, Taken};
use whitewater_check::{Heard, LeaseRules, LeaseStep};
use whitewater_raft::MessageKind;
use whitewater_sim::{Effect, NodeId, SERVERS_MAX, Script, Seen, Violation, What};

/// The rules over leases.
#[derive(Clone)]
pub(super) struct Leases {
    pub(super) rules: LeaseRules,
    /// How many ticks the shortest election timeout of a server has.
    pub(super) timeout: fn(&Settings) -> u32,
    /// By position: the term in which a server ordered another to take over, which need not wait for its lease to end.
    pub(super) gave_away_in: [u64; SERVERS_MAX],
}

impl Leases {
    pub(super) fn new(script: &Script) -> Leases {
        let timeout = |settings: &Settings| settings.election_ticks;
        Leases { rules: LeaseRules::new(script.servers), timeout, gave_away_in: [0; SERVERS_MAX] }
    }

    /// Looks at a step of a server.
    #[inline(always)]
    pub(super) fn observe(&mut self, done: &Done<'_>) -> Result<(), Violation> {
        let Done { seen, deeds, view, before, after, membership } = *done;
        let settings = view.settings();
        if !settings.check_quorum {
            return Ok(());
        }
        let heard = view.taken().map(|taken| (taken.from, taken.term, heard(taken)));
        let hands_over = view.is_handing_over();
        if hands_over && deeds.has_sent(MessageKind::TimeoutNow) {
            self.gave_away_in[seen.node.index()] = after.term;
        }
        let gave_away = after.term > 0 && self.gave_away_in[seen.node.index()] == after.term;
        let asked = matches!(heard, Some((_, _, Heard::Ballot { .. })));
        let gives = asked && deeds.has_sent(MessageKind::PreVoteResponse);
        self.rules.observe(LeaseStep {
            node: seen.node,
            election_ticks: (self.timeout)(settings),
            ticks: view.ticks(),
            heard,
            before,
            after,
            membership,
            pre_vote_for: if gives { seen.effects.iter().find_map(pre_vote_in) } else { None },
            hands_over,
            served_at_once: if gave_away { served_at_once(seen, view) } else { None },
        })
    }
}

#[inline]
fn heard(taken: &Taken) -> Heard {
    match taken.kind {
        kind if kind.is_from_leader() => Heard::Leader,
        MessageKind::Vote | MessageKind::PreVote => Heard::Ballot { takes_over: taken.takes_over },
        _ => Heard::Other,
    }
}

/// Whom a leader tells to take over.
pub(super) fn ordered(seen: &Seen<'_, KvNode>) -> Option<NodeId> {
    seen.effects.iter().find_map(|effect| match effect {
        Effect::Send { to, message: KvMessage::Raft { message, .. } }
            if message.kind == MessageKind::TimeoutNow =>
        {
            Some(*to)
        }
        _ => None,
    })
}

/// Who asked for a read in this step, or passed one on, and has its answer in it.
fn served_at_once(seen: &Seen<'_, KvNode>, view: &Server) -> Option<NodeId> {
    let What::Delivered { from, .. } = seen.what else { return None };
    // In the log there may be an answer that was given before.
    if !view.settings().lease || view.settings().reads == Reads::Log {
        return None;
    }
    let passed_on = view.taken().is_some_and(|taken| taken.kind == MessageKind::ReadIndex);
    let is_answer = |message: &KvMessage| match message {
        KvMessage::Response { outcome: Outcome::Done(Answer::Value(_)), .. } => true,
        KvMessage::Raft { message, .. } => passed_on && message.kind == MessageKind::ReadIndexResponse,
        _ => false,
    };
    let answers = |effect: &Effect<KvNode>| match effect {
        Effect::Send { to, message } => *to == from && is_answer(message),
        _ => false,
    };
    seen.effects.iter().any(answers).then_some(from)
}

/// Whom a message gives a pre-vote.
fn pre_vote_in(effect: &Effect<KvNode>) -> Option<NodeId> {
    let Effect::Send { message: KvMessage::Raft { message, .. }, .. } = effect else { return None };
    let grants = message.kind == MessageKind::PreVoteResponse && !message.reject;
    if grants { server(message.to) } else { None }
}
