//! A server: a core with its log, the state machine, and whom it owes an answer.
//!
//! An input is given to the core; then [`Server::pump`] does what the core wants done. What is written may be under way for a
//! while: `pending` holds, in order, what waits for it.

mod bare;
mod serving;
mod snapshots;
mod storing;
mod view;

use crate::command::{Command, Reply};
use crate::core::{Core, HardState, Notice, Order, Seat, Shown, Todo};
use crate::log::Log;
use crate::machine::Machine;
use crate::marks;
use crate::membership::{self, Part, Step};
use crate::message::StoreMessage;
use crate::node::{Hands, StoreNode};
use crate::options::Settings;
use crate::outline::Outlined;
use crate::owing::Owing;
use crate::spine::Spine;
use crate::timer::StoreTimer;
use bare::Bare;
use snapshots::opened;
use std::collections::VecDeque;
use std::fmt;
use storing::Pending;
use whitewater_check::{Membership, Refusal};
use whitewater_sim::draw::name_hash;
use whitewater_sim::{Boot, Input, LocalTime, NodeId, Role, SERVERS_MAX, Span};
use whitewater_wal::Recovered;

const PHASE: u64 = name_hash("tick-phase");
const TIMEOUT: u64 = name_hash("election-timeout");

/// Who a server is and how it is set: what stays when its process dies.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) id: NodeId,
    servers: usize,
    clients: usize,
    pub(crate) settings: Settings,
    /// Another number in every life of the process.
    incarnation: u32,
}

impl Identity {
    pub(crate) fn of(boot: &Boot<'_, Settings>) -> Identity {
        // A process may start again by itself, though not so often.
        let incarnation = boot.incarnation << 16;
        let settings = boot.options.clone();
        Identity { id: boot.id, servers: boot.servers, clients: boot.clients, settings, incarnation }
    }

    pub(crate) fn reborn(&self) -> Identity {
        Identity { incarnation: self.incarnation + 1, ..self.clone() }
    }
}

/// A server.
pub struct Server<C: Core> {
    pub(crate) identity: Identity,
    core: C,
    /// What the core shows, as of the end of the last step.
    shown: Shown,
    spine: Spine,
    /// Up to where the present log is durable.
    durable: u64,
    /// The hard state that is durable.
    hard_state: HardState,
    /// The commit index as it was shown last, before the core took a snapshot that is not durable yet.
    commit_before: u64,
    applied: u64,
    machine: Machine,
    /// Every membership of this life, each with the index from which it holds.
    memberships: Vec<(u64, Membership)>,
    /// Memory for what the core wants done.
    todo: Option<Box<Todo<C::Message>>>,
    /// What it wants done since what it wanted stored is durable.
    next: Todo<C::Message>,
    pending: VecDeque<Pending<C::Message>>,
    /// Memory for promises.
    spare: Vec<(NodeId, C::Message)>,
    /// What the core wants done, and the log does not take now.
    stuck: Option<Box<Todo<C::Message>>>,
    /// The number of the last todo that is durable, of those that have one.
    stored: u64,
    /// Inputs that came while the core could take none.
    inputs: VecDeque<Input<StoreNode<C>>>,
    owing: Owing,
    /// What a bare core leaves to its user.
    bare: Bare,
    /// Ticks until the timeout of a core that counts none.
    due: Option<u64>,
    /// It has asked for a snapshot that has not come.
    awaits_snapshot: bool,
    /// When something came from each peer.
    heard: [LocalTime; SERVERS_MAX],
    refusals: u32,
    last_refusal: Option<Refusal>,
    /// The disk failed in a way after which the process must not go on.
    dies: bool,
}

impl<C: Core> Server<C> {
    /// Starts the process from its log.
    pub(crate) fn start(
        identity: Identity,
        (log, recovered): (Log, Recovered),
        now: LocalTime,
        fx: &mut Hands<'_, C>,
    ) -> Server<C> {
        let settings = identity.settings.clone();
        let phase = fx.draw(PHASE, 1, settings.tick.nanos());
        fx.set_timer(StoreTimer::Tick, Span::from_nanos(phase), Span::from_nanos(phase));
        let mut members = Membership::of_first(identity.servers.min(settings.founders));
        let (mut spine, mut machine, mut applied) = (Spine::new(), Machine::default(), 0);
        if let Some(snapshot) = log.snapshot() {
            fx.mark(marks::STARTED_FROM_SNAPSHOT);
            members = membership::read(&snapshot.metadata);
            let (linked, state) = opened(snapshot);
            (spine, machine, applied) = (Spine::behind(snapshot.index, linked), state, snapshot.index);
        }
        log.entries(applied + 1, log.last() + 1).for_each(|entry| spine.grow::<C>(entry));
        fx.note(format_args!("log {} commit {}", recovered.last_index, recovered.hard_state.commit));
        let hard_state = log.hard_state();
        let seat = Seat { id: identity.id, incarnation: identity.incarnation, members, settings };
        let core = C::start(&seat, log);
        let mut server = Server {
            shown: core.shown(),
            core,
            durable: spine.chain.last_index(),
            hard_state,
            commit_before: hard_state.commit,
            spine,
            applied,
            machine,
            memberships: vec![(applied, members)],
            todo: None,
            next: Todo::default(),
            pending: VecDeque::new(),
            spare: Vec::new(),
            stuck: None,
            stored: 0,
            inputs: VecDeque::new(),
            owing: Owing::default(),
            bare: Bare::default(),
            due: None,
            awaits_snapshot: false,
            heard: [now; SERVERS_MAX],
            refusals: 0,
            last_refusal: None,
            dies: false,
            identity,
        };
        server.pump(fx);
        server.shown = server.core.shown();
        server
    }

    /// Whether the disk has failed it: it must start again from what the disk has.
    pub(crate) fn dies(&self) -> bool {
        self.dies
    }

    /// Another number in every life of its process.
    pub(crate) fn life(&self) -> u32 {
        self.identity.incarnation
    }

    fn settings(&self) -> &Settings {
        &self.identity.settings
    }

    /// Whether the core can take no input now.
    fn is_blocked(&self) -> bool {
        let waits = || !self.settings().overlapping || self.waits_alone();
        self.stuck.is_some() || !self.pending.is_empty() && waits() || self.is_installing()
    }

    /// Whether it decides alone, and is kept from doing so before the disk has what it decides on.
    fn waits_alone(&self) -> bool {
        self.settings().guarded && self.members().all_voters() == 1 << self.identity.id.position()
    }

    /// Whether it has decided something alone that its disk does not have: it takes no input and sends nothing until then, so
    /// that it is as if it had not.
    pub(crate) fn is_undecided(&self) -> bool {
        (self.stuck.is_some() || !self.pending.is_empty()) && self.waits_alone()
    }

    /// Whether it has a vote, as far as it knows.
    pub(super) fn has_vote(&self) -> bool {
        self.members().all_voters() >> self.identity.id.position() & 1 == 1
    }

    pub(crate) fn handle(&mut self, now: LocalTime, input: Input<StoreNode<C>>, fx: &mut Hands<'_, C>) {
        match input {
            Input::Synced(ticket) => self.synced(ticket, fx),
            Input::SyncFailed(ticket) => self.sync_failed(ticket, fx),
            Input::Timeout(StoreTimer::Write) => self.try_again(fx),
            Input::Timeout(StoreTimer::Take) if !self.is_blocked() => {
                if let Some(input) = self.inputs.pop_front() {
                    self.take(now, input, fx);
                }
            }
            Input::Timeout(StoreTimer::Take | StoreTimer::Restart) => {}
            Input::Timeout(StoreTimer::Tick) => {
                fx.set_timer(StoreTimer::Tick, self.settings().tick, self.settings().tick);
                self.take_in_turn(now, Input::Timeout(StoreTimer::Tick), fx);
            }
            input => self.take_in_turn(now, input, fx),
        }
        if !self.inputs.is_empty() && !self.is_blocked() {
            // Each in a step of its own: what one promises is not undone before anybody sees it.
            fx.set_timer(StoreTimer::Take, Span::ZERO, Span::ZERO);
        }
        self.shown = self.core.shown();
        if !self.is_installing() {
            self.commit_before = self.shown.commit;
        }
    }

    /// Gives an input to the core, now or when it can take it. Of the ticks that a waiting process misses one is left.
    fn take_in_turn(&mut self, now: LocalTime, input: Input<StoreNode<C>>, fx: &mut Hands<'_, C>) {
        let is_tick = |input: &Input<_>| matches!(input, Input::Timeout(StoreTimer::Tick));
        if !self.is_blocked() && self.inputs.is_empty() {
            self.take(now, input, fx);
        } else if !is_tick(&input) || !self.inputs.iter().any(is_tick) {
            self.inputs.push_back(input);
        }
    }

    fn take(&mut self, now: LocalTime, input: Input<StoreNode<C>>, fx: &mut Hands<'_, C>) {
        if !self.pending.is_empty() {
            fx.mark(marks::STEPPED_WHILE_WRITING);
        }
        match input {
            Input::Deliver { from, message } => self.receive(now, from, message, fx),
            Input::Timeout(StoreTimer::Snapshot(to)) => {
                fx.mark(marks::SNAPSHOT_LOST);
                self.core.notice(Notice::SnapshotLost(to));
            }
            Input::Timeout(_) => self.tick(now, fx),
            Input::Command { op, command } => {
                let reply = match command {
                    Command::Operate(operation) | Command::Insist(operation) => {
                        self.propose_own(op, &operation)
                    }
                    command => Some(self.obey(&command, fx)),
                };
                if let Some(reply) = reply {
                    fx.reply(op, reply);
                }
            }
            Input::Synced(_) | Input::SyncFailed(_) => unreachable!("these are for the log"),
        }
        self.pump(fx);
    }

    /// Has the core do as a script says.
    fn obey(&mut self, command: &Command, fx: &mut Hands<'_, C>) -> Reply {
        let is_server = |node: &NodeId| node.position() < self.identity.servers;
        let (begun, mark, reply) = match command {
            Command::Campaign => {
                if self.has_vote() || !self.settings().guarded {
                    self.core.obey(Order::Campaign);
                }
                return Reply::Campaigning;
            }
            Command::Transfer(to) if C::TRANSFERS && is_server(to) => {
                self.core.notice(Notice::Transfer(*to));
                (self.core.shown().leader.is_some(), marks::TRANSFER_BEGUN, Reply::Transferring)
            }
            Command::Change(change) if self.settings().changing => {
                let steps = change.steps();
                let leads = self.core.shown().role == Role::Leader;
                let Settings { guarded, pre_vote, check_quorum, .. } = *self.settings();
                let may_be_deaf = guarded && !pre_vote && !check_quorum;
                let fits_one =
                    |(part, node): &Step| is_server(node) && (*part == Part::Nobody || !may_be_deaf);
                let fits = leads && steps.iter().all(fits_one);
                let begun = fits && self.core.obey(Order::Change(&steps));
                (begun, marks::CHANGE_BEGUN, Reply::Changing)
            }
            Command::RequestSnapshot => {
                let Shown { last_index, commit, .. } = self.core.shown();
                let fits = last_index == commit || !self.settings().guarded;
                let begun = fits && self.core.obey(Order::RequestSnapshot);
                self.awaits_snapshot |= begun;
                (begun, marks::SNAPSHOT_REQUESTED, Reply::Requested)
            }
            _ => return Reply::Declined,
        };
        if !begun {
            return Reply::Declined;
        }
        fx.mark(mark);
        reply
    }

    fn tick(&mut self, now: LocalTime, fx: &mut Hands<'_, C>) {
        self.core.tick();
        self.bare.tick();
        self.due = self.due.map(|ticks| ticks.saturating_sub(1));
        if self.due.take_if(|ticks| *ticks == 0).is_some() {
            self.core.time_out();
        }
        let patience = self.settings().election_timeout();
        for peer in (0..self.identity.servers).filter(|&peer| peer != self.identity.id.position()) {
            if now.since(self.heard[peer]) > patience {
                fx.mark(marks::UNREACHABLE);
                self.heard[peer] = now;
                self.core.notice(Notice::Unreachable(NodeId::server(peer)));
            }
        }
    }

    fn receive(
        &mut self,
        now: LocalTime,
        from: NodeId,
        message: StoreMessage<C::Message>,
        fx: &mut Hands<'_, C>,
    ) {
        if from.is_server() {
            self.heard[from.position()] = now;
        }
        if let Some(index) = message.snapshot_index() {
            fx.send(from, StoreMessage::Arrived { index });
        }
        match message {
            StoreMessage::Core(message)
                if self.awaits_snapshot
                    && self.settings().guarded
                    && message.outline().term > self.shown.term =>
            {
                fx.note(format_args!("cannot go on: a leader of another term may have no such snapshot"));
                self.dies = true;
            }
            StoreMessage::Core(mut message) => {
                if C::BARE {
                    self.bare.keep_entries(&mut message);
                }
                if let Err(why) = self.core.receive(from, message) {
                    fx.note(format_args!("refused: {why:?}"));
                    self.refusals += 1;
                    self.last_refusal = Some(Refusal { from, why });
                }
            }
            StoreMessage::Snapshot { snapshot, .. } => self.bare.incoming = Some(snapshot),
            StoreMessage::Request { life, attempt, body } => self.requested(from, life, attempt, body, fx),
            StoreMessage::Arrived { .. } => {
                fx.cancel_timer(StoreTimer::Snapshot(from));
                self.core.notice(Notice::SnapshotArrived(from));
            }
            StoreMessage::Response { .. } | StoreMessage::Broken { .. } => {
                unreachable!("servers make no requests")
            }
        }
    }

    /// Does what the core wants done until it wants nothing more, or has to wait for the disk.
    fn pump(&mut self, fx: &mut Hands<'_, C>) {
        while !self.dies {
            if self.core.timeout_wanted() {
                self.set_timeout(fx);
            }
            if self.is_blocked() {
                return;
            }
            if !self.next.is_empty() {
                let next = Box::new(std::mem::take(&mut self.next));
                self.todo = self.carry_out(next, fx);
                continue;
            }
            let mut todo = self.todo.take().unwrap_or_default();
            let is_ready = self.install_incoming(&mut todo) || self.core.ready(&mut todo, self.applied);
            if todo.snapshot.is_none() {
                self.follow_cut();
            }
            if !is_ready {
                self.todo = Some(todo);
                return self.snapshot_if_due(fx);
            }
            if C::BARE {
                let entries_max = self.settings().entries_per_append() as usize;
                self.bare.complete(&mut todo, self.core.log(), entries_max);
            }
            self.todo = self.carry_out(todo, fx);
        }
    }

    fn set_timeout(&mut self, fx: &mut Hands<'_, C>) {
        let range = match self.core.shown().role {
            Role::Leader if C::BARE => self.settings().heartbeat_ticks..self.settings().heartbeat_ticks + 1,
            _ => self.settings().election_range(),
        };
        let ticks = fx.draw(TIMEOUT, range.start, range.end - 1);
        self.due = C::BARE.then_some(ticks);
        self.core.set_timeout(ticks);
    }

    /// What the core has cut off from its log in memory does not count any more, even if the disk still has it. A snapshot cuts
    /// nothing off: the old log stands until the disk has the new one.
    fn follow_cut(&mut self) {
        let last = self.core.shown().last_index.max(self.spine.chain.base());
        if last < self.spine.chain.last_index() {
            self.spine.cut_to(last);
            self.durable = self.durable.min(last);
        }
    }

    pub(crate) fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shown { role, term, leader, last_index, commit, .. } = self.shown;
        write!(f, "{role:?} term {term}")?;
        match leader {
            Some(leader) => write!(f, " leader {leader}")?,
            None => write!(f, " no leader")?,
        }
        write!(f, ", log {last_index} commit {commit} applied {}", self.applied)
    }
}
