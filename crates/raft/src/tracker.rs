//! The active configuration with a progress for every member.

use crate::bug::{Planted, planted};
use crate::identity::NodeId;
use crate::inflights::Inflights;
use crate::progress::Progress;
use crate::quorum::{Joint, VoteResult};
use crate::state::ConfState;

/// Who is in the group, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// Who votes.
    pub voters: Joint,
    /// Who receives the log without a vote, in ascending order.
    pub learners: Vec<NodeId>,
    /// Outgoing voters that become learners when the joint configuration is left, in ascending order.
    pub learners_next: Vec<NodeId>,
    /// Whether the leader leaves the joint configuration on its own.
    pub auto_leave: bool,
}

impl Configuration {
    /// Whether two majorities have to agree at present.
    pub fn is_joint(&self) -> bool {
        !self.voters.outgoing.is_empty()
    }

    /// The configuration as it is stored in snapshots.
    pub fn to_conf_state(&self) -> ConfState {
        ConfState {
            voters: self.voters.incoming.voters().to_vec(),
            voters_outgoing: self.voters.outgoing.voters().to_vec(),
            learners: self.learners.clone(),
            learners_next: self.learners_next.clone(),
            auto_leave: self.auto_leave,
        }
    }
}

/// The configuration, and a progress for every member in ascending order of ids.
#[derive(Clone, Debug, Default)]
pub struct Tracker {
    /// Who is in the group.
    pub configuration: Configuration,
    pub(crate) peers: Vec<Progress>,
    pub(crate) inflight_count_max: u32,
    pub(crate) inflight_bytes_max: u64,
    pub(crate) planted: Planted,
}

impl Tracker {
    /// An empty group; the limits are those of [`Inflights::new`].
    pub fn new(inflight_count_max: u32, inflight_bytes_max: u64) -> Tracker {
        Tracker { inflight_count_max, inflight_bytes_max, ..Tracker::default() }
    }

    /// Puts a changed configuration in place.
    pub fn replace(&mut self, changed: crate::changer::Changed) {
        (self.configuration, self.peers) = changed;
    }

    /// Every member's progress in ascending order of ids.
    #[inline]
    pub fn peers(&self) -> &[Progress] {
        &self.peers
    }

    /// The progress of a member.
    #[inline]
    pub fn get(&self, id: NodeId) -> Option<&Progress> {
        self.position(id).map(|at| &self.peers[at])
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: NodeId) -> Option<&mut Progress> {
        self.position(id).map(|at| &mut self.peers[at])
    }

    #[inline]
    pub(crate) fn position(&self, id: NodeId) -> Option<usize> {
        const SCAN_MAX: usize = 16;
        if self.peers.len() <= SCAN_MAX {
            return self.peers.iter().position(|peer| peer.id == id);
        }
        self.peers.binary_search_by_key(&id, |peer| peer.id).ok()
    }

    pub(crate) fn new_progress(&self, id: NodeId, next_index: u64, is_learner: bool) -> Progress {
        let mut inflights = Inflights::new(self.inflight_count_max, self.inflight_bytes_max);
        if planted!(self.planted, SeedE4) {
            inflights = inflights.unlimited();
        }
        Progress {
            id,
            next_index,
            is_learner,
            // Nobody could have heard of a member that was just added; it must not cost the leader its quorum.
            recent_active: true,
            inflights,
            planted: self.planted,
            ..Progress::default()
        }
    }

    /// The largest index a quorum has acknowledged.
    #[inline]
    pub(crate) fn committed_index(&self) -> u64 {
        let voters = &self.configuration.voters;
        if voters.outgoing.is_empty() && voters.incoming.voters().len() == self.peers.len() {
            // Everybody votes, and both lists are in the same order: no need to look anybody up.
            let mut peers = self.peers.iter();
            return voters
                .incoming
                .committed_index_planted(|_| peers.next().map(|peer| peer.match_index), self.planted);
        }
        voters.committed_index_planted(|id| self.get(id).map(|peer| peer.match_index), self.planted)
    }

    /// Whether a quorum of voters was heard of since the last check.
    pub(crate) fn quorum_active(&self) -> bool {
        let heard = |id| self.get(id).map(|peer| peer.recent_active);
        self.configuration.voters.vote_result(heard) == VoteResult::Won
    }
}
