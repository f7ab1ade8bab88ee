//! The part of a server around its log: own rows, what becomes durable, and a disk that fails.

use super::{Fx, RelayNode};
use crate::bug::Bug;
use crate::command::Reply;
use crate::marks;
use crate::row::Row;
use crate::timer::Timer;
use crate::wal::Entry;
use whitewater_sim::{LocalTime, NodeId, OpId, Role};

impl RelayNode {
    /// Writes a row of its own.
    pub(super) fn write_own(&mut self, op: Option<OpId>, text: &str) -> u32 {
        let lsn = self.volatile_vclock.get(self.id) + 1;
        self.volatile_vclock.follow(self.id, lsn);
        self.wal.push(Entry::Own { row: Row { origin: self.id, lsn, text: text.into() }, op });
        lsn
    }

    /// Writes a row of `source`, unless it has it or is writing it.
    pub(super) fn write_applied(&mut self, row: Row, source: NodeId) -> bool {
        let is_new = row.origin != self.id && row.lsn > self.volatile_vclock.get(row.origin);
        if is_new {
            self.volatile_vclock.follow(row.origin, row.lsn);
            self.wal.push(Entry::Applied { row, source });
        }
        is_new
    }

    /// Gets done what the disk lets be done now.
    pub(super) fn flush(&mut self, now: LocalTime, fx: Fx<'_, '_>) {
        let mut acks = 0u32;
        loop {
            if self.wal.advance(fx.disk(), &mut self.done).is_err() {
                self.write_failed(now, fx);
                return;
            }
            let Some(entry) = self.done.pop_front() else { break };
            match entry {
                Entry::Election { term, vote } => self.election_written(term, vote, fx),
                Entry::Own { row, op } => {
                    if let Some(op) = op {
                        fx.reply(op, Reply::Written(row.lsn));
                    }
                    self.written(row, fx);
                }
                Entry::Applied { row, source } => {
                    acks |= 1 << source.position();
                    self.written(row, fx);
                }
            }
        }
        for place in 0..self.appliers.len() {
            if acks >> self.appliers[place].source.position() & 1 == 1 {
                self.acknowledge(place, fx);
            }
        }
    }

    fn written(&mut self, row: Row, fx: Fx<'_, '_>) {
        let origin = row.origin;
        fx.note(format_args!("row {row} is durable"));
        if let Some(remark) = self.keep(row) {
            fx.note(format_args!("{remark}"));
        }
        self.wake_relays(origin, fx);
    }

    /// A sync has failed.
    pub(super) fn write_failed(&mut self, now: LocalTime, fx: Fx<'_, '_>) {
        if self.settings.planted.is(Bug::LeadsWithoutLog) && self.raft.state() == Role::Leader {
            fx.note(format_args!("the log could not be written: gives it up and leads on"));
            self.wal.give_up();
            self.volatile_vclock = self.vclock;
            return;
        }
        self.start_again(now, fx);
    }

    /// What was written is gone, and nothing in memory can be relied on. As after a crash of the process.
    fn start_again(&mut self, now: LocalTime, fx: Fx<'_, '_>) {
        fx.mark(marks::SYNC_FAILED);
        fx.note(format_args!("the log could not be written: starts again from its disk"));
        fx.cancel_timer(Timer::Election);
        fx.cancel_timer(Timer::Worker);
        for relay in &self.relays {
            let peer = relay.subscriber;
            for timer in [Timer::RelayReady, Timer::ToRelay, Timer::ToTx, Timer::Heartbeat, Timer::Rows] {
                fx.cancel_timer(timer(peer));
            }
            for timer in [Timer::Connect, Timer::Silence, Timer::Gap] {
                fx.cancel_timer(timer(peer));
            }
        }
        let fresh = RelayNode::recover(self.id, self.servers, self.settings.clone(), self.incarnation, fx);
        let (connections, generation) = (self.connections, self.generation + 1);
        *self = RelayNode { connections, generation, ..fresh };
        self.start(now, fx);
    }
}
