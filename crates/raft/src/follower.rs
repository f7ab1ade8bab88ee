//! What a follower does: follow, answer, forward.

use crate::bug::planted;
use crate::changer::Changer;
use crate::entry::EntryId;
use crate::error::StepError;
use crate::identity::NONE;
use crate::message::{Message, MessageKind};
use crate::raft::Raft;
use crate::state::{ReadState, Snapshot};
use crate::storage::Storage;
use std::rc::Rc;

impl<S: Storage> Raft<S> {
    pub(crate) fn step_as_follower(&mut self, message: &mut Message) -> Result<(), StepError> {
        match message.kind {
            MessageKind::Append | MessageKind::Heartbeat | MessageKind::Snapshot => {
                self.clock.election_elapsed = 0;
                self.leader = message.from;
                return match message.kind {
                    MessageKind::Append => self.handle_append(message),
                    MessageKind::Heartbeat => self.handle_heartbeat(message),
                    _ => self.handle_snapshot(message),
                };
            }
            MessageKind::Propose => return self.forward_proposal(message),
            // Without a leader there is nobody to forward to, and the caller asks again.
            MessageKind::TransferLeader if self.leader != NONE => {
                self.send(Message { to: self.leader, term: self.term, ..std::mem::take(message) });
            }
            MessageKind::ReadIndex if self.leader != NONE => {
                self.pass_on(message);
            }
            MessageKind::ReadIndexResponse => {
                let context = message.entries[0].data.clone();
                self.read_states.push(ReadState { index: message.index, context });
            }
            MessageKind::TimeoutNow => self.handle_timeout_now(),
            // Late responses to what this node once asked for.
            _ => {}
        }
        Ok(())
    }

    fn forward_proposal(&mut self, message: &mut Message) -> Result<(), StepError> {
        if self.leader == NONE && planted!(self.log.planted, SeedE12) {
            panic!("a proposal met a follower without a leader");
        }
        if self.leader == NONE || self.config.disable_proposal_forwarding {
            return Err(StepError::ProposalDropped);
        }
        self.pass_on(message);
        Ok(())
    }

    /// Sends to the leader what only a leader deals with, in the name of whoever asked for it first.
    fn pass_on(&mut self, message: &mut Message) {
        let from = if message.from == NONE { self.id } else { message.from };
        self.send(Message { from, to: self.leader, term: 0, ..std::mem::take(message) });
    }

    /// Entries from the leader (Raft paper, section 5.3).
    fn handle_append(&mut self, append: &mut Message) -> Result<(), StepError> {
        if self.wanted_snapshot != 0 {
            self.send_snapshot_request();
            return Ok(());
        }
        let mut response = self.message(MessageKind::AppendResponse, append.from);
        if append.index < self.log.committed && !planted!(self.log.planted, SeedE6) {
            // Late or repeated. Everything committed here is in the leader's log, so this much can be acknowledged; a
            // rejection would send the leader back to probing.
            response.index = self.log.committed;
            self.send(response);
            return Ok(());
        }
        let previous = append.log_id();
        match self.log.maybe_append(previous, std::mem::take(&mut append.entries), append.commit)? {
            Some(last_new) => response.index = last_new,
            None => self.reject_append(previous, &mut response),
        }
        self.send(response);
        Ok(())
    }

    /// Says no, with the largest position at which the logs may agree.
    ///
    /// That skips every entry here from a term that the leader cannot have at this place, in one step.
    fn reject_append(&self, previous: EntryId, response: &mut Message) {
        let start = previous.index.min(self.log.last_index());
        let hint = self.log.find_conflict_by_term(start, previous.term);
        response.index = previous.index;
        response.reject = true;
        response.reject_hint = hint.index;
        response.log_term = hint.term;
    }

    fn handle_heartbeat(&mut self, heartbeat: &Message) -> Result<(), StepError> {
        self.log.commit_to(heartbeat.commit)?;
        if self.wanted_snapshot != 0 {
            self.send_snapshot_request();
            return Ok(());
        }
        let mut response = self.message(MessageKind::HeartbeatResponse, heartbeat.from);
        response.context = heartbeat.context;
        self.send(response);
        Ok(())
    }

    /// A snapshot from the leader (Raft paper, section 7).
    fn handle_snapshot(&mut self, message: &Message) -> Result<(), StepError> {
        let restored = match message.snapshot() {
            Some(snapshot) => self.restore(snapshot, message.term)?,
            None => false,
        };
        let mut response = self.message(MessageKind::AppendResponse, message.from);
        response.index = if restored { self.log.last_index() } else { self.log.committed };
        self.send(response);
        Ok(())
    }

    /// Installs a snapshot; false if this node has, or must have, no use for it.
    fn restore(&mut self, snapshot: &Rc<Snapshot>, term: u64) -> Result<bool, StepError> {
        if (snapshot.index | snapshot.term) > crate::identity::POSITION_MAX {
            return Err(StepError::PositionTooLarge);
        }
        if snapshot.index <= self.log.committed {
            return Ok(false);
        }
        if snapshot.term > term {
            return Err(StepError::MalformedSnapshot);
        }
        let changer = Changer { tracker: &self.tracker, last_index: snapshot.index };
        let restored = changer.restore(&snapshot.conf_state);
        let (configuration, peers) = restored.map_err(|_| StepError::MalformedSnapshot)?;
        if !snapshot.conf_state.contains(self.id) {
            return Ok(false);
        }
        let reaches = planted!(self.log.planted, S05) && self.log.last_index() >= snapshot.index;
        if self.wanted_snapshot == 0 && (self.log.matches(snapshot.id()) || reaches) {
            // Everything in the snapshot is here already, and more may be: only the commit index is news.
            self.log.commit_to(snapshot.index)?;
            return Ok(false);
        }
        self.wanted_snapshot = 0;
        if planted!(self.log.planted, S02) {
            self.term = snapshot.term;
        }
        self.log.restore(Rc::clone(snapshot));
        self.tracker.configuration = configuration;
        self.tracker.peers = peers;
        Ok(true)
    }

    /// Asks the leader for a snapshot from the end of this log on.
    pub(crate) fn request_snapshot(&mut self) -> Result<(), StepError> {
        let impossible = !self.config.follower_snapshots
            || self.leader == NONE
            || self.leader == self.id
            || self.log.unstable.snapshot.is_some()
            || self.wanted_snapshot != 0;
        if impossible {
            return Err(StepError::SnapshotRequestDropped);
        }
        self.wanted_snapshot = self.log.last_index().max(1);
        self.send_snapshot_request();
        Ok(())
    }

    fn send_snapshot_request(&mut self) {
        let last = self.log.last_id();
        let mut request = self.message(MessageKind::AppendResponse, self.leader);
        request.reject = true;
        request.index = self.log.committed;
        request.reject_hint = last.index;
        request.log_term = last.term;
        request.context = self.wanted_snapshot;
        self.send(request);
    }
}
