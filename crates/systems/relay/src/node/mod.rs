//! A server: elections, a relay for each subscriber, an applier for each source, and the log.

mod claiming;
mod elections;
mod hanging;
mod show;
mod source;
mod subscriber;
mod writing;

use crate::applier::Applier;
use crate::command::{Command, Reply};
use crate::message::{Body, Message};
use crate::queue::Queue;
use crate::raft::Raft;
use crate::relay::Relay;
use crate::row::Row;
use crate::settings::Settings;
use crate::timer::Timer;
use crate::vclock::Vclock;
use crate::wal::{Entry, Wal};
use claiming::Claim;
use hanging::Hang;
use std::collections::VecDeque;
use std::fmt;
use whitewater_sim::{Boot, Effects, Input, LocalTime, Node, NodeId, OpId, Role, SERVERS_MAX};

/// What the worker of the election state machine is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Worker {
    Idle,
    Woken,
    Writing,
}

/// A server.
#[derive(Debug)]
pub struct RelayNode {
    id: NodeId,
    servers: usize,
    settings: Settings,
    /// Higher in later lives, so that numbers of connections grow across restarts.
    incarnation: u32,
    /// Connections begun in this life.
    connections: u32,
    /// Times it started again by itself in this life.
    generation: u32,
    raft: Raft,
    worker: Worker,
    wal: Wal,
    /// Entries that are durable and not yet acted on.
    done: VecDeque<Entry>,
    log: Vec<Row>,
    /// What is durable.
    vclock: Vclock,
    /// What is durable or on its way to the disk.
    volatile_vclock: Vclock,
    /// For each origin a hash over its rows.
    chains: [u64; SERVERS_MAX],
    relays: Vec<Relay>,
    appliers: Vec<Applier>,
    /// What it writes each time it begins to lead.
    lead_with: Option<(OpId, String)>,
    /// The synchronous queue, if there is one.
    queue: Queue,
    /// What it does with the queue as a leader.
    claim: Claim,
    hang: Hang,
}

/// What scripts may wait for: its term, how many rows it has on disk, how many of them are confirmed, and the term in which
/// the queue was claimed last.
pub(crate) const FIGURES: &[&str] = &["term", "rows", "confirmed", "queue"];

/// The hands of a node.
type Fx<'a, 'b> = &'a mut Effects<'b, RelayNode>;

impl RelayNode {
    fn recover(
        id: NodeId,
        servers: usize,
        settings: Settings,
        incarnation: u32,
        fx: Fx<'_, '_>,
    ) -> RelayNode {
        let (wal, recovered) = Wal::open(fx.disk());
        let peers = || (0..servers).map(NodeId::server).filter(move |&peer| peer != id);
        let mut node = RelayNode {
            id,
            servers,
            incarnation,
            connections: 0,
            generation: 0,
            raft: Raft::start(id, settings.mode(id), servers, recovered.term, recovered.vote).with(
                settings.later(),
                settings.quorum(id),
                servers,
            ),
            queue: Queue::new(settings.planted),
            claim: Claim::default(),
            hang: Hang::default(),
            worker: Worker::Idle,
            wal,
            done: VecDeque::new(),
            log: Vec::new(),
            vclock: Vclock::default(),
            volatile_vclock: Vclock::default(),
            chains: [0; SERVERS_MAX],
            relays: peers().map(|peer| Relay::new(peer, settings.not_ready)).collect(),
            appliers: peers().map(Applier::new).collect(),
            lead_with: None,
            settings,
        };
        for row in recovered.rows {
            node.keep(row);
        }
        node.claim.seen = node.queue.fates().len();
        node.volatile_vclock = node.vclock;
        node
    }

    fn start(&mut self, now: LocalTime, fx: Fx<'_, '_>) {
        for place in 0..self.appliers.len() {
            self.connect(place, now, fx);
        }
    }

    /// A row is durable. Says what there is to remark on it.
    fn keep(&mut self, row: Row) -> Option<&'static str> {
        self.vclock.follow(row.origin, row.lsn);
        let chain = &mut self.chains[row.origin.index()];
        *chain = row.chain(*chain);
        let remark = if self.settings.queue && !self.misses(&row) { self.queue.apply(&row) } else { None };
        self.log.push(row);
        remark
    }

    /// The place of a peer among relays and appliers.
    fn place(&self, peer: NodeId) -> usize {
        peer.position() - usize::from(peer > self.id)
    }

    fn deliver(&mut self, now: LocalTime, from: NodeId, message: Message, fx: Fx<'_, '_>) {
        let place = self.place(from);
        match message.body {
            Body::Subscribe(vclock) => self.subscribed(place, message.connection, vclock, now, fx),
            Body::Ack(vclock, term) => {
                self.acknowledged(place, message.connection, message.number, (vclock, term), now, fx);
            }
            Body::Reset { by_source: false } => self.reset_by_subscriber(place, message.connection, fx),
            _ => self.heard(place, message, now, fx),
        }
    }

    fn timeout(&mut self, now: LocalTime, timer: Timer, fx: Fx<'_, '_>) {
        match timer {
            Timer::Election => self.raft.timeout(),
            Timer::Worker => self.work(fx),
            Timer::RelayReady(peer) => self.relay_ready(self.place(peer), fx),
            Timer::ToRelay(peer) => self.drain_to_relay(self.place(peer), now, fx),
            Timer::ToTx(peer) => self.drain_to_tx(self.place(peer), fx),
            Timer::Heartbeat(peer) => self.beat(self.place(peer), now, fx),
            Timer::Connect(peer) => self.connect_due(self.place(peer), now, fx),
            Timer::Silence(peer) => self.silence_due(self.place(peer), now, fx),
            Timer::Gap(peer) => self.gap_due(self.place(peer), fx),
            Timer::Rows(peer) => self.rows_due(self.place(peer), fx),
            // It goes off while nothing else is handled; the process may have started again since.
            Timer::Hang => {}
        }
    }

    fn command(&mut self, now: LocalTime, op: OpId, command: Command, fx: Fx<'_, '_>) {
        match command {
            Command::Propose(text) if self.raft.state() == Role::Leader => self.propose(op, &text, fx),
            Command::Propose(_) => fx.reply(op, Reply::NoLeader(self.raft.leader())),
            Command::Campaign => fx.reply(
                op,
                match self.raft.campaign() {
                    Ok(()) => Reply::Standing,
                    Err(why) => Reply::Refused(why),
                },
            ),
            Command::LeadWith(text) => {
                self.lead_with = Some((op, text));
                self.claim.led_with = 0;
                if self.raft.state() == Role::Leader {
                    self.begin_to_lead();
                }
            }
            Command::Promote => fx.reply(
                op,
                match self.raft.promote() {
                    Ok(()) => Reply::Standing,
                    Err(why) => Reply::Refused(why),
                },
            ),
            Command::Resign => {
                let reply = if self.raft.resign() { Reply::Done } else { Reply::Refused("does not lead") };
                fx.reply(op, reply);
            }
            Command::Demote => self.demote(op, fx),
            Command::Mode(mode) => {
                self.raft.set_mode(mode);
                fx.reply(op, Reply::Done);
            }
            Command::Hang(span) => self.hang(span, now, fx),
        }
    }

    /// Handles an input.
    fn take(&mut self, now: LocalTime, input: Input<RelayNode>, fx: Fx<'_, '_>) {
        let before = self.standing();
        match input {
            Input::Deliver { from, message } => self.deliver(now, from, message, fx),
            Input::Timeout(timer) => self.timeout(now, timer, fx),
            Input::Command { op, command } => self.command(now, op, command, fx),
            Input::Synced(ticket) => self.wal.synced(ticket, &mut self.done),
            Input::SyncFailed(ticket) if self.wal.awaits(ticket) => self.write_failed(now, fx),
            Input::SyncFailed(_) => {}
        }
        self.finish(now, before, fx);
    }
}

impl Node for RelayNode {
    type Message = Message;
    type Timer = Timer;
    type Command = Command;
    type Reply = Reply;
    type View = RelayNode;
    type Options = Settings;

    fn boot(boot: &Boot<'_, Settings>, fx: &mut Effects<'_, RelayNode>) -> RelayNode {
        let mut node = RelayNode::recover(boot.id, boot.servers, boot.options.clone(), boot.incarnation, fx);
        let before = node.standing();
        node.start(boot.now, fx);
        node.finish(boot.now, before, fx);
        node
    }

    fn handle(&mut self, now: LocalTime, input: Input<RelayNode>, fx: &mut Effects<'_, RelayNode>) {
        if let Some(input) = self.put_off(now, input, fx) {
            self.take(now, input, fx);
        }
    }

    fn view(&self) -> &RelayNode {
        self
    }

    fn role(&self) -> Role {
        self.raft.state()
    }

    fn figure(&self, name: &str) -> Option<u64> {
        match name {
            "term" => Some(self.raft.term()),
            "rows" => Some(self.vclock.total()),
            "confirmed" => Some(self.queue.confirmed_count()),
            "queue" => Some(self.queue.term()),
            _ => None,
        }
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.show(f)
    }

    fn parse_command(text: &str) -> Result<Command, String> {
        Command::parse(text)
    }
}
