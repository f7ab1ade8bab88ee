//! What checks see of a server.

use super::Server;
use crate::core::Core;
use crate::number::server_of;
use whitewater_check::{ElectionView, LogView, Membership, Refusal};
use whitewater_sim::{NodeId, Role};

impl<C: Core> ElectionView for Server<C> {
    #[inline]
    fn term(&self) -> u64 {
        self.shown.term
    }

    #[inline]
    fn durable_term(&self) -> u64 {
        self.hard_state.term
    }

    #[inline]
    fn vote(&self) -> Option<NodeId> {
        self.shown.vote
    }

    #[inline]
    fn role(&self) -> Role {
        self.shown.role
    }

    #[inline]
    fn leader(&self) -> Option<NodeId> {
        self.shown.leader
    }

    fn names_leader(&self) -> bool {
        C::NAMES_LEADER
    }
}

impl<C: Core> LogView for Server<C> {
    #[inline]
    fn first_index(&self) -> u64 {
        self.spine.chain.base() + 1
    }

    #[inline]
    fn last_index(&self) -> u64 {
        self.spine.chain.last_index()
    }

    #[inline]
    fn memory_last_index(&self) -> u64 {
        self.shown.last_index
    }

    #[inline]
    fn commit(&self) -> u64 {
        if self.is_installing() { self.commit_before } else { self.shown.commit }
    }

    #[inline]
    fn applied(&self) -> u64 {
        self.applied
    }

    #[inline]
    fn term_at(&self, index: u64) -> Option<u64> {
        self.spine.chain.term_at(index)
    }

    #[inline]
    fn chain_at(&self, index: u64) -> Option<u64> {
        self.spine.chain.chain_at(index)
    }

    #[inline]
    fn durable_index(&self) -> u64 {
        self.durable
    }

    #[inline]
    fn durable_vote(&self) -> Option<NodeId> {
        server_of(self.hard_state.vote)
    }

    #[inline]
    fn match_index(&self, peer: NodeId) -> Option<u64> {
        self.core.match_index(peer)
    }

    #[inline]
    fn acknowledges_leaders_only(&self) -> bool {
        C::ACKNOWLEDGES_LEADERS_ONLY
    }

    #[inline]
    fn memberships(&self) -> &[(u64, Membership)] {
        if self.identity.settings.changing { &self.memberships } else { &[] }
    }

    #[inline]
    fn changes(&self) -> &[u64] {
        &self.spine.changes
    }

    #[inline]
    fn state_hash(&self) -> Option<u64> {
        Some(self.machine.hash())
    }

    #[inline]
    fn refusals(&self) -> u32 {
        self.refusals
    }

    fn last_refusal(&self) -> Option<Refusal> {
        self.last_refusal
    }
}
