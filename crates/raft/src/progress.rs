//! What a leader knows about one peer's log, and how it may send to it.

use crate::bug::{Planted, planted};
use crate::identity::NodeId;
use crate::inflights::Inflights;

/// How a leader sends to a peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProgressState {
    /// Where the logs agree is unknown: one append at a time, at most one per heartbeat interval.
    #[default]
    Probe,
    /// The logs agree: appends are sent ahead of their acknowledgement, as far as the window reaches.
    Replicate,
    /// A snapshot is on its way: no appends at all.
    Snapshot,
}

/// A leader's view of one peer. On other roles it is a placeholder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The peer.
    pub id: NodeId,
    /// The peer's log is known to equal the leader's up to here.
    pub match_index: u64,
    /// The next append starts here; always above `match_index`.
    pub next_index: u64,
    /// How appends are sent.
    pub state: ProgressState,
    /// In [`ProgressState::Snapshot`]: the last index of the snapshot on its way, otherwise 0.
    pub pending_snapshot: u64,
    /// The peer asked for a snapshot from this index on, or 0.
    pub requested_snapshot: u64,
    /// The peer was heard of since the last check of the quorum.
    pub recent_active: bool,
    /// Appends wait for an acknowledgement or a heartbeat response.
    pub append_paused: bool,
    /// The peer receives the log without a vote.
    pub is_learner: bool,
    /// Appends in flight, in [`ProgressState::Replicate`].
    pub inflights: Inflights,
    /// The largest commit index on its way to the peer.
    pub sent_commit: u64,
    pub(crate) planted: Planted,
}

impl Progress {
    fn enter(&mut self, state: ProgressState) {
        self.append_paused = false;
        self.pending_snapshot = 0;
        self.state = state;
        self.inflights.reset();
    }

    /// Starts over behind what the peer has, or behind the snapshot it was sent.
    pub(crate) fn become_probe(&mut self) {
        let after_snapshot =
            if self.state == ProgressState::Snapshot { self.pending_snapshot + 1 } else { 0 };
        self.enter(ProgressState::Probe);
        self.next_index = after_snapshot.max(self.match_index + 1);
        self.regress_sent_commit();
    }

    #[inline]
    pub(crate) fn become_replicate(&mut self) {
        self.enter(ProgressState::Replicate);
        self.next_index = self.match_index + 1;
    }

    pub(crate) fn become_snapshot(&mut self, snapshot_index: u64) {
        self.enter(ProgressState::Snapshot);
        self.pending_snapshot = snapshot_index;
        self.requested_snapshot = 0;
        // A snapshot that was asked for may end before what the peer is known to have.
        self.next_index = snapshot_index.max(self.match_index) + 1;
        self.sent_commit = snapshot_index;
    }

    /// Starts a new term: everything is unknown but who the peer is.
    pub(crate) fn reset(&mut self, next_index: u64) {
        self.enter(ProgressState::Probe);
        self.match_index = 0;
        self.next_index = next_index;
        self.requested_snapshot = 0;
        self.recent_active = false;
        self.sent_commit = 0;
    }

    /// Notes an append of `count` entries that was just sent.
    #[inline]
    pub(crate) fn sent_entries(&mut self, count: u64, payload_bytes: u64) {
        match self.state {
            ProgressState::Replicate => {
                if count > 0 {
                    self.next_index += count;
                    self.inflights.add(self.next_index - 1, payload_bytes);
                }
                // With a full window the append just sent serves as a probe.
                self.append_paused = self.inflights.is_full();
            }
            // An empty append does not pause a probe: it may be the one that revives the peer.
            ProgressState::Probe => self.append_paused |= count > 0,
            ProgressState::Snapshot => {}
        }
    }

    /// Whether the peer could learn of a larger commit index by a message of its own.
    ///
    /// Not worth one if entries on their way carry the largest commit index the peer can use.
    #[inline]
    pub(crate) fn can_bump_commit(&self, commit: u64) -> bool {
        commit > self.sent_commit && self.sent_commit < self.next_index - 1
    }

    fn regress_sent_commit(&mut self) {
        self.sent_commit = self.sent_commit.min(self.next_index - 1);
    }

    /// Takes an acknowledgement; false if it says nothing new.
    #[inline]
    pub(crate) fn maybe_update(&mut self, acked: u64) -> bool {
        if acked <= self.match_index {
            return false;
        }
        self.match_index = acked;
        self.next_index = self.next_index.max(acked + 1);
        self.append_paused = false;
        true
    }

    /// Takes the rejection of the append after `rejected`; false if the rejection is stale.
    ///
    /// `hint` is where the peer's log may agree with the leader's.
    pub(crate) fn maybe_decrease(&mut self, rejected: u64, hint: u64) -> bool {
        if self.state == ProgressState::Replicate {
            if rejected <= self.match_index {
                return false;
            }
            self.next_index = self.match_index + 1;
            self.regress_sent_commit();
            return true;
        }
        // A probe is answered for exactly the position it asked about. A peer that denies what it has acknowledged has
        // lost it; to ask again at once would go on for ever.
        if self.next_index - 1 != rejected || rejected <= self.match_index {
            return false;
        }
        self.next_index = rejected.min(hint.saturating_add(1)).max(self.match_index + 1);
        self.regress_sent_commit();
        self.append_paused = false;
        true
    }

    /// Whether appends to the peer have to wait.
    #[inline]
    pub fn is_paused(&self) -> bool {
        if planted!(self.planted, SeedE11) && self.state != ProgressState::Replicate {
            return false;
        }
        self.append_paused || self.state == ProgressState::Snapshot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(state: ProgressState, match_index: u64, next_index: u64) -> Progress {
        Progress {
            id: 2,
            match_index,
            next_index,
            state,
            inflights: Inflights::new(8, 0),
            ..Progress::default()
        }
    }

    #[test]
    fn a_probe_is_paused_by_entries_only() {
        let mut peer = progress(ProgressState::Probe, 0, 5);
        peer.sent_entries(0, 0);
        assert!(!peer.is_paused());
        peer.sent_entries(3, 30);
        assert!(peer.is_paused());
        assert_eq!(peer.next_index, 5);
    }

    #[test]
    fn a_peer_under_snapshot_resumes_behind_the_snapshot() {
        let mut peer = progress(ProgressState::Snapshot, 1, 11);
        peer.pending_snapshot = 10;
        peer.become_probe();
        assert_eq!((peer.state, peer.next_index, peer.pending_snapshot), (ProgressState::Probe, 11, 0));
    }

    #[test]
    fn a_failed_snapshot_is_forgotten_before_probing_resumes() {
        let mut peer = progress(ProgressState::Snapshot, 1, 11);
        peer.pending_snapshot = 0;
        peer.become_probe();
        assert_eq!(peer.next_index, 2);
    }

    #[test]
    fn a_stale_acknowledgement_changes_nothing() {
        let mut peer = progress(ProgressState::Replicate, 5, 9);
        let before = peer.clone();
        assert!(!peer.maybe_update(5));
        assert_eq!(peer, before);
        assert!(peer.maybe_update(6));
        assert_eq!((peer.match_index, peer.next_index), (6, 9));
        assert!(peer.maybe_update(12));
        assert_eq!((peer.match_index, peer.next_index), (12, 13));
    }

    #[test]
    fn rejections_lower_the_next_index_never_below_the_match() {
        let cases = [
            // state, match, next, rejected, hint -> taken, next
            (ProgressState::Replicate, 5, 10, 5, 5, false, 10),
            (ProgressState::Replicate, 5, 10, 4, 4, false, 10),
            (ProgressState::Replicate, 5, 10, 9, 9, true, 6),
            (ProgressState::Probe, 0, 10, 5, 5, false, 10),
            (ProgressState::Probe, 0, 10, 9, 9, true, 9),
            (ProgressState::Probe, 0, 2, 1, 1, true, 1),
            (ProgressState::Probe, 0, 10, 9, 2, true, 3),
            (ProgressState::Probe, 3, 10, 9, 0, true, 4),
            (ProgressState::Probe, 3, 4, 3, 0, false, 4),
            (ProgressState::Probe, 0, 10, 9, u64::MAX, true, 9),
        ];
        for (state, match_index, next_index, rejected, hint, taken, next) in cases {
            let mut peer = progress(state, match_index, next_index);
            assert_eq!(peer.maybe_decrease(rejected, hint), taken);
            assert_eq!(peer.next_index, next);
        }
    }
}
