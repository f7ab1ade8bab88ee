//! A process that died of its disk: it is started again after a while, from what the disk says then.

use crate::core::Core;
use crate::log::Log;
use crate::marks;
use crate::node::{Hands, StoreNode};
use crate::server::{Identity, Server};
use crate::timer::StoreTimer;
use whitewater_sim::{Input, LocalTime, Ticket};
use whitewater_wal::{Durability, Recovered, Synced, WalError};

/// A dead process.
pub struct Dead {
    identity: Identity,
    /// Its log was read, and this ticket says when what was read is durable.
    reopening: Option<(Log, Recovered, Ticket)>,
}

impl Dead {
    /// It died, or could not be started, and is started again later.
    pub(crate) fn begin<C: Core>(identity: Identity, fx: &mut Hands<'_, C>) -> Dead {
        fx.mark(marks::PROCESS_DIED);
        fx.cancel_timer(StoreTimer::Tick);
        fx.cancel_timer(StoreTimer::Write);
        let dead = Dead { identity, reopening: None };
        dead.start_later(fx);
        dead
    }

    fn start_later<C: Core>(&self, fx: &mut Hands<'_, C>) {
        let timeout = self.identity.settings.election_timeout();
        fx.set_timer(StoreTimer::Restart, timeout.part(2), timeout.times(2));
    }

    /// Something happens; gives the server once it has started.
    pub(crate) fn handle<C: Core>(
        &mut self,
        now: LocalTime,
        input: &Input<StoreNode<C>>,
        fx: &mut Hands<'_, C>,
    ) -> Option<Server<C>> {
        match *input {
            Input::Timeout(StoreTimer::Restart) => match Log::reopen(fx.disk(), &self.identity.settings) {
                Ok((log, recovered, Durability::Now)) => self.started(log, recovered, now, fx),
                Ok((log, recovered, Durability::After(ticket))) => {
                    self.reopening = Some((log, recovered, ticket));
                    None
                }
                Err(error) => self.cannot_start(&error, fx),
            },
            Input::Synced(ticket) => {
                let (mut log, recovered, _) = self.reopening.take_if(|(.., own)| *own == ticket)?;
                match log.synced(fx.disk(), ticket) {
                    Ok(Synced::Done) => self.started(log, recovered, now, fx),
                    _ => self.cannot_start(&WalError::Poisoned, fx),
                }
            }
            // What was read may be gone, whoever had asked for the sync.
            Input::SyncFailed(_) if self.reopening.take().is_some() => {
                self.cannot_start(&WalError::Poisoned, fx)
            }
            _ => None,
        }
    }

    fn cannot_start<C: Core>(&self, error: &WalError, fx: &mut Hands<'_, C>) -> Option<Server<C>> {
        assert!(!matches!(error, WalError::Damaged { .. }), "the log is whole: {error}");
        fx.note(format_args!("cannot start: {error}"));
        self.start_later(fx);
        None
    }

    fn started<C: Core>(
        &self,
        log: Log,
        recovered: Recovered,
        now: LocalTime,
        fx: &mut Hands<'_, C>,
    ) -> Option<Server<C>> {
        fx.mark(marks::STARTED_AGAIN);
        Some(Server::start(self.identity.reborn(), (log, recovered), now, fx))
    }
}
