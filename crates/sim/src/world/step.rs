//! One step: a node handles an input, the monitor sees what it did, then the world does it.

use super::{Packet, Pending, World};
use crate::disk::Ticket;
use crate::effects::{Effect, Effects};
use crate::fault::Fault;
use crate::id::NodeId;
use crate::monitor::{Monitor, Seen, What};
use crate::node::{Boot, Input, Kind, Message, Node, OpId, Role, Timer};
use crate::panics::{Breakdown, guard};
use crate::target::Condition;
use crate::target::Target;
use crate::time::{LocalTime, Span, Time};
use crate::timers::Due;
use crate::trace::{EventId, EventKind};
use crate::verdict::{Limit, Verdict};

/// What a step answers to, kept while the input itself is with the node.
pub(super) enum Why<T> {
    Boot,
    Delivery { from: NodeId, kind: Kind, key: u64, sent: Time },
    Timer(T),
    Command { op: OpId, step: usize },
    Injected { op: OpId },
    Synced(Ticket),
    SyncFailed(Ticket),
}

/// Starts a node. Apart from everything else, as a whole node on the stack makes the frame of whoever calls this large.
#[inline(never)]
fn boot_into<N: Node>(
    slot: &mut Option<N>,
    boot: &Boot<'_, N::Options>,
    fx: &mut Effects<'_, N>,
) -> Result<(), Breakdown> {
    guard(|| N::boot(boot, fx)).map(|state| *slot = Some(state))
}

impl<N: Node, M: Monitor<N>> World<N, M> {
    /// The receiver of a packet handles it.
    pub(super) fn take_in(&mut self, packet: Packet<N>) {
        let Packet { from, to, message, key, digest, sent, cause, .. } = packet;
        self.counters.deliveries += 1;
        self.hash.word(self.now.nanos());
        self.hash.word(digest.rotate_left(to.index() as u32));
        let kind = message.kind();
        let event = self.record_message(EventKind::Recv, Some(to), cause, from, to, &message, "");
        let watched = self.director.watches_arrivals().then(|| self.subject_of(from, to, &message, key));
        self.step(to, event, Why::Delivery { from, kind, key, sent }, Some(Input::Deliver { from, message }));
        if let Some(subject) = watched {
            self.meet(event, &subject, |condition| match condition {
                Condition::Arrives(pattern) => Some(pattern),
                _ => None,
            });
        }
    }

    /// An entry of a timer comes up.
    pub(super) fn timer_due(&mut self, node: NodeId, place: u32, generation: u32, cause: EventId) {
        let now = self.now;
        let around = self.around(node);
        let steady = around.clock.steady(now);
        match around.timers.due(place, generation, steady) {
            Due::Stale => {}
            Due::Later(deadline) => match around.clock.when(deadline) {
                Some(at) => {
                    self.queue.push(at.max(now), Pending::Timer { node, place, generation, cause });
                }
                None => {
                    around.timers.unqueue(place);
                    self.bite(Fault::ClockFreeze);
                }
            },
            Due::Fires(timer) => {
                if self.director.holds() && self.hold_timer(node, timer, cause) {
                    return;
                }
                self.fire(node, timer, cause);
            }
        }
    }

    pub(super) fn fire(&mut self, node: NodeId, timer: N::Timer, cause: EventId) {
        self.counters.timers += 1;
        if self.around(node).clock.runs_false() {
            self.counters.bites[Fault::ClockRate] += 1;
        }
        self.hash.word(self.now.nanos());
        self.hash.word(1 << 40 | u64::from(timer.code()) << 8 | node.index() as u64);
        let event = self.record_timer(EventKind::Timer, node, timer, cause);
        self.step(node, event, Why::Timer(timer), Some(Input::Timeout(timer)));
        if self.director.watches_timers() {
            let subject = self.timer_subject(node, timer);
            self.meet(event, &subject, |condition| match condition {
                Condition::Fires(pattern) => Some(pattern),
                _ => None,
            });
        }
    }

    /// A sync is over, if no crash came between.
    pub(super) fn sync_due(&mut self, node: NodeId, incarnation: u32, ticket: Ticket, cause: EventId) {
        if self.cluster.slots[node.index()].incarnation != incarnation || !self.cluster.is_up(node) {
            return;
        }
        let Some(done) = self.around(node).disk.complete(ticket) else { return };
        self.hash.word(self.now.nanos());
        self.hash.word(2 << 40 | u64::from(done) << 8 | node.index() as u64);
        let text = if done { format_args!("done {ticket}") } else { format_args!("FAILED {ticket}") };
        let event = self.record(EventKind::Sync, Some(node), cause, None, text);
        let (why, input) = match done {
            true => (Why::Synced(ticket), Input::Synced(ticket)),
            false => (Why::SyncFailed(ticket), Input::SyncFailed(ticket)),
        };
        self.step(node, event, why, Some(input));
    }

    /// A node starts, for the first time or again.
    pub(super) fn boot(&mut self, node: NodeId, cause: EventId) {
        assert!(!self.cluster.is_up(node), "a node starts once");
        self.hash.word(self.now.nanos());
        self.hash.word(3 << 40 | node.index() as u64);
        let incarnation = self.cluster.incarnation(node);
        let event = match incarnation {
            0 => self.record(EventKind::Boot, Some(node), cause, None, format_args!("")),
            n => self.record(
                EventKind::Boot,
                Some(node),
                cause,
                None,
                format_args!("from its disk, start {}", n + 1),
            ),
        };
        self.step(node, event, Why::Boot, None);
    }

    /// Lets `node` handle `input`; without one it boots.
    pub(super) fn step(&mut self, node: NodeId, event: EventId, why: Why<N::Timer>, input: Option<Input<N>>) {
        let fault = self.act(node, input);
        let around = self.around(node);
        around.last_event = event;
        let dead = around.disk.is_dead();
        match fault {
            Some(Breakdown::Exhausted) => {
                let most = self.script.limits.steps.into();
                self.end_with(Verdict::Exhausted { limit: Limit::Steps, most, node: Some(node) }, event);
            }
            // What a node does after its disk has died under it is nobody's business.
            Some(Breakdown::Panicked { message, location }) if !dead => {
                self.end_with(Verdict::Crashed { node, message, location }, event);
            }
            _ => {
                let (before, after) = if dead { (Role::None, Role::None) } else { self.update_role(node) };
                self.observe(node, event, why, dead);
                let incarnation = self.cluster.incarnation(node);
                self.carry_out(node, event);
                if before != after && self.cluster.incarnation(node) == incarnation {
                    self.role_changed(node, after, event);
                }
                if self.director.watches_figures() {
                    self.figures_changed(node, event);
                }
            }
        }
        if self.around(node).disk.is_dead() && self.verdict.is_none() {
            self.crash_in_step(node, event);
        }
    }

    /// Calls the node, with its hands on its own surroundings.
    fn act(&mut self, node: NodeId, input: Option<Input<N>>) -> Option<Breakdown> {
        let window = self.window();
        let around = self.around[node.index()].as_mut().expect("the node is in the cluster");
        let now: LocalTime = around.clock.read(self.now);
        if let Some(fault) = around.clock.take_jump() {
            self.counters.bites[fault] += 1;
        }
        around.disk.set_now(self.now);
        self.outbox.effects.clear();
        self.outbox.steps = 0;
        let mut fx = Effects {
            id: node,
            disk: &mut around.disk,
            outbox: &mut self.outbox,
            draws: &mut around.draws,
            fuse: &mut around.fuse,
            window,
            book: self.book.as_deref_mut(),
            incarnation: self.cluster.slots[node.index()].incarnation,
        };
        let options = match around.rolled {
            Some(place) => &self.rolls[place].1,
            None => &self.options,
        };
        let slot = &mut self.cluster.slots[node.index()];
        let result = match input {
            Some(input) => {
                let state = slot.node.as_mut().expect("only nodes that are up handle inputs");
                guard(|| state.handle(now, input, &mut fx))
            }
            None => {
                let boot = Boot {
                    id: node,
                    servers: self.cluster.servers,
                    clients: self.cluster.clients,
                    incarnation: slot.incarnation,
                    now,
                    options,
                };
                boot_into(&mut slot.node, &boot, &mut fx)
            }
        };
        result.err()
    }

    fn update_role(&mut self, node: NodeId) -> (Role, Role) {
        let slot = &mut self.cluster.slots[node.index()];
        let after = slot.node.as_ref().map_or(Role::None, N::role);
        let before = std::mem::replace(&mut slot.role, after);
        if after == Role::Leader && before != after && node.is_server() {
            self.counters.leader_changes += 1;
            let led = self.counters.leader_changes;
            self.around(node).led = led;
            if !self.kept.is_empty() {
                self.release_kept();
            }
        }
        (before, after)
    }

    fn observe(&mut self, node: NodeId, event: EventId, why: Why<N::Timer>, died: bool) {
        let commands = &self.director;
        let injected;
        let what = match why {
            Why::Boot => What::Booted,
            Why::Delivery { from, kind, key, sent } => What::Delivered { from, kind, key, sent },
            Why::Timer(timer) => What::Fired(timer),
            Why::Command { op, step } => What::Commanded { op, command: commands.command(step) },
            Why::Injected { op } => {
                injected = commands.injected(op);
                What::Commanded { op, command: injected }
            }
            Why::Synced(ticket) => What::Synced(ticket),
            Why::SyncFailed(ticket) => What::SyncFailed(ticket),
        };
        self.cluster.slots[node.index()].betrayed =
            self.around[node.index()].as_ref().is_some_and(|around| around.disk.is_false());
        let seen = Seen { event, time: self.now, node, what, effects: &self.outbox.effects, died };
        if let Err(violation) = self.monitor.observe(&seen, &self.cluster) {
            self.end_with(Verdict::Violated(violation), event);
        }
    }

    /// Does what the node did: effects in order, then the syncs it asked for.
    fn carry_out(&mut self, node: NodeId, event: EventId) {
        if !self.outbox.effects.is_empty() || self.trace.is_some() {
            self.take_effect(node, event);
        }
        let around = self.around(node);
        let busy = around.disk.take_busy();
        let (is_late, has_asked) = (busy > Span::ZERO || around.slowness.is_some(), around.disk.has_asked());
        if is_late {
            self.stay_busy(node, busy);
        }
        if has_asked {
            self.queue_syncs(node, event);
        }
    }

    /// The syncs that a node asked for take their time.
    fn queue_syncs(&mut self, node: NodeId, event: EventId) {
        let (now, incarnation) = (self.now, self.cluster.incarnation(node));
        let around = self.around[node.index()].as_mut().expect("the node is in the cluster");
        for (ticket, delay) in around.disk.take_asked() {
            self.counters.bites[Fault::SlowSync] += 1;
            self.queue.push(now + delay, Pending::Sync { node, incarnation, ticket, cause: event });
        }
    }

    /// Does the effects of a step, in order.
    fn take_effect(&mut self, node: NodeId, event: EventId) {
        self.record_notes(node, event);
        let incarnation = self.cluster.incarnation(node);
        let mut effects = std::mem::take(&mut self.outbox.effects);
        for effect in effects.drain(..) {
            if self.cluster.incarnation(node) != incarnation {
                break; // a step of the script crashed it as one of its messages left
            }
            match effect {
                Effect::Send { to, message } => self.send(node, to, message, event),
                Effect::SetTimer { timer, low, high } => {
                    let (now, window) = (self.now, self.window());
                    let around = self.around[node.index()].as_mut().expect("the node is in the cluster");
                    let steady = around.clock.steady(now);
                    let book = &mut self.book;
                    let decide = |drawn| match book {
                        None => drawn,
                        Some(book) => {
                            book.timer(node, (timer.name(), timer.peer()), incarnation, (low, high), drawn)
                        }
                    };
                    if let Some((deadline, place, generation)) =
                        around.timers.set(timer, steady, window, low, high, decide)
                    {
                        match around.clock.when(deadline) {
                            // A clock that runs fast shows the same for a while: no time at all may lie behind.
                            Some(at) => {
                                let pending = Pending::Timer { node, place, generation, cause: event };
                                self.queue.push(at.max(self.now), pending);
                            }
                            None => around.timers.unqueue(place),
                        }
                    }
                }
                Effect::CancelTimer(timer) => self.around(node).timers.cancel(timer),
                Effect::Reply { op, reply } => self.reply(node, op, &reply, event),
                Effect::Discard { to, message, why } => {
                    self.counters.discarded += 1;
                    self.record_message(EventKind::Discard, Some(node), event, node, to, &message, why);
                }
                Effect::Mark(name) => {
                    // Mostly one that is known, and from the same place.
                    let is_known = self.marks.iter().any(|known| std::ptr::eq(*known, name));
                    if !is_known && !self.marks.contains(&name) {
                        self.marks.push(name);
                    }
                }
                Effect::Note(_) => {}
            }
        }
        self.outbox.effects = effects;
    }

    fn reply(&mut self, node: NodeId, op: OpId, reply: &N::Reply, event: EventId) {
        use crate::digest::Digest;
        self.counters.replies += 1;
        self.hash.word(4 << 40 | u64::from(op.0));
        reply.digest(&mut self.hash);
        self.record(EventKind::Reply, Some(node), event, None, format_args!("{op} {reply}"));
    }

    fn role_changed(&mut self, node: NodeId, role: Role, event: EventId) {
        self.hash.word(5 << 40 | (role as u64) << 8 | node.index() as u64);
        if !self.director.watches_roles() {
            return;
        }
        for step in self.director.met(|condition| match condition {
            Condition::Takes(Target::Node(of), takes) => *of == node && *takes == role,
            Condition::Takes(_, takes) => *takes == role && node.is_server(),
            _ => false,
        }) {
            self.trigger(step, event);
        }
    }
}
