//! Doing what the core wants done: send, write, keep promises when that is durable, and what a disk that fails does to it.

use super::Server;
use crate::core::{Core, HardState, Snapshot, Todo};
use crate::marks;
use crate::message::StoreMessage;
use crate::node::Hands;
use crate::timer::StoreTimer;
use whitewater_sim::{NodeId, Ticket};
use whitewater_wal::{Durability, Synced, WalError};

/// What waits for the disk.
pub(super) struct Pending<M> {
    /// The ticket that says that it is durable; none if it is as soon as everything before it is.
    ticket: Option<Ticket>,
    number: u64,
    promises: Vec<(NodeId, M)>,
    /// Who is sent a snapshot.
    behind: Vec<NodeId>,
    hard_state: Option<HardState>,
    /// Index and term of the last entry in it.
    last: Option<(u64, u64)>,
    is_snapshot: bool,
}

/// Whether the disk refused a call that changed nothing.
pub(super) fn may_try_again(error: &WalError) -> bool {
    matches!(error, WalError::Disk { .. } | WalError::Busy)
}

impl<C: Core> Server<C> {
    /// Whether the core has a snapshot in place of the log that is not durable yet: until then the old log is shown.
    pub(super) fn is_installing(&self) -> bool {
        let kept_back = self.stuck.as_ref().is_some_and(|todo| todo.snapshot.is_some());
        kept_back || self.pending.back().is_some_and(|pending| pending.is_snapshot)
    }

    /// The disk has lost what it was given, or nobody knows: only what it has after a restart counts.
    pub(super) fn die(&mut self, error: &WalError, fx: &mut Hands<'_, C>) {
        assert!(
            matches!(error, WalError::SyncFailed { .. } | WalError::Poisoned) || may_try_again(error),
            "the log takes what the core wants stored: {error}"
        );
        fx.note(format_args!("cannot go on: {error}"));
        self.dies = true;
    }

    pub(super) fn send(&self, to: NodeId, message: StoreMessage<C::Message>, fx: &mut Hands<'_, C>) {
        if message.snapshot_index().is_some() {
            fx.mark(marks::SNAPSHOT_SENT);
            let timeout = self.settings().election_timeout();
            fx.set_timer(StoreTimer::Snapshot(to), timeout, timeout.times(2));
        }
        fx.send(to, message);
    }

    /// Carries it out, and gives it back empty; keeps it if the log does not take it now.
    pub(super) fn carry_out(
        &mut self,
        mut todo: Box<Todo<C::Message>>,
        fx: &mut Hands<'_, C>,
    ) -> Option<Box<Todo<C::Message>>> {
        if !todo.messages.is_empty() && self.waits_alone() {
            todo.promises.splice(0..0, todo.messages.drain(..));
        }
        for (to, message) in todo.messages.drain(..) {
            self.send(to, StoreMessage::Core(message), fx);
        }
        let is_snapshot = todo.snapshot.is_some();
        if let Some(Snapshot { index, term, .. }) = &todo.snapshot {
            // A crash may leave the old log or the new one: of an old one that is longer, what does not lie in the new one may go.
            let is_in_log = |index, term| self.spine.chain.term_at(index) == Some(term);
            let behind = todo.entries.iter().take_while(|entry| is_in_log(entry.index, entry.term));
            let shared = match is_in_log(*index, *term) {
                true => behind.last().map_or(*index, |entry| entry.index),
                false if self.spine.chain.last_index() > *index => *index - 1,
                false => self.durable,
            };
            self.durable = self.durable.min(shared);
        } else {
            // A leader sends entries before it has written them, and they are in its log even if the disk takes nothing now.
            todo.entries.iter().for_each(|entry| self.spine.grow::<C>(entry));
            if let Some(first) = todo.entries.first() {
                self.durable = self.durable.min(first.index - 1);
            }
        }
        let log = self.core.log_mut();
        let written = match todo.snapshot.clone() {
            Some(snapshot) => log.install(fx.disk(), snapshot, todo.hard_state, &todo.entries),
            None => log.write(fx.disk(), todo.hard_state, &todo.entries, todo.may_be_lost),
        };
        let ticket = match written {
            Ok(Durability::Now) => None,
            Ok(Durability::After(ticket)) => Some(ticket),
            Err(error) if may_try_again(&error) => {
                fx.mark(marks::WRITE_TRIED_AGAIN);
                let timeout = self.settings().election_timeout();
                fx.set_timer(StoreTimer::Write, timeout.part(16), timeout.part(4));
                self.stuck = Some(todo);
                return None;
            }
            Err(error) => {
                self.die(&error, fx);
                return None;
            }
        };
        self.core.written();
        self.bare.written();
        self.pending.push_back(Pending {
            ticket,
            number: std::mem::take(&mut todo.number),
            promises: std::mem::replace(&mut todo.promises, std::mem::take(&mut self.spare)),
            behind: std::mem::take(&mut todo.behind),
            hard_state: todo.hard_state.take(),
            last: todo.entries.last().map(|entry| (entry.index, entry.term)),
            is_snapshot,
        });
        self.settle(fx);
        self.apply_to(std::mem::take(&mut todo.committed), fx);
        for (id, index) in todo.reads.drain(..) {
            self.read_at(&id, index, fx);
        }
        self.serve_reads(fx);
        todo.snapshot = None;
        todo.entries.clear();
        self.snapshot_if_due(fx);
        Some(todo)
    }

    /// The disk may have room again, or the log is less busy.
    pub(super) fn try_again(&mut self, fx: &mut Hands<'_, C>) {
        if let Some(todo) = self.stuck.take() {
            self.todo = self.carry_out(todo, fx);
            self.pump(fx);
        }
    }

    /// Keeps the promises of everything that is durable by now.
    fn settle(&mut self, fx: &mut Hands<'_, C>) {
        let before = self.stored;
        while self.pending.front().is_some_and(|pending| pending.ticket.is_none())
            && let Some(mut pending) = self.pending.pop_front()
        {
            self.stored = self.stored.max(pending.number);
            if let Some(state) = pending.hard_state {
                self.hard_state = state;
            }
            if pending.is_snapshot {
                self.restore(fx);
            }
            if let Some((index, term)) = pending.last
                && self.spine.chain.term_at(index) == Some(term)
            {
                self.durable = self.durable.max(index);
            }
            for (to, message) in pending.promises.drain(..) {
                self.send(to, StoreMessage::Core(message), fx);
            }
            if self.spare.capacity() == 0 {
                self.spare = pending.promises;
            }
            for to in pending.behind {
                self.bring_snapshot(to, fx);
            }
        }
        if self.stored > before {
            self.core.stored(self.stored, &mut self.next);
        }
    }

    /// The disk has done what was asked of it.
    pub(super) fn synced(&mut self, ticket: Ticket, fx: &mut Hands<'_, C>) {
        let synced = self.core.log_mut().synced(fx.disk(), ticket);
        let position = self.pending.iter().position(|pending| pending.ticket == Some(ticket));
        match (synced, position) {
            // It was the last step of storing a snapshot of its own.
            (Ok(Synced::Done | Synced::Next(Durability::Now)), None) => self.compact(fx),
            (Ok(Synced::Done | Synced::Next(Durability::Now)), Some(position)) => {
                self.pending.range_mut(..=position).for_each(|pending| pending.ticket = None);
                self.settle(fx);
                self.pump(fx);
            }
            (Ok(Synced::Next(Durability::After(next))), Some(position)) => {
                self.pending[position].ticket = Some(next);
            }
            (Ok(Synced::Next(Durability::After(_)) | Synced::Unknown), _) => {}
            // A snapshot of its own can be made another time.
            (Err(error), None) if may_try_again(&error) => {}
            (Err(error), _) => self.die(&error, fx),
        }
    }

    /// The disk has failed at what was asked of it; or in an earlier life of the process, and this one has synced what it found.
    pub(super) fn sync_failed(&mut self, ticket: Ticket, fx: &mut Hands<'_, C>) {
        if self.core.log_mut().sync_failed(fx.disk(), ticket) {
            self.die(&WalError::Poisoned, fx);
        }
    }
}
