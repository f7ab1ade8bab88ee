//! A node with a disk and an application: a number that depends on everything ever applied.

use super::Truth;
use super::dice::Dice;
use std::collections::VecDeque;
use whitewater_raft::{
    ConfState, Config, Entry, HardState, MemoryStorage, Message, MessageKind, NodeId, RawNode, Ready,
    Snapshot, Storage, decode_entry,
};

/// What came of letting a node work.
#[derive(Default)]
pub(crate) struct Done {
    /// For other nodes.
    pub(crate) messages: Vec<Message>,
    /// Responses of the node's own storage threads.
    pub(crate) for_itself: Vec<Message>,
    pub(crate) reads: Vec<(u64, Vec<u8>)>,
    pub(crate) snapshots: u64,
    pub(crate) changes: u64,
}

/// One node.
pub(crate) struct Node {
    pub(crate) raw: RawNode<MemoryStorage>,
    pub(crate) was_leader: bool,
    pub(crate) config: Config,
    /// The application: the last applied index, and a number for everything up to it.
    applied: u64,
    state: u64,
    /// The membership at `applied`.
    members: ConfState,
    append_work: VecDeque<Message>,
    apply_work: VecDeque<Message>,
    /// The term and vote that are durable, with the last commit index that is.
    synced: HardState,
}

impl Node {
    pub(crate) fn new(config: Config, voters: Vec<NodeId>) -> Node {
        let members = ConfState { voters, ..ConfState::default() };
        let mut storage = MemoryStorage::new();
        // The first members start from a snapshot, so that everybody who comes later needs one, too: the log alone does not
        // tell who was there in the beginning.
        let applied = if members.voters.is_empty() { 0 } else { 1 };
        if applied > 0 {
            let conf_state = members.clone();
            let start = Snapshot { index: applied, term: 1, conf_state, data: 0_u64.to_le_bytes().into() };
            storage.apply_snapshot(start).expect("the storage is empty");
        }
        Node {
            raw: RawNode::new(config.clone(), storage).expect("the drawn options are valid"),
            was_leader: false,
            config,
            applied,
            state: 0,
            members,
            append_work: VecDeque::new(),
            apply_work: VecDeque::new(),
            synced: HardState::default(),
        }
    }

    /// Does some of what the node wants done; a crash comes after some of it.
    pub(crate) fn work(&mut self, dice: &mut Dice, truth: &mut Truth, crashes: bool) -> Done {
        let mut done = Done::default();
        if self.config.async_storage_writes {
            self.work_with_threads(dice, truth, &mut done);
            return done;
        }
        if !self.raw.has_ready() {
            return done;
        }
        let ready = self.raw.ready();
        let stops_after = if crashes { dice.below(3) } else { 9 };
        done.messages.extend_from_slice(ready.immediate_messages());
        if stops_after > 0 {
            self.store(&ready, truth, &mut done);
        }
        if stops_after > 1 {
            done.messages.extend_from_slice(ready.promises());
        }
        if stops_after > 2 {
            self.apply(&ready.committed_entries, truth, &mut done);
            done.reads.extend(ready.read_states.into_iter().map(|read| (read.index, read.context.to_vec())));
            self.raw.advance();
        }
        done
    }

    fn store(&mut self, ready: &Ready, truth: &mut Truth, done: &mut Done) {
        if let Some(snapshot) = &ready.snapshot {
            self.install(snapshot, truth, done);
        }
        self.raw.storage_mut().append(&ready.entries);
        if let Some(hard_state) = ready.hard_state {
            self.raw.storage_mut().set_hard_state(hard_state);
            // Without a sync the commit index may be lost in a crash.
            if ready.must_sync {
                self.synced = hard_state;
            }
        }
    }

    fn work_with_threads(&mut self, dice: &mut Dice, truth: &mut Truth, done: &mut Done) {
        if self.raw.has_ready() && dice.one_in(2) {
            let ready = self.raw.ready();
            done.reads.extend(ready.read_states.into_iter().map(|read| (read.index, read.context.to_vec())));
            for message in ready.messages {
                match message.kind {
                    MessageKind::StorageAppend => self.append_work.push_back(message),
                    MessageKind::StorageApply => self.apply_work.push_back(message),
                    _ => done.messages.push(message),
                }
            }
        }
        if dice.one_in(2)
            && let Some(mut work) = self.append_work.pop_front()
        {
            self.append(&work, truth, done);
            self.respond(work.take_responses(), done);
        }
        if dice.one_in(2)
            && let Some(mut work) = self.apply_work.pop_front()
        {
            self.apply(&work.entries, truth, done);
            self.respond(work.take_responses(), done);
        }
    }

    fn append(&mut self, work: &Message, truth: &mut Truth, done: &mut Done) {
        if let Some(snapshot) = work.snapshot() {
            self.install(snapshot, truth, done);
        }
        self.raw.storage_mut().append(&work.entries);
        let hard_state = HardState { term: work.term, vote: work.vote(), commit: work.commit };
        if !hard_state.is_empty() {
            self.raw.storage_mut().set_hard_state(hard_state);
            self.synced = hard_state;
        }
    }

    fn respond(&self, responses: Vec<Message>, done: &mut Done) {
        let id = self.raw.id();
        let (own, others): (Vec<_>, Vec<_>) = responses.into_iter().partition(|response| response.to == id);
        done.for_itself.extend(own);
        done.messages.extend(others);
    }

    fn install(&mut self, snapshot: &Snapshot, truth: &mut Truth, done: &mut Done) {
        self.raw.storage_mut().apply_snapshot(snapshot.clone()).expect("snapshots only move forward");
        let state = u64::from_le_bytes(snapshot.data[..].try_into().expect("a state of eight bytes"));
        truth.applied(snapshot.index, snapshot.term, state);
        self.state = state;
        self.applied = snapshot.index;
        self.members = snapshot.conf_state.clone();
        done.snapshots += 1;
    }

    fn apply(&mut self, entries: &[Entry], truth: &mut Truth, done: &mut Done) {
        // A snapshot may have been installed since the entries were handed out.
        let applied = self.applied;
        for entry in entries.iter().filter(|entry| entry.index > applied) {
            assert_eq!(entry.index, self.applied + 1, "entries are applied without gaps");
            self.applied = entry.index;
            for number in [entry.term, entry.data.iter().map(|&byte| u64::from(byte)).sum()] {
                self.state = Dice::new(self.state ^ number).next();
            }
            truth.applied(entry.index, entry.term, self.state);
            if let Some(change) = decode_entry(entry.kind, &entry.data)
                && let Ok(members) = self.raw.apply_conf_change(&change)
            {
                self.members = members;
                done.changes += 1;
                // A new member has no use for a snapshot that does not know it.
                self.make_snapshot();
            }
        }
    }

    /// Makes a snapshot of what is applied, and forgets all entries before it but a few.
    pub(crate) fn compact(&mut self, keep: u64) {
        if self.make_snapshot() {
            let until = self.applied.saturating_sub(keep);
            let _ = self.raw.storage_mut().compact(until);
        }
    }

    fn make_snapshot(&mut self) -> bool {
        let (applied, members, state) = (self.applied, self.members.clone(), self.state.to_le_bytes());
        self.raw.storage_mut().create_snapshot(applied, members, &state).is_ok()
    }

    /// Starts again from what is durable.
    pub(crate) fn restart(&mut self, forgets_commit: bool) {
        let mut storage = self.raw.storage().clone();
        let snapshot = storage.snapshot(0, self.raw.id()).expect("a snapshot in memory");
        let mut hard_state = if forgets_commit { self.synced } else { storage.hard_state() };
        // The snapshot holds what was committed, also if the commit index behind it was not durable yet.
        hard_state.commit = hard_state.commit.max(snapshot.index);
        storage.set_hard_state(hard_state);
        let config = Config { applied: snapshot.index, ..self.config.clone() };
        let state = snapshot.data[..].try_into().map(u64::from_le_bytes).unwrap_or(0);
        *self = Node {
            raw: RawNode::new(config, storage).expect("what was stored is consistent"),
            was_leader: false,
            config: self.config.clone(),
            applied: snapshot.index,
            state,
            members: snapshot.conf_state,
            append_work: VecDeque::new(),
            apply_work: VecDeque::new(),
            synced: hard_state,
        };
    }
}
