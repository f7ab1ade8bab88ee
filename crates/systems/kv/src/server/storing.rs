//! Writing to the disk: what a Ready stores, tickets that come back, and failures of the disk.

use super::{Hands, Server};
use crate::marks;
use crate::timer::KvTimer;
use whitewater_raft::{Ready, Storage};
use whitewater_sim::Ticket;
use whitewater_wal::{Durability, Synced, WalError};

/// What the last Ready waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writing {
    /// Nothing: there is none.
    Nothing,
    /// It was written, and this ticket says when it is durable.
    Sync(Ticket),
    /// It could not be written, and the disk is asked again after a while.
    Disk,
}

impl Server {
    /// Writes what the Ready wants stored and goes on with it, at once or when it is durable.
    pub(super) fn store(&mut self, ready: Box<Ready>, fx: &mut Hands<'_>) {
        self.writing = Writing::Nothing;
        let written = self.core.storage_mut().write(&ready, fx.disk());
        if let Some(spare) = self.ready.replace(ready) {
            self.threads.keep_spare(spare);
        }
        self.stored_when(written, fx);
    }

    fn stored_when(&mut self, written: Result<Durability, WalError>, fx: &mut Hands<'_>) {
        match written {
            Ok(Durability::Now) => self.ready_stored(fx),
            Ok(Durability::After(ticket)) => self.writing = Writing::Sync(ticket),
            Err(error) if may_try_again(&error) => {
                fx.note(format_args!("cannot write: {error}"));
                fx.mark(marks::WRITE_REFUSED);
                self.writing = Writing::Disk;
                let timeout = self.identity.settings.election_timeout();
                fx.set_timer(KvTimer::Write, timeout.part(8), timeout.part(2));
            }
            Err(error) => {
                fx.note(format_args!("cannot go on: {error}"));
                self.halt(fx);
            }
        }
    }

    /// The disk may have room again.
    pub(super) fn write_again(&mut self, fx: &mut Hands<'_>) {
        if matches!(self.writing, Writing::Disk)
            && let Some(ready) = self.ready.take()
        {
            self.store(ready, fx);
        }
    }

    /// What the Ready stores would survive a crash now.
    fn ready_stored(&mut self, fx: &mut Hands<'_>) {
        self.writing = Writing::Nothing;
        let Some(ready) = self.ready.take() else { return };
        if ready.must_sync || ready.snapshot.is_some() {
            let log = self.core.storage_mut();
            log.stored();
            let last = log.last();
            if ready.snapshot.is_some() {
                self.restore(fx);
            }
            if self.is_installing() {
                // The core shows the next snapshot already; until that is stored, the log is what is stored.
                self.spine.take_over(&ready.entries);
            }
            // Entries may have been replaced in the core's log while they were written.
            let mut durable = last.min(self.spine.last());
            let log = self.core.storage();
            while durable > self.durable && log.term(durable).ok() != self.spine.term_at(durable) {
                durable -= 1;
            }
            self.durable = durable;
        }
        self.finish(ready, fx);
    }

    /// The disk has done what was asked of it.
    pub(super) fn synced(&mut self, ticket: Ticket, fx: &mut Hands<'_>) {
        let is_ready = self.writing == Writing::Sync(ticket);
        let synced = self.core.storage_mut().synced(fx.disk(), ticket);
        if self.ends_repair(ticket, &synced, fx) {
            return;
        }
        let now = match synced {
            Ok(Synced::Unknown) => return,
            Ok(Synced::Done) => Ok(Durability::Now),
            Ok(Synced::Next(durability)) => Ok(durability),
            Err(error) => Err(error),
        };
        if is_ready {
            self.stored_when(now, fx);
        } else {
            self.snapshot_saved(now, fx);
        }
    }

    /// The disk has failed at what was asked of it.
    pub(super) fn sync_failed(&mut self, ticket: Ticket, fx: &mut Hands<'_>) {
        match self.core.storage_mut().sync_failed(fx.disk(), ticket) {
            // Of an earlier life of the process: this one has synced what it found.
            None => {}
            Some(true) => self.halt(fx),
            Some(false) => self.stored_when(Ok(Durability::Now), fx),
        }
    }
}

/// Whether the disk refused a call that changed nothing.
pub(super) fn may_try_again(error: &WalError) -> bool {
    matches!(error, WalError::Disk { .. } | WalError::Busy)
}
