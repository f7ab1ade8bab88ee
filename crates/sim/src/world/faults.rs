//! Steps of the script as they begin and end: what they do at once, holds and operations.

use super::director::{Cast, Met};
use super::step::Why;
use super::{Packet, Pending, World};
use crate::action::Action;
use crate::fault::Fault;
use crate::id::{Link, NodeId};
use crate::monitor::Monitor;
use crate::node::{Input, Node, Role};
use crate::script::Trigger;
use crate::target::Condition;
use crate::target::{Pattern, Target};
use crate::time::{Span, Time};
use crate::trace::{EventId, EventKind, Subject};

impl<N: Node, M: Monitor<N>> World<N, M> {
    /// Puts every step where it waits for its beginning; what begins at once and is a fault begins now.
    pub(super) fn schedule_steps(&mut self) {
        for step in 0..self.script.steps.len() {
            match self.script.steps[step].when.clone() {
                Trigger::At(at) => {
                    let later =
                        |action: &Action| matches!(action, Action::Operate { .. } | Action::Expect(..));
                    let fault = !later(&self.script.steps[step].action);
                    if at == Time::ZERO && fault {
                        self.open_step(step, EventId::NONE);
                    } else {
                        self.queue.push(at, Pending::Open(step as u32));
                    }
                }
                Trigger::When(condition, after) => self.director.wait(step, false, condition, after),
                // An expectation at the end is looked at when all else is done.
                Trigger::End => {}
                Trigger::After(_) => unreachable!("a valid script has no such beginning"),
            }
        }
    }

    /// Conditions that a message or timer may meet.
    pub(super) fn meet(
        &mut self,
        event: EventId,
        subject: &Subject,
        pattern: impl Fn(&Condition) -> Option<&Pattern>,
    ) {
        self.cast();
        for met in self.director.met_by(subject, pattern) {
            self.trigger(met, event);
        }
    }

    pub(super) fn trigger(&mut self, met: Met, event: EventId) {
        if met.claim {
            self.claim_met(met.step, event);
            return;
        }
        let step = met.step as u32;
        let pending = if met.closing { Pending::Close(step) } else { Pending::Open(step) };
        // An operation waits for the step that is going on to end: a node handles one input at a time.
        let operation = matches!(self.script.steps[met.step].action, Action::Operate { .. });
        if met.after > Span::ZERO || operation {
            self.queue.push(self.now + met.after, pending);
        } else if met.closing {
            self.close_step(met.step, event);
        } else {
            self.open_step(met.step, event);
        }
    }

    pub(super) fn open_step(&mut self, step: usize, cause: EventId) {
        if self.director.over || self.director.steps[step].began {
            return;
        }
        if let Action::Operate { target, every, .. } = self.script.steps[step].action {
            self.operate(step, target, cause);
            if let Some(every) = every {
                let state = &mut self.director.steps[step];
                (state.began, state.open) = (true, true);
                self.queue.push(self.now + every, Pending::Again(step as u32));
                self.schedule_end(step);
            }
            return;
        }
        let action = self.script.steps[step].action.clone();
        if let Action::Expect(condition, within) = action {
            self.expect(step, condition, within, cause);
            return;
        }
        let Some(cuts) = self.cuts_of(&action) else { return };
        let victim = match action.victim().map(|target| self.resolve(target)) {
            Some(None) => return,
            Some(node) => node,
            None => None,
        };
        let link = match action {
            Action::Clog { from, to } => match (self.resolve(from), self.resolve(to)) {
                (Some(from), Some(to)) => Some(Link { from, to }),
                _ => return,
            },
            _ => None,
        };
        let event = self.record_step(EventKind::Open, step, cause);
        let state = &mut self.director.steps[step];
        (state.began, state.open) = (true, true);
        self.cut(step, cuts);
        match (action, victim) {
            (action, Some(node)) => self.strike(step, node, &action, event),
            (Action::Hold(pattern), _) => self.director.open_hold(step, pattern),
            (Action::Clog { .. }, _) => {
                let link = link.expect("both ends are known");
                if !self.without.has(Fault::Clog) {
                    self.director.open_clog(step, link);
                }
            }
            (Action::Topology { flapping: Some(every), .. }, _) => {
                self.queue.push(self.now + every, Pending::Again(step as u32));
            }
            (Action::Partition(_) | Action::Cut { .. } | Action::Topology { .. }, _) => {}
            (Action::Never(condition), _) => self.forbid(step, condition, event),
            (action, _) => self.director.open_bender(step, action),
        }
        self.schedule_end(step);
    }

    /// The next round of a repeated operation, or of a cut that comes and goes.
    pub(super) fn repeat_step(&mut self, step: usize) {
        if !self.director.steps[step].open {
            return;
        }
        let every = match self.script.steps[step].action {
            Action::Operate { target, every: Some(every), .. } => {
                self.operate(step, target, EventId::NONE);
                every
            }
            Action::Topology { flapping: Some(every), .. } => {
                self.flap(step);
                every
            }
            _ => unreachable!("nothing else is repeated"),
        };
        self.queue.push(self.now + every, Pending::Again(step as u32));
    }

    fn schedule_end(&mut self, step: usize) {
        match self.script.steps[step].until.clone() {
            Some(Trigger::At(at)) => {
                self.director.steps[step].unmet |= at < self.now;
                self.queue.push(at.max(self.now), Pending::Close(step as u32));
            }
            Some(Trigger::After(span)) => self.queue.push(self.now + span, Pending::Close(step as u32)),
            Some(Trigger::When(condition, after)) => {
                self.director.steps[step].endless = true;
                self.director.wait(step, true, condition, after);
            }
            Some(Trigger::End) | None => {}
        }
    }

    pub(super) fn close_step(&mut self, step: usize, cause: EventId) {
        if self.director.steps[step].open && matches!(self.script.steps[step].action, Action::Expect(..)) {
            self.claim_missed(step);
            return;
        }
        let state = &mut self.director.steps[step];
        if !state.open {
            return;
        }
        (state.open, state.endless) = (false, false);
        self.director.stop_waiting_for_end(step);
        let event = self.record_step(EventKind::Close, step, cause);
        self.uncut(step);
        self.director.close_bender(step);
        for pending in self.director.close_hold(step) {
            self.release(pending);
        }
        self.relieve(step, event);
    }

    /// Lets go what a hold held: it happens now.
    fn release(&mut self, pending: Pending<N>) {
        match pending {
            // Their delay is over; they come in at once, in the order in which they were held.
            Pending::Packet(_) => self.queue.push(self.now, pending),
            Pending::Held { .. } => self.queue.push(self.now, pending),
            _ => unreachable!("only packets and timers are held"),
        }
    }

    pub(super) fn hold_packet(&mut self, packet: Packet<N>) -> Option<Packet<N>> {
        let subject = self.subject_of(packet.from, packet.to, &packet.message, packet.key);
        self.cast();
        let Some((hold, step, clogs)) = self.director.hold_for(&subject, true) else { return Some(packet) };
        if !self.bite(if clogs { Fault::Clog } else { Fault::HoldMessage }) {
            return Some(packet);
        }
        self.counters.held += 1;
        let (from, to, cause) = (packet.from, packet.to, packet.cause);
        self.record_message(EventKind::Hold, None, cause, from, to, &packet.message, "");
        self.tag_step(step);
        self.director.park(hold, Pending::Packet(packet));
        None
    }

    /// Holds a timer back if a step asks for it.
    pub(super) fn hold_timer(&mut self, node: NodeId, timer: N::Timer, cause: EventId) -> bool {
        let subject = self.timer_subject(node, timer);
        self.cast();
        let Some((hold, step, _)) = self.director.hold_for(&subject, false) else { return false };
        if !self.bite(Fault::HoldTimer) {
            return false;
        }
        self.counters.held += 1;
        let event = self.record_timer(EventKind::Hold, node, timer, cause);
        self.tag_step(step);
        let incarnation = self.cluster.incarnation(node);
        self.director.park(hold, Pending::Held { node, incarnation, timer, cause: event });
        true
    }

    /// A held timer comes free; a crash may have forgotten it.
    pub(super) fn held_due(&mut self, node: NodeId, incarnation: u32, timer: N::Timer, cause: EventId) {
        let same_life = self.cluster.incarnation(node) == incarnation && self.cluster.is_up(node);
        if same_life && !self.around(node).timers.is_set(timer) {
            self.fire(node, timer, cause);
        }
    }

    fn operate(&mut self, step: usize, target: Target, cause: EventId) {
        let Some(node) = self.resolve(target).filter(|&node| self.cluster.is_up(node)) else { return };
        let busy_until = self.around(node).busy_until;
        if busy_until > self.now {
            return self.wait_for(node, Pending::Open(step as u32));
        }
        self.director.steps[step].began = true;
        let op = self.director.next_operation();
        let command = self.director.command(step).clone();
        self.counters.operations += 1;
        self.hash.word(self.now.nanos());
        self.hash.word(6 << 40 | u64::from(op.0) << 8 | node.index() as u64);
        let event = self.record(EventKind::Operate, Some(node), cause, None, format_args!("{op} {command}"));
        self.tag_step(step);
        self.step(node, event, Why::Command { op, step }, Some(Input::Command { op, command }));
    }

    /// Gives a node a command that is not in the script.
    pub(super) fn inject(&mut self, node: NodeId, command: N::Command) {
        if !self.cluster.is_up(node) || self.verdict.is_some() {
            return;
        }
        let op = self.director.inject(command.clone());
        self.counters.operations += 1;
        self.hash.word(7 << 40 | u64::from(op.0) << 8 | node.index() as u64);
        let text = format_args!("{op} {command} (given by the checks)");
        let event = self.record(EventKind::Operate, Some(node), EventId::NONE, None, text);
        self.step(node, event, Why::Injected { op }, Some(Input::Command { op, command }));
    }

    /// The node a target means at this moment.
    pub(super) fn resolve(&self, target: Target) -> Option<NodeId> {
        match target {
            Target::Node(node) => Some(node),
            Target::Any => None,
            Target::Leader => self.leader(),
            Target::Follower(count) => self.cast_now().follower(count),
        }
    }

    /// Who leads the highest term.
    fn leader(&self) -> Option<NodeId> {
        let leads = |node: &NodeId| self.cluster.role(*node) == Some(Role::Leader);
        let led = |node: &NodeId| self.around[node.index()].as_ref().map_or(0, |a| a.led);
        self.cluster.servers().filter(leads).max_by_key(led)
    }

    /// Who has which role. Without a leader nobody follows one.
    fn cast_now(&self) -> Cast {
        let Some(leader) = self.leader() else { return Cast::default() };
        let servers = self.cluster.servers;
        let after = (1..servers).map(|step| NodeId::server((leader.position() + step) % servers));
        let followers = after.filter(|&node| self.cluster.is_up(node)).collect();
        Cast { leader: Some(leader), followers }
    }

    /// Lets the director know who has which role, if the script means anybody by it in a message or timer.
    #[inline]
    pub(super) fn cast(&mut self) {
        if self.director.names_roles() {
            let cast = self.cast_now();
            self.director.set_cast(cast);
        }
    }

    /// Says which step of the script the newest event belongs to.
    pub(super) fn tag_step(&mut self, step: usize) {
        if let Some(event) = self.trace.as_mut().and_then(|t| t.events.last_mut()) {
            event.step = Some(step);
        }
    }
}
