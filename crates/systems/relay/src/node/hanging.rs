//! A server whose tx thread hangs: it handles nothing for a while, and its relay threads know nothing of it.

use super::{Fx, RelayNode};
use crate::bug::Bug;
use crate::marks;
use crate::message::Body;
use crate::timer::Timer;
use std::collections::VecDeque;
use std::fmt;
use whitewater_sim::{Input, LocalTime, Span};

/// Whether the tx thread hangs, and what waits for it.
#[derive(Default)]
pub(super) struct Hang {
    since: Option<LocalTime>,
    backlog: VecDeque<Input<RelayNode>>,
}

impl fmt::Debug for Hang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hang({:?}, {} inputs wait)", self.since, self.backlog.len())
    }
}

impl RelayNode {
    /// The tx thread handles nothing any more for so long.
    pub(super) fn hang(&mut self, span: Span, now: LocalTime, fx: Fx<'_, '_>) {
        self.hang.since = Some(now);
        fx.set_timer(Timer::Hang, span, span);
    }

    /// Takes an input that the tx thread does not get to now, or gives it back.
    pub(super) fn put_off(
        &mut self,
        now: LocalTime,
        input: Input<RelayNode>,
        fx: Fx<'_, '_>,
    ) -> Option<Input<RelayNode>> {
        if self.hang.since.is_none() {
            return Some(input);
        }
        match input {
            Input::Timeout(Timer::Hang) => self.wake_up(now, fx),
            // These are for the threads of relays.
            Input::Timeout(Timer::ToRelay(peer)) => self.drain_to_relay(self.place(peer), now, fx),
            Input::Timeout(Timer::Heartbeat(peer)) => self.beat(self.place(peer), now, fx),
            Input::Timeout(Timer::Rows(peer)) => self.rows_due(self.place(peer), fx),
            Input::Deliver { from, message } if matches!(message.body, Body::Ack(..)) => {
                self.note_ack(self.place(from), &message, now);
            }
            other => self.hang.backlog.push_back(other),
        }
        None
    }

    fn wake_up(&mut self, now: LocalTime, fx: Fx<'_, '_>) {
        self.hang.since = None;
        fx.note(format_args!("goes on, {} inputs have waited", self.hang.backlog.len()));
        while let Some(input) = self.hang.backlog.pop_front() {
            self.take(now, input, fx);
        }
    }

    /// Whether relays hear nothing of the tx thread. They then are no sign that there is a leader.
    pub(super) fn is_tx_silent(&self, now: LocalTime, fx: Fx<'_, '_>) -> bool {
        let patience = self.settings.death_timeout();
        let silent = self.hang.since.is_some_and(|since| now.since(since) > patience);
        if silent && !self.settings.planted.is(Bug::HeartbeatsOfTheDead) {
            fx.mark(marks::TX_SILENT);
            return true;
        }
        false
    }
}
