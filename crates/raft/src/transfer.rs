//! Handing the leadership to another node (Raft thesis, section 3.10).

use crate::bug::planted;
use crate::identity::{NONE, NodeId};
use crate::message::MessageKind;
use crate::raft::Raft;
use crate::storage::Storage;

impl<S: Storage> Raft<S> {
    /// The member at `at` is to lead next.
    ///
    /// Proposals are dropped until it does, or an election timeout has passed.
    pub(crate) fn handle_transfer(&mut self, at: usize) {
        let progress = &self.tracker.peers[at];
        let target = progress.id;
        if progress.is_learner || self.transferee == target {
            return;
        }
        self.transferee = NONE;
        if target == self.id {
            return;
        }
        self.clock.election_elapsed = 0;
        self.transferee = target;
        if self.is_caught_up(at) {
            self.send_timeout_now(target);
        } else {
            self.send_append(at);
        }
    }

    /// The member at `at` acknowledged entries; if it is to lead and lacks none now, it may start.
    pub(crate) fn continue_transfer(&mut self, at: usize) {
        let peer = self.tracker.peers[at].id;
        if peer == self.transferee && self.is_caught_up(at) {
            self.send_timeout_now(peer);
        }
    }

    fn is_caught_up(&self, at: usize) -> bool {
        self.tracker.peers[at].match_index == self.log.last_index()
    }

    fn send_timeout_now(&mut self, to: NodeId) {
        self.lease_is_given_away = !planted!(self.log.planted, L08);
        let message = self.message(MessageKind::TimeoutNow, to);
        self.send(message);
    }
}
