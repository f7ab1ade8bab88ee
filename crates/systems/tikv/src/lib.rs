//! The public crate `raft` 0.7, the Raft of TiKV, in the world.

mod message;
mod shelf;

pub use message::TikvMessage;
use protobuf::Message as _;
use raft::eraftpb::{ConfChange, ConfChangeType, ConfChangeV2, EntryType, Message, MessageType};
use raft::{Config, LightReady, RawNode, ReadOnlyOption, Ready, SnapshotStatus, StateRole};
use shelf::Shelf;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use whitewater_check::{RefusalReason, Spoken};
use whitewater_sim::{NodeId, OptionSpec, Role, Values};
use whitewater_store::core::{HardState, Seat};
use whitewater_store::options::{self, drawn};
use whitewater_store::{Change, Core, Entry, Log, Store, Todo, number_of, server_of};

/// The system.
pub static TIKV: Store<Tikv> = Store::new();

const READS: OptionSpec = drawn(
    "reads",
    Values::Words(&["index", "lease", "log"]),
    "index",
    "Whether reads ask a majority for the read index, trust the lease of the leader, or go through the log.",
);

/// A `RawNode` with what of it is under way.
pub struct Tikv {
    raw: RawNode<Shelf>,
    seat: Seat,
    /// What is being stored, if inputs wait for it.
    ready: Option<Ready>,
    /// What came out when it was stored.
    light: Option<LightReady>,
    /// For every todo that is not known to be durable the number of its `Ready`, if it came of one.
    numbers: VecDeque<Option<u64>>,
    todos_stored: u64,
    /// Index of the last committed entry that was handed on.
    handed: u64,
}

impl Tikv {
    fn id_of_read(&self, number: u64) -> Vec<u8> {
        let words = [number_of(self.seat.id), u64::from(self.seat.incarnation), number];
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// The number of a read that was asked for here, in this life.
    fn number_of_read(&self, id: &[u8]) -> Option<u64> {
        let number = u64::from_le_bytes(id.get(16..24)?.try_into().ok()?);
        (self.id_of_read(number) == id).then_some(number)
    }

    fn hand_on(todo: &mut Todo<TikvMessage>, handed: &mut u64, committed: Vec<raft::eraftpb::Entry>) {
        todo.committed.extend(committed.iter().map(shelf::written));
        *handed = committed.last().map_or(*handed, |entry| entry.index);
    }

    /// What came out when the last `Ready` was stored.
    fn ready_light(&mut self, mut light: LightReady, todo: &mut Todo<TikvMessage>) {
        todo.messages.extend(light.take_messages().into_iter().map(addressed));
        todo.hard_state = light.commit_index().map(|_| hard_state(&self.raw.raft.hard_state()));
        todo.may_be_lost = true;
        Self::hand_on(todo, &mut self.handed, light.take_committed_entries());
        self.numbers.push_back(None);
    }
}

fn addressed(message: Message) -> (NodeId, TikvMessage) {
    (server_of(message.to).expect("it writes to members"), TikvMessage(Box::new(message)))
}

fn hard_state(state: &raft::eraftpb::HardState) -> HardState {
    HardState { term: state.term, vote: state.vote, commit: state.commit }
}

impl Core for Tikv {
    type Message = TikvMessage;
    const NAME: &'static str = "tikv";
    const ABOUT: &'static str =
        "The public crate raft 0.7, the Raft of TiKV, with a store, clients and a durable log.";
    const KINDS: &'static [&'static str] = message::KINDS;
    // With lease reads it does.
    const NEEDS_NO_CLOCK: bool = false;
    const OPTIONS: &'static [OptionSpec] = &[
        options::TICK,
        options::ELECTION_TICKS,
        options::HEARTBEAT_TICKS,
        options::PRE_VOTE,
        options::CHECK_QUORUM,
        options::MESSAGE_SIZE,
        options::IN_FLIGHT,
        options::STORAGE,
        READS,
        options::READ_AT,
        options::FORWARDING,
        options::SNAPSHOT_ENTRIES,
        options::SNAPSHOT_TRAIL,
        options::SNAPSHOT_REFUSALS,
        options::SEGMENT_BYTES,
        options::CLIENT_ATTEMPTS,
        drawn(
            "batch-append",
            Values::Words(&["on", "off"]),
            "off",
            "Whether appends that wait are sent as one.",
        ),
        drawn(
            "skip-broadcast-commit",
            Values::Words(&["on", "off"]),
            "off",
            "Whether followers learn of a commit only with the next append or heartbeat.",
        ),
    ];

    fn start(seat: &Seat, log: Log) -> Tikv {
        let settings = &seat.settings;
        let own = |name| settings.options.text(Self::OPTIONS, name);
        let lease = own("reads") == "lease" && settings.check_quorum;
        let applied = log.snapshot_index();
        let config = Config {
            id: number_of(seat.id),
            election_tick: settings.election_ticks as usize,
            // What it draws by itself is never used: it shows that a timeout is wanted, and the world draws it.
            min_election_tick: settings.election_ticks as usize,
            max_election_tick: usize::MAX,
            heartbeat_tick: settings.heartbeat_ticks as usize,
            applied,
            max_size_per_msg: settings.message_size_max_bytes,
            max_inflight_msgs: settings.inflight_count_max as usize,
            pre_vote: settings.pre_vote,
            check_quorum: settings.check_quorum,
            read_only_option: if lease { ReadOnlyOption::LeaseBased } else { ReadOnlyOption::Safe },
            batch_append: own("batch-append") == "on",
            skip_bcast_commit: own("skip-broadcast-commit") == "on",
            ..Config::default()
        };
        let shelf = Shelf::new(log, &seat.founders);
        let silent = slog::Logger::root(slog::Discard, slog::o!());
        let raw = RawNode::new(&config, shelf, &silent).expect("the options fit each other");
        Tikv {
            raw,
            seat: seat.clone(),
            ready: None,
            light: None,
            numbers: VecDeque::new(),
            todos_stored: 0,
            handed: applied,
        }
    }

    fn log(&self) -> &Log {
        &self.raw.store().log
    }

    fn log_mut(&mut self) -> &mut Log {
        &mut self.raw.mut_store().log
    }

    fn tick(&mut self) {
        self.raw.tick();
    }

    fn receive(&mut self, _from: NodeId, message: TikvMessage) -> Result<(), RefusalReason> {
        let kind = message.0.get_msg_type();
        let forwarded = matches!(kind, MessageType::MsgPropose | MessageType::MsgReadIndex);
        self.raw.step(*message.0).map_err(|error| match error {
            raft::Error::ProposalDropped if forwarded => RefusalReason::ForwardedWithoutLeader,
            raft::Error::StepPeerNotFound => RefusalReason::ResponseOfStranger,
            raft::Error::ProposalDropped => RefusalReason::Error("a proposal was dropped"),
            raft::Error::StepLocalMsg => RefusalReason::Error("a message that only the node itself may send"),
            raft::Error::Store(_) => RefusalReason::Error("its log does not have what it looks for"),
            _ => RefusalReason::Error("for another reason"),
        })
    }

    fn campaign(&mut self) {
        // Whoever leads or has a change to apply stays what it is.
        let _ = self.raw.campaign();
    }

    fn propose(&mut self, data: Arc<[u8]>) -> bool {
        self.raw.propose(Vec::new(), data.to_vec()).is_ok()
    }

    fn read(&mut self, number: u64) -> bool {
        let by_log = self.seat.settings.options.text(Self::OPTIONS, "reads") == "log";
        if !by_log {
            self.raw.read_index(self.id_of_read(number));
        }
        !by_log
    }

    fn transfer(&mut self, to: NodeId) -> bool {
        self.raw.transfer_leader(number_of(to));
        self.raw.raft.leader_id != 0
    }

    fn change(&mut self, change: &Change) -> bool {
        let single = |kind, node: &NodeId| {
            let mut single = raft::eraftpb::ConfChangeSingle::default();
            single.set_change_type(kind);
            single.node_id = number_of(*node);
            single
        };
        use ConfChangeType::{AddLearnerNode, AddNode, RemoveNode};
        let changes: Vec<_> = match change {
            Change::Add(nodes) => nodes.iter().map(|node| single(AddNode, node)).collect(),
            Change::Learn(nodes) => nodes.iter().map(|node| single(AddLearnerNode, node)).collect(),
            Change::Remove(nodes) => nodes.iter().map(|node| single(RemoveNode, node)).collect(),
            Change::Replace(old, new) => {
                let old = old.iter().map(|node| single(RemoveNode, node));
                old.chain(new.iter().map(|node| single(AddNode, node))).collect()
            }
        };
        let mut joint = ConfChangeV2::default();
        joint.set_changes(changes.into());
        self.raw.raft.state == StateRole::Leader && self.raw.propose_conf_change(Vec::new(), joint).is_ok()
    }

    fn snapshot_sent(&mut self, to: NodeId, arrived: bool) {
        let status = if arrived { SnapshotStatus::Finish } else { SnapshotStatus::Failure };
        self.raw.report_snapshot(number_of(to), status);
    }

    fn unreachable(&mut self, peer: NodeId) {
        self.raw.report_unreachable(number_of(peer));
    }

    fn ready(&mut self, todo: &mut Todo<TikvMessage>) -> bool {
        self.raw.advance_apply_to(self.handed);
        if let Some(light) = self.light.take() {
            self.ready_light(light, todo);
            return true;
        }
        if !self.raw.has_ready() {
            return false;
        }
        let mut ready = self.raw.ready();
        todo.messages.extend(ready.take_messages().into_iter().map(addressed));
        todo.promises.extend(ready.take_persisted_messages().into_iter().map(addressed));
        todo.hard_state = ready.hs().map(hard_state);
        todo.may_be_lost = !ready.must_sync();
        if !ready.snapshot().is_empty() {
            let snapshot = shelf::stored(ready.snapshot());
            self.handed = snapshot.index;
            todo.snapshot = Some(snapshot);
        }
        todo.entries.extend(ready.entries().iter().map(shelf::written));
        Self::hand_on(todo, &mut self.handed, ready.take_committed_entries());
        let reads = ready.take_read_states();
        todo.reads.extend(
            reads.iter().filter_map(|read| Some((self.number_of_read(&read.request_ctx)?, read.index))),
        );
        self.numbers.push_back(Some(ready.number()));
        self.ready = Some(ready);
        true
    }

    fn written(&mut self) {
        if self.overlaps()
            && let Some(ready) = self.ready.take()
        {
            self.raw.advance_append_async(ready);
        }
    }

    fn stored(&mut self, todos: u64) {
        let done = self.numbers.drain(..(todos - self.todos_stored) as usize).flatten().last();
        self.todos_stored = todos;
        match (done, self.ready.take()) {
            (Some(_), Some(ready)) => {
                let snapshot = ready.snapshot().get_metadata().clone();
                if snapshot.index > 0 {
                    self.raw.mut_store().conf = snapshot.get_conf_state().clone();
                }
                self.light = Some(self.raw.advance_append(ready));
            }
            (Some(number), None) => self.raw.on_persist_ready(number),
            (None, ready) => self.ready = ready,
        }
    }

    fn applied(&mut self, entry: &Entry) {
        let conf = match entry.kind {
            shelf::CHANGE if entry.payload.is_empty() => return,
            shelf::CHANGE => {
                let mut change = ConfChange::default();
                change.merge_from_bytes(&entry.payload).expect("an entry that was committed is whole");
                self.raw.apply_conf_change(&change)
            }
            _ => {
                let mut change = ConfChangeV2::default();
                change.merge_from_bytes(&entry.payload).expect("an entry that was committed is whole");
                self.raw.apply_conf_change(&change)
            }
        };
        if let Ok(conf) = conf {
            self.raw.mut_store().conf = conf;
        }
    }

    fn overlaps(&self) -> bool {
        self.seat.settings.overlapping
    }

    fn timeout_wanted(&mut self) -> Option<Range<u64>> {
        let range = self.seat.settings.election_ticks..2 * self.seat.settings.election_ticks;
        (self.raw.raft.randomized_election_timeout() as u64 >= range.end).then_some(range)
    }

    fn set_timeout(&mut self, ticks: u64) {
        self.raw.raft.set_randomized_election_timeout(ticks as usize);
    }

    fn term(&self) -> u64 {
        self.raw.raft.term
    }

    fn vote(&self) -> Option<NodeId> {
        server_of(self.raw.raft.vote)
    }

    fn role(&self) -> Role {
        match self.raw.raft.state {
            StateRole::Follower => Role::Follower,
            StateRole::PreCandidate => Role::PreCandidate,
            StateRole::Candidate => Role::Candidate,
            StateRole::Leader => Role::Leader,
        }
    }

    fn leader(&self) -> Option<NodeId> {
        server_of(self.raw.raft.leader_id)
    }

    fn last_index(&self) -> u64 {
        self.raw.raft.raft_log.last_index()
    }

    fn commit(&self) -> u64 {
        self.raw.raft.raft_log.committed
    }

    fn match_index(&self, peer: NodeId) -> Option<u64> {
        self.raw.raft.prs().get(number_of(peer)).map(|progress| progress.matched)
    }

    fn membership(&self) -> Vec<u8> {
        self.raw.store().conf.write_to_bytes().expect("it fits into memory")
    }

    fn spoken(to: NodeId, message: &TikvMessage) -> Spoken {
        message.spoken(to)
    }

    fn snapshot_in(message: &TikvMessage) -> Option<u64> {
        let is_snapshot = message.0.get_msg_type() == MessageType::MsgSnapshot;
        is_snapshot.then(|| message.0.get_snapshot().get_metadata().index)
    }
}

/// The kind that the log has for entries of a type.
fn kind_of(entry: &raft::eraftpb::Entry) -> u8 {
    match entry.get_entry_type() {
        EntryType::EntryNormal => whitewater_store::REQUEST,
        EntryType::EntryConfChange => shelf::CHANGE,
        EntryType::EntryConfChangeV2 => shelf::CHANGE_V2,
    }
}
