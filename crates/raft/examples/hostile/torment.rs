//! Arbitrary input for one node: messages that lie, calls at odd moments, storage that fails.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;
use whitewater_raft::{
    APPEND_THREAD, APPLY_THREAD, Change, ChangeKind, ConfChangeV2, ConfState, Config, Entries, Entry,
    EntryKind, Extra, HardState, MemoryStorage, Message, MessageKind, NodeId, POSITION_MAX, Payload, RawNode,
    ReadMode, Ready, Role, Snapshot, Storage, StorageError, Transition, decode_entry,
};

/// A small generator of numbers; the torment of a seed is the same for ever.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn one_in(&mut self, odds: u64) -> bool {
        self.below(odds) == 0
    }

    fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize].clone()
    }
}

/// A log in memory whose reads fail now and then.
struct FailingStorage {
    memory: MemoryStorage,
    /// Counts reads; every so many, one fails.
    reads: Cell<u64>,
    fails_every: u64,
}

impl FailingStorage {
    fn check(&self) -> Result<(), StorageError> {
        self.reads.set(self.reads.get() + 1);
        if self.fails_every == 0 || !self.reads.get().is_multiple_of(self.fails_every) {
            return Ok(());
        }
        let errors = [StorageError::Compacted, StorageError::Unavailable, StorageError::Other("read failed")];
        Err(errors[(self.reads.get() / self.fails_every) as usize % 3].clone())
    }
}

impl Storage for FailingStorage {
    fn initial_state(&self) -> Result<(HardState, ConfState), StorageError> {
        self.memory.initial_state()
    }

    fn entries(
        &self,
        low: u64,
        high: u64,
        size_max_bytes: u64,
        into: &mut Vec<Entry>,
    ) -> Result<(), StorageError> {
        self.check()?;
        self.memory.entries(low, high, size_max_bytes, into)
    }

    fn term(&self, index: u64) -> Result<u64, StorageError> {
        self.check()?;
        self.memory.term(index)
    }

    fn first_index(&self) -> Result<u64, StorageError> {
        self.check()?;
        self.memory.first_index()
    }

    fn last_index(&self) -> Result<u64, StorageError> {
        self.memory.last_index()
    }

    fn snapshot(&self, request_index: u64, to: NodeId) -> Result<Snapshot, StorageError> {
        self.check()?;
        self.memory.snapshot(request_index, to)
    }
}

/// What a torment has come across.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Roles the node had.
    pub(crate) roles: BTreeSet<Role>,
    /// Ways in which it refused input.
    pub(crate) refusals: BTreeSet<String>,
    /// Something was committed.
    pub(crate) committed: bool,
    /// A joint configuration was in place.
    pub(crate) joint: bool,
    /// A snapshot was installed.
    pub(crate) snapshots: bool,
}

impl Seen {
    pub(crate) fn merge(&mut self, other: &Seen) {
        self.roles.extend(&other.roles);
        self.refusals.extend(other.refusals.iter().cloned());
        self.committed |= other.committed;
        self.joint |= other.joint;
        self.snapshots |= other.snapshots;
    }
}

/// One node and its tormentor.
pub(crate) struct Torment {
    dice: Dice,
    node: RawNode<FailingStorage>,
    asynchronous: bool,
    ready: Ready,
    ready_taken: bool,
    append_work: Vec<Message>,
    apply_work: Vec<Message>,
    commit_before: u64,
    term_before: u64,
    pub(crate) seen: Seen,
}

impl Torment {
    /// A node of a group of a drawn size, with drawn options and a drawn log.
    pub(crate) fn new(seed: u64) -> Torment {
        let mut dice = Dice(seed);
        let asynchronous = dice.one_in(3);
        let check_quorum = dice.one_in(2);
        let message_size_max_bytes = dice.pick(&[0, 20, u64::MAX]);
        let uncommitted_sizes = if message_size_max_bytes == 20 { [0, 20, 40] } else { [0, 1, 40] };
        let config = Config {
            election_ticks: 3,
            async_storage_writes: asynchronous,
            check_quorum,
            pre_vote: dice.one_in(2),
            message_size_max_bytes,
            committed_size_max_bytes: dice.pick(&[0, 1, 40]),
            uncommitted_size_max_bytes: dice.pick(&uncommitted_sizes),
            inflight_count_max: dice.pick(&[1, 2, 256]),
            read_mode: if check_quorum && dice.one_in(2) { ReadMode::LeaseBased } else { ReadMode::Safe },
            disable_proposal_forwarding: dice.one_in(4),
            disable_conf_change_validation: dice.one_in(4),
            step_down_on_removal: dice.one_in(2),
            priority: dice.pick(&[0, -1, 5]),
            follower_snapshots: dice.one_in(2),
            ..Config::new(1)
        };
        let voters = dice.pick(&[1, 2, 3, 5]);
        let mut memory = MemoryStorage::new();
        let conf_state = ConfState { voters: (1..=voters).collect(), ..ConfState::default() };
        let start = dice.below(4);
        if start > 0 {
            let snapshot = Snapshot { index: start, term: 1, conf_state, data: Payload::EMPTY };
            memory.apply_snapshot(snapshot).expect("the storage is empty");
        } else {
            memory.set_conf_state(conf_state);
        }
        let length = dice.below(4);
        let entries: Vec<Entry> = (1..=length)
            .map(|at| Entry { term: 1 + at / 2, index: start + at, ..Entry::default() })
            .collect();
        memory.append(&entries);
        memory.set_hard_state(HardState { term: 3, vote: 0, commit: start });
        let storage = FailingStorage { memory, reads: Cell::new(0), fails_every: 0 };
        let mut node = RawNode::new(config, storage).expect("the drawn options are valid");
        node.storage_mut().fails_every = dice.pick(&[0, 0, 97, 7]);
        Torment {
            dice,
            asynchronous,
            ready: Ready::default(),
            ready_taken: false,
            append_work: Vec::new(),
            apply_work: Vec::new(),
            commit_before: node.commit_index(),
            term_before: node.term(),
            node,
            seen: Seen::default(),
        }
    }

    /// Does one thing to the node.
    pub(crate) fn step(&mut self) {
        match self.dice.below(16) {
            0 => self.node.tick_by(1 + self.dice.0 as u32 % 7),
            1 => self.call(),
            2..=4 => self.take_ready(),
            5 => self.do_storage_work(),
            6 => self.compact(),
            7 => self.cheer(),
            _ => {
                let message = self.message();
                self.give(message);
            }
        }
        self.check();
    }

    /// What must hold whatever was said.
    pub(crate) fn check(&mut self) {
        let node = &self.node;
        assert!(node.term() >= self.term_before, "terms never fall");
        assert!(node.commit_index() >= self.commit_before, "the commit index never falls");
        assert!(node.applied_index() <= node.applying_index());
        assert!(node.applying_index() <= node.commit_index());
        assert!(node.commit_index() <= node.last_index());
        for progress in node.progress() {
            assert!(progress.match_index < progress.next_index);
        }
        self.seen.committed |= node.commit_index() > self.commit_before;
        self.seen.joint |= node.configuration().is_joint();
        self.seen.roles.insert(node.role());
        self.term_before = node.term();
        self.commit_before = node.commit_index();
    }

    fn give(&mut self, message: Message) {
        if let Err(refusal) = self.node.step(message) {
            // The name alone, without its numbers.
            let text = format!("{refusal:?}");
            self.seen.refusals.insert(text.split(' ').next().unwrap_or_default().to_string());
        }
    }

    /// Calls what an application may call at any time.
    fn call(&mut self) {
        let target = self.dice.pick(&[0, 1, 2, 3, 9, APPEND_THREAD]);
        let _ = match self.dice.below(10) {
            0 => self.node.propose(self.dice.pick(&["", "a", "a longer proposal"])),
            1 => {
                let change = self.change();
                self.node.propose_conf_change(&change)
            }
            2 => {
                self.node.read_index("read");
                Ok(())
            }
            3 => {
                self.node.transfer_leader(target);
                Ok(())
            }
            4 => {
                self.node.report_unreachable(target);
                Ok(())
            }
            5 => {
                self.node.report_snapshot(target, self.dice.one_in(2));
                Ok(())
            }
            6 => self.node.forget_leader(),
            7 => self.node.request_snapshot(),
            8 => {
                self.node.set_randomized_timeout(self.dice.below(9) as u32);
                Ok(())
            }
            _ => {
                self.node.campaign();
                Ok(())
            }
        };
    }

    /// Answers as a friendly peer would, so that elections are won and entries committed.
    fn cheer(&mut self) {
        let from = 2 + self.dice.below(4);
        let kind = match self.node.role() {
            Role::PreCandidate => MessageKind::PreVoteResponse,
            Role::Candidate => MessageKind::VoteResponse,
            _ => MessageKind::AppendResponse,
        };
        let mut message = Message::new(kind, from, 1);
        message.term = self.node.term() + u64::from(kind == MessageKind::PreVoteResponse);
        message.index = if kind == MessageKind::AppendResponse { self.node.last_index() } else { 0 };
        self.give(message);
    }

    fn take_ready(&mut self) {
        if self.ready_taken {
            self.ready_taken = false;
            self.node.advance();
            return;
        }
        let mut ready = std::mem::take(&mut self.ready);
        self.node.ready_into(&mut ready);
        if self.asynchronous {
            for message in ready.messages.drain(..) {
                match message.kind {
                    MessageKind::StorageAppend => self.append_work.push(message),
                    MessageKind::StorageApply => self.apply_work.push(message),
                    _ => {}
                }
            }
        } else {
            self.store(ready.hard_state, ready.snapshot.as_deref(), &ready.entries);
            let applied = std::mem::take(&mut ready.committed_entries);
            self.apply(&applied);
            self.ready_taken = true;
        }
        self.ready = ready;
    }

    fn do_storage_work(&mut self) {
        if !self.append_work.is_empty() {
            let mut work = self.append_work.remove(0);
            let hard_state = HardState { term: work.term, vote: work.vote(), commit: work.commit };
            let hard_state = (!hard_state.is_empty()).then_some(hard_state);
            let responses = work.take_responses();
            self.store(hard_state, work.snapshot().map(|snapshot| &**snapshot), &work.entries);
            responses
                .into_iter()
                .filter(|response| response.to == 1)
                .for_each(|response| self.give(response));
        }
        if !self.apply_work.is_empty() {
            let mut work = self.apply_work.remove(0);
            self.apply(&work.entries);
            work.take_responses().into_iter().for_each(|response| self.give(response));
        }
    }

    fn store(&mut self, hard_state: Option<HardState>, snapshot: Option<&Snapshot>, entries: &[Entry]) {
        let memory = &mut self.node.storage_mut().memory;
        if let Some(snapshot) = snapshot {
            self.seen.snapshots = true;
            let _ = memory.apply_snapshot(snapshot.clone());
        }
        // A forged report of the append thread makes the core believe in entries that were never stored, and go on behind them.
        let end = memory.last_index().unwrap_or(0);
        if entries.first().is_some_and(|first| first.index <= end + 1) {
            memory.append(entries);
        }
        if let Some(hard_state) = hard_state {
            memory.set_hard_state(hard_state);
        }
    }

    fn apply(&mut self, entries: &[Entry]) {
        for entry in entries {
            if let Some(change) = decode_entry(entry.kind, &entry.data) {
                let _ = self.node.apply_conf_change(&change);
            }
        }
    }

    fn compact(&mut self) {
        let applied = self.node.applied_index().min(self.node.stable_index());
        let conf_state = self.node.configuration().to_conf_state();
        let memory = &mut self.node.storage_mut().memory;
        let _ = memory.create_snapshot(applied, conf_state, b"state");
        let _ = memory.compact(applied);
    }

    fn change(&mut self) -> ConfChangeV2 {
        let kinds =
            [ChangeKind::AddNode, ChangeKind::RemoveNode, ChangeKind::AddLearner, ChangeKind::UpdateNode];
        let count = self.dice.below(3);
        let changes =
            (0..count).map(|_| Change { kind: self.dice.pick(&kinds), node: self.dice.below(7) }).collect();
        let transitions = [Transition::Auto, Transition::JointImplicit, Transition::JointExplicit];
        ConfChangeV2 { transition: self.dice.pick(&transitions), changes, context: Payload::EMPTY }
    }

    /// A number near one that matters, or far from all.
    fn position(&mut self, near: u64) -> u64 {
        match self.dice.below(24) {
            0 => 0,
            1 => u64::MAX,
            2 => POSITION_MAX,
            3 => self.dice.next(),
            4..=6 => self.dice.below(12),
            _ => near.saturating_add(self.dice.below(5)).saturating_sub(2),
        }
    }

    /// Any message at all, with numbers that often make sense.
    fn message(&mut self) -> Message {
        let kind = self.dice.pick(&MessageKind::ALL);
        let from = self.dice.pick(&[0, 1, 2, 2, 2, 3, 3, 4, 5, 9, APPEND_THREAD, APPLY_THREAD]);
        let mut message = Message::new(kind, from, 1);
        // Terms near the limit would end every life early.
        message.term = if self.dice.one_in(300) { self.position(0) } else { self.near_term() };
        message.index = self.any_index();
        message.log_term = if self.dice.one_in(3) { self.near_term() } else { self.true_term(message.index) };
        let commit_base = if self.dice.one_in(2) { self.node.commit_index() } else { self.node.last_index() };
        message.commit = self.position(commit_base);
        message.reject = self.dice.one_in(3);
        message.reject_hint = self.any_index();
        message.transfer = self.dice.one_in(3);
        message.context = self.position(1);
        message.entries = self.entries(&message);
        if self.dice.one_in(2) || kind == MessageKind::Snapshot {
            message.extra = Some(Box::new(self.extra(message.term)));
        }
        message
    }

    fn near_term(&mut self) -> u64 {
        (self.node.term() + self.dice.pick(&[0, 0, 0, 0, 1, 2])).saturating_sub(self.dice.pick(&[0, 0, 1, 2]))
    }

    fn any_index(&mut self) -> u64 {
        let near = if self.dice.one_in(2) { self.node.last_index() } else { self.node.commit_index() };
        self.position(near)
    }

    fn true_term(&mut self, index: u64) -> u64 {
        self.node.term_at(index).unwrap_or(1)
    }

    fn entries(&mut self, message: &Message) -> Entries {
        let count = self.dice.pick(&[0, 1, 1, 2, 3]);
        let mut entries = Vec::new();
        for at in 0..count {
            let kind = self.dice.pick(&[EntryKind::Normal, EntryKind::ConfChange, EntryKind::ConfChangeV2]);
            let data = match self.dice.below(4) {
                0 => Payload::EMPTY,
                1 => Payload::from([0xff, 1, 2]),
                2 => self.change().encode(),
                _ => Payload::from("payload"),
            };
            let index = message.index.wrapping_add(at + 1);
            let (term, index) = if self.dice.one_in(8) {
                (self.near_term(), self.any_index())
            } else {
                (message.term.min(message.log_term.max(1)), index)
            };
            entries.push(Entry { term, index, kind, data });
        }
        entries.into()
    }

    fn extra(&mut self, term: u64) -> Extra {
        let mut snapshot = Snapshot {
            index: self.any_index(),
            term: if self.dice.one_in(4) { self.position(term) } else { term.min(3) },
            ..Snapshot::default()
        };
        let ids: &[NodeId] = &[0, 1, 1, 2, 3, 4, APPLY_THREAD];
        snapshot.conf_state = match self.dice.below(3) {
            0 => ConfState { voters: vec![1, 2, 3], ..ConfState::default() },
            1 => ConfState {
                voters: vec![1, 2],
                voters_outgoing: vec![1, 3],
                learners_next: vec![3],
                auto_leave: true,
                ..ConfState::default()
            },
            _ => ConfState {
                voters: (0..self.dice.below(4)).map(|_| self.dice.pick(ids)).collect(),
                learners: (0..self.dice.below(3)).map(|_| self.dice.pick(ids)).collect(),
                voters_outgoing: (0..self.dice.below(3)).map(|_| self.dice.pick(ids)).collect(),
                learners_next: (0..self.dice.below(2)).map(|_| self.dice.pick(ids)).collect(),
                auto_leave: self.dice.one_in(2),
            },
        };
        let snapshot = (!self.dice.one_in(5)).then(|| Rc::new(snapshot));
        let responses = vec![Message::default(); self.dice.below(2) as usize];
        Extra { vote: self.dice.below(4), snapshot, responses }
    }
}
