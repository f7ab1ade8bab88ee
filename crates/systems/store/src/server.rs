//! A server: a core with its log, the state machine, and whom it owes an answer.
//!
//! An input is given to the core; then [`Server::pump`] does what the core wants done. What is written may be under way for a
//! while: `pending` holds, in order, what waits for it.

use crate::command::{Command, Operation, Reply};
use crate::core::{Core, Entry, HardState, REQUEST, Seat, Snapshot, Todo};
use crate::log::Log;
use crate::machine::Machine;
use crate::marks;
use crate::message::{Outcome, StoreMessage};
use crate::node::{Hands, StoreNode};
use crate::options::Settings;
use crate::owing::{Owing, Place};
use crate::request::{encode, word_of};
use crate::timer::StoreTimer;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use whitewater_check::{ChainLog, Linked, Refusal, link};
use whitewater_sim::draw::name_hash;
use whitewater_sim::{Boot, Input, LocalTime, NodeId, SERVERS_MAX, Span, Ticket};
use whitewater_wal::{Durability, Synced, WalError};

const PHASE: u64 = name_hash("tick-phase");
const TIMEOUT: u64 = name_hash("election-timeout");

/// What waits for the disk.
struct Pending<M> {
    /// The ticket that says that it is durable; none if it is as soon as everything before it is.
    ticket: Option<Ticket>,
    promises: Vec<(NodeId, M)>,
    hard_state: Option<HardState>,
    /// Index and term of the last entry in it.
    last: Option<(u64, u64)>,
    is_snapshot: bool,
}

/// A server.
pub struct Server<C: Core> {
    seat: Seat,
    clients: usize,
    core: C,
    /// Term and chain hash of every entry in the log, durable or not.
    pub(crate) chain: ChainLog,
    /// Up to where the present log is durable.
    pub(crate) durable: u64,
    /// The hard state that is durable.
    pub(crate) hard_state: HardState,
    /// The commit index as it was shown last, before the core took a snapshot that is not durable yet.
    pub(crate) commit_before: u64,
    pub(crate) applied: u64,
    pub(crate) machine: Machine,
    /// Memory for what the core wants done.
    todo: Todo<C::Message>,
    pending: VecDeque<Pending<C::Message>>,
    /// What the core wants done, and the log is too busy for.
    stuck: Option<Box<Todo<C::Message>>>,
    /// Todos carried out so far.
    todos: u64,
    /// Inputs that came while the core could take none.
    inputs: VecDeque<Input<StoreNode<C>>>,
    owing: Owing,
    /// When something came from each peer.
    heard: [LocalTime; SERVERS_MAX],
    pub(crate) refusals: u32,
    pub(crate) last_refusal: Option<Refusal>,
}

impl<C: Core> Server<C> {
    pub(crate) fn boot(boot: &Boot<'_, Settings>, fx: &mut Hands<'_, C>) -> Server<C> {
        let settings = boot.options.clone();
        let phase = fx.draw(PHASE, 1, settings.tick.nanos());
        fx.set_timer(StoreTimer::Tick, Span::from_nanos(phase), Span::from_nanos(phase));
        let (log, recovered) = Log::open(fx.disk(), settings.segment_bytes, settings.snapshot_refusals);
        let founders = (0..boot.servers).map(NodeId::server).collect();
        let seat = Seat { id: boot.id, founders, incarnation: boot.incarnation, settings };
        let mut chain = ChainLog::new();
        let (mut machine, mut applied) = (Machine::default(), 0);
        if let Some(snapshot) = log.snapshot() {
            fx.mark(marks::STARTED_FROM_SNAPSHOT);
            let (linked, state) = opened(snapshot);
            (chain, machine, applied) =
                (ChainLog::starting_after(snapshot.index, linked), state, snapshot.index);
        }
        log.entries(applied + 1, log.last() + 1).for_each(|entry| grow(&mut chain, entry));
        fx.note(format_args!("log {} commit {}", recovered.last_index, recovered.hard_state.commit));
        let hard_state = log.hard_state();
        let mut server = Server {
            clients: boot.clients,
            core: C::start(&seat, log),
            durable: chain.last_index(),
            hard_state,
            commit_before: hard_state.commit,
            chain,
            applied,
            machine,
            todo: Todo::default(),
            pending: VecDeque::new(),
            stuck: None,
            todos: 0,
            inputs: VecDeque::new(),
            owing: Owing::default(),
            heard: [boot.now; SERVERS_MAX],
            refusals: 0,
            last_refusal: None,
            seat,
        };
        server.pump(fx);
        server
    }

    /// Whether the core can take no input now.
    fn is_blocked(&self) -> bool {
        self.stuck.is_some() || !self.pending.is_empty() && !self.core.overlaps() || self.is_installing()
    }

    /// Whether the core has a snapshot in place of the log that is not durable yet: until then the old log is shown.
    pub(crate) fn is_installing(&self) -> bool {
        let kept_back = self.stuck.as_ref().is_some_and(|todo| todo.snapshot.is_some());
        kept_back || self.pending.back().is_some_and(|pending| pending.is_snapshot)
    }

    pub(crate) fn handle(&mut self, now: LocalTime, input: Input<StoreNode<C>>, fx: &mut Hands<'_, C>) {
        match input {
            Input::Synced(ticket) => self.synced(ticket, fx),
            Input::SyncFailed(_) => panic!("a store does not stand disks that fail"),
            Input::Timeout(StoreTimer::Write) => self.try_again(fx),
            Input::Timeout(StoreTimer::Take) if !self.is_blocked() => {
                if let Some(input) = self.inputs.pop_front() {
                    self.take(now, input, fx);
                }
            }
            Input::Timeout(StoreTimer::Take) => {}
            Input::Timeout(StoreTimer::Tick) => {
                fx.set_timer(StoreTimer::Tick, self.seat.settings.tick, self.seat.settings.tick);
                self.take_in_turn(now, Input::Timeout(StoreTimer::Tick), fx);
            }
            input => self.take_in_turn(now, input, fx),
        }
        if !self.inputs.is_empty() && !self.is_blocked() {
            // Each in a step of its own: what one promises is not undone before anybody sees it.
            fx.set_timer(StoreTimer::Take, Span::ZERO, Span::ZERO);
        }
        if !self.is_installing() {
            self.commit_before = self.core.commit();
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
            Input::Timeout(StoreTimer::Snapshot(peer)) => {
                fx.mark(marks::SNAPSHOT_LOST);
                self.core.snapshot_sent(peer, false);
            }
            Input::Timeout(_) => self.tick(now, fx),
            Input::Command { op, command } => {
                let reply = match command {
                    Command::Operate(operation) | Command::Insist(operation) => {
                        self.propose_own(op, &operation)
                    }
                    Command::Campaign => {
                        self.core.campaign();
                        Some(Reply::Campaigning)
                    }
                    Command::Transfer(to) if to.position() < self.seat.founders.len() => {
                        let begun = self.core.transfer(to);
                        if begun {
                            fx.mark(marks::TRANSFER_BEGUN);
                        }
                        Some(if begun { Reply::Transferring } else { Reply::Declined })
                    }
                    Command::Transfer(_) => Some(Reply::Declined),
                    Command::Change(change) => {
                        let begun = self.core.change(&change);
                        if begun {
                            fx.mark(marks::CHANGE_BEGUN);
                        }
                        Some(if begun { Reply::Changing } else { Reply::Declined })
                    }
                };
                if let Some(reply) = reply {
                    fx.reply(op, reply);
                }
            }
            Input::Synced(_) | Input::SyncFailed(_) => unreachable!("these are for the log"),
        }
        self.pump(fx);
    }

    fn tick(&mut self, now: LocalTime, fx: &mut Hands<'_, C>) {
        self.core.tick();
        let patience = self.seat.settings.election_timeout();
        for peer in (0..self.seat.founders.len()).filter(|&peer| peer != self.seat.id.position()) {
            if now.since(self.heard[peer]) > patience {
                fx.mark(marks::UNREACHABLE);
                self.heard[peer] = now;
                self.core.unreachable(NodeId::server(peer));
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
        match message {
            StoreMessage::Core(message) => {
                if let Some(index) = C::snapshot_in(&message) {
                    fx.send(from, StoreMessage::Arrived { index });
                }
                if let Err(why) = self.core.receive(from, message) {
                    fx.note(format_args!("refused: {why:?}"));
                    self.refusals += 1;
                    self.last_refusal = Some(Refusal { from, why });
                }
            }
            StoreMessage::Request { attempt, body } => self.requested(from, attempt, body, fx),
            StoreMessage::Arrived { .. } => {
                fx.cancel_timer(StoreTimer::Snapshot(from));
                self.core.snapshot_sent(from, true);
            }
            StoreMessage::Response { .. } => unreachable!("servers make no requests"),
        }
    }

    /// Does what the core wants done until it wants nothing more, or has to wait for the disk.
    fn pump(&mut self, fx: &mut Hands<'_, C>) {
        loop {
            if let Some(range) = self.core.timeout_wanted() {
                let ticks = fx.draw(TIMEOUT, range.start, range.end - 1);
                self.core.set_timeout(ticks);
            }
            if self.is_blocked() {
                return;
            }
            self.follow_cut();
            let mut todo = std::mem::take(&mut self.todo);
            if !self.core.ready(&mut todo) {
                self.todo = todo;
                return;
            }
            self.todo = self.carry_out(todo, fx).unwrap_or_default();
        }
    }

    /// What the core has cut off from its log in memory does not count any more, even if the disk still has it.
    fn follow_cut(&mut self) {
        let last = self.core.last_index().max(self.chain.base());
        if last < self.chain.last_index() {
            self.chain.truncate(last);
            self.durable = self.durable.min(last);
        }
    }

    /// Carries it out, and gives it back empty; keeps it if the log is too busy.
    fn carry_out(&mut self, mut todo: Todo<C::Message>, fx: &mut Hands<'_, C>) -> Option<Todo<C::Message>> {
        for (to, message) in todo.messages.drain(..) {
            if C::snapshot_in(&message).is_some() {
                fx.mark(marks::SNAPSHOT_SENT);
                let timeout = self.seat.settings.election_timeout();
                fx.set_timer(StoreTimer::Snapshot(to), timeout, timeout.times(2));
            }
            fx.send(to, StoreMessage::Core(message));
        }
        let log = self.core.log_mut();
        let is_snapshot = todo.snapshot.is_some();
        let written = match todo.snapshot.clone() {
            Some(snapshot) => log.install(fx.disk(), snapshot, todo.hard_state, &todo.entries),
            None => log.write(fx.disk(), todo.hard_state, &todo.entries, todo.may_be_lost),
        };
        let ticket = match written {
            Ok(Durability::Now) => None,
            Ok(Durability::After(ticket)) => Some(ticket),
            Err(WalError::Busy) => {
                fx.mark(marks::WRITE_TRIED_AGAIN);
                let timeout = self.seat.settings.election_timeout();
                fx.set_timer(StoreTimer::Write, timeout.part(16), timeout.part(4));
                self.stuck = Some(Box::new(todo));
                return None;
            }
            Err(error) => panic!("the log takes what the core wants stored: {error}"),
        };
        if !is_snapshot {
            todo.entries.iter().for_each(|entry| grow(&mut self.chain, entry));
            if let Some(first) = todo.entries.first() {
                self.durable = self.durable.min(first.index - 1);
            }
        }
        self.todos += 1;
        self.core.written();
        self.pending.push_back(Pending {
            ticket,
            promises: std::mem::take(&mut todo.promises),
            hard_state: todo.hard_state.take(),
            last: todo.entries.last().map(|entry| (entry.index, entry.term)),
            is_snapshot,
        });
        self.settle(fx);
        for entry in todo.committed.drain(..) {
            self.apply(&entry, fx);
        }
        for (number, index) in todo.reads.drain(..) {
            if index > self.applied {
                fx.mark(marks::READ_WAITED);
            }
            self.owing.read_at(number, index);
        }
        self.serve_reads(fx);
        todo.snapshot = None;
        todo.entries.clear();
        self.snapshot_if_due(fx);
        Some(todo)
    }

    fn try_again(&mut self, fx: &mut Hands<'_, C>) {
        if let Some(todo) = self.stuck.take() {
            if let Some(todo) = self.carry_out(*todo, fx) {
                self.todo = todo;
            }
            self.pump(fx);
        }
    }

    /// Keeps the promises of everything that is durable by now.
    fn settle(&mut self, fx: &mut Hands<'_, C>) {
        let mut stored = false;
        while self.pending.front().is_some_and(|pending| pending.ticket.is_none())
            && let Some(pending) = self.pending.pop_front()
        {
            stored = true;
            if let Some(state) = pending.hard_state {
                self.hard_state = state;
            }
            if pending.is_snapshot {
                self.restore(fx);
            }
            if let Some((index, term)) = pending.last
                && self.chain.term_at(index) == Some(term)
            {
                self.durable = self.durable.max(index);
            }
            for (to, message) in pending.promises {
                fx.send(to, StoreMessage::Core(message));
            }
        }
        if stored {
            self.core.stored(self.todos - self.pending.len() as u64);
        }
    }

    /// The disk has done what was asked of it.
    fn synced(&mut self, ticket: Ticket, fx: &mut Hands<'_, C>) {
        let synced = self.core.log_mut().synced(fx.disk(), ticket);
        let position = self.pending.iter().position(|pending| pending.ticket == Some(ticket));
        match (synced.unwrap_or_else(|error| panic!("the log goes on: {error}")), position) {
            // It was the last step of storing a snapshot of its own.
            (Synced::Done | Synced::Next(Durability::Now), None) => self.compact(fx),
            (Synced::Done | Synced::Next(Durability::Now), Some(position)) => {
                self.pending.range_mut(..=position).for_each(|pending| pending.ticket = None);
                self.settle(fx);
                self.pump(fx);
            }
            (Synced::Next(Durability::After(next)), Some(position)) => {
                self.pending[position].ticket = Some(next);
            }
            (Synced::Next(Durability::After(_)), None) | (Synced::Unknown, _) => {}
        }
    }

    /// A client asks for an operation.
    fn requested(&mut self, client: NodeId, attempt: u64, body: Arc<[u8]>, fx: &mut Hands<'_, C>) {
        let Some(request) = self.owing.new_attempt(client, attempt, &body) else { return };
        if let Some(key) = request.read {
            if self.core.leader().is_some() && self.core.read(self.owing.next_read()) {
                if self.core.role() != whitewater_sim::Role::Leader {
                    fx.mark(marks::READ_AT_FOLLOWER);
                }
                self.owing.wait_for_read(client, attempt, key);
                return;
            }
            if self.core.leader().is_none() {
                self.refuse(client, attempt, fx);
                return;
            }
        }
        let is_in_log = |place: Place| self.chain.term_at(place.index) == Some(place.term);
        if self.owing.repeat_write(client, attempt, request.number, is_in_log) {
            fx.mark(marks::REQUEST_REPEATED);
            return;
        }
        let leads = self.leads();
        if !leads && !self.seat.settings.forwarding || !self.core.propose(body) {
            self.refuse(client, attempt, fx);
            return;
        }
        if !leads {
            fx.mark(marks::FORWARDED);
        }
        self.owing.wait_for_write(client, attempt, request.number, leads.then(|| self.last_place()));
    }

    fn leads(&self) -> bool {
        self.core.role() == whitewater_sim::Role::Leader
    }

    fn last_place(&self) -> Place {
        Place { term: self.core.term(), index: self.core.last_index() }
    }

    fn refuse(&mut self, client: NodeId, attempt: u64, fx: &mut Hands<'_, C>) {
        let outcome = Outcome::Refused { leader: self.core.leader() };
        fx.send(client, StoreMessage::Response { attempt, outcome });
    }

    /// A script asks this server itself; it proposes only if it leads. `None` if the answer comes when it is applied.
    fn propose_own(&mut self, op: whitewater_sim::OpId, operation: &Operation) -> Option<Reply> {
        let number = u64::from(self.seat.incarnation) << 32 | u64::from(op.0);
        if !self.leads() || !self.core.propose(encode(self.seat.id, number, operation)) {
            return Some(Reply::Refused);
        }
        self.owing.wait_for_own(op, self.last_place());
        None
    }

    /// Applies a committed entry and answers whoever waits for it.
    fn apply(&mut self, entry: &Entry, fx: &mut Hands<'_, C>) {
        assert_eq!(entry.index, self.applied + 1, "entries are applied in order, each once");
        self.applied = entry.index;
        let mut own_answer = None;
        if entry.kind == REQUEST {
            if let Some(applied) = self.machine.apply(&entry.payload) {
                if applied.author.is_server() {
                    own_answer = applied.answer;
                } else if let Some(answer) = applied.answer
                    && let Some(attempt) = self.owing.take_write(applied.author, applied.number)
                {
                    let outcome = Outcome::Done(answer);
                    fx.send(applied.author, StoreMessage::Response { attempt, outcome });
                }
            }
        } else {
            self.core.applied(entry);
        }
        let place = Place { term: entry.term, index: entry.index };
        if self.clients > 0
            && let Some((client, attempt)) = self.owing.take_overwritten(place)
        {
            fx.mark(marks::PROPOSAL_OVERWRITTEN);
            self.refuse(client, attempt, fx);
        }
        if let Some((op, is_it)) = self.owing.take_own(place) {
            let reply = match own_answer {
                Some(answer) if is_it => Reply::Done(answer),
                _ => Reply::Refused,
            };
            fx.reply(op, reply);
        }
    }

    fn serve_reads(&mut self, fx: &mut Hands<'_, C>) {
        while let Some((client, attempt, key)) = self.owing.take_read(self.applied) {
            let outcome = Outcome::Done(crate::command::Answer::Value(self.machine.get(&key)));
            fx.send(client, StoreMessage::Response { attempt, outcome });
        }
    }

    /// Makes a snapshot if enough was applied since the last one.
    fn snapshot_if_due(&mut self, fx: &mut Hands<'_, C>) {
        let log = self.core.log();
        let since = self.applied.saturating_sub(log.snapshot_index());
        if since < self.seat.settings.snapshot_entries || log.is_saving() || self.is_installing() {
            return;
        }
        let index = self.applied;
        let Some(Linked { term, chain }) = self.chain.at(index) else { return };
        let data = [&chain.to_le_bytes()[..], &self.machine.write()].concat();
        let metadata = self.core.membership().into();
        let snapshot = Snapshot { index, term, metadata, data: data.into() };
        match self.core.log_mut().save(fx.disk(), snapshot) {
            Ok(Durability::Now) => self.compact(fx),
            Ok(Durability::After(_)) | Err(WalError::Busy) => {}
            Err(error) => panic!("the log takes a snapshot: {error}"),
        }
    }

    fn compact(&mut self, fx: &mut Hands<'_, C>) {
        let log = self.core.log_mut();
        let index = log.snapshot_index().saturating_sub(self.seat.settings.snapshot_trail);
        if index >= log.first() {
            log.compact(fx.disk(), index);
            self.chain.compact(index.max(self.chain.base()));
            self.core.compacted(index);
        }
    }

    /// Takes over a snapshot that is durable now in place of the log.
    fn restore(&mut self, fx: &mut Hands<'_, C>) {
        let log = self.core.log();
        let snapshot = log.snapshot().expect("it was just stored");
        fx.mark(marks::SNAPSHOT_INSTALLED);
        fx.note(format_args!("snapshot {}/{}", snapshot.term, snapshot.index));
        let (linked, machine) = opened(snapshot);
        (self.chain, self.machine) = (ChainLog::starting_after(snapshot.index, linked), machine);
        (self.applied, self.durable) = (snapshot.index, snapshot.index);
        self.commit_before = self.commit_before.max(snapshot.index);
        log.entries(snapshot.index + 1, log.last() + 1).for_each(|entry| grow(&mut self.chain, entry));
        self.hard_state.commit = self.hard_state.commit.max(snapshot.index);
        // Whether their entries are in it nobody here can tell.
        self.owing.forget_to(snapshot.index, |op| fx.reply(op, Reply::Unknown));
    }

    /// The core.
    pub fn core(&self) -> &C {
        &self.core
    }

    pub(crate) fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let core = &self.core;
        write!(f, "{:?} term {}", core.role(), core.term())?;
        match core.leader() {
            Some(leader) => write!(f, " leader {leader}")?,
            None => write!(f, " no leader")?,
        }
        write!(f, ", log {} commit {} applied {}", core.last_index(), core.commit(), self.applied)
    }
}

/// Adds an entry to a chain, cutting off what stood there and beyond.
fn grow(chain: &mut ChainLog, entry: &Entry) {
    chain.truncate((entry.index - 1).min(chain.last_index()));
    let content = word_of(&entry.payload) ^ u64::from(entry.kind);
    let chained = link(chain.last().chain, entry.term, content);
    chain.push(Linked { term: entry.term, chain: chained });
}

/// The place of a snapshot in the chain, and the state in it.
fn opened(snapshot: &Snapshot) -> (Linked, Machine) {
    let split = snapshot.data.split_first_chunk();
    let read = split.and_then(|(chain, data)| Some((u64::from_le_bytes(*chain), Machine::read(data)?)));
    let (chain, machine) = read.expect("a snapshot with a right checksum is one of ours");
    (Linked { term: snapshot.term, chain }, machine)
}
