//! The part of a server as a source: subscribers, their relays, broadcasts.

use super::{Fx, RelayNode};
use crate::bug::Bug;
use crate::cursor::Cursor;
use crate::marks;
use crate::message::{Announcement, Body, Message};
use crate::outlet::{NotReady, Pushed};
use crate::queue::claimed_term;
use crate::relay::{Stage, ToRelay, ToTx};
use crate::timer::Timer;
use crate::vclock::Vclock;
use whitewater_sim::{LocalTime, NodeId, Role, Span};

impl RelayNode {
    /// SUBSCRIBE came.
    pub(super) fn subscribed(
        &mut self,
        place: usize,
        connection: u32,
        vclock: Vclock,
        now: LocalTime,
        fx: Fx<'_, '_>,
    ) {
        let last = self.relays[place].connection;
        if connection <= last {
            return;
        }
        if last > 0 && connection >> 16 > last >> 16 {
            // The subscriber has restarted: what this node had from it is gone as well.
            self.source_restarted(place, now, fx);
        }
        if self.relays[place].stage != Stage::Off {
            fx.mark(marks::REPLACED);
            self.end_relay(place, fx);
        }
        // As merged, the place to start again from is known before the first acknowledgement.
        let received = match self.settings.not_ready {
            NotReady::Mailbox => vclock,
            NotReady::Drop | NotReady::Latch => Vclock::default(),
        };
        self.relays[place].begin(connection, vclock, received);
        self.relays[place].sent_term = self.raft.durable_term();
        // Election state goes out directly: the relay does not exist yet.
        let reply = Body::SubscribeReply(self.raft.announcement(&self.vclock));
        self.send_on(place, reply, fx);
        let subscriber = self.relays[place].subscriber;
        fx.note(format_args!("relay to {subscriber} starts up"));
        fx.set_timer(
            Timer::RelayReady(subscriber),
            self.settings.relay_start_low,
            self.settings.relay_start_high,
        );
    }

    /// The thread of a relay has started up.
    pub(super) fn relay_ready(&mut self, place: usize, fx: Fx<'_, '_>) {
        let relay = &mut self.relays[place];
        if relay.stage != Stage::Starting {
            return;
        }
        relay.stage = Stage::Enabling;
        let subscriber = relay.subscriber;
        fx.note(format_args!("relay to {subscriber} is up and asks for broadcasts"));
        self.queue_to_tx(place, ToTx::Ready, fx);
    }

    /// Tx handles what came from a relay.
    pub(super) fn drain_to_tx(&mut self, place: usize, fx: Fx<'_, '_>) {
        self.relays[place].is_tx_woken = false;
        while let Some(message) = self.relays[place].to_tx.pop_front() {
            match message {
                ToTx::Ready => {
                    let enabled = self.relays[place].outlet.enable();
                    if let Some(announcement) = enabled.ahead {
                        fx.mark(marks::BROADCAST_DELIVERED);
                        self.queue_to_relay(place, ToRelay::Push(announcement), fx);
                    }
                    self.queue_to_relay(place, ToRelay::Ready(enabled.carried), fx);
                }
                ToTx::Returned => {
                    if let Some(announcement) = self.relays[place].outlet.returned() {
                        self.queue_to_relay(place, ToRelay::Push(announcement), fx);
                    }
                }
            }
        }
    }

    /// The thread of a relay handles what came from tx, then sends rows.
    pub(super) fn drain_to_relay(&mut self, place: usize, now: LocalTime, fx: Fx<'_, '_>) {
        self.relays[place].is_relay_woken = false;
        while let Some(message) = self.relays[place].to_relay.pop_front() {
            match message {
                ToRelay::Push(announcement) => self.pass_on(place, announcement, fx),
                ToRelay::Ready(carried) => {
                    if let Some(announcement) = carried {
                        self.send_latched(place, announcement, fx);
                    }
                    self.stream(place, now, fx);
                }
            }
        }
        if self.relays[place].stage == Stage::Streaming {
            self.send_rows(place, fx);
        }
    }

    /// A broadcast goes out by way of the thread. A leader's comes before its rows: whatever the subscriber refused
    /// while it did not know the leader is sent again.
    fn pass_on(&mut self, place: usize, announcement: Announcement, fx: Fx<'_, '_>) {
        self.send_on(place, Body::Announce(announcement), fx);
        let relay = &mut self.relays[place];
        relay.sent_term = relay.sent_term.max(announcement.term);
        // Where rows of anybody are accepted, none has been skipped.
        if announcement.state == Role::Leader && !self.settings.queue {
            let relay = &mut self.relays[place];
            fx.mark(match relay.received.covers(&relay.subscribed) {
                true => marks::CURSOR_RESTART,
                false => marks::CURSOR_RESTART_BLIND,
            });
            relay.cursor = Cursor::after(relay.received);
        }
        if self.settings.not_ready == NotReady::Mailbox {
            self.queue_to_tx(place, ToTx::Returned, fx);
        }
    }

    /// The latch sends what it keeps. Its vector clock was kept as a pointer: what it shows now is sent.
    fn send_latched(&mut self, place: usize, mut announcement: Announcement, fx: Fx<'_, '_>) {
        fx.mark(marks::BROADCAST_DELIVERED);
        if announcement.vclock.is_some_and(|vclock| vclock != self.vclock) {
            fx.mark(marks::BROADCAST_LIVE_VCLOCK);
        }
        announcement.vclock = announcement.vclock.map(|_| self.vclock);
        if announcement != self.raft.announcement(&self.vclock) {
            fx.mark(marks::BROADCAST_STALE);
        }
        self.send_on(place, Body::Announce(announcement), fx);
    }

    fn stream(&mut self, place: usize, now: LocalTime, fx: Fx<'_, '_>) {
        let relay = &mut self.relays[place];
        relay.stage = Stage::Streaming;
        relay.last_ack = now;
        let subscriber = relay.subscriber;
        fx.note(format_args!("relay to {subscriber} is ready"));
        fx.set_timer(Timer::Heartbeat(subscriber), self.settings.heartbeat, self.settings.heartbeat);
    }

    fn send_rows(&mut self, place: usize, fx: Fx<'_, '_>) {
        loop {
            let relay = &mut self.relays[place];
            let gate = if self.settings.queue { relay.sent_term } else { u64::MAX };
            let gate = if self.settings.planted.is(Bug::RowsBeforeTerm) { u64::MAX } else { gate };
            let rows = relay.cursor.take(&self.log, relay.subscriber, |row| claimed_term(row) <= gate);
            if rows.is_empty() {
                return;
            }
            self.send_on(place, Body::Rows(rows), fx);
        }
    }

    /// A relay's heartbeat is due.
    pub(super) fn beat(&mut self, place: usize, now: LocalTime, fx: Fx<'_, '_>) {
        let relay = &self.relays[place];
        if relay.stage != Stage::Streaming {
            return;
        }
        let subscriber = relay.subscriber;
        if now.since(relay.last_ack) > self.settings.death_timeout() {
            fx.mark(marks::DEAF_SUBSCRIBER);
            fx.note(format_args!("relay to {subscriber} ends: nothing is acknowledged"));
            let last = self.end_relay(place, fx);
            // The connection still stands while the thread takes its leave of tx.
            if let Some(announcement) = last {
                fx.mark(marks::BROADCAST_AT_TEARDOWN);
                self.send_latched(place, announcement, fx);
            }
            self.send_on(place, Body::Reset { by_source: true }, fx);
            return;
        }
        if !self.is_tx_silent(now, fx) {
            self.send_on(place, Body::Heartbeat, fx);
        }
        fx.set_timer(Timer::Heartbeat(subscriber), self.settings.heartbeat, self.settings.heartbeat);
    }

    /// The subscriber says what it has. A lost acknowledgement is not missed: the next one says more.
    pub(super) fn acknowledged(
        &mut self,
        place: usize,
        connection: u32,
        number: u32,
        (vclock, term): (Vclock, Option<u64>),
        now: LocalTime,
        fx: Fx<'_, '_>,
    ) {
        self.hear_term_of_ack(term, now, fx);
        let relay = &mut self.relays[place];
        if !relay.is_on(connection) {
            let subscriber = relay.subscriber;
            fx.send(subscriber, Message { connection, number: 0, body: Body::Reset { by_source: true } });
        } else if relay.hears_ack(number, vclock, now) {
            self.count_early(term, now, fx);
        }
    }

    /// The thread of a relay takes an acknowledgement while tx hangs; its term is not heard.
    pub(super) fn note_ack(&mut self, place: usize, message: &Message, now: LocalTime) {
        let relay = &mut self.relays[place];
        if let Body::Ack(vclock, _) = message.body
            && relay.is_on(message.connection)
        {
            relay.hears_ack(message.number, vclock, now);
        }
    }

    /// The subscriber knows nothing of the connection.
    pub(super) fn reset_by_subscriber(&mut self, place: usize, connection: u32, fx: Fx<'_, '_>) {
        if self.relays[place].is_on(connection) {
            fx.mark(marks::RESET);
            fx.note(format_args!("relay to {} ends: reset", self.relays[place].subscriber));
            self.end_relay(place, fx);
        }
    }

    /// Gives a broadcast to every relay.
    pub(super) fn broadcast(&mut self, announcement: Announcement, fx: Fx<'_, '_>) {
        for place in 0..self.relays.len() {
            let relay = &mut self.relays[place];
            let (subscriber, connection) = (relay.subscriber, relay.connection);
            let is_off = relay.stage == Stage::Off;
            match relay.outlet.push(announcement) {
                Pushed::Queued(announcement) => self.queue_to_relay(place, ToRelay::Push(announcement), fx),
                // Whoever subscribes later gets the state with the reply.
                Pushed::Kept | Pushed::Lost if is_off => {}
                Pushed::Kept if relay.outlet.is_enabled() => fx.mark(marks::ONE_WAITS),
                Pushed::Kept => {
                    fx.mark(marks::BROADCAST_KEPT);
                    fx.note(format_args!("{announcement} waits: relay to {subscriber} is not ready"));
                }
                Pushed::Lost => {
                    fx.mark(marks::BROADCAST_LOST);
                    let message = Message { connection, number: 0, body: Body::Announce(announcement) };
                    fx.discard(subscriber, message, "relay is subscribed, not ready");
                }
            }
        }
    }

    /// Rows of `origin` are durable: relays look at the log.
    pub(super) fn wake_relays(&mut self, origin: NodeId, fx: Fx<'_, '_>) {
        if self.settings.queue {
            self.wake_rows(origin, fx);
            return;
        }
        for relay in &mut self.relays {
            if relay.stage == Stage::Streaming && relay.subscriber != origin && !relay.is_relay_woken {
                relay.is_relay_woken = true;
                fx.set_timer(Timer::ToRelay(relay.subscriber), Span::ZERO, self.settings.queue_delay);
            }
        }
    }

    /// As [`RelayNode::wake_relays`], on a way of their own.
    fn wake_rows(&mut self, origin: NodeId, fx: Fx<'_, '_>) {
        for relay in &mut self.relays {
            if relay.stage == Stage::Streaming && relay.subscriber != origin && !relay.are_rows_woken {
                relay.are_rows_woken = true;
                fx.set_timer(Timer::Rows(relay.subscriber), Span::ZERO, self.settings.queue_delay);
            }
        }
    }

    /// A relay looks for new rows.
    pub(super) fn rows_due(&mut self, place: usize, fx: Fx<'_, '_>) {
        self.relays[place].are_rows_woken = false;
        if self.relays[place].stage == Stage::Streaming {
            self.send_rows(place, fx);
        }
    }

    fn end_relay(&mut self, place: usize, fx: Fx<'_, '_>) -> Option<Announcement> {
        let relay = &mut self.relays[place];
        for timer in [Timer::RelayReady, Timer::ToRelay, Timer::ToTx, Timer::Heartbeat, Timer::Rows] {
            fx.cancel_timer(timer(relay.subscriber));
        }
        relay.end()
    }

    fn send_on(&mut self, place: usize, body: Body, fx: Fx<'_, '_>) {
        let relay = &mut self.relays[place];
        let (connection, number) = (relay.connection, relay.next_number());
        fx.send(relay.subscriber, Message { connection, number, body });
    }

    fn queue_to_relay(&mut self, place: usize, message: ToRelay, fx: Fx<'_, '_>) {
        let relay = &mut self.relays[place];
        relay.to_relay.push_back(message);
        if relay.to_relay.iter().filter(|m| matches!(m, ToRelay::Push(_))).count() > 1 {
            fx.mark(marks::TWO_ON_THE_WAY);
        }
        if !relay.is_relay_woken {
            relay.is_relay_woken = true;
            fx.set_timer(Timer::ToRelay(relay.subscriber), Span::ZERO, self.settings.queue_delay);
        }
    }

    fn queue_to_tx(&mut self, place: usize, message: ToTx, fx: Fx<'_, '_>) {
        let relay = &mut self.relays[place];
        relay.to_tx.push_back(message);
        if !relay.is_tx_woken {
            relay.is_tx_woken = true;
            fx.set_timer(Timer::ToTx(relay.subscriber), Span::ZERO, self.settings.queue_delay);
        }
    }
}
