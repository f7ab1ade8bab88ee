//! The operations on the core.

use crate::{Operation, Side, payload};
use std::collections::VecDeque;
use whitewater_raft::{
    Config, Entry, MemoryStorage, Message, MessageKind, NodeId, RawNode, Ready, Role, Storage,
};

/// A group with its log in memory.
struct Group {
    nodes: Vec<RawNode<MemoryStorage>>,
    wire: VecDeque<Message>,
    ready: Ready,
    applied_bytes: u64,
}

impl Group {
    fn new(count: u64) -> Group {
        let nodes = (1..=count).map(|id| {
            let config =
                Config { message_size_max_bytes: 1 << 20, inflight_count_max: 4_096, ..Config::new(id) };
            RawNode::new(config, MemoryStorage::with_voters(1..=count)).expect("a valid configuration")
        });
        let nodes = nodes.collect();
        let mut group = Group { nodes, wire: VecDeque::new(), ready: Ready::default(), applied_bytes: 0 };
        group.nodes[0].campaign();
        group.settle();
        assert_eq!(group.nodes[0].role(), Role::Leader);
        group
    }

    /// Does everything a node wants done.
    fn drain(&mut self, at: usize) {
        let node = &mut self.nodes[at];
        while node.has_ready() {
            node.ready_into(&mut self.ready);
            let storage = node.storage_mut();
            storage.append(&self.ready.entries);
            if let Some(hard_state) = self.ready.hard_state {
                storage.set_hard_state(hard_state);
            }
            self.wire.extend(self.ready.messages.drain(..));
            for entry in &self.ready.committed_entries {
                self.applied_bytes += entry.data.len() as u64;
            }
            node.advance();
        }
    }

    fn settle(&mut self) {
        (0..self.nodes.len()).for_each(|at| self.drain(at));
        while let Some(message) = self.wire.pop_front() {
            let to = message.to as usize - 1;
            self.nodes[to].step(message).expect("a correct message");
            self.drain(to);
        }
    }

    fn compact(&mut self) {
        for node in &mut self.nodes {
            let applied = node.applied_index();
            let _ = node.storage_mut().compact(applied);
        }
    }
}

/// One operation on the core.
pub struct Bench {
    operation: Operation,
    group: Group,
    messages: Vec<Message>,
    payloads: Vec<Vec<u8>>,
}

impl Bench {
    /// A group that has elected a leader.
    pub fn new(operation: Operation) -> Bench {
        let nodes = if let Operation::ProposeToCommit(nodes) = operation { nodes } else { 3 };
        let group = Group::new(nodes);
        Bench { operation, group, messages: Vec::new(), payloads: Vec::new() }
    }

    fn message(&self, kind: MessageKind, from: NodeId, to: NodeId) -> Message {
        Message { term: self.group.nodes[0].term(), ..Message::new(kind, from, to) }
    }
}

impl Side for Bench {
    fn prepare(&mut self, count: u64) {
        self.group.compact();
        self.messages.clear();
        let term = self.group.nodes[0].term();
        let last = match self.operation {
            Operation::Append => self.group.nodes[1].storage().last_index().expect("a log in memory"),
            _ => self.group.nodes[0].last_index(),
        };
        for number in 0..count {
            match self.operation {
                Operation::Append => {
                    let index = last + number;
                    let entry =
                        Entry { term, index: index + 1, data: payload(number).into(), ..Entry::default() };
                    let append = self.message(MessageKind::Append, 1, 2);
                    let entries = vec![entry].into();
                    self.messages.push(Message { log_term: term, index, commit: index, entries, ..append });
                }
                Operation::AppendResponse => {
                    self.group.nodes[0].propose(payload(number)).expect("a leader takes proposals");
                    let response = self.message(MessageKind::AppendResponse, 2, 1);
                    self.messages.push(Message { index: last + number + 1, ..response });
                }
                Operation::Heartbeat => {
                    let commit = self.group.nodes[1].commit_index();
                    let heartbeat = self.message(MessageKind::Heartbeat, 1, 2);
                    self.messages.push(Message { commit, ..heartbeat });
                }
                Operation::HeartbeatResponse => {
                    self.messages.push(self.message(MessageKind::HeartbeatResponse, 2, 1));
                }
                Operation::ProposeToCommit(_) => self.payloads.push(payload(number)),
            }
        }
        self.group.drain(0);
        self.group.wire.clear();
    }

    fn run(&mut self) {
        let at = match self.operation {
            Operation::Append | Operation::Heartbeat => 1,
            _ => 0,
        };
        for message in self.messages.drain(..) {
            self.group.nodes[at].step(message).expect("a correct message");
            self.group.drain(at);
            self.group.wire.clear();
        }
        for payload in self.payloads.drain(..) {
            self.group.nodes[0].propose(payload).expect("a leader takes proposals");
            self.group.settle();
        }
    }
}
