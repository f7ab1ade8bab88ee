//! A server: the core with its log, its sessions, its state machine and whom it owes an answer.
//!
//! An input is counted in ticks and given to the core; then [`Server::pump`](Server) does what the core wants done.

mod dead;
mod driving;
mod members;
mod obeying;
mod repair;
mod serving;
mod snapshots;
mod storing;
mod streaming;
mod threads;
mod transport;
mod view;

use crate::command::{Command, Reply};
use crate::log::{Log, Making};
use crate::machine::Machine;
use crate::marks;
use crate::message::{KvMessage, Session, core_id, first_session};
use crate::node::KvNode;
use crate::options::Settings;
use crate::requests::{Requests, Waiting};
use crate::session::Outgoing;
use crate::spine::Spine;
use crate::ticking::Ticking;
use crate::timer::KvTimer;
use dead::{Reopening, tell};
use repair::{Fence, Repair};
use std::fmt;
use storing::Writing;
use streaming::{Arriving, Piece, Stream};
use threads::Threads;
pub(crate) use view::FIGURES;
use whitewater_check::{Membership, Refusal};
use whitewater_raft::{ConfState, Config, MessageKind, RawNode, ReadMode, Ready};
use whitewater_sim::{Boot, DrawSite, Effects, Input, LocalTime, NodeId, Span};
use whitewater_wal::{Durability, WalError};

/// The hands of a node.
pub(crate) type Hands<'a> = Effects<'a, KvNode>;

const PHASE: DrawSite = DrawSite::new("tick-phase");
const TIMEOUT: DrawSite = DrawSite::new("election-timeout");

/// Who a server is and how it is set: what stays when its process dies.
#[derive(Clone, Debug)]
struct Identity {
    id: NodeId,
    servers: usize,
    clients: usize,
    settings: Settings,
}

impl Identity {
    /// How its log is made.
    fn making(&self) -> Making {
        let Settings { snapshot_refusals: refusals, segment_bytes, .. } = self.settings;
        let options = whitewater_wal::Options::new(segment_bytes);
        #[cfg(feature = "mutants")]
        let options = match self.settings.log_bug {
            Some(bug) => options.plant(bug),
            None => options,
        };
        let founders = self.settings.founders.min(self.servers) as u64;
        Making { founders: (1..=founders).collect(), refusals, options }
    }
}

/// A message that a core was given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub(crate) from: NodeId,
    pub(crate) kind: MessageKind,
    pub(crate) term: u64,
    pub(crate) index: u64,
    pub(crate) rejects: bool,
    /// A request for a vote that is to be heard in spite of a leader, because the leader wants it.
    pub(crate) takes_over: bool,
}

/// A server.
pub struct Server {
    identity: Identity,
    /// The session that peers and clients send in: another one for every life of the process.
    session: Session,
    core: RawNode<Log>,
    spine: Spine,
    /// Up to where what the spine shows is durable.
    durable: u64,
    /// The commit index before the core took a snapshot that is not durable yet.
    commit_before: u64,
    /// How far the durable snapshot reached behind which entries were given up last.
    covered_then: u64,
    /// What the core wants done, while it is being written; at other times memory for the next one.
    ready: Option<Box<Ready>>,
    /// What `ready` waits for.
    writing: Writing,
    /// Storage work under way, if the core hands it to threads.
    threads: Threads,
    ticking: Ticking,
    /// Ticks that the core was given in this life.
    ticks: u64,
    outgoing: Vec<Outgoing>,
    /// Snapshots that go out in pieces, by peer.
    streams: Vec<Option<Stream>>,
    /// Snapshots that come in pieces, by peer.
    arriving: Vec<Option<Arriving>>,
    machine: Machine,
    applied: u64,
    /// The members of the cluster as of the last entry applied.
    members: ConfState,
    /// Every membership of this life, each with the index from which it holds.
    memberships: Vec<(u64, Membership)>,
    /// Servers that were removed in this life, a bit each by position.
    removed: u16,
    requests: Requests,
    /// Boxes of messages that came in, for messages that go out.
    #[expect(clippy::vec_box, reason = "the boxes are what is kept")]
    boxes: Vec<Box<whitewater_raft::Message>>,
    /// The process died of its disk; it is started again after a while.
    halted: bool,
    /// What was wrong with the log when it was found damaged last.
    damage: Option<Box<WalError>>,
    /// While it is started again: its log, and when what was read of it is durable.
    reopening: Option<Box<Reopening>>,
    /// How far it is with getting a log back that was damaged.
    repair: Repair,
    /// What peers want to be forgotten of them.
    fences: Vec<Fence>,
    /// The newest session that was given to anybody.
    last_session: Session,
    refusals: u32,
    last_refusal: Option<Refusal>,
    /// The message that the core was given in this step, if it was given one.
    taken: Option<Taken>,
}

impl Server {
    pub(crate) fn boot(boot: &Boot<'_, Settings>, fx: &mut Hands<'_>) -> Server {
        let settings = boot.options.clone();
        #[cfg(feature = "mutants")]
        let settings = settings.of_life(boot.incarnation);
        let identity = Identity { id: boot.id, servers: boot.servers, clients: boot.clients, settings };
        let session = first_session(boot.incarnation);
        match Log::open(fx.disk(), identity.making()) {
            Ok((log, recovered)) if recovered.quarantined => {
                tell(&recovered, fx);
                let nothing = Log::nothing(identity.making());
                let mut server = Server::new(identity, session, nothing, boot.now, Span::ZERO);
                server.begin_fencing(log, Durability::Now, fx);
                server
            }
            Ok((log, recovered)) => {
                let server = Server::start(identity, session, log, Repair::Sound, boot.now, fx);
                tell(&recovered, fx);
                server
            }
            Err(error) => {
                let log = Log::nothing(identity.making());
                let mut server = Server::new(identity, session, log, boot.now, Span::ZERO);
                server.cannot_open(&error, fx);
                server
            }
        }
    }

    /// Starts the process from its log.
    fn start(
        identity: Identity,
        session: Session,
        log: Log,
        repair: Repair,
        now: LocalTime,
        fx: &mut Hands<'_>,
    ) -> Server {
        let phase = Span::from_nanos(fx.draw(PHASE, 0, identity.settings.tick.nanos() - 1));
        let mut server = Server::new(identity, session, log, now, phase);
        server.repair = repair;
        fx.note(format_args!("log {} commit {}", server.spine.last(), server.core.commit_index()));
        if server.applied > 0 {
            fx.mark(marks::STARTED_FROM_SNAPSHOT);
            let term = server.spine.term_at(server.applied).unwrap_or_default();
            fx.note(format_args!("snapshot {term}/{}", server.applied));
        }
        server.peers().for_each(|peer| server.connect(peer, fx));
        server.go_on(now, fx);
        server
    }

    fn new(identity: Identity, session: Session, log: Log, now: LocalTime, phase: Span) -> Server {
        let settings = &identity.settings;
        let members = log.membership();
        let (mut spine, mut machine, mut applied) = (Spine::behind(0, 0, 0), Machine::default(), 0);
        if let Some(image) = log.image() {
            spine = Spine::behind(image.index, image.term, image.chain);
            (machine, applied) = (image.machine, image.index);
        }
        log.entries_after(applied).for_each(|entry| spine.write(&entry));
        let config = Config { applied, ..config(core_id(identity.id), settings) };
        let core = RawNode::new(config, log)
            .unwrap_or_else(|error| panic!("a log that was recovered is sound: {error}"));
        Server {
            session,
            core,
            durable: spine.last(),
            spine,
            commit_before: 0,
            covered_then: 0,
            ready: None,
            writing: Writing::Nothing,
            threads: Threads::default(),
            ticking: Ticking::new(settings.tick, 4 * settings.election_ticks, now, phase),
            ticks: 0,
            outgoing: vec![Outgoing::new(); identity.servers],
            streams: vec![None; identity.servers],
            arriving: vec![None; identity.servers],
            machine,
            applied,
            memberships: vec![(applied, members::membership(&members))],
            removed: 0,
            members,
            requests: Requests::default(),
            boxes: Vec::new(),
            halted: false,
            damage: None,
            reopening: None,
            repair: Repair::Sound,
            fences: vec![Fence::default(); identity.servers],
            last_session: session,
            refusals: 0,
            last_refusal: None,
            taken: None,
            identity,
        }
    }

    /// The other servers.
    fn peers(&self) -> impl Iterator<Item = NodeId> + use<> {
        let own = self.identity.id;
        (0..self.identity.servers).map(NodeId::server).filter(move |&peer| peer != own)
    }

    pub(crate) fn handle(&mut self, now: LocalTime, input: Input<KvNode>, fx: &mut Hands<'_>) {
        self.taken = None;
        if self.halted {
            self.handle_halted(now, &input, fx);
            return;
        }
        if self.core.installing_snapshot().is_none() {
            self.commit_before = self.core.commit_index();
        }
        let ticks = self.ticking.count(now, self.waits_for_disk());
        if ticks > 0 && !self.only_follows() {
            self.ticks += u64::from(ticks);
            self.core.tick_by(ticks);
        }
        match input {
            Input::Deliver { from, message } => self.receive(from, message, fx),
            Input::Timeout(KvTimer::Tick) => {
                self.ticking.fired();
                self.be_heard_without_disk(fx);
            }
            Input::Timeout(KvTimer::Connect(peer)) => self.connect_again(peer, fx),
            Input::Timeout(KvTimer::SessionReady(peer)) => self.session_started(peer),
            // Held back until after a crash had started the process anyway.
            Input::Timeout(KvTimer::Restart | KvTimer::Fence) => {}
            Input::Timeout(KvTimer::Write) => self.write_again(fx),
            Input::Timeout(KvTimer::Apply) => self.apply_batch(fx),
            Input::Timeout(KvTimer::Snapshot(peer)) => self.snapshot_overdue(peer, fx),
            Input::Timeout(KvTimer::Attempt) => unreachable!("only clients make attempts"),
            Input::Command { op, command: Command::Campaign } if self.only_follows() => {
                fx.reply(op, Reply::Declined);
            }
            Input::Command { op, command: Command::Campaign } => {
                self.core.campaign();
                fx.reply(op, Reply::Campaigning);
            }
            Input::Command { op, command: Command::Control(control) } => {
                self.obey(control, fx);
                fx.reply(op, Reply::Obeyed);
            }
            Input::Command { op, command: Command::Order(order) } => self.order_own(op, &order, fx),
            Input::Command { op, command: Command::Abandon } => fx.reply(op, Reply::Declined),
            Input::Command { op, command: Command::Operate(operation) | Command::Insist(operation) } => {
                self.propose_own(op, &operation, fx);
            }
            Input::Synced(ticket) => self.synced(ticket, fx),
            Input::SyncFailed(ticket) => self.sync_failed(ticket, fx),
        }
        self.go_on(now, fx);
    }

    fn receive(&mut self, from: NodeId, message: KvMessage, fx: &mut Hands<'_>) {
        match message {
            KvMessage::Raft { session, message } => self.receive_raft(from, session, message, fx),
            KvMessage::Request { session, attempt, body } => {
                self.receive_request(from, session, attempt, body, fx);
            }
            KvMessage::Order { session, attempt, number, order } => {
                let waiting = Waiting { number, attempt, place: None };
                self.receive_order(from, session, waiting, &order, fx);
            }
            KvMessage::Connect { nonce } => {
                fx.send(from, KvMessage::Connected { nonce, session: self.granted(from) });
            }
            KvMessage::Connected { nonce, session } => self.session_granted(from, nonce, session, fx),
            KvMessage::Piece { session, .. } if session != self.granted(from) => {
                fx.send(from, KvMessage::Broken { session, granted: self.granted(from) });
            }
            KvMessage::Piece { session, head, offset, total, bytes } => {
                self.piece_came(from, Piece { session, head, offset, total, bytes }, fx);
            }
            KvMessage::Come { session, index, bytes } => {
                self.piece_acknowledged(from, session, (index, bytes), fx);
            }
            KvMessage::Arrived { session, .. } => self.snapshot_arrived(from, session, fx),
            KvMessage::Broken { session, .. } => self.session_broken(from, session, fx),
            KvMessage::Fence { life } => self.fence(from, life, self.core.term(), fx),
            // The answer to a question that was asked twice.
            KvMessage::Fenced { .. } => {}
            KvMessage::Response { .. } => unreachable!("servers make no requests"),
        }
    }

    /// Does what the core wants done, and prepares for what comes next.
    fn go_on(&mut self, now: LocalTime, fx: &mut Hands<'_>) {
        self.pump(fx);
        self.compact_what_was_read(fx);
        if self.only_follows() {
            self.end_repair_if_due(fx);
        }
        if self.halted {
            return;
        }
        if let Some(range) = self.core.take_timeout_request() {
            let ticks = fx.draw(TIMEOUT, u64::from(range.start), u64::from(range.end) - 1);
            self.core.set_randomized_timeout(ticks as u32);
        }
        if !self.only_follows()
            && let Some(due) = self.core.ticks_until_due()
            && let Some(span) = self.ticking.arm(now, due)
        {
            fx.set_timer(KvTimer::Tick, span, span);
        }
    }

    pub(crate) fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let core = &self.core;
        write!(f, "{} term {}", core.role(), core.term())?;
        match crate::message::server(core.leader()) {
            Some(leader) => write!(f, " leader {leader}")?,
            None => write!(f, " no leader")?,
        }
        write!(f, ", log {} commit {} applied {}", core.last_index(), core.commit_index(), self.applied)?;
        match (self.is_damaged(), self.halted) {
            (true, _) => f.write_str(", damaged"),
            (false, true) => f.write_str(", halted"),
            (false, false) => Ok(()),
        }
    }
}

fn config(id: whitewater_raft::NodeId, settings: &Settings) -> Config {
    Config {
        election_ticks: settings.election_ticks,
        heartbeat_ticks: settings.heartbeat_ticks,
        pre_vote: settings.pre_vote,
        check_quorum: settings.check_quorum,
        message_size_max_bytes: settings.message_size_max_bytes,
        async_storage_writes: settings.storage_async,
        committed_size_max_bytes: settings.apply_bytes,
        uncommitted_size_max_bytes: settings.uncommitted_bytes,
        inflight_size_max_bytes: settings.inflight_bytes,
        inflight_count_max: settings.inflight_count_max,
        // Who was removed could go on leading, and would take no proposal.
        step_down_on_removal: true,
        read_mode: if settings.lease { ReadMode::LeaseBased } else { ReadMode::Safe },
        disable_proposal_forwarding: !settings.forwarding,
        #[cfg(feature = "mutants")]
        bug: settings.bug,
        ..Config::new(id)
    }
}

impl Server {
    /// Whether its process died of its disk and was not started again yet.
    pub fn is_halted(&self) -> bool {
        self.halted
    }

    /// The session that others send in: another one for every life of the process.
    pub fn session(&self) -> Session {
        self.session
    }

    /// The message that its core was given in the last step, if it was given one.
    #[inline]
    pub(crate) fn taken(&self) -> Option<&Taken> {
        self.taken.as_ref()
    }

    /// Whom it is and what it was told to do.
    #[inline]
    pub(crate) fn settings(&self) -> &Settings {
        &self.identity.settings
    }

    /// Whether it leads and has so much uncommitted, as its core counts it, that it takes no proposal.
    pub(crate) fn is_full(&self) -> bool {
        let limit = self.identity.settings.uncommitted_bytes;
        let leads = self.core.role() == whitewater_raft::Role::Leader;
        leads && limit > 0 && self.core.uncommitted_size_bytes() >= limit
    }

    /// Ticks that its core was given in this life.
    #[inline]
    pub(crate) fn ticks(&self) -> u64 {
        self.ticks
    }

    /// Whether it leads and hands over.
    pub(crate) fn is_handing_over(&self) -> bool {
        self.core.transferee() != whitewater_raft::NONE
    }

    /// How far the durable snapshot on its disk reached when it gave up entries last: by the end of a step another one may
    /// have become durable, behind which nothing was given up yet.
    #[inline]
    pub(crate) fn covered_then(&self) -> u64 {
        self.covered_then
    }

    /// Its core.
    pub fn core(&self) -> &RawNode<Log> {
        &self.core
    }
}
