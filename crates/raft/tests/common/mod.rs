//! A group of nodes on one thread, for tests that want to say which message arrives and which does not.

#![allow(dead_code, reason = "every test file uses its own part of this")]

mod storage;

pub(crate) use storage::FlakyStorage;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use whitewater_raft::{
    Config, Entry, EntryKind, MemoryStorage, Message, MessageKind, NodeId, Progress, RawNode, Ready, Role,
    decode_entry,
};

/// The bug to plant in every node of a scenario, or none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Plant {
    #[cfg(feature = "mutants")]
    pub(crate) bug: Option<whitewater_raft::Bug>,
}

impl Plant {
    /// The default configuration with this bug.
    pub(crate) fn config(self, id: NodeId) -> Config {
        Config {
            #[cfg(feature = "mutants")]
            bug: self.bug,
            ..Config::new(id)
        }
    }
}

/// One node with its application: a list of applied entries.
pub(crate) struct Node {
    pub(crate) raw: RawNode<FlakyStorage>,
    pub(crate) applied: Vec<Entry>,
    pub(crate) reads: Vec<(u64, Vec<u8>)>,
}

impl Node {
    pub(crate) fn new(config: Config, memory: MemoryStorage) -> Node {
        let raw = RawNode::new(config, FlakyStorage::new(memory)).expect("the configuration is valid");
        Node { raw, applied: Vec::new(), reads: Vec::new() }
    }

    /// Does everything the node wants done, and returns the messages for others.
    pub(crate) fn drain(&mut self) -> Vec<Message> {
        let mut messages = Vec::new();
        for _ in 0..1_000 {
            if !self.raw.has_ready() {
                return messages;
            }
            let ready = self.raw.ready();
            self.persist(&ready);
            for entry in &ready.committed_entries {
                self.apply(entry);
            }
            let reads = ready.read_states.into_iter().map(|read| (read.index, read.context.to_vec()));
            self.reads.extend(reads);
            messages.extend(ready.messages);
            self.raw.advance();
        }
        panic!("the node does not come to rest");
    }

    pub(crate) fn persist(&mut self, ready: &Ready) {
        let memory = &mut self.raw.storage_mut().memory;
        if let Some(snapshot) = &ready.snapshot {
            memory.apply_snapshot((**snapshot).clone()).expect("snapshots only move forward");
        }
        memory.append(&ready.entries);
        if let Some(hard_state) = ready.hard_state {
            memory.set_hard_state(hard_state);
        }
    }

    fn apply(&mut self, entry: &Entry) {
        if entry.kind != EntryKind::Normal {
            let change = decode_entry(entry.kind, &entry.data).expect("a change that was proposed here");
            let _ = self.raw.apply_conf_change(&change);
        }
        self.applied.push(entry.clone());
    }

    /// The terms of all entries in the log, from the first on.
    pub(crate) fn log_terms(&self) -> Vec<u64> {
        (self.raw.first_index()..=self.raw.last_index()).map(|at| self.raw.term_at(at).unwrap()).collect()
    }

    /// What the node, as a leader, knows about a peer.
    pub(crate) fn peer(&self, id: NodeId) -> &Progress {
        self.raw.progress().iter().find(|progress| progress.id == id).expect("the peer is a member")
    }
}

/// A group of nodes and the messages between them.
pub(crate) struct Cluster {
    pub(crate) nodes: BTreeMap<NodeId, Node>,
    pub(crate) wire: VecDeque<Message>,
    /// Links that lose everything, in one direction.
    cut: BTreeSet<(NodeId, NodeId)>,
    /// Kinds of messages that are lost on every link.
    lost: Vec<MessageKind>,
    deliveries: u32,
}

impl Cluster {
    /// Voters 1 to `count` without history.
    pub(crate) fn new(count: u64, config: impl Fn(NodeId) -> Config) -> Cluster {
        let memory = MemoryStorage::with_voters(1..=count);
        let nodes = (1..=count).map(|id| (id, Node::new(config(id), memory.clone()))).collect();
        Cluster { nodes, wire: VecDeque::new(), cut: BTreeSet::new(), lost: Vec::new(), deliveries: 0 }
    }

    /// As [`Cluster::new`], with a log of entries of the given terms at each node.
    pub(crate) fn with_logs(logs: &[&[u64]], config: impl Fn(NodeId) -> Config) -> Cluster {
        let mut cluster = Cluster::new(logs.len() as u64, &config);
        for (terms, id) in logs.iter().zip(1..) {
            let mut memory = MemoryStorage::with_voters(1..=logs.len() as u64);
            memory.append(&log(terms));
            let term = terms.last().copied().unwrap_or(0);
            memory.set_hard_state(whitewater_raft::HardState { term, ..Default::default() });
            cluster.nodes.insert(id, Node::new(config(id), memory));
        }
        cluster
    }

    pub(crate) fn node(&mut self, id: NodeId) -> &mut Node {
        self.nodes.get_mut(&id).expect("the node exists")
    }

    pub(crate) fn raw(&mut self, id: NodeId) -> &mut RawNode<FlakyStorage> {
        &mut self.node(id).raw
    }

    /// Does everything every node wants done; what they send goes on the wire, unless it is lost.
    pub(crate) fn drain(&mut self) {
        let ids: Vec<NodeId> = self.nodes.keys().copied().collect();
        for id in ids {
            let messages = self.node(id).drain();
            let (cut, lost) = (&self.cut, &self.lost);
            let kept = messages.into_iter().filter(|message| {
                !cut.contains(&(message.from, message.to)) && !lost.contains(&message.kind)
            });
            self.wire.extend(kept);
        }
    }

    /// Delivers the next message; false if there is none.
    pub(crate) fn deliver_one(&mut self) -> bool {
        self.drain();
        let Some(message) = self.wire.pop_front() else { return false };
        self.deliveries += 1;
        assert!(self.deliveries < 50_000, "the group does not come to rest");
        if let Some(node) = self.nodes.get_mut(&message.to) {
            // Refusals are part of some scenarios: proposals without a leader, late responses.
            let _ = node.raw.step(message);
        }
        self.drain();
        true
    }

    /// Delivers until nothing is on the wire.
    pub(crate) fn settle(&mut self) {
        while self.deliver_one() {}
    }

    /// Makes a node the leader, with everybody's help.
    pub(crate) fn elect(&mut self, id: NodeId) {
        self.raw(id).campaign();
        self.settle();
        assert_eq!(self.raw(id).role(), Role::Leader, "node {id} leads");
    }

    pub(crate) fn propose(&mut self, id: NodeId, data: &str) {
        self.raw(id).propose(data).expect("the proposal is taken");
        self.drain();
    }

    /// Ticks a leader to its next heartbeats.
    pub(crate) fn heartbeat(&mut self, id: NodeId) {
        self.raw(id).tick();
        self.drain();
    }

    /// Loses everything between two nodes from now on.
    pub(crate) fn cut(&mut self, a: NodeId, b: NodeId) {
        self.cut.extend([(a, b), (b, a)]);
    }

    /// Cuts a node off from all others.
    pub(crate) fn isolate(&mut self, id: NodeId) {
        let others: Vec<NodeId> = self.nodes.keys().copied().filter(|&other| other != id).collect();
        others.into_iter().for_each(|other| self.cut(id, other));
    }

    /// Loses every message of a kind from now on.
    pub(crate) fn lose(&mut self, kind: MessageKind) {
        self.lost.push(kind);
    }

    /// Loses nothing any more.
    pub(crate) fn heal(&mut self) {
        self.cut.clear();
        self.lost.clear();
    }

    /// Takes the messages for one node off the wire.
    pub(crate) fn take(&mut self, to: NodeId) -> Vec<Message> {
        self.drain();
        let (taken, left) = self.wire.drain(..).partition(|message| message.to == to);
        self.wire = left;
        Vec::from_iter::<VecDeque<Message>>(taken)
    }

    /// Restarts a node from what it has stored.
    pub(crate) fn restart(&mut self, id: NodeId, config: Config) {
        let memory = self.raw(id).storage().memory.clone();
        self.nodes.insert(id, Node::new(config, memory));
    }
}

/// Entries of the given terms, from index 1 on.
pub(crate) fn log(terms: &[u64]) -> Vec<Entry> {
    terms.iter().zip(1..).map(|(&term, index)| Entry { term, index, ..Entry::default() }).collect()
}

/// The kinds of messages, in order.
pub(crate) fn kinds(messages: &[Message]) -> Vec<MessageKind> {
    messages.iter().map(|message| message.kind).collect()
}

/// Messages of one kind only.
pub(crate) fn of_kind(messages: Vec<Message>, kind: MessageKind) -> Vec<Message> {
    messages.into_iter().filter(|message| message.kind == kind).collect()
}

/// A message with the fields that elections and replication need.
pub(crate) fn message(kind: MessageKind, from: NodeId, to: NodeId, term: u64) -> Message {
    Message { term, ..Message::new(kind, from, to) }
}
