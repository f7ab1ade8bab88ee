//! How a leader keeps its followers up: appends, snapshots, heartbeats (Raft paper, section 5.3).

use crate::bug::planted;
use crate::entry::{Entries, payload_size_bytes};
use crate::error::StorageError;
use crate::identity::NodeId;
use crate::message::{Extra, Message, MessageKind};
use crate::progress::ProgressState;
use crate::raft::Raft;
use crate::state::Snapshot;
use crate::storage::Storage;
use std::rc::Rc;

/// Entries that were just read for one follower, for the next one that needs the same.
pub(crate) type Shared = Option<(u64, Entries)>;

impl<S: Storage> Raft<S> {
    /// Sends every peer what it lacks, or at least the commit index.
    pub(crate) fn broadcast_append(&mut self) {
        let mut shared = None;
        for at in 0..self.tracker.peers.len() {
            if self.tracker.peers[at].id != self.id {
                self.maybe_send_append(at, true, &mut shared);
            }
        }
    }

    /// Sends every peer the entries it lacks, and nothing to those that lack none.
    pub(crate) fn broadcast_missing(&mut self) {
        let mut shared = None;
        for at in 0..self.tracker.peers.len() {
            if self.tracker.peers[at].id != self.id {
                self.maybe_send_append(at, false, &mut shared);
            }
        }
    }

    /// Sends one peer what it lacks, or at least the commit index.
    pub(crate) fn send_append(&mut self, at: usize) {
        self.maybe_send_append(at, true, &mut None);
    }

    /// Sends one peer an append, or a snapshot if the entries are gone. False if nothing was sent.
    ///
    /// Without `even_empty` an append without entries is not worth sending.
    pub(crate) fn maybe_send_append(&mut self, at: usize, even_empty: bool, shared: &mut Shared) -> bool {
        let progress = &self.tracker.peers[at];
        if progress.is_paused() {
            return false;
        }
        if progress.requested_snapshot != 0 {
            return self.maybe_send_snapshot(at);
        }
        let next = progress.next_index;
        if !even_empty && next > self.log.last_index() {
            return false;
        }
        // With a full window nothing but an empty append goes out: its answer clears the window, even if everything in
        // flight was lost.
        let window_is_open = progress.state != ProgressState::Replicate || !progress.inflights.is_full();
        let is_sent_as_nothing = planted!(self.log.planted, SeedE3 | WRaft118);
        let term = match self.log.term(next - 1) {
            Err(_) if is_sent_as_nothing => 0,
            Ok(term) => term,
            Err(error) => return self.send_snapshot_instead(at, &error),
        };
        let entries = match self.entries_for(next, window_is_open, shared) {
            Err(_) if is_sent_as_nothing => Entries::Empty,
            Ok(entries) => entries,
            Err(_) if !even_empty => return false,
            Err(error) => return self.send_snapshot_instead(at, &error),
        };
        if entries.is_empty() && !even_empty {
            return false;
        }
        let commit = self.log.committed;
        let progress = &mut self.tracker.peers[at];
        progress.sent_entries(entries.len() as u64, payload_size_bytes(&entries));
        progress.sent_commit = commit;
        let append = Message {
            kind: MessageKind::Append,
            from: self.id,
            to: progress.id,
            term: self.term,
            log_term: term,
            index: next - 1,
            commit,
            entries,
            ..Message::default()
        };
        self.outbox.immediate.push(append);
        true
    }

    /// The entries an append from `next` on carries; read once for all peers that need the same.
    fn entries_for(
        &mut self,
        next: u64,
        window_is_open: bool,
        shared: &mut Shared,
    ) -> Result<Entries, StorageError> {
        if !window_is_open {
            return Ok(Entries::Empty);
        }
        if let Some((start, entries)) = shared
            && *start == next
        {
            return Ok(entries.clone());
        }
        let size_max_bytes = self.config.message_size_max_bytes;
        let entries = self.log.entries_from(next, size_max_bytes)?;
        if planted!(self.log.planted, SeedE5)
            && entries.first().is_some_and(|first| first.encoded_size_bytes() > size_max_bytes)
        {
            return Ok(Entries::Empty);
        }
        *shared = Some((next, entries.clone()));
        Ok(entries)
    }

    /// The entries cannot be read: if they were compacted, the peer needs a snapshot; otherwise it has to wait.
    fn send_snapshot_instead(&mut self, at: usize, error: &StorageError) -> bool {
        match error {
            StorageError::Compacted => self.maybe_send_snapshot(at),
            _ => false,
        }
    }

    /// Sends a snapshot, if there is one now. Otherwise nothing changes, and the next occasion tries again.
    fn maybe_send_snapshot(&mut self, at: usize) -> bool {
        let progress = &self.tracker.peers[at];
        if !progress.recent_active {
            // Snapshots are expensive; a peer that is down gets none.
            return false;
        }
        let (peer, requested) = (progress.id, progress.requested_snapshot);
        let snapshot = match self.snapshot_for(peer, requested) {
            Ok(snapshot) if snapshot.index >= requested.max(1) => snapshot,
            Err(error) if planted!(self.log.planted, SeedE2) => panic!("no snapshot: {error}"),
            _ => return false,
        };
        self.tracker.peers[at].become_snapshot(snapshot.index);
        let mut message = self.message(MessageKind::Snapshot, peer);
        message.extra = Some(Box::new(Extra { snapshot: Some(snapshot), ..Extra::default() }));
        self.send(message);
        true
    }

    fn snapshot_for(&self, peer: NodeId, requested: u64) -> Result<Rc<Snapshot>, StorageError> {
        match &self.log.unstable.snapshot {
            Some(snapshot) => Ok(Rc::clone(snapshot)),
            None => self.log.storage.snapshot(requested, peer).map(Rc::new),
        }
    }

    /// Shows every peer that this leader is alive, and asks for the confirmation of reads up to `sequence`.
    pub(crate) fn broadcast_heartbeat(&mut self, sequence: u64) {
        for at in 0..self.tracker.peers.len() {
            let progress = &mut self.tracker.peers[at];
            if progress.id == self.id {
                continue;
            }
            // Not a word about entries the peer may not have: it could hold others at the same indexes.
            let known = if planted!(self.log.planted, R05) { u64::MAX } else { progress.match_index };
            let commit = known.min(self.log.committed);
            progress.sent_commit = commit;
            let heartbeat = Message {
                kind: MessageKind::Heartbeat,
                from: self.id,
                to: progress.id,
                term: self.term,
                commit,
                context: sequence,
                ..Message::default()
            };
            self.outbox.immediate.push(heartbeat);
        }
    }

    /// Raises the commit index to what a quorum has, if that is an entry of this term.
    pub(crate) fn maybe_commit(&mut self) -> bool {
        let index = self.tracker.committed_index();
        self.log.maybe_commit(index, self.term)
    }
}
