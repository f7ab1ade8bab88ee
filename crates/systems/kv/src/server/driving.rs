//! Doing what the core wants done: write, send, apply, answer, in the order that keeps promises.

use super::storing::Writing;
use super::{Hands, Server};
use crate::bugs::Bug;
use crate::marks;
use crate::message::core_id;
use whitewater_raft::{Message, MessageKind, ReadState, Ready, Role};

impl Server {
    /// Works off the core until it wants nothing more, or has to wait for the disk.
    pub(super) fn pump(&mut self, fx: &mut Hands<'_>) {
        self.append_next(fx);
        while (self.has_threads() || !self.is_writing()) && !self.halted && self.core.has_ready() {
            let mut ready = self.spare_ready();
            self.core.ready_into(&mut ready);
            if self.has_threads() {
                self.hand_out(ready, fx);
            } else {
                self.carry_out(ready, fx);
            }
        }
        if matches!(self.writing, Writing::Disk) && !self.halted {
            self.go_on_without_disk(fx);
        }
        if self.is_writing() && !self.halted {
            // What came in meanwhile is in the core's log, though not in a Ready yet.
            self.follow_log(fx);
            // A server that led a term it could forget might lead it once more, with other entries.
            let stored_term = self.core.storage().hard_state().term;
            assert!(
                self.core.role() != Role::Leader || stored_term == self.core.term(),
                "nobody wins an election of a term that is not on its disk"
            );
        }
    }

    /// Whether what leaves the core waits for the disk: all of it, or what the disk has to know first.
    #[inline]
    pub(crate) fn is_held_up(&self) -> bool {
        self.is_writing() && !self.has_threads()
    }

    /// Whether nothing leaves the core until the disk is done.
    #[inline]
    pub(crate) fn waits_for_disk(&self) -> bool {
        let goes_on = matches!(self.writing, Writing::Disk) && self.core.may_go_on_without_storage();
        self.is_held_up() && !goes_on
    }

    /// A leader that waits for its disk is not heard, so that others replace it: only with a planted bug it goes on with its
    /// heartbeats, and with nothing else.
    pub(super) fn be_heard_without_disk(&mut self, fx: &mut Hands<'_>) {
        let goes_on = self.identity.settings.planted.is(Bug::HeardWithoutDisk);
        if !goes_on || !self.waits_for_disk() || self.core.role() != Role::Leader {
            return;
        }
        let own = core_id(self.identity.id);
        for peer in self.peers() {
            let mut heartbeat = Message::new(MessageKind::Heartbeat, own, core_id(peer));
            heartbeat.term = self.core.term();
            self.send(heartbeat, fx);
        }
    }

    /// Does what needs no disk while the disk takes nothing: a full disk stops writes, not reads.
    fn go_on_without_disk(&mut self, fx: &mut Hands<'_>) {
        if !self.core.may_go_on_without_storage() {
            return;
        }
        if let Some(mut refused) = self.ready.take() {
            self.apply_and_read(&mut refused, fx);
            self.ready = Some(refused);
        }
        let mut ready = Ready::default();
        while self.core.ready_without_storage_into(&mut ready) {
            fx.mark(marks::WENT_ON_WITHOUT_DISK);
            self.follow_log(fx);
            for message in ready.messages.drain(..) {
                self.send(message, fx);
            }
            self.apply_and_read(&mut ready, fx);
        }
    }

    /// Applies what is committed, and serves reads.
    fn apply_and_read(&mut self, ready: &mut Ready, fx: &mut Hands<'_>) {
        for entry in &ready.committed_entries {
            self.apply(entry, fx);
        }
        ready.committed_entries.clear();
        for read in &ready.read_states {
            self.note_read(read, fx);
        }
        ready.read_states.clear();
        self.serve_reads(fx);
    }

    /// Memory for the next Ready.
    fn spare_ready(&mut self) -> Box<Ready> {
        // While something is written, what is kept there is in use.
        let spare = if self.is_writing() { None } else { self.ready.take() };
        spare.or_else(|| self.threads.take_spare()).unwrap_or_default()
    }

    /// The core gives a read its index.
    pub(super) fn note_read(&mut self, read: &ReadState, fx: &mut Hands<'_>) {
        if read.index > self.applied {
            fx.mark(marks::READ_WAITED);
        }
        self.requests.read_at(&read.context, read.index);
    }

    /// Brings what is shown of the log up to the core's.
    pub(super) fn follow_log(&mut self, fx: &mut Hands<'_>) {
        if self.is_installing() {
            return;
        }
        if let Some(from) = self.spine.follow(self.core.unstable_entries())
            && from <= self.durable
        {
            fx.mark(marks::DURABLE_CUT);
            self.durable = from - 1;
        }
    }

    /// Whether the core has a snapshot in place of the log that is not durable yet: until then the old log is shown.
    pub(super) fn is_installing(&self) -> bool {
        self.core.installing_snapshot().is_some_and(|index| index > self.spine.base())
    }

    fn carry_out(&mut self, mut ready: Box<Ready>, fx: &mut Hands<'_>) {
        self.follow_log(fx);
        // What promises nothing goes out before anything is durable: the leader writes while its followers write.
        let immediate = ready.immediate_messages().len();
        if immediate > 0 {
            for message in ready.messages.drain(..immediate) {
                self.send(message, fx);
            }
        }
        self.store(ready, fx);
    }

    /// What the Ready stores is durable: keep the promises, apply, and tell the core.
    pub(super) fn finish(&mut self, mut ready: Box<Ready>, fx: &mut Hands<'_>) {
        if self.has_threads() {
            self.appended(ready, fx);
            return;
        }
        if !ready.messages.is_empty() {
            for message in ready.messages.drain(..) {
                self.send(message, fx);
            }
        }
        self.apply_and_read(&mut ready, fx);
        self.core.advance();
        self.ready = Some(ready);
        self.snapshot_if_due(fx);
    }
}
