//! Doing what the core wants done: write, send, apply, answer, in the order that keeps promises.

use super::{Hands, Server};
use crate::marks;
use whitewater_raft::{Ready, Role, Storage};
use whitewater_sim::{Sync, Ticket};

impl Server {
    /// Works off the core until it wants nothing more, or has to wait for the disk.
    pub(super) fn pump(&mut self, fx: &mut Hands<'_>) {
        while self.writing.is_none() && !self.halted && self.core.has_ready() {
            let mut ready = self.ready.take().unwrap_or_default();
            self.core.ready_into(&mut ready);
            self.carry_out(ready, fx);
        }
        if self.writing.is_some() {
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

    /// Brings what is shown of the log up to the core's.
    fn follow_log(&mut self, fx: &mut Hands<'_>) {
        if let Some(from) = self.spine.follow(self.core.unstable_entries())
            && from <= self.durable
        {
            fx.mark(marks::DURABLE_CUT);
            self.durable = from - 1;
        }
    }

    fn carry_out(&mut self, mut ready: Box<Ready>, fx: &mut Hands<'_>) {
        self.follow_log(fx);
        // What promises nothing goes out before anything is durable: the leader writes while its followers write.
        let immediate = ready.immediate_messages().len();
        for message in ready.messages.drain(..immediate) {
            self.send(message, fx);
        }
        let log = self.core.storage_mut();
        let written = log.write(&ready, fx.disk());
        // A commit index alone may be lost; the next sync takes it along.
        let synced =
            written.and_then(|()| if ready.must_sync { log.sync(fx.disk()).map(Some) } else { Ok(None) });
        match synced {
            Ok(None) => self.finish(ready, fx),
            Ok(Some(Sync::Done)) => {
                self.stored(&mut ready);
                self.finish(ready, fx);
            }
            Ok(Some(Sync::Pending(ticket))) => {
                self.writing = Some(ticket);
                self.ready = Some(ready);
            }
            Err(_) => self.halt(fx),
        }
    }

    /// The disk has done what was asked of it.
    pub(super) fn synced(&mut self, ticket: Ticket, fx: &mut Hands<'_>) {
        if self.writing != Some(ticket) {
            return;
        }
        self.writing = None;
        let Some(mut ready) = self.ready.take() else { return };
        self.stored(&mut ready);
        self.finish(ready, fx);
    }

    /// What the Ready stores would survive a crash now.
    fn stored(&mut self, ready: &mut Ready) {
        let log = self.core.storage_mut();
        log.stored(ready);
        // Entries may have been replaced in the core's log while they were written.
        let mut last = log.last().min(self.spine.last());
        while last > self.durable && log.term(last).ok() != self.spine.term_at(last) {
            last -= 1;
        }
        self.durable = last;
    }

    /// What the Ready stores is durable: keep the promises, apply, and tell the core.
    fn finish(&mut self, mut ready: Box<Ready>, fx: &mut Hands<'_>) {
        for message in ready.messages.drain(..) {
            self.send(message, fx);
        }
        for entry in &ready.committed_entries {
            self.apply(entry, fx);
        }
        for read in ready.read_states.drain(..) {
            if read.index > self.applied {
                fx.mark(marks::READ_WAITED);
            }
            self.requests.read_at(&read.context, read.index);
        }
        self.serve_reads(fx);
        self.core.advance();
        self.ready = Some(ready);
    }
}
