//! The door: which messages are let in, and what their terms do to this node.
//!
//! Nothing a message says can make the core panic. What no correct peer would say is refused with a
//! [`StepError`]; what is merely late is ignored.

use crate::bug::planted;
use crate::conf_change::decode_entry;
use crate::config::Config;
use crate::entry::{Entry, EntryKind};
use crate::error::StepError;
use crate::identity::{APPEND_THREAD, APPLY_THREAD, NONE, POSITION_MAX, is_storage_thread};
use crate::message::{Message, MessageKind};
use crate::raft::Raft;
use crate::state::Role;
use crate::storage::Storage;

impl<S: Storage> Raft<S> {
    /// Takes a message from the network or from a storage thread.
    ///
    /// What is kept of it is taken out, so that it need not be copied on its way to where it is dealt with.
    pub(crate) fn step(&mut self, message: &mut Message) -> Result<(), StepError> {
        self.admit(message)?;
        self.log.reading_failed = false;
        self.step_admitted(message)
    }

    /// Takes a message that is known to be well-formed.
    pub(crate) fn step_admitted(&mut self, message: &mut Message) -> Result<(), StepError> {
        if !self.settle_term(message)? {
            return Ok(());
        }
        match message.kind {
            MessageKind::StorageAppendResponse => self.handle_storage_appended(message),
            MessageKind::StorageApplyResponse => self.handle_storage_applied(message),
            MessageKind::Vote | MessageKind::PreVote => {
                self.handle_vote_request(message);
                Ok(())
            }
            _ => match self.role {
                Role::Leader => self.step_as_leader(message),
                Role::Candidate | Role::PreCandidate => self.step_as_candidate(message),
                Role::Follower => self.step_as_follower(message),
            },
        }
    }

    /// Refuses what no correct peer would send.
    fn admit(&self, message: &Message) -> Result<(), StepError> {
        self.admit_sender(message)?;
        if (message.term | message.index | message.log_term | message.commit) > POSITION_MAX {
            return Err(StepError::PositionTooLarge);
        }
        let count = message.entries.len();
        match message.kind {
            MessageKind::Propose if count == 0 => Err(StepError::EmptyProposal),
            MessageKind::Propose if !message.entries.iter().all(is_readable) => {
                Err(StepError::MalformedConfChange)
            }
            MessageKind::ReadIndex | MessageKind::ReadIndexResponse if count != 1 => {
                Err(StepError::MalformedRead)
            }
            MessageKind::Append if !follows(message) => Err(StepError::MalformedAppend),
            _ => Ok(()),
        }
    }

    fn admit_sender(&self, message: &Message) -> Result<(), StepError> {
        let Config { async_storage_writes, .. } = self.config;
        let kind = message.kind;
        if is_storage_thread(message.from) || kind.is_local() {
            let thread = match kind {
                MessageKind::StorageAppendResponse => APPEND_THREAD,
                MessageKind::StorageApplyResponse => APPLY_THREAD,
                _ => return Err(StepError::LocalMessage),
            };
            let expected = async_storage_writes && message.from == thread;
            return if expected { Ok(()) } else { Err(StepError::LocalMessage) };
        }
        if kind.is_response() && self.tracker.get(message.from).is_none() {
            return Err(StepError::PeerNotFound);
        }
        let may_be_local = matches!(kind, MessageKind::Propose | MessageKind::ReadIndex);
        if message.from == NONE && !may_be_local {
            return Err(StepError::MissingSender);
        }
        if message.from == self.id {
            // A node never refuses itself anything.
            let own_promise = kind.is_promise() && !message.reject && async_storage_writes;
            if !may_be_local && !own_promise && kind != MessageKind::TransferLeader {
                return Err(StepError::LocalMessage);
            }
        }
        Ok(())
    }

    /// Compares terms (Raft paper, section 5.1). False if the message is dealt with.
    fn settle_term(&mut self, message: &Message) -> Result<bool, StepError> {
        let term_free = matches!(
            message.kind,
            MessageKind::Propose | MessageKind::ReadIndex | MessageKind::StorageApplyResponse
        );
        if term_free || message.term == self.term {
            return Ok(true);
        }
        if message.term > self.term {
            return Ok(self.meet_higher_term(message));
        }
        let follows = self.role == Role::Follower && message.kind == MessageKind::Append;
        if planted!(self.log.planted, R17) && follows {
            return Ok(true);
        }
        self.meet_lower_term(message)?;
        Ok(false)
    }

    /// False if the message is to be ignored.
    fn meet_higher_term(&mut self, message: &Message) -> bool {
        let asks_for_vote = matches!(message.kind, MessageKind::Vote | MessageKind::PreVote);
        if asks_for_vote && !message.transfer {
            // Whoever hears from a leader does not help to depose it (Raft thesis, section 4.2.3).
            let in_lease = self.config.check_quorum && self.leader != NONE && self.clock.within_lease();
            if in_lease {
                return false;
            }
        }
        let leads = self.role == Role::Leader;
        let leaves_term_alone = match message.kind {
            MessageKind::AppendResponse if planted!(self.log.planted, L10) => leads,
            MessageKind::PreVote => true,
            // A granted pre-vote names the term of the election to come. A refused one names the refuser's.
            MessageKind::PreVoteResponse => !message.reject || planted!(self.log.planted, E19),
            _ => false,
        };
        if !leaves_term_alone {
            let leader = if message.kind.is_from_leader() { message.from } else { NONE };
            self.become_follower(message.term, leader);
        }
        true
    }

    fn meet_lower_term(&mut self, message: &Message) -> Result<(), StepError> {
        match message.kind {
            MessageKind::Append | MessageKind::Heartbeat
                if self.config.check_quorum || self.config.pre_vote =>
            {
                // This node may be stuck at a higher term that nobody else has heard of, because nobody listens to its
                // requests while there is a leader. An answer makes the leader step down, and all meet in a new term.
                let response = self.message(MessageKind::AppendResponse, message.from);
                self.send(response);
            }
            MessageKind::PreVote => {
                // Silence could leave a candidate with a lower term and a longer log without a way to learn the term.
                let mut response = self.message(MessageKind::PreVoteResponse, message.from);
                response.reject = true;
                self.send(response);
            }
            // Entries may have been overwritten since; a snapshot is committed whatever the term.
            MessageKind::StorageAppendResponse => self.handle_storage_snapshot(message)?,
            _ => {}
        }
        Ok(())
    }

    /// The append thread has made entries, and maybe a snapshot, durable.
    fn handle_storage_appended(&mut self, message: &Message) -> Result<(), StepError> {
        if message.index != 0 {
            self.log.entries_stored(message.log_id());
        }
        self.handle_storage_snapshot(message)
    }

    fn handle_storage_snapshot(&mut self, message: &Message) -> Result<(), StepError> {
        match message.snapshot() {
            Some(snapshot) => self.snapshot_applied(snapshot.index),
            None => Ok(()),
        }
    }

    /// A snapshot is durable and applied.
    pub(crate) fn snapshot_applied(&mut self, index: u64) -> Result<(), StepError> {
        self.log.unstable.stable_snapshot_to(index);
        self.applied_to(index, 0)
    }

    /// The apply thread has applied entries.
    fn handle_storage_applied(&mut self, message: &Message) -> Result<(), StepError> {
        let Some(last) = message.entries.last() else { return Ok(()) };
        if last.index > POSITION_MAX {
            return Err(StepError::PositionTooLarge);
        }
        self.applied_to(last.index, crate::entry::encoded_size_bytes(&message.entries))?;
        self.release_uncommitted(crate::entry::payload_size_bytes(&message.entries));
        Ok(())
    }
}

/// Whether an entry, if it is a configuration change, can be decoded.
fn is_readable(entry: &Entry) -> bool {
    entry.kind == EntryKind::Normal || decode_entry(entry.kind, &entry.data).is_some()
}

/// Whether the entries of an append follow each other, and the entry before them, as a log does.
fn follows(message: &Message) -> bool {
    let (mut index, mut term) = (message.index, message.log_term);
    message.entries.iter().all(|entry| {
        index += 1;
        let fits = entry.index == index && entry.term >= term && entry.term <= message.term;
        term = entry.term;
        fits
    })
}
