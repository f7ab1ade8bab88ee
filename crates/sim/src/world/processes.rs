//! What steps do to processes: crashes and restarts, stops, slowness, and disks that are taken away.

use super::{Pending, Slowness, World};
use crate::action::{Action, Countable, Losing};
use crate::clock::{ClockChange, Rate};
use crate::draw::{Draw, spread};
use crate::effects::Fuse;
use crate::fault::Fault;
use crate::id::NodeId;
use crate::monitor::{Monitor, Seen, What};
use crate::node::{Node, Role};
use crate::pins::DrawSite;
use crate::script::Trigger;
use crate::time::{Span, Time};
use crate::trace::{EventId, EventKind};
use crate::verdict::{Limit, Verdict};

impl<N: Node, M: Monitor<N>> World<N, M> {
    /// A step that is about one node begins.
    pub(super) fn strike(&mut self, step: usize, node: NodeId, action: &Action, event: EventId) {
        let incarnation = self.cluster.incarnation(node);
        match *action {
            Action::Crash { losing, at_call: 0, .. } => {
                if self.may_crash(node) {
                    self.director.steps[step].crashed = Some(node);
                    self.crash(node, losing, event);
                }
            }
            Action::Roll { .. } => {
                if self.may_crash(node) {
                    self.director.steps[step].crashed = Some(node);
                    self.crash(node, Losing::Some, event);
                }
            }
            Action::Crash { at_call, .. } => {
                if !self.without.has(Fault::CrashAtCall) {
                    self.arm(step, node);
                    self.around(node).disk.die_after(u64::from(at_call));
                }
            }
            Action::CrashAfter { effect, number, .. } => {
                let (fault, fuse) = match effect {
                    Countable::Sends => {
                        (Fault::CrashAtSend, Fuse { sends: number, ..self.around(node).fuse })
                    }
                    Countable::Replies => {
                        (Fault::CrashAtReply, Fuse { replies: number, ..self.around(node).fuse })
                    }
                };
                if !self.without.has(fault) {
                    self.arm(step, node);
                    self.around(node).fuse = fuse;
                }
            }
            Action::Rewind(_) => {
                let disk = Box::new(self.around(node).disk.clone());
                let state = &mut self.director.steps[step];
                (state.kept_disk, state.struck) = (Some(disk), Some((node, incarnation)));
            }
            Action::Pause(_) => {
                if self.cluster.is_up(node) && !self.without.has(Fault::Pause) {
                    self.director.steps[step].struck = Some((node, incarnation));
                    self.cluster.slots[node.index()].paused += 1;
                    self.around(node).busy_until = Time::MAX;
                }
            }
            Action::FailSyncs(_) => {
                if !self.without.has(Fault::SyncFailed) {
                    self.director.steps[step].struck = Some((node, incarnation));
                    self.around(node).disk.fail_syncs(true);
                }
            }
            Action::Slow { low, high, .. } => {
                self.director.steps[step].struck = Some((node, incarnation));
                if !self.without.has(Fault::SlowNode) {
                    self.around(node).slowness = Some(Slowness { step, low, high });
                }
            }
            Action::Clock { change, .. } => {
                self.director.steps[step].struck = Some((node, incarnation));
                self.change_clock(step, node, change);
            }
            _ => unreachable!("no other action is about one node"),
        }
    }

    /// Whether a crash of this node takes place; it is counted then.
    fn may_crash(&mut self, node: NodeId) -> bool {
        if !self.cluster.is_up(node) {
            return !self.without.has(Fault::Crash);
        }
        if self.cluster.role(node) == Some(Role::Leader) && !self.bite(Fault::CrashLeader) {
            return false;
        }
        self.bite(Fault::Crash)
    }

    fn arm(&mut self, step: usize, node: NodeId) {
        let state = &mut self.director.steps[step];
        (state.armed, state.unmet) = (Some(node), true);
    }

    /// A step that is about one node ends.
    pub(super) fn relieve(&mut self, step: usize, event: EventId) {
        let state = &mut self.director.steps[step];
        let (armed, crashed, struck) = (state.armed.take(), state.crashed.take(), state.struck.take());
        let kept_disk = state.kept_disk.take();
        if let Some(node) = armed {
            let around = self.around(node);
            around.disk.die_never();
            around.fuse = Fuse::default();
        }
        if let Some(node) = crashed {
            if matches!(self.script.steps[step].action, Action::Roll { .. }) {
                self.roll_options(node, step);
            }
            self.restart(node, event);
        }
        let Some((node, incarnation)) = struck else { return };
        if let Some(disk) = kept_disk {
            return self.put_back(node, *disk, event);
        }
        let until = self.script.steps[step].until.is_some();
        match self.script.steps[step].action {
            Action::Pause(_) if self.cluster.incarnation(node) == incarnation => self.resume(node),
            // The disk outlives the process.
            Action::FailSyncs(_) => self.around(node).disk.fail_syncs(false),
            Action::Slow { .. } => {
                let around = self.around(node);
                around.slowness = around.slowness.filter(|slowness| slowness.step != step);
            }
            Action::Clock { change, .. } => self.change_clock_back(step, node, change, until),
            _ => {}
        }
    }

    /// The server comes back with its disk of an earlier moment.
    fn put_back(&mut self, node: NodeId, disk: crate::disk::Disk, event: EventId) {
        if self.verdict.is_some() || !self.bite(Fault::OlderDisk) {
            return;
        }
        self.crash(node, Losing::Unsynced, event);
        self.around(node).disk.rewind(disk);
        self.restart(node, event);
    }

    /// From its next start on a server has the options of that step.
    fn roll_options(&mut self, node: NodeId, step: usize) {
        if let Some(place) = self.rolls.iter().position(|(at, _)| *at == step)
            && self.bite(Fault::Roll)
        {
            self.around(node).rolled = Some(place);
        }
    }

    /// One stop of a process ends; it goes on when none is left.
    fn resume(&mut self, node: NodeId) {
        let slot = &mut self.cluster.slots[node.index()];
        slot.paused -= 1;
        if slot.paused == 0 {
            self.let_go(node);
        }
    }

    /// What has waited for a node comes now, in its order.
    fn let_go(&mut self, node: NodeId) {
        let now = self.now;
        let around = self.around(node);
        (around.busy_until, around.wakes) = (now, false);
        let parked = std::mem::take(&mut around.parked);
        for pending in parked {
            self.queue.push(now, pending);
        }
    }

    /// Something waits for a node that is busy. It stays where it is, behind what has come before, so that a backlog costs no
    /// more than what is in it.
    pub(super) fn wait_for(&mut self, node: NodeId, pending: Pending<N>) {
        let most = self.script.limits.queue;
        let around = self.around(node);
        around.parked.push_back(pending);
        if around.parked.len() > most {
            let verdict = Verdict::Exhausted { limit: Limit::Queue, most: most as u64, node: Some(node) };
            return self.end_with(verdict, EventId::NONE);
        }
        if around.busy_until == Time::MAX {
            self.bite(Fault::Pause);
        } else {
            self.schedule_wake(node);
        }
    }

    fn schedule_wake(&mut self, node: NodeId) {
        let around = self.around(node);
        let until = around.busy_until;
        if until < Time::MAX && !around.parked.is_empty() && !around.wakes {
            around.wakes = true;
            self.queue.push(until.max(self.now), Pending::Wake(node));
        }
    }

    /// A node goes on with what has waited for it, until it is busy again.
    pub(super) fn wake(&mut self, node: NodeId) {
        let now = self.now;
        self.around(node).wakes = false;
        while self.verdict.is_none() && self.around(node).busy_until <= now {
            let Some(pending) = self.around(node).parked.pop_front() else { return };
            self.dispatch(pending);
            self.check_limits();
        }
        self.schedule_wake(node);
    }

    /// A node is busy after a step: with its disk, and if it is slow.
    pub(super) fn stay_busy(&mut self, node: NodeId, busy: Span) {
        if self.cluster.slots[node.index()].paused > 0 {
            // It was stopped by what it did in this step.
            return;
        }
        let now = self.now;
        let mut busy = busy;
        if busy > Span::ZERO {
            self.counters.bites[Fault::Busy] += 1;
        }
        if let Some(Slowness { low, high, .. }) = self.around(node).slowness {
            let bits = self.around(node).draws.key.at(SLOWNESS.hash, now.nanos());
            let range = (low.nanos(), high.nanos());
            let drawn = spread(bits, range.0, range.1);
            let incarnation = self.cluster.incarnation(node);
            busy = busy
                + Span::from_nanos(match &mut self.book {
                    None => drawn,
                    Some(book) => book.draw(node, SLOWNESS, incarnation, range, drawn),
                });
            self.bite(Fault::SlowNode);
        }
        self.around(node).busy_until = now + busy;
    }

    /// Takes a node down: what it held in memory is gone, and of what it had not synced a part.
    pub(super) fn crash(&mut self, node: NodeId, losing: Losing, cause: EventId) {
        self.cluster.slots[node.index()].down += 1;
        let wipes = losing == Losing::Everything && self.bite(Fault::WipedDisk);
        // A node whose disk died while it started is not up, and crashes all the same.
        if !self.cluster.is_up(node) && !self.around(node).disk.is_dead() {
            if wipes {
                self.around(node).disk.wipe();
            }
            return;
        }
        self.counters.crashes += u64::from(!self.cycling);
        self.hash.word(self.now.nanos());
        self.hash.word(8 << 40 | node.index() as u64);
        let slot = &mut self.cluster.slots[node.index()];
        (slot.node, slot.role, slot.paused) = (None, Role::None, 0);
        slot.incarnation += 1;
        let incarnation = slot.incarnation;
        let keeps_all = self.without.has(Fault::UnsyncedLost);
        let around = self.around(node);
        around.timers.forget();
        around.fuse = Fuse::default();
        if keeps_all {
            around.disk.keep_all();
        }
        let bits = around.disk.crash_bits(incarnation);
        let kept = match (&mut self.book, losing) {
            (Some(book), Losing::Some) => book.crash(node, bits),
            (None, Losing::Some) => Some(bits),
            (_, Losing::Unsynced | Losing::Everything) => None,
        };
        let around = self.around(node);
        let loss = around.disk.crash(&mut Draw::from_value(kept.unwrap_or_default()), kept.is_none());
        if wipes {
            around.disk.wipe();
        }
        self.let_go(node);
        self.counters.bites[Fault::UnsyncedLost] += u64::from(loss.changes > 0 && !self.cycling);
        self.hash.word(loss.bytes);
        let lost = match (wipes, loss.changes) {
            (true, _) => "loses its disk".to_owned(),
            (false, 0) => String::new(),
            (false, n) if self.trace.is_some() => format!("loses {n} unsynced writes"),
            _ => String::new(),
        };
        let event = self.record(EventKind::Crash, Some(node), cause, None, format_args!("{lost}"));
        self.around(node).last_event = event;
        let seen = Seen { event, time: self.now, node, what: What::Crashed, effects: &[], died: false };
        if let Err(violation) = self.monitor.observe(&seen, &self.cluster) {
            self.end_with(Verdict::Violated(violation), event);
        }
    }

    /// The node has died in the middle of a step, as a step of the script had asked for.
    pub(super) fn crash_in_step(&mut self, node: NodeId, cause: EventId) {
        let steps = self.script.steps.iter().zip(&mut self.director.steps);
        let mut losing = Losing::Some;
        for (step, state) in steps.filter(|(_, state)| state.armed == Some(node)) {
            (state.armed, state.unmet) = (None, false);
            state.crashed = Some(node);
            let (told, fault) = match step.action {
                Action::CrashAfter { losing, effect: Countable::Sends, .. } => (losing, Fault::CrashAtSend),
                Action::CrashAfter { losing, .. } => (losing, Fault::CrashAtReply),
                Action::Crash { losing, .. } => (losing, Fault::CrashAtCall),
                _ => unreachable!("no other step waits for an effect"),
            };
            losing = told;
            self.counters.bites[fault] += 1;
            // One crash, however many steps asked for it: each holds the node down until it ends.
            self.cluster.slots[node.index()].down += 1;
        }
        self.cluster.slots[node.index()].down -= 1;
        self.crash(node, losing, cause);
    }

    /// One crash interval of a node ends; it starts when none is left.
    pub(super) fn restart(&mut self, node: NodeId, cause: EventId) {
        let slot = &mut self.cluster.slots[node.index()];
        assert!(slot.down > 0, "an interval that ends had begun");
        slot.down -= 1;
        if slot.down == 0 && self.verdict.is_none() {
            self.counters.restarts += u64::from(!self.cycling);
            self.boot(node, cause);
        }
    }

    fn change_clock(&mut self, step: usize, node: NodeId, change: ClockChange) {
        let at_start = self.script.steps[step].when == Trigger::At(Time::ZERO);
        match change {
            ClockChange::Rate(rate) if !self.without.has(Fault::ClockRate) => {
                self.around(node).clock_step = Some(step);
                self.set_rate(node, rate);
            }
            ClockChange::Freeze if !self.without.has(Fault::ClockFreeze) => {
                self.around(node).clock_step = Some(step);
                self.set_rate(node, Rate(0));
            }
            ClockChange::Forward(by) => {
                let fault = if at_start { Fault::ClockOffset } else { Fault::ClockForward };
                self.shift_clock(node, by.nanos() as i64, fault);
            }
            ClockChange::Back(by) => {
                let fault = if at_start { Fault::ClockOffset } else { Fault::ClockBack };
                self.shift_clock(node, -(by.nanos() as i64), fault);
            }
            _ => {}
        }
    }

    /// The end of a step that changed a clock. A jump is taken back only if the step said when.
    fn change_clock_back(&mut self, step: usize, node: NodeId, change: ClockChange, has_end: bool) {
        match change {
            ClockChange::Rate(_) | ClockChange::Freeze => {
                let around = self.around(node);
                if around.clock_step == Some(step) {
                    around.clock_step = None;
                    self.set_rate(node, Rate::TRUE);
                }
            }
            ClockChange::Forward(by) if has_end => {
                self.shift_clock(node, -(by.nanos() as i64), Fault::ClockBack);
            }
            ClockChange::Back(by) if has_end => {
                self.shift_clock(node, by.nanos() as i64, Fault::ClockForward);
            }
            ClockChange::Forward(_) | ClockChange::Back(_) => {}
        }
    }

    fn shift_clock(&mut self, node: NodeId, nanos: i64, fault: Fault) {
        if !self.without.has(fault) {
            self.around(node).clock.shift(nanos, fault);
        }
    }

    /// Sets the rate of a clock. Timers that come up sooner by it get new entries in the queue; the others are put back when
    /// theirs come up.
    fn set_rate(&mut self, node: NodeId, rate: Rate) {
        let now = self.now;
        let around = self.around[node.index()].as_mut().expect("the node is in the cluster");
        let is_faster = rate > around.clock.rate();
        around.clock.set_rate(rate, now);
        if !is_faster {
            return;
        }
        let clock = around.clock;
        let queue = &mut self.queue;
        around.timers.requeue(|place, generation, deadline| {
            let at = clock.when(deadline)?;
            let pending = Pending::Timer { node, place, generation, cause: EventId::NONE };
            queue.push(at.max(now), pending);
            Some(())
        });
    }
}

/// Where the draws of slow nodes have their addresses.
const SLOWNESS: DrawSite = DrawSite::new("slow node");
