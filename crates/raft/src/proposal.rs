//! What a leader takes into its log, and when it refuses.

use crate::conf_change::decode_entry;
use crate::entry::{Entries, Entry, EntryKind, payload_size_bytes};
use crate::error::StepError;
use crate::identity::NONE;
use crate::message::MessageKind;
use crate::raft::Raft;
use crate::storage::Storage;

impl<S: Storage> Raft<S> {
    /// Entries are proposed to this leader.
    pub(crate) fn propose(&mut self, entries: Entries) -> Result<(), StepError> {
        let removed = self.tracker.get(self.id).is_none();
        if removed || self.transferee != NONE {
            return Err(StepError::ProposalDropped);
        }
        // Most proposals are one entry of the application, placed where it is.
        let entries = match entries {
            Entries::One(mut entry) => {
                self.vet_conf_change(&mut entry, 0)?;
                Entries::One(entry)
            }
            several => {
                let mut entries = several.to_vec();
                for (at, entry) in entries.iter_mut().enumerate() {
                    self.vet_conf_change(entry, at as u64)?;
                }
                Entries::from(entries)
            }
        };
        let accepted = self.append_as_leader(entries);
        if !accepted {
            return Err(StepError::ProposalDropped);
        }
        self.broadcast_append();
        Ok(())
    }

    /// Turns a configuration change that does not fit into an empty entry, and remembers one that does.
    ///
    /// At most one change may be on its way at a time: it counts from when it is applied, and until then nobody knows against
    /// which configuration the next one would be checked.
    fn vet_conf_change(&mut self, entry: &mut Entry, at: u64) -> Result<(), StepError> {
        if entry.kind == EntryKind::Normal {
            return Ok(());
        }
        let change = decode_entry(entry.kind, &entry.data).ok_or(StepError::MalformedConfChange)?;
        let pending = self.pending_conf_index > self.log.applied;
        let joint = self.tracker.configuration.is_joint();
        let leaves = change.changes.is_empty();
        let fits = !pending && joint == leaves;
        if fits || self.config.disable_conf_change_validation {
            self.pending_conf_index = self.log.last_index() + at + 1;
        } else {
            *entry = Entry::default();
        }
        Ok(())
    }

    /// Places entries at the end of the log. False if too much is uncommitted.
    pub(crate) fn append_as_leader(&mut self, entries: Entries) -> bool {
        if !self.reserve_uncommitted(payload_size_bytes(&entries)) {
            return false;
        }
        let (first, term) = (self.log.last_index() + 1, self.term);
        let entries = match entries {
            Entries::One(entry) => Entries::One(Entry { term, index: first, ..entry }),
            several => {
                let mut placed = several.to_vec();
                for (entry, index) in placed.iter_mut().zip(first..) {
                    (entry.term, entry.index) = (term, index);
                }
                Entries::from(placed)
            }
        };
        self.log.append(entries);
        // The leader acknowledges to itself, like a follower, when the entries are durable.
        let mut own = self.message(MessageKind::AppendResponse, self.id);
        own.index = self.log.last_index();
        self.send(own);
        true
    }

    /// Whether a payload fits into the quota of uncommitted entries.
    ///
    /// With nothing uncommitted anything fits, or it would never fit. Empty payloads always fit: the entry that opens a term
    /// and the change that leaves a joint configuration must not fail.
    fn reserve_uncommitted(&mut self, bytes: u64) -> bool {
        let limit = match self.config.uncommitted_size_max_bytes {
            0 => u64::MAX,
            limit => limit,
        };
        let total = self.uncommitted_size_bytes.saturating_add(bytes);
        if self.uncommitted_size_bytes > 0 && bytes > 0 && total > limit {
            return false;
        }
        self.uncommitted_size_bytes = total;
        true
    }

    /// Applied entries leave the quota. It starts at 0 with each term, so it may already be too small.
    pub(crate) fn release_uncommitted(&mut self, bytes: u64) {
        self.uncommitted_size_bytes = self.uncommitted_size_bytes.saturating_sub(bytes);
    }
}
