//! What checks see of a server.

use super::Server;
use crate::message::server;
use crate::node::role_of;
use whitewater_check::{ElectionView, Linked, LogView, Membership, Refusal, Tracked};
use whitewater_raft::ProgressState;
use whitewater_sim::{NodeId, Role};

/// What scripts may wait for: the term, the last entry of the log and the last durable one, the commit index, the last
/// entry applied, and how far the snapshot on the disk reaches.
pub(crate) const FIGURES: &[&str] = &["term", "last", "durable", "commit", "applied", "snapshot"];

impl Server {
    /// One of [`FIGURES`].
    pub(crate) fn figure(&self, name: &str) -> Option<u64> {
        match name {
            "term" => Some(self.core.term()),
            "last" => Some(self.core.last_index()),
            "durable" => Some(self.durable),
            "commit" => Some(self.core.commit_index()),
            "applied" => Some(self.applied),
            "snapshot" => Some(self.core.storage().snapshot_index()),
            _ => None,
        }
    }
}

impl ElectionView for Server {
    #[inline]
    fn term(&self) -> u64 {
        self.core.term()
    }

    #[inline]
    fn durable_term(&self) -> u64 {
        self.core.storage().hard_state().term
    }

    #[inline]
    fn vote(&self) -> Option<NodeId> {
        server(self.core.vote())
    }

    #[inline]
    fn role(&self) -> Role {
        role_of(self.core.role())
    }

    #[inline]
    fn leader(&self) -> Option<NodeId> {
        server(self.core.leader())
    }
}

impl LogView for Server {
    #[inline]
    fn first_index(&self) -> u64 {
        self.spine.base() + 1
    }

    #[inline]
    fn last_index(&self) -> u64 {
        self.spine.last()
    }

    #[inline]
    fn memory_last_index(&self) -> u64 {
        self.core.last_index()
    }

    fn is_whole(&self) -> bool {
        self.core.installing_snapshot().is_none() && self.core.last_index() == self.spine.last()
    }

    #[inline]
    fn commit(&self) -> u64 {
        if self.is_installing() { self.commit_before } else { self.core.commit_index() }
    }

    #[inline]
    fn applied(&self) -> u64 {
        self.applied
    }

    #[inline]
    fn term_at(&self, index: u64) -> Option<u64> {
        self.spine.term_at(index)
    }

    #[inline]
    fn chain_at(&self, index: u64) -> Option<u64> {
        self.spine.chain_at(index)
    }

    #[inline]
    fn linked_at(&self, index: u64) -> Option<Linked> {
        self.spine.at(index)
    }

    #[inline]
    fn durable_index(&self) -> u64 {
        // What stands behind a snapshot that contradicts the log may be gone as soon as the snapshot is there.
        self.core.installing_snapshot().map_or(self.durable, |index| self.durable.min(index))
    }

    #[inline]
    fn applies_durable_only(&self) -> bool {
        self.identity.settings.storage_async
    }

    #[inline]
    fn durable_vote(&self) -> Option<NodeId> {
        server(self.core.storage().hard_state().vote)
    }

    #[inline]
    fn match_index(&self, peer: NodeId) -> Option<u64> {
        self.progress_of(peer).map(|known| known.match_index)
    }

    fn next_index(&self, peer: NodeId) -> Option<u64> {
        self.progress_of(peer).map(|known| known.next_index)
    }

    fn snapshot_awaited(&self, peer: NodeId) -> Option<u64> {
        let known = self.progress_of(peer)?;
        (known.state == ProgressState::Snapshot).then_some(known.pending_snapshot)
    }

    #[inline]
    fn tracked(&self, peer: NodeId) -> Tracked {
        self.progress_of(peer).map_or(Tracked::default(), |known| Tracked {
            match_index: known.match_index,
            next_index: Some(known.next_index),
            snapshot_awaited: (known.state == ProgressState::Snapshot).then_some(known.pending_snapshot),
        })
    }

    #[inline]
    fn memberships(&self) -> &[(u64, Membership)] {
        &self.memberships
    }

    #[inline]
    fn changes(&self) -> &[u64] {
        self.spine.changes()
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
