//! The part of a server as a subscriber: connections to sources, and what comes over them.

use super::{Fx, RelayNode};
use crate::applier::Link;
use crate::bug::Bug;
use crate::inbound::Arrival;
use crate::marks;
use crate::message::{Body, Message};
use crate::queue::claimed_term;
use crate::raft::Mode;
use crate::row::Row;
use crate::timer::Timer;
use whitewater_sim::LocalTime;

impl RelayNode {
    /// Makes a new connection to a source.
    pub(super) fn connect(&mut self, place: usize, now: LocalTime, fx: Fx<'_, '_>) {
        self.connections += 1;
        assert!(self.connections < 1 << 16, "numbers of connections of two lives never meet");
        let connection = self.incarnation << 16 | self.connections;
        let applier = &mut self.appliers[place];
        applier.begin(connection, now);
        let source = applier.source;
        fx.send(source, Message { connection, number: 0, body: Body::Subscribe(self.vclock) });
        let patience = self.settings.death_timeout();
        fx.set_timer(Timer::Connect(source), patience, patience);
    }

    /// Time to connect, or no answer has come.
    pub(super) fn connect_due(&mut self, place: usize, now: LocalTime, fx: Fx<'_, '_>) {
        if self.appliers[place].link != Link::Following {
            self.connect(place, now, fx);
        }
    }

    /// A datagram came from a source.
    pub(super) fn heard(&mut self, place: usize, message: Message, now: LocalTime, fx: Fx<'_, '_>) {
        let applier = &mut self.appliers[place];
        let source = applier.source;
        if !applier.is_on(message.connection) {
            if !matches!(message.body, Body::Reset { .. }) {
                let body = Body::Reset { by_source: false };
                fx.send(source, Message { connection: message.connection, number: 0, body });
            }
            return;
        }
        if matches!(message.body, Body::Reset { .. }) {
            fx.mark(marks::RESET);
            fx.note(format_args!("connection to {source} is reset"));
            self.disconnect(place, fx);
            return;
        }
        match applier.inbound.arrive(message.number, message.body) {
            Arrival::Repeated => return,
            Arrival::Overflow => {
                fx.mark(marks::GAP);
                self.break_off(place, fx);
                return;
            }
            Arrival::Next | Arrival::Early => {}
        }
        while let Some(body) = self.appliers[place].inbound.take() {
            self.appliers[place].last_heard = now;
            self.appliers[place].heard += 1;
            self.hear(place, body, fx);
        }
        self.watch_gap(place, fx);
    }

    fn watch_gap(&mut self, place: usize, fx: Fx<'_, '_>) {
        let applier = &mut self.appliers[place];
        let has_gap = applier.inbound.has_gap();
        if has_gap == applier.is_gap_timed {
            return;
        }
        applier.is_gap_timed = has_gap;
        match has_gap {
            true => {
                let patience = self.settings.gap_patience();
                fx.set_timer(Timer::Gap(applier.source), patience, patience);
            }
            false => fx.cancel_timer(Timer::Gap(applier.source)),
        }
    }

    /// What a source said, in order. Everything it says counts as a heartbeat.
    fn hear(&mut self, place: usize, body: Body, fx: Fx<'_, '_>) {
        let source = self.appliers[place].source;
        if self.raft.is_write_in_progress() && self.raft.leader() == Some(source) {
            fx.mark(marks::HEARTBEAT_DURING_WRITE);
        }
        self.raft.heartbeat(source);
        match body {
            Body::SubscribeReply(announcement) => {
                self.appliers[place].link = Link::Following;
                self.raft.connected(source, true);
                fx.cancel_timer(Timer::Connect(source));
                let patience = self.settings.start_patience();
                fx.set_timer(Timer::Silence(source), patience, patience);
                self.announced(source, &announcement, fx);
                self.acknowledge(place, fx);
            }
            Body::Announce(announcement) => {
                self.announced(source, &announcement, fx);
                self.acknowledge(place, fx);
            }
            Body::Rows(rows) => {
                self.see_relay(place, fx);
                self.apply(place, rows, fx);
            }
            Body::Heartbeat => {
                self.see_relay(place, fx);
                self.acknowledge(place, fx);
            }
            Body::Subscribe(_) | Body::Ack(..) | Body::Reset { .. } => {
                unreachable!("subscribers say that, and a reset is no part of what is said in order")
            }
        }
    }

    /// The relay is up: from here on silence means something.
    fn see_relay(&mut self, place: usize, fx: Fx<'_, '_>) {
        let applier = &mut self.appliers[place];
        if !applier.is_relay_seen {
            applier.is_relay_seen = true;
            let patience = self.settings.death_timeout();
            fx.set_timer(Timer::Silence(applier.source), patience, patience);
        }
    }

    /// Applies rows, unless they come from a node that does not lead. Then they are skipped, and as the cursor of the
    /// relay has moved on, they do not come again on this connection by themselves.
    fn apply(&mut self, place: usize, rows: Vec<Row>, fx: Fx<'_, '_>) {
        let source = self.appliers[place].source;
        if !self.settings.queue && !self.raft.allows_rows_of(source) {
            fx.mark(marks::ROWS_REJECTED);
            let count = rows.len();
            let plural = if count == 1 { "" } else { "s" };
            match self.raft.leader() {
                None => fx.note(format_args!("REJECTED {count} row{plural}, {source} is not the leader")),
                Some(leader) => {
                    fx.note(format_args!("REJECTED {count} row{plural} of {source}, the leader is {leader}"));
                }
            }
            return;
        }
        let anybody = self.settings.queue || self.raft.mode() == Mode::Off;
        if anybody && self.raft.leader() != Some(source) {
            fx.mark(marks::ROWS_FROM_ANYBODY);
        }
        let mut repeated = false;
        for row in rows {
            if self.gives_up(place, &row, fx) {
                break;
            }
            repeated |= !self.write_applied(row, source);
        }
        if repeated {
            fx.mark(marks::ROWS_REPEATED);
            self.acknowledge(place, fx);
        }
    }

    /// Whether the applier takes this row and all that follow it no more: only with a planted bug.
    fn gives_up(&mut self, place: usize, row: &Row, fx: Fx<'_, '_>) -> bool {
        let planted = self.settings.planted;
        let is_unwritten = self.volatile_vclock.get(self.id) > self.vclock.get(self.id);
        if planted.is(Bug::ClaimWaitsForQueue) && is_unwritten && claimed_term(row) > 0 {
            fx.note(format_args!("the claim waits for what is being written, and that for the claim"));
            self.appliers.iter_mut().for_each(|applier| applier.is_stopped = true);
        }
        if planted.is(Bug::OldConfirmSplitsBrain) && self.queue.is_old_confirmation(row)
            || planted.is(Bug::OldDemoteSplitsBrain) && self.queue.is_old_demotion(row)
        {
            fx.note(format_args!("{row} is taken for a split brain"));
            self.appliers[place].is_stopped = true;
        }
        self.appliers[place].is_stopped
    }

    /// Tells a source what is durable here.
    pub(super) fn acknowledge(&mut self, place: usize, fx: Fx<'_, '_>) {
        let applier = &mut self.appliers[place];
        if applier.link == Link::Following {
            let number = applier.next_ack();
            let term = self.settings.queue.then(|| self.raft.durable_term());
            let (connection, body) = (applier.connection, Body::Ack(self.vclock, term));
            fx.send(applier.source, Message { connection, number, body });
        }
    }

    /// Looks whether a source was silent for too long.
    pub(super) fn silence_due(&mut self, place: usize, now: LocalTime, fx: Fx<'_, '_>) {
        let applier = &self.appliers[place];
        if applier.link != Link::Following {
            return;
        }
        let patience = match applier.is_relay_seen {
            true => self.settings.death_timeout(),
            false => self.settings.start_patience(),
        };
        let silence = now.since(applier.last_heard);
        if silence < patience {
            let rest = patience - silence;
            fx.set_timer(Timer::Silence(applier.source), rest, rest);
            return;
        }
        fx.mark(marks::SILENCE);
        fx.note(format_args!("connection to {} is silent and given up", applier.source));
        self.break_off(place, fx);
    }

    /// A gap was open for too long.
    pub(super) fn gap_due(&mut self, place: usize, fx: Fx<'_, '_>) {
        let applier = &self.appliers[place];
        if applier.is_gap_timed && applier.link != Link::Idle {
            fx.mark(marks::GAP);
            fx.note(format_args!("connection to {} has a gap and is given up", applier.source));
            self.break_off(place, fx);
        }
    }

    /// A source has restarted: the connection to it is dead.
    pub(super) fn source_restarted(&mut self, place: usize, now: LocalTime, fx: Fx<'_, '_>) {
        if self.appliers[place].link == Link::Following {
            fx.note(format_args!("connection to {} is gone, it has restarted", self.appliers[place].source));
            self.disconnect(place, fx);
        }
        self.connect(place, now, fx);
    }

    /// Closes the connection and tells the source.
    fn break_off(&mut self, place: usize, fx: Fx<'_, '_>) {
        let applier = &self.appliers[place];
        let (connection, body) = (applier.connection, Body::Reset { by_source: false });
        fx.send(applier.source, Message { connection, number: 0, body });
        self.disconnect(place, fx);
    }

    fn disconnect(&mut self, place: usize, fx: Fx<'_, '_>) {
        let applier = &mut self.appliers[place];
        applier.link = Link::Idle;
        applier.is_gap_timed = false;
        fx.cancel_timer(Timer::Silence(applier.source));
        fx.cancel_timer(Timer::Gap(applier.source));
        let pause = self.settings.heartbeat;
        fx.set_timer(Timer::Connect(applier.source), pause.part(2), pause);
        let source = applier.source;
        self.disconnected(source, fx);
    }
}
