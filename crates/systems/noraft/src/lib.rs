//! The public crate `noraft`, an early and the current release of it, in the world.

mod version;
mod wire;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use version::{Act, Kept, Version, v04, v07};
use whitewater_check::{RefusalReason, Spoken};
use whitewater_sim::{NodeId, OptionSpec, Role, Values};
use whitewater_store::core::{HardState, Seat, Snapshot};
use whitewater_store::options;
use whitewater_store::{Change, Core, Entry, Log, REQUEST, Store, Todo, number_of, server_of};
pub use wire::{Config, Position, Wire};

/// The release 0.4.0, which compares nothing but the length of logs when it votes.
pub static NORAFT_04: Store<Noraft<0>> = Store::new();
/// The current release.
pub static NORAFT: Store<Noraft<1>> = Store::new();
/// A cluster in which the releases meet.
pub static NORAFT_MIXED: Store<Noraft<2>> = Store::new();

const NAMES: [&str; 3] = ["noraft-0.4", "noraft", "noraft-mixed"];
const ABOUT: [&str; 3] = [
    "The public crate noraft 0.4.0, with a store, clients and a durable log.",
    "The current release of the public crate noraft, with a store, clients and a durable log.",
    "A cluster in which nodes of noraft 0.4.0 and of the current release meet.",
];

/// Options of every cluster; the last one of those in which releases meet.
const OPTIONS: &[OptionSpec] = &[
    options::TICK,
    options::ELECTION_TICKS,
    options::HEARTBEAT_TICKS,
    options::MESSAGE_SIZE,
    options::SNAPSHOT_ENTRIES,
    options::SNAPSHOT_TRAIL,
    options::CLIENT_ATTEMPTS,
    OptionSpec {
        name: "version",
        about: "Which release a node runs.",
        values: Values::Words(&["0.4", "0.7"]),
        default: "0.7",
        per_node: true,
        drawn: true,
    },
];

/// Bytes that an entry of the operations that plans draw has at most.
const ENTRY_BYTES_MAX: u64 = 128;

/// A node with what its users have to keep for it: the content of commands, timeouts and snapshots.
pub struct Noraft<const CLUSTER: usize> {
    node: Box<dyn Version>,
    log: Log,
    seat: Seat,
    /// Contents of commands that are on their way to the log, by index.
    contents: BTreeMap<u64, Arc<[u8]>>,
    /// Ticks until the timeout that is set.
    due: Option<u64>,
    wants_timeout: bool,
    /// Where the entries began that were sent to each peer since the last tick: its link is busy with them.
    sent: BTreeMap<u64, u64>,
    /// A snapshot that has come and is to be installed.
    incoming: Option<(Position, Config, Arc<[u8]>)>,
    /// The one that is being stored.
    installing: Option<(Position, Config)>,
    /// Index of the last committed entry that was handed on.
    handed: u64,
}

impl<const CLUSTER: usize> Noraft<CLUSTER> {
    /// Gives the commands in a message their content.
    fn filled(&self, mut wire: Wire) -> Wire {
        if let Wire::AppendCall { entries, .. } = &mut wire {
            let most = (self.seat.settings.message_size_max_bytes / ENTRY_BYTES_MAX).max(1);
            entries.truncate(most as usize);
            entries.iter_mut().for_each(|entry| self.fill(entry));
        }
        wire
    }

    fn fill(&self, entry: &mut Entry) {
        if entry.kind == REQUEST {
            let kept = || self.log.entries(entry.index, entry.index + 1).next().map(|kept| &kept.payload);
            let content = self.contents.get(&entry.index).or_else(kept);
            entry.payload = content.expect("a command that is in the log has its content").clone();
        }
    }

    fn snapshot_for(&self, to: u64) -> Option<(NodeId, Wire)> {
        let kept = self.log.snapshot_to_send()?;
        let at = Position { term: kept.term, index: kept.index };
        let (config, data) = (Config::read(&kept.metadata), kept.data.clone());
        Some((server_of(to)?, Wire::Snapshot { term: self.node.term(), at, config, data }))
    }

    fn install(&mut self, todo: &mut Todo<Wire>) {
        let Some((at, config, data)) = self.incoming.take() else { return };
        if at.index <= self.commit() || self.node.role() == Role::Leader {
            return;
        }
        if self.node.at(at.index).is_some_and(|(term, _)| term == at.term) {
            todo.entries.extend(self.log.entries(at.index + 1, self.node.last_index() + 1).cloned());
        }
        let metadata = config.write().into();
        todo.snapshot = Some(Snapshot { index: at.index, term: at.term, metadata, data });
        self.installing = Some((at, config));
        self.handed = at.index;
    }

    /// Committed entries that were not handed on.
    fn hand_on(&mut self, todo: &mut Todo<Wire>) {
        todo.committed.extend(self.log.entries(self.handed + 1, self.node.commit() + 1).cloned());
        self.handed = todo.committed.last().map_or(self.handed, |entry| entry.index);
    }
}

impl<const CLUSTER: usize> Core for Noraft<CLUSTER> {
    type Message = Wire;
    const NAME: &'static str = NAMES[CLUSTER];
    const ABOUT: &'static str = ABOUT[CLUSTER];
    const KINDS: &'static [&'static str] = Wire::KINDS;
    const NEEDS_NO_CLOCK: bool = true;
    const OPTIONS: &'static [OptionSpec] = if CLUSTER == 2 { OPTIONS } else { OPTIONS.split_at(7).0 };

    fn start(seat: &Seat, log: Log) -> Self {
        let (base, config) = match log.snapshot() {
            Some(kept) => (Position { term: kept.term, index: kept.index }, Config::read(&kept.metadata)),
            None => {
                let voters = seat.founders.iter().map(|node| number_of(*node)).collect();
                (Position::default(), Config { voters, ..Config::default() })
            }
        };
        let state = log.hard_state();
        let kept = Kept {
            id: number_of(seat.id),
            incarnation: seat.incarnation,
            term: state.term,
            vote: Some(state.vote).filter(|&vote| vote != 0),
            base,
            config,
            entries: log.entries(base.index + 1, log.last() + 1).cloned().collect(),
        };
        let version = || seat.settings.options.text_at(Self::OPTIONS, "version", seat.id);
        let node = if CLUSTER == 0 || CLUSTER == 2 && version() == "0.4" {
            v04::start(&kept)
        } else {
            v07::start(&kept)
        };
        Noraft {
            node,
            log,
            seat: seat.clone(),
            contents: BTreeMap::new(),
            due: None,
            wants_timeout: false,
            sent: BTreeMap::new(),
            incoming: None,
            installing: None,
            handed: base.index,
        }
    }

    fn log(&self) -> &Log {
        &self.log
    }

    fn log_mut(&mut self) -> &mut Log {
        &mut self.log
    }

    fn tick(&mut self) {
        self.sent.clear();
        self.due = self.due.map(|ticks| ticks.saturating_sub(1));
        if self.due.take_if(|ticks| *ticks == 0).is_some() {
            self.node.time_out();
        }
    }

    fn receive(&mut self, from: NodeId, message: Wire) -> Result<(), RefusalReason> {
        match message {
            Wire::Snapshot { at, config, data, .. } => self.incoming = Some((at, config, data)),
            message => {
                if let Wire::AppendCall { entries, .. } = &message {
                    let content = |entry: &Entry| (entry.index, entry.payload.clone());
                    self.contents = entries.iter().map(content).collect();
                }
                if !self.node.handle(number_of(from), &message) {
                    return Err(RefusalReason::Error("its storage cannot be right"));
                }
            }
        }
        Ok(())
    }

    fn campaign(&mut self) {
        if self.node.role() != Role::Leader {
            self.node.time_out();
        }
    }

    fn propose(&mut self, data: Arc<[u8]>) -> bool {
        let index = self.node.propose();
        self.contents.extend(index.map(|index| (index, data)));
        index.is_some()
    }

    fn change(&mut self, change: &Change) -> bool {
        let ids = |nodes: &[NodeId]| nodes.iter().copied().map(number_of).collect::<Vec<_>>();
        match change {
            Change::Add(nodes) => self.node.change(&ids(nodes), &[], &[]),
            Change::Learn(nodes) => self.node.change(&[], &[], &ids(nodes)),
            Change::Remove(nodes) => self.node.change(&[], &ids(nodes), &[]),
            Change::Replace(old, new) => self.node.change(&ids(new), &ids(old), &[]),
        }
    }

    fn compacted(&mut self, index: u64) {
        if let Some((term, config)) = self.node.at(index) {
            self.node.installed(Position { term, index }, &config);
        }
    }

    fn ready(&mut self, todo: &mut Todo<Wire>) -> bool {
        self.install(todo);
        let mut wants = todo.snapshot.is_some();
        while todo.snapshot.is_none()
            && let Some(act) = self.node.next_act()
        {
            wants = true;
            match act {
                Act::Timeout => self.wants_timeout = true,
                Act::Save => {
                    let vote = self.node.vote().unwrap_or(0);
                    todo.hard_state = Some(HardState { term: self.node.term(), vote, commit: 0 });
                }
                Act::Append(mut entries) => {
                    entries.iter_mut().for_each(|entry| self.fill(entry));
                    todo.entries = entries;
                }
                Act::Broadcast(wire) => {
                    let wire = self.filled(wire);
                    let to = self.node.peers().into_iter().filter_map(server_of);
                    todo.promises.extend(to.map(|peer| (peer, wire.clone())));
                }
                // Every answer of a follower that lags is answered with entries: on a network that repeats messages they would
                // multiply without end. The crate lets its users give up what a busy link does not take.
                Act::Send(to, Wire::AppendCall { base, ref entries, .. })
                    if !entries.is_empty() && self.sent.insert(to, base.index) == Some(base.index) => {}
                Act::Send(to, wire) => {
                    let wire = self.filled(wire);
                    todo.promises.extend(server_of(to).map(|peer| (peer, wire)));
                }
                Act::Install(to) => todo.promises.extend(self.snapshot_for(to)),
            }
        }
        if todo.entries.is_empty() && todo.snapshot.is_none() {
            self.hand_on(todo);
        }
        wants || !todo.committed.is_empty()
    }

    fn written(&mut self) {
        self.contents.clear();
    }

    fn stored(&mut self, _todos: u64) {
        if let Some((at, config)) = self.installing.take() {
            self.node.installed(at, &config);
        }
    }

    fn timeout_wanted(&mut self) -> Option<Range<u64>> {
        let settings = &self.seat.settings;
        let range = match self.node.role() {
            Role::Leader => settings.heartbeat_ticks..settings.heartbeat_ticks + 1,
            _ => settings.election_ticks..2 * settings.election_ticks,
        };
        std::mem::take(&mut self.wants_timeout).then_some(range)
    }

    fn set_timeout(&mut self, ticks: u64) {
        self.due = Some(ticks);
    }

    fn term(&self) -> u64 {
        self.node.term()
    }

    fn vote(&self) -> Option<NodeId> {
        self.node.vote().and_then(server_of)
    }

    fn role(&self) -> Role {
        self.node.role()
    }

    fn leader(&self) -> Option<NodeId> {
        // Whoever it chose may lead; it does not tell a leader from a candidate.
        self.node.vote().and_then(server_of).filter(|_| self.node.role() != Role::Candidate)
    }

    fn names_leader(&self) -> bool {
        false
    }

    fn last_index(&self) -> u64 {
        self.node.last_index()
    }

    fn commit(&self) -> u64 {
        // The crate counts what is in memory, where it leads alone, and 0.4 does not count what is in a snapshot. Its users may
        // count only what is durable.
        self.handed
    }

    fn match_index(&self, peer: NodeId) -> Option<u64> {
        self.node.match_index(number_of(peer))
    }

    fn membership(&self) -> Vec<u8> {
        self.node.at(self.handed).map_or_else(Vec::new, |(_, config)| config.write())
    }

    fn spoken(to: NodeId, message: &Wire) -> Spoken {
        match message {
            Wire::VoteReply { term, granted: true } => Spoken::Grant { to, term: *term },
            Wire::VoteReply { term, granted: false } => Spoken::Refusal { term: *term },
            // Agreement or not: so much is on the disk.
            Wire::AppendReply { term, last, .. } => Spoken::AppendResponse { term: *term, index: last.index },
            _ => Spoken::Other { term: Wire::term(message), is_pre_vote: false },
        }
    }

    fn snapshot_in(message: &Wire) -> Option<u64> {
        if let Wire::Snapshot { at, .. } = message { Some(at.index) } else { None }
    }
}
