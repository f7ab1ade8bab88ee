//! A step of a server, as the rules beside those that any Raft is under look at it: its effects are gone through once for all.

use crate::message::KvMessage;
use crate::node::KvNode;
use crate::server::Server;
use whitewater_check::{Membership, Standing};
use whitewater_raft::MessageKind;
use whitewater_sim::{Effect, NodeId, Seen};

/// What a server did, as far as most steps go: whoever asks for more looks at the effects themselves.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Deeds {
    /// Whom it said something to, a bit each by slot.
    told: u32,
    /// Of which kinds the messages of the core were that it sent, a bit each.
    kinds: u32,
    /// Whether it sent a piece of a snapshot.
    pub(super) is_in_pieces: bool,
    /// Whether an operation of a client has ended.
    pub(super) has_replied: bool,
}

impl Deeds {
    /// What these effects come to.
    #[inline]
    pub(super) fn of(effects: &[Effect<KvNode>]) -> Deeds {
        let mut deeds = Deeds::default();
        for effect in effects {
            match effect {
                Effect::Send { to, message } => {
                    deeds.told |= 1 << to.index();
                    match message {
                        KvMessage::Raft { message, .. } => deeds.kinds |= 1 << message.kind as u32,
                        KvMessage::Piece { .. } => deeds.is_in_pieces = true,
                        _ => {}
                    }
                }
                Effect::Discard { to, .. } => deeds.told |= 1 << to.index(),
                Effect::Reply { .. } => deeds.has_replied = true,
                _ => {}
            }
        }
        deeds
    }

    /// Whom it said something to, a bit each by position. What cannot leave because there is no session was said all the same.
    #[inline]
    pub(super) fn said(self) -> u16 {
        // Servers have the lowest slots.
        self.told as u16
    }

    /// Whether it said something to a server.
    #[inline]
    pub(super) fn said_to(self, node: NodeId) -> bool {
        self.told & 1 << node.index() != 0
    }

    /// Whether it sent a message of the core of this kind.
    #[inline]
    pub(super) fn has_sent(self, kind: MessageKind) -> bool {
        self.kinds & 1 << kind as u32 != 0
    }

    /// Whether it sent a message of the core that only a leader sends.
    #[inline]
    pub(super) fn has_sent_as_leader(self) -> bool {
        self.kinds & FROM_LEADERS != 0
    }
}

/// Kinds of messages that only a leader sends, a bit each.
const FROM_LEADERS: u32 = {
    let (mut kinds, mut place) = (0, 0);
    while place < MessageKind::ALL.len() {
        let kind = MessageKind::ALL[place];
        if kind.is_from_leader() {
            kinds |= 1 << kind as u32;
        }
        place += 1;
    }
    kinds
};

/// A step of a server that is up behind it.
#[derive(Clone, Copy)]
pub(super) struct Done<'a> {
    pub(super) seen: &'a Seen<'a, KvNode>,
    pub(super) deeds: Deeds,
    pub(super) view: &'a Server,
    /// Its part in elections before.
    pub(super) before: &'a Standing,
    /// And now.
    pub(super) after: &'a Standing,
    /// Its membership now; nobody votes in it if memberships never change.
    pub(super) membership: &'a Membership,
}
