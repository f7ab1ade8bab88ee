//! What a leader makes of the messages it gets: acknowledgements, rejections, heartbeat responses, reports.

use crate::bug::planted;
use crate::error::StepError;
use crate::identity::NodeId;
use crate::message::{Message, MessageKind};
use crate::progress::ProgressState;
use crate::raft::Raft;
use crate::state::Role;
use crate::storage::Storage;

impl<S: Storage> Raft<S> {
    pub(crate) fn step_as_leader(&mut self, message: &mut Message) -> Result<(), StepError> {
        match message.kind {
            MessageKind::Propose => return self.propose(std::mem::take(&mut message.entries)),
            MessageKind::ReadIndex => {
                self.handle_read_request(message);
                return Ok(());
            }
            _ => {}
        }
        let Some(at) = self.tracker.position(message.from) else { return Ok(()) };
        match message.kind {
            MessageKind::AppendResponse if message.reject => self.handle_rejection(at, message),
            MessageKind::AppendResponse => return self.handle_acknowledgement(at, message),
            MessageKind::HeartbeatResponse => self.handle_heartbeat_response(at, message),
            MessageKind::TransferLeader => self.handle_transfer(at),
            _ => {}
        }
        Ok(())
    }

    /// The peer has everything up to `index`.
    fn handle_acknowledgement(&mut self, at: usize, response: &Message) -> Result<(), StepError> {
        let last_index = self.log.last_index();
        if response.index > last_index {
            return Err(StepError::AckBeyondLog { index: response.index, last_index });
        }
        let is_peer = response.from != self.id;
        let progress = &mut self.tracker.peers[at];
        progress.recent_active = true;
        let acked = response.index;
        // A probe that confirms what was known still says that the peer is back.
        let recovered = progress.match_index == acked && progress.state == ProgressState::Probe;
        if !progress.maybe_update(acked) && !recovered {
            return Ok(());
        }
        match progress.state {
            ProgressState::Probe => progress.become_replicate(),
            ProgressState::Replicate => progress.inflights.free_up_to(acked),
            ProgressState::Snapshot => self.maybe_end_snapshot(at),
        }
        // An acknowledgement of what is committed commits nothing.
        if acked > self.log.committed && self.maybe_commit() {
            self.release_parked_reads();
            self.broadcast_append();
        } else if is_peer
            && self.tracker.peers[at].can_bump_commit(self.log.committed)
            && !planted!(self.log.planted, SeedE8)
        {
            // The next heartbeat would tell, but later.
            self.send_append(at);
        }
        if is_peer {
            if !planted!(self.log.planted, SeedE8) {
                self.send_what_waited(at);
            }
            self.continue_transfer(at);
        }
        Ok(())
    }

    /// Sends what waited for an acknowledgement, in as many messages as it takes.
    fn send_what_waited(&mut self, at: usize) {
        loop {
            let before = self.tracker.peers[at].next_index;
            // A message that does not move the position is a probe, and another one would only repeat it.
            if !self.maybe_send_append(at, false, &mut None) || self.tracker.peers[at].next_index == before {
                return;
            }
        }
    }

    /// The log reaches back to what the peer has, so the snapshot on its way has done its duty, whichever it was.
    fn maybe_end_snapshot(&mut self, at: usize) {
        let first_index = self.log.first_index();
        let progress = &mut self.tracker.peers[at];
        if progress.match_index + 1 >= first_index {
            // Through probing, which takes the snapshot into account.
            progress.become_probe();
            progress.become_replicate();
        }
    }

    /// The peer lacks the entry before an append, or asks for a snapshot.
    fn handle_rejection(&mut self, at: usize, response: &Message) {
        if response.context != 0 && self.config.follower_snapshots {
            self.handle_snapshot_request(at, response);
            return;
        }
        self.tracker.peers[at].recent_active = true;
        let mut hint = response.reject_hint;
        if response.log_term > 0 {
            // Entries here from later terms than the peer's at the hint cannot match: skip them all.
            hint = self.log.find_conflict_by_term(hint, response.log_term).index;
        }
        let progress = &mut self.tracker.peers[at];
        if progress.maybe_decrease(response.index, hint) {
            if progress.state == ProgressState::Replicate {
                progress.become_probe();
            }
            self.send_append(at);
        }
    }

    fn handle_snapshot_request(&mut self, at: usize, response: &Message) {
        let progress = &mut self.tracker.peers[at];
        progress.recent_active = true;
        if progress.state == ProgressState::Snapshot || response.index < progress.match_index {
            return;
        }
        // More than there is in this log could never be served.
        progress.requested_snapshot = response.context.min(self.log.last_index());
        progress.become_probe();
        self.send_append(at);
    }

    /// The peer is alive: what was lost on the way to it, or back, can be sent again.
    fn handle_heartbeat_response(&mut self, at: usize, response: &Message) {
        let last_index = self.log.last_index();
        let progress = &mut self.tracker.peers[at];
        progress.recent_active = true;
        if !planted!(self.log.planted, SeedE9) {
            progress.append_paused = false;
            // A peer in a probe that lacks nothing has to be asked as well, or it would stay there.
            if progress.match_index < last_index || progress.state == ProgressState::Probe {
                self.send_append(at);
            }
        }
        self.confirm_reads(response.from, response.context);
    }

    /// The link layer says what became of a snapshot.
    pub(crate) fn report_snapshot(&mut self, peer: NodeId, arrived: bool) {
        if self.role != Role::Leader || planted!(self.log.planted, SeedE7) {
            return;
        }
        let Some(progress) = self.tracker.get_mut(peer) else { return };
        if progress.state != ProgressState::Snapshot {
            return;
        }
        if !arrived {
            // First, or probing would start behind a snapshot that was never applied.
            progress.pending_snapshot = 0;
        }
        progress.become_probe();
        // After success the peer's acknowledgement is about to come; after failure a heartbeat interval is soon enough.
        progress.append_paused = true;
    }

    /// The link layer says that the last message to a peer was probably lost.
    pub(crate) fn report_unreachable(&mut self, peer: NodeId) {
        if self.role != Role::Leader {
            return;
        }
        if let Some(progress) = self.tracker.get_mut(peer)
            && progress.state == ProgressState::Replicate
        {
            progress.become_probe();
        }
    }

    /// An election timeout as a leader has passed: step down unless a quorum was heard of.
    pub(crate) fn check_quorum(&mut self) {
        // Whether this node is a voter or not, it has heard of itself.
        if !self.tracker.quorum_active() {
            self.become_follower(self.term, crate::identity::NONE);
        }
        let own_id = self.id;
        for progress in &mut self.tracker.peers {
            if progress.id != own_id {
                progress.recent_active = false;
            }
        }
    }
}
