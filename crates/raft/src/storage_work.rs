//! Work for the append thread and the apply thread, and the responses that report it done.

use crate::entry::{Entries, EntryId};
use crate::identity::{APPEND_THREAD, APPLY_THREAD};
use crate::message::{Extra, Message, MessageKind};
use crate::raft::Raft;
use crate::ready::Ready;
use crate::storage::Storage;

impl<S: Storage> Raft<S> {
    /// Puts the storage work of a Ready into messages to the two threads.
    pub(crate) fn add_storage_work(&mut self, ready: &mut Ready) {
        let promises = std::mem::take(&mut self.outbox.after_append);
        let to_store = !ready.entries.is_empty()
            || ready.hard_state.is_some()
            || ready.snapshot.is_some()
            || !promises.is_empty();
        if to_store {
            let append = self.storage_append(ready, promises);
            ready.messages.push(append);
        }
        if !ready.committed_entries.is_empty() {
            let apply = self.storage_apply(ready);
            ready.messages.push(apply);
        }
        // Promises travel inside the work they wait for, so every message may go out.
        ready.immediate_count = ready.messages.len();
    }

    fn storage_append(&self, ready: &Ready, mut responses: Vec<Message>) -> Message {
        let mut work = Message::new(MessageKind::StorageAppend, self.id, APPEND_THREAD);
        work.entries = Entries::from_slice(&ready.entries);
        let mut extra = Extra { snapshot: ready.snapshot.clone(), ..Extra::default() };
        if let Some(hard_state) = ready.hard_state {
            work.term = hard_state.term;
            work.commit = hard_state.commit;
            extra.vote = hard_state.vote;
        }
        if self.reports_append(ready) {
            // Behind the leader's acknowledgement to itself, which is handled faster while the entries are still unstable.
            let mut done = Message::new(MessageKind::StorageAppendResponse, APPEND_THREAD, self.id);
            // The term makes a report void that comes after a later leader may have overwritten the entries. Comparing
            // the last entry alone would not: it may have been overwritten and come back with the same term, on top of
            // other entries that are not durable yet.
            done.term = self.term;
            let last = self.unstable_end();
            (done.log_term, done.index) = (last.term, last.index);
            if ready.snapshot.is_some() {
                done.extra = Some(Box::new(Extra { snapshot: ready.snapshot.clone(), ..Extra::default() }));
            }
            responses.push(done);
        }
        extra.responses = responses;
        work.extra = Some(Box::new(extra));
        work
    }

    fn storage_apply(&self, ready: &Ready) -> Message {
        let mut work = Message::new(MessageKind::StorageApply, self.id, APPLY_THREAD);
        work.entries = Entries::from_slice(&ready.committed_entries);
        let mut done = Message::new(MessageKind::StorageApplyResponse, APPLY_THREAD, self.id);
        done.entries = work.entries.clone();
        work.extra = Some(Box::new(Extra { responses: vec![done], ..Extra::default() }));
        work
    }

    /// Whether the core has to hear when what a Ready stores is durable.
    pub(crate) fn reports_append(&self, ready: &Ready) -> bool {
        !self.log.unstable.entries.is_empty() || ready.snapshot.is_some()
    }

    /// The last unstable entry; empty if there is none.
    pub(crate) fn unstable_end(&self) -> EntryId {
        self.log.unstable.entries.last().map(|entry| entry.id()).unwrap_or_default()
    }
}
