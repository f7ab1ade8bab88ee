//! The public crate `noraft`, an early and the current release of it, in the world.

mod version;
mod wire;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use version::{Act, Kept, Version, v04, v07};
use whitewater_check::RefusalReason;
use whitewater_sim::{NodeId, OptionSpec, Role, Values};
use whitewater_store::core::{HardState, Order, Seat, Shown, Snapshot};
use whitewater_store::{
    Core, Entry, Log, REQUEST, Store, Todo, membership, number_of, numbers_in, server_of,
};
pub use wire::{Position, Wire};

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
const OPTIONS: &[OptionSpec] = whitewater_store::options! {
    TICK, ELECTION_TICKS, HEARTBEAT_TICKS, MESSAGE_SIZE, SNAPSHOT_ENTRIES, SNAPSHOT_TRAIL, CLIENT_ATTEMPTS;
    OptionSpec {
        name: "version",
        about: "Which release a node runs.",
        values: Values::Words(&["0.4", "0.7"]),
        default: "0.7",
        per_node: true,
        drawn: true,
    },
};

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
    incoming: Option<(Position, Arc<[u8]>)>,
    /// The one that is being stored.
    installing: Option<Position>,
    /// Snapshots stored so far.
    installs: u64,
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
        let to = server_of(to)?;
        let kept = self.log.snapshot_to_send(1, to)?;
        let at = Position { term: kept.term, index: kept.index };
        Some((to, Wire::Snapshot { term: self.node.term(), at, data: kept.data.clone() }))
    }

    fn install(&mut self, todo: &mut Todo<Wire>) {
        let Some((at, data)) = self.incoming.take() else { return };
        if at.index <= self.handed || self.node.role() == Role::Leader {
            return;
        }
        if self.node.term_at(at.index) == Some(at.term) {
            todo.entries.extend(self.log.entries(at.index + 1, self.node.last_index() + 1).cloned());
        }
        let metadata = membership::write(&self.seat.members).into();
        todo.snapshot = Some(Snapshot { index: at.index, term: at.term, metadata, data });
        self.installs += 1;
        todo.number = self.installs;
        self.installing = Some(at);
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
    const NEEDS_NO_CLOCK: bool = true;
    // Whoever it chose may lead; it does not tell a leader from a candidate.
    const NAMES_LEADER: bool = false;
    // Every answer tells where its log ends, to candidates and to former leaders as well.
    const ACKNOWLEDGES_LEADERS_ONLY: bool = false;
    const OPTIONS: &'static [OptionSpec] = if CLUSTER == 2 { OPTIONS } else { OPTIONS.split_at(7).0 };

    fn start(seat: &Seat, log: Log) -> Self {
        let at = |kept: &Snapshot| Position { term: kept.term, index: kept.index };
        let base = log.snapshot().map(at).unwrap_or_default();
        let state = log.hard_state();
        let kept = Kept {
            id: number_of(seat.id),
            incarnation: seat.incarnation,
            term: state.term,
            vote: Some(state.vote).filter(|&vote| vote != 0),
            base,
            voters: numbers_in(seat.members.voters),
            entries: log.entries(base.index + 1, log.last() + 1).cloned().collect(),
        };
        let version = || seat.settings.own_at("version", seat.id);
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
            installs: 0,
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
            Wire::Snapshot { at, data, .. } => self.incoming = Some((at, data)),
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

    fn obey(&mut self, order: Order<'_>) -> bool {
        let stands = order == Order::Campaign && self.node.role() != Role::Leader;
        if stands {
            self.node.time_out();
        }
        stands
    }

    fn propose(&mut self, data: Arc<[u8]>) -> bool {
        let index = self.node.propose();
        self.contents.extend(index.map(|index| (index, data)));
        index.is_some()
    }

    fn compacted(&mut self, index: u64) {
        if let Some(term) = self.node.term_at(index) {
            self.node.installed(Position { term, index });
        }
    }

    fn ready(&mut self, todo: &mut Todo<Wire>, _applied: u64) -> bool {
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

    fn stored(&mut self, _number: u64) {
        if let Some(at) = self.installing.take() {
            self.node.installed(at);
        }
    }

    fn timeout_wanted(&mut self) -> Option<Range<u64>> {
        let settings = &self.seat.settings;
        let range = match self.node.role() {
            Role::Leader => settings.heartbeat_ticks..settings.heartbeat_ticks + 1,
            _ => settings.election_range(),
        };
        std::mem::take(&mut self.wants_timeout).then_some(range)
    }

    fn set_timeout(&mut self, ticks: u64) {
        self.due = Some(ticks);
    }

    fn shown(&self) -> Shown {
        let (role, vote) = (self.node.role(), self.node.vote().and_then(server_of));
        Shown {
            term: self.node.term(),
            vote,
            role,
            leader: vote.filter(|_| role != Role::Candidate),
            last_index: self.node.last_index(),
            // The crate counts what is in memory, where it leads alone, and 0.4 does not count what is in a snapshot. Its users
            // may count only what is durable.
            commit: self.handed,
        }
    }

    fn match_index(&self, peer: NodeId) -> Option<u64> {
        self.node.match_index(number_of(peer))
    }
}
