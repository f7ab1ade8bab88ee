//! Configuration changes taking effect (Raft paper, section 6; thesis, chapter 4).
//!
//! A change takes effect when it is applied, not when it is appended.

use crate::bug::planted;
use crate::changer::Changer;
use crate::conf_change::{ChangeStep, ConfChangeV2};
use crate::entry::{Entries, Entry, EntryKind, Payload};
use crate::error::{ConfChangeError, StepError};
use crate::identity::NONE;
use crate::raft::Raft;
use crate::state::{ConfState, Role};
use crate::storage::Storage;

impl<S: Storage> Raft<S> {
    /// Puts a committed change into effect; on an error nothing changes.
    pub(crate) fn apply_conf_change(&mut self, change: &ConfChangeV2) -> Result<ConfState, ConfChangeError> {
        let changer = Changer { tracker: &self.tracker, last_index: self.log.last_index() };
        let (configuration, peers) = match change.step() {
            ChangeStep::LeaveJoint => changer.leave_joint(),
            ChangeStep::EnterJoint { auto_leave } => changer.enter_joint(auto_leave, &change.changes),
            ChangeStep::Simple => changer.simple(&change.changes),
        }?;
        self.tracker.configuration = configuration;
        self.tracker.peers = peers;
        self.after_switch();
        Ok(self.tracker.configuration.to_conf_state())
    }

    /// What a leader owes the new configuration.
    fn after_switch(&mut self) {
        if self.role != Role::Leader {
            return;
        }
        let own = self.tracker.get(self.id);
        if own.is_none_or(|progress| progress.is_learner) {
            if self.config.step_down_on_removal {
                self.become_follower(self.term, NONE);
            }
            return;
        }
        if self.maybe_commit() {
            // A smaller quorum may have what the larger one lacked.
            self.release_parked_reads();
            self.broadcast_append();
        } else {
            // New members need not wait for the next proposal or heartbeat.
            self.broadcast_missing();
        }
        self.serve_confirmed_reads();
        if self.transferee != NONE && !self.tracker.configuration.voters.contains(self.transferee) {
            self.transferee = NONE;
        }
    }

    /// The application holds everything up to `index`; `size_bytes` of entries were applied to get there.
    pub(crate) fn applied_to(&mut self, index: u64, size_bytes: u64) -> Result<(), StepError> {
        self.log.applied_to(index, size_bytes)?;
        let leaves = self.role == Role::Leader
            && self.tracker.configuration.auto_leave
            && self.log.applied >= self.pending_conf_index
            && (self.log.applied == self.pending_conf_index || !planted!(self.log.planted, M12));
        if leaves {
            // Dropped while the leadership is handed over: then the next leader leaves, or this one at the next entry.
            let leave = Entry::proposal(EntryKind::ConfChangeV2, Payload::EMPTY);
            let dropped = self.propose(Entries::One(leave));
            assert!(matches!(dropped, Ok(()) | Err(StepError::ProposalDropped)));
        }
        Ok(())
    }
}
