//! The operations on raft-rs.

use crate::{Operation, Side, payload};
use raft::eraftpb::{Entry, Message, MessageType};
use raft::storage::MemStorage;
use raft::{Config, RawNode, StateRole, Storage};
use std::collections::VecDeque;

/// A group with its log in memory.
struct Group {
    nodes: Vec<RawNode<MemStorage>>,
    wire: VecDeque<Message>,
    applied_bytes: u64,
}

impl Group {
    fn new(count: u64) -> Group {
        let nodes = (1..=count).map(|id| {
            let config = Config {
                id,
                election_tick: 10,
                heartbeat_tick: 1,
                max_size_per_msg: 1 << 20,
                max_inflight_msgs: 4_096,
                ..Config::default()
            };
            let voters: Vec<u64> = (1..=count).collect();
            let storage = MemStorage::new_with_conf_state((voters, vec![]));
            let log = slog::Logger::root(slog::Discard, slog::o!());
            RawNode::new(&config, storage, &log).expect("a valid configuration")
        });
        let mut group = Group { nodes: nodes.collect(), wire: VecDeque::new(), applied_bytes: 0 };
        group.nodes[0].campaign().expect("a voter may campaign");
        group.settle();
        assert_eq!(group.nodes[0].raft.state, StateRole::Leader);
        group
    }

    /// Does everything a node wants done.
    fn drain(&mut self, at: usize) {
        let node = &mut self.nodes[at];
        while node.has_ready() {
            let mut ready = node.ready();
            self.wire.extend(ready.take_messages());
            self.applied_bytes += ready.take_committed_entries().iter().map(size).sum::<u64>();
            let storage = node.store();
            if !ready.entries().is_empty() {
                storage.wl().append(ready.entries()).expect("a log in memory");
            }
            if let Some(hard_state) = ready.hs() {
                storage.wl().set_hardstate(hard_state.clone());
            }
            self.wire.extend(ready.take_persisted_messages());
            let mut light = node.advance(ready);
            if let Some(commit) = light.commit_index() {
                node.store().wl().mut_hard_state().set_commit(commit);
            }
            self.wire.extend(light.take_messages());
            self.applied_bytes += light.take_committed_entries().iter().map(size).sum::<u64>();
            node.advance_apply();
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
            let applied = node.raft.raft_log.applied;
            let _ = node.store().wl().compact(applied);
        }
    }
}

fn size(entry: &Entry) -> u64 {
    entry.data.len() as u64
}

/// One operation on raft-rs.
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

    fn message(&self, kind: MessageType, from: u64, to: u64) -> Message {
        let mut message = Message::default();
        message.set_msg_type(kind);
        message.from = from;
        message.to = to;
        message.term = self.group.nodes[0].raft.term;
        message
    }
}

impl Side for Bench {
    fn prepare(&mut self, count: u64) {
        self.group.compact();
        self.messages.clear();
        let term = self.group.nodes[0].raft.term;
        let last = match self.operation {
            Operation::Append => self.group.nodes[1].store().last_index().expect("a log in memory"),
            _ => self.group.nodes[0].raft.raft_log.last_index(),
        };
        for number in 0..count {
            match self.operation {
                Operation::Append => {
                    let index = last + number;
                    let mut entry = Entry::default();
                    entry.term = term;
                    entry.index = index + 1;
                    entry.data = payload(number).into();
                    let mut append = self.message(MessageType::MsgAppend, 1, 2);
                    append.log_term = term;
                    append.index = index;
                    append.commit = index;
                    append.mut_entries().push(entry);
                    self.messages.push(append);
                }
                Operation::AppendResponse => {
                    self.group.nodes[0].propose(vec![], payload(number)).expect("a leader takes proposals");
                    let mut response = self.message(MessageType::MsgAppendResponse, 2, 1);
                    response.index = last + number + 1;
                    self.messages.push(response);
                }
                Operation::Heartbeat => {
                    let mut heartbeat = self.message(MessageType::MsgHeartbeat, 1, 2);
                    heartbeat.commit = self.group.nodes[1].raft.raft_log.committed;
                    self.messages.push(heartbeat);
                }
                Operation::HeartbeatResponse => {
                    let response = self.message(MessageType::MsgHeartbeatResponse, 2, 1);
                    self.messages.push(response);
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
            self.group.nodes[0].propose(vec![], payload).expect("a leader takes proposals");
            self.group.settle();
        }
    }
}
