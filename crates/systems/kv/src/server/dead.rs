//! A process that died of its disk: it is started again after a while, from what the disk says then.

use super::{Hands, Server};
use crate::log::Log;
use crate::marks;
use crate::node::KvNode;
use crate::server::repair::Repair;
use crate::server::storing::Writing;
use crate::server::threads::Threads;
use crate::timer::KvTimer;
use whitewater_sim::{Input, LocalTime, Ticket};
use whitewater_wal::{Dropped, Durability, Recovered, Synced, WalError};

impl Server {
    /// The process dies: the log in memory may say more than the disk, and another sync would hide it.
    pub(super) fn halt(&mut self, fx: &mut Hands<'_>) {
        self.halted = true;
        self.writing = Writing::Nothing;
        self.ready = None;
        self.threads = Threads::default();
        fx.cancel_timer(KvTimer::Tick);
        fx.cancel_timer(KvTimer::Write);
        fx.cancel_timer(KvTimer::Apply);
        for peer in self.peers() {
            fx.cancel_timer(KvTimer::Connect(peer));
            fx.cancel_timer(KvTimer::SessionReady(peer));
            fx.cancel_timer(KvTimer::Snapshot(peer));
        }
        self.start_later(fx);
    }

    pub(super) fn start_later(&self, fx: &mut Hands<'_>) {
        let timeout = self.identity.settings.election_timeout();
        fx.set_timer(KvTimer::Restart, timeout.part(2), timeout.times(2));
    }

    /// The log could not be opened. A disk that failed to read is asked again; one that is damaged needs peers.
    pub(super) fn cannot_open(&mut self, error: &WalError, fx: &mut Hands<'_>) {
        fx.note(format_args!("cannot start: {error}"));
        self.halted = true;
        match error {
            WalError::Damaged { .. } => {
                self.damage = Some(Box::new(error.clone()));
                self.begin_repair(fx);
            }
            _ => self.start_later(fx),
        }
    }

    /// Something happens while the process is dead or being started.
    pub(super) fn handle_halted(&mut self, now: LocalTime, input: &Input<KvNode>, fx: &mut Hands<'_>) {
        match *input {
            Input::Timeout(KvTimer::Restart) if !self.is_hopeless() => self.reopen(now, fx),
            Input::Synced(ticket) if self.reopening.is_some() => self.reopened(ticket, now, fx),
            Input::SyncFailed(_) if self.reopening.take().is_some() => {
                // What was read may be gone, whoever had asked for the sync.
                self.start_later(fx);
            }
            _ => self.handle_fencing(now, input, fx),
        }
    }

    fn reopen(&mut self, now: LocalTime, fx: &mut Hands<'_>) {
        match Log::reopen(fx.disk(), self.identity.making()) {
            Ok((log, recovered, Durability::Now)) => self.opened(log, &recovered, now, fx),
            Ok((log, recovered, Durability::After(ticket))) => {
                self.reopening = Some(Box::new(Reopening { log, recovered, ticket }));
            }
            Err(error) => self.cannot_open(&error, fx),
        }
    }

    fn reopened(&mut self, ticket: Ticket, now: LocalTime, fx: &mut Hands<'_>) {
        let Some(mut reopening) = self.reopening.take_if(|reopening| reopening.ticket == ticket) else {
            return;
        };
        match reopening.log.synced(fx.disk(), ticket) {
            Ok(Synced::Done) => {
                let Reopening { log, recovered, .. } = *reopening;
                self.opened(log, &recovered, now, fx);
            }
            _ => self.start_later(fx),
        }
    }

    /// The log was read, and what was read is durable.
    pub(super) fn opened(&mut self, log: Log, recovered: &Recovered, now: LocalTime, fx: &mut Hands<'_>) {
        if recovered.quarantined {
            tell(recovered, fx);
            self.begin_fencing(log, Durability::Now, fx);
            return;
        }
        fx.mark(marks::STARTED_AGAIN);
        *self = Server::start(self.identity.clone(), self.last_session + 1, log, Repair::Sound, now, fx);
        tell(recovered, fx);
    }
}

/// Tells what was found on the disk and does not count.
pub(super) fn tell(recovered: &Recovered, fx: &mut Hands<'_>) {
    recovered.dropped.iter().for_each(|dropped| {
        let Dropped { file, offset, bytes, why } = dropped;
        fx.note(format_args!("left out {bytes} bytes of {file} from {offset} on: {why:?}"));
    });
}

/// A log that was read and waits to be durable.
pub(super) struct Reopening {
    log: Log,
    recovered: Recovered,
    ticket: Ticket,
}
