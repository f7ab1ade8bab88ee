//! What checks see of a server.

use crate::core::{Core, server_of};
use crate::server::Server;
use whitewater_check::{ElectionView, LogView, Refusal};
use whitewater_sim::{NodeId, Role};

impl<C: Core> ElectionView for Server<C> {
    #[inline]
    fn term(&self) -> u64 {
        self.core().term()
    }

    #[inline]
    fn durable_term(&self) -> u64 {
        self.hard_state.term
    }

    #[inline]
    fn vote(&self) -> Option<NodeId> {
        self.core().vote()
    }

    #[inline]
    fn role(&self) -> Role {
        self.core().role()
    }

    #[inline]
    fn leader(&self) -> Option<NodeId> {
        self.core().leader()
    }

    fn names_leader(&self) -> bool {
        self.core().names_leader()
    }
}

impl<C: Core> LogView for Server<C> {
    #[inline]
    fn first_index(&self) -> u64 {
        self.chain.base() + 1
    }

    #[inline]
    fn last_index(&self) -> u64 {
        self.chain.last_index()
    }

    #[inline]
    fn memory_last_index(&self) -> u64 {
        self.core().last_index()
    }

    #[inline]
    fn commit(&self) -> u64 {
        if self.is_installing() { self.commit_before } else { self.core().commit() }
    }

    #[inline]
    fn applied(&self) -> u64 {
        self.applied
    }

    #[inline]
    fn term_at(&self, index: u64) -> Option<u64> {
        self.chain.term_at(index)
    }

    #[inline]
    fn chain_at(&self, index: u64) -> Option<u64> {
        self.chain.chain_at(index)
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
        self.core().match_index(peer)
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
