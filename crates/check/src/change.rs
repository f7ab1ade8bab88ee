//! What one event changed at one node: bits with old and new values, made once per event for all rules.

use crate::view::ElectionView;
use std::ops::BitOr;
use whitewater_sim::{NodeId, Role, SLOTS};

/// A set of things that can change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bits(pub(crate) u32);

impl Bits {
    /// Nothing.
    pub const NONE: Bits = Bits(0);
    /// The node's term.
    pub const TERM: Bits = Bits(1);
    /// The node's durable term.
    pub const DURABLE_TERM: Bits = Bits(1 << 1);
    /// The node's vote.
    pub const VOTE: Bits = Bits(1 << 2);
    /// The node's role.
    pub const ROLE: Bits = Bits(1 << 3);
    /// Whom the node takes for the leader.
    pub const LEADER: Bits = Bits(1 << 4);
    /// The node sent a vote.
    pub const GRANT: Bits = Bits(1 << 5);
    /// The node started, for the first time or again.
    pub const BOOT: Bits = Bits(1 << 6);

    /// Whether the sets share an element.
    #[inline]
    pub const fn meets(self, other: Bits) -> bool {
        self.0 & other.0 != 0
    }

    #[inline]
    pub(crate) const fn when(self, condition: bool) -> Bits {
        if condition { self } else { Bits::NONE }
    }
}

impl BitOr for Bits {
    type Output = Bits;
    fn bitor(self, other: Bits) -> Bits {
        Bits(self.0 | other.0)
    }
}

/// A node's part in elections at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// See [`ElectionView::term`].
    pub term: u64,
    /// See [`ElectionView::durable_term`].
    pub durable_term: u64,
    /// See [`ElectionView::vote`].
    pub vote: Option<NodeId>,
    /// See [`ElectionView::role`].
    pub role: Role,
    /// See [`ElectionView::leader`].
    pub leader: Option<NodeId>,
    /// See [`ElectionView::names_leader`].
    pub names_leader: bool,
}

impl Standing {
    /// The present standing of a node.
    #[inline]
    pub fn of<V: ElectionView + ?Sized>(view: &V) -> Standing {
        Standing {
            term: view.term(),
            durable_term: view.durable_term(),
            vote: view.vote(),
            role: view.role(),
            leader: view.leader(),
            names_leader: view.names_leader(),
        }
    }
}

/// A vote that a node sent: a promise not to choose anybody else in that term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// In which term.
    pub term: u64,
    /// For whom.
    pub candidate: NodeId,
}

/// What one event changed at one node.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// The node.
    pub node: NodeId,
    /// What changed.
    pub bits: Bits,
    /// As it was, for a node that starts as it was before the crash.
    pub before: Standing,
    /// As it is.
    pub after: Standing,
    /// Votes the node sent in this event.
    pub grants: &'a [Grant],
}

/// The standing of every node as of its last event. What a crashed node had is kept: its next start is compared with it.
#[derive(Clone, Debug)]
pub struct Shadows {
    nodes: Vec<Standing>,
}

impl Default for Shadows {
    fn default() -> Shadows {
        Shadows { nodes: vec![Standing::default(); SLOTS] }
    }
}

impl Shadows {
    /// The standing of a node as of its last event.
    pub fn of(&self, node: NodeId) -> Standing {
        self.nodes[node.index()]
    }

    /// As [`Shadows::of`], in place.
    #[inline]
    pub(crate) fn last(&self, node: NodeId) -> &Standing {
        &self.nodes[node.index()]
    }

    /// Forgets a node.
    pub(crate) fn forget(&mut self, node: NodeId) {
        self.nodes[node.index()] = Standing::default();
    }

    /// Compares a node after an event with what it was, and remembers it. `booted` if the event was a start.
    #[inline]
    pub fn change<'a>(
        &mut self,
        node: NodeId,
        after: Standing,
        booted: bool,
        grants: &'a [Grant],
    ) -> Change<'a> {
        let before = std::mem::replace(&mut self.nodes[node.index()], after);
        let mut bits = Bits::BOOT.when(booted) | Bits::GRANT.when(!grants.is_empty());
        if before != after {
            bits = bits
                | Bits::TERM.when(before.term != after.term)
                | Bits::DURABLE_TERM.when(before.durable_term != after.durable_term)
                | Bits::VOTE.when(before.vote != after.vote)
                | Bits::ROLE.when(before.role != after.role)
                | Bits::LEADER.when(before.leader != after.leader);
        }
        Change { node, bits, before, after, grants }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_said_to_have_changed() {
        let mut shadows = Shadows::default();
        let node = NodeId::server(0);
        let standing = Standing { term: 3, durable_term: 3, ..Standing::default() };
        let bits = shadows.change(node, standing, true, &[]).bits;
        assert!(bits.meets(Bits::TERM) && bits.meets(Bits::BOOT) && !bits.meets(Bits::ROLE));
        assert_eq!(shadows.change(node, standing, false, &[]).bits, Bits::NONE);
    }
}
