//! One node as its owner drives it.

use crate::bug::planted;
use crate::conf_change::{ConfChange, ConfChangeV2};
use crate::config::Config;
use crate::entry::{Entries, Entry, EntryId, EntryKind, Payload, encoded_size_bytes, payload_size_bytes};
use crate::error::{ConfChangeError, ConfigError, StepError};
use crate::identity::{NONE, NodeId};
use crate::message::{Message, MessageKind};
use crate::raft::Raft;
use crate::ready::Ready;
use crate::state::{ConfState, HardState, SoftState};
use crate::storage::Storage;
use std::ops::Range;

/// What to tell the core when the owner has dealt with a Ready.
#[derive(Debug, Default)]
struct Owed {
    /// A Ready was taken and not dealt with.
    outstanding: bool,
    /// It has a term or a vote that is not durable before it is dealt with.
    begins_a_term: bool,
    /// Promises to this node itself.
    to_self: Vec<Message>,
    /// The term, the last entry and the snapshot that are durable then.
    appended: Option<(u64, EntryId, Option<u64>)>,
    /// The last entry that is applied then, with the encoded and the payload size of all of them.
    applied: Option<(u64, u64, u64)>,
}

/// A Raft node without clock, network, disk and randomness.
///
/// Feed it with [`step`](RawNode::step), [`tick_by`](RawNode::tick_by) and the methods named after what an application
/// wants, then take what it wants done with [`ready`](RawNode::ready). The obligations stand at [`Ready`].
#[derive(Debug)]
pub struct RawNode<S> {
    pub(crate) raft: Raft<S>,
    soft_state: SoftState,
    hard_state: HardState,
    owed: Owed,
}

impl<S: Storage> RawNode<S> {
    /// A node that continues where its storage says it left off.
    ///
    /// # Errors
    ///
    /// If a field of `config` breaks a rule, or the storage contradicts itself or fails.
    pub fn new(config: Config, storage: S) -> Result<RawNode<S>, ConfigError> {
        let raft = Raft::new(config, storage)?;
        let (soft_state, hard_state) = (raft.soft_state(), raft.hard_state());
        Ok(RawNode { raft, soft_state, hard_state, owed: Owed::default() })
    }

    /// Takes a message from another node, or a response from a storage thread.
    ///
    /// # Errors
    ///
    /// If the message says what no correct peer would say, or a proposal in it was dropped; see [`StepError`]. No message
    /// makes the node panic.
    pub fn step(&mut self, mut message: Message) -> Result<(), StepError> {
        self.raft.step(&mut message)
    }

    /// As [`step`](RawNode::step), where the message is: what the node keeps is taken out of it, and what is left means
    /// nothing any more.
    ///
    /// # Errors
    ///
    /// As [`step`](RawNode::step).
    pub fn step_in_place(&mut self, message: &mut Message) -> Result<(), StepError> {
        self.raft.step(message)
    }

    /// Counts one tick.
    pub fn tick(&mut self) {
        self.tick_by(1);
    }

    /// Counts `ticks`, with the same effect as counting them one by one and taking no Ready between.
    ///
    /// An owner that skips quiet time counts what it skipped before it gives the node anything else.
    pub fn tick_by(&mut self, ticks: u32) {
        self.raft.tick_by(ticks);
    }

    /// How many ticks may pass, at most, before the next one has an effect; `None` if none will have one.
    ///
    /// Holds until the next input. At least 1.
    pub fn ticks_until_due(&self) -> Option<u32> {
        self.raft.ticks_until_due()
    }

    /// The range from which a new election timeout is to be drawn, in ticks, if one is due. To be asked after every input.
    ///
    /// The answer goes to [`set_randomized_timeout`](RawNode::set_randomized_timeout). Without one the node goes on with a
    /// timeout of its own from the same range, computed from its id and term.
    pub fn take_timeout_request(&mut self) -> Option<Range<u32>> {
        self.raft.clock.take_timeout_request()
    }

    /// Sets after how many ticks without a leader this node campaigns, counted from when it last heard from one; at least 1.
    ///
    /// Holds until the node asks again.
    pub fn set_randomized_timeout(&mut self, ticks: u32) {
        self.raft.clock.set_timeout(ticks);
    }

    /// Whether there is anything to be done.
    pub fn has_ready(&self) -> bool {
        let raft = &self.raft;
        !raft.outbox.immediate.is_empty()
            || !raft.outbox.after_append.is_empty()
            || !raft.log.unstable.next_entries().is_empty()
            || raft.log.has_next_committed(self.applies_unstable())
            || raft.soft_state() != self.soft_state
            || self.changed_hard_state().is_some()
            || raft.log.unstable.next_snapshot().is_some()
            || !raft.read_states.is_empty()
    }

    /// What is to be done now. Nothing in it is given out again.
    ///
    /// # Panics
    ///
    /// If the previous one was not dealt with, see [`advance`](RawNode::advance).
    pub fn ready(&mut self) -> Ready {
        let mut ready = Ready::default();
        self.ready_into(&mut ready);
        ready
    }

    /// As [`ready`](RawNode::ready), into memory that was used before.
    ///
    /// # Panics
    ///
    /// If the previous one was not dealt with, see [`advance`](RawNode::advance).
    pub fn ready_into(&mut self, ready: &mut Ready) {
        assert!(!self.owed.outstanding, "a second Ready was taken before the first was dealt with");
        ready.clear();
        let applies_unstable = self.applies_unstable();
        ready.hard_state = self.changed_hard_state();
        let begins_a_term = ready
            .hard_state
            .is_some_and(|new| new.term != self.hard_state.term || new.vote != self.hard_state.vote);
        ready.must_sync = begins_a_term;
        if self.raft.soft_state() != self.soft_state {
            self.soft_state = self.raft.soft_state();
            ready.soft_state = Some(self.soft_state);
        }
        if let Some(hard_state) = ready.hard_state {
            self.hard_state = hard_state;
        }
        std::mem::swap(&mut ready.read_states, &mut self.raft.read_states);
        std::mem::swap(&mut ready.messages, &mut self.raft.outbox.immediate);
        // A candidate whose requests for votes overtake its term on the way to the disk may win, crash, forget the term, and
        // win it once more with other entries under the same term and index.
        let waits = begins_a_term && !planted!(self.raft.log.planted, E04);
        ready.immediate_count = if waits { 0 } else { ready.messages.len() };
        let log = &mut self.raft.log;
        ready.entries.extend_from_slice(log.unstable.next_entries());
        ready.must_sync |= !ready.entries.is_empty();
        ready.snapshot = log.unstable.next_snapshot().cloned();
        log.next_committed_into(applies_unstable, &mut ready.committed_entries);
        if self.raft.config.async_storage_writes {
            self.raft.add_storage_work(ready);
        } else {
            self.owe(ready, begins_a_term);
        }
        let log = &mut self.raft.log;
        log.unstable.accept();
        if let Some(last) = ready.committed_entries.last() {
            let size_bytes = encoded_size_bytes(&ready.committed_entries);
            log.accept_applying(last.index, size_bytes, applies_unstable);
            if applies_unstable {
                let payload_bytes = payload_size_bytes(&ready.committed_entries);
                self.owed.applied = Some((last.index, size_bytes, payload_bytes));
            }
        }
    }

    /// Notes what the core has to be told once the Ready is dealt with.
    fn owe(&mut self, ready: &mut Ready, begins_a_term: bool) {
        self.owed.outstanding = true;
        self.owed.begins_a_term = begins_a_term;
        if !self.raft.outbox.after_append.is_empty() {
            for message in self.raft.outbox.after_append.drain(..) {
                let into =
                    if message.to == self.raft.id { &mut self.owed.to_self } else { &mut ready.messages };
                into.push(message);
            }
        }
        if self.raft.reports_append(ready) {
            let snapshot = ready.snapshot.as_ref().map(|snapshot| snapshot.index);
            self.owed.appended = Some((self.raft.term, self.raft.unstable_end(), snapshot));
        }
    }

    /// Whether the owner may go on while its storage refuses the last Ready: a full disk stops writes, not reads.
    ///
    /// If so, what in that Ready needs no storage may be done at once, in its order: messages that promise nothing,
    /// committed entries, reads; then what [`ready_without_storage_into`](RawNode::ready_without_storage_into) gives. It is
    /// not so while a term, a vote or a snapshot is among what is not durable.
    ///
    /// Never with [`Config::async_storage_writes`], where the core does not wait.
    pub fn may_go_on_without_storage(&self) -> bool {
        let now = self.raft.hard_state();
        let term_waits = (now.term, now.vote) != (self.hard_state.term, self.hard_state.vote);
        let waits = self.owed.begins_a_term || term_waits || self.raft.log.unstable.snapshot.is_some();
        self.owed.outstanding && !waits
    }

    /// What can be done besides while the storage refuses the last Ready, if [it may be](RawNode::may_go_on_without_storage).
    ///
    /// A leader whose disk is full goes on being heard and confirming reads, and applies what a majority without it has
    /// made durable. Nothing in `ready` is to be stored, and it is not to be reported: [`advance`](RawNode::advance) is for
    /// the Ready before it, which still has to be stored. The result says whether there was anything.
    pub fn ready_without_storage_into(&mut self, ready: &mut Ready) -> bool {
        ready.clear();
        if !self.may_go_on_without_storage() {
            return false;
        }
        let raft = &mut self.raft;
        std::mem::swap(&mut ready.read_states, &mut raft.read_states);
        std::mem::swap(&mut ready.messages, &mut raft.outbox.immediate);
        ready.immediate_count = ready.messages.len();
        raft.log.next_committed_into(true, &mut ready.committed_entries);
        if let Some(last) = ready.committed_entries.last() {
            let size_bytes = encoded_size_bytes(&ready.committed_entries);
            let payload_bytes = payload_size_bytes(&ready.committed_entries);
            raft.log.accept_applying(last.index, size_bytes, true);
            let (_, before, payload_before) = self.owed.applied.unwrap_or_default();
            self.owed.applied = Some((last.index, before + size_bytes, payload_before + payload_bytes));
        }
        !(ready.read_states.is_empty() && ready.messages.is_empty() && ready.committed_entries.is_empty())
    }

    /// Says that the last Ready was dealt with. The next one may follow at once.
    ///
    /// # Panics
    ///
    /// With [`Config::async_storage_writes`], where responses say so instead.
    pub fn advance(&mut self) {
        assert!(!self.raft.config.async_storage_writes, "storage threads report by message");
        if !self.owed.to_self.is_empty() {
            let mut to_self = std::mem::take(&mut self.owed.to_self);
            for message in &mut to_self {
                // Late by now if the term or the role has changed meanwhile, which is in order.
                let _ = self.raft.step_admitted(message);
            }
            to_self.clear();
            self.owed.to_self = to_self;
        }
        if let Some((term, last, snapshot)) = self.owed.appended.take() {
            if term == self.raft.term || planted!(self.raft.log.planted, R25) {
                self.raft.log.entries_stored(last);
            }
            if let Some(index) = snapshot {
                let applied = self.raft.snapshot_applied(index);
                assert!(applied.is_ok(), "a snapshot in a Ready is committed");
            }
        }
        if let Some((index, size_bytes, payload_bytes)) = self.owed.applied.take() {
            let applied = self.raft.applied_to(index, size_bytes);
            assert!(applied.is_ok(), "entries in a Ready are committed");
            self.raft.release_uncommitted(payload_bytes);
        }
        self.owed.outstanding = false;
    }

    fn applies_unstable(&self) -> bool {
        !self.raft.config.async_storage_writes
    }

    fn changed_hard_state(&self) -> Option<HardState> {
        let now = self.raft.hard_state();
        (now != self.hard_state).then_some(now)
    }

    /// Stands for election now, unless this node leads, has no vote, or has to apply a configuration change first.
    pub fn campaign(&mut self) {
        self.raft.hup();
    }

    /// Proposes bytes of the application.
    ///
    /// # Errors
    ///
    /// [`StepError::ProposalDropped`] if it was certainly not taken. Without an error it may still be lost, or be committed
    /// twice if it is proposed again: only an applied entry is certain.
    pub fn propose(&mut self, data: impl Into<Payload>) -> Result<(), StepError> {
        self.propose_entry(Entry::proposal(EntryKind::Normal, data))
    }

    /// Proposes a configuration change; a leader that finds it unfit appends an empty entry in its place.
    ///
    /// # Errors
    ///
    /// As [`propose`](RawNode::propose).
    pub fn propose_conf_change(&mut self, change: &ConfChangeV2) -> Result<(), StepError> {
        self.propose_entry(Entry::proposal(EntryKind::ConfChangeV2, change.encode()))
    }

    /// Proposes a configuration change in its older form, for applications that store it so.
    ///
    /// # Errors
    ///
    /// As [`propose`](RawNode::propose).
    pub fn propose_conf_change_v1(&mut self, change: &ConfChange) -> Result<(), StepError> {
        self.propose_entry(Entry::proposal(EntryKind::ConfChange, change.encode()))
    }

    fn propose_entry(&mut self, entry: Entry) -> Result<(), StepError> {
        let mut proposal = Message::new(MessageKind::Propose, self.raft.id, NONE);
        proposal.entries = Entries::One(entry);
        self.raft.step(&mut proposal)
    }

    /// Puts a committed change into effect and returns the membership to be stored with the applied state.
    ///
    /// To be called for every configuration change among the committed entries, unless the application rejects it, or a
    /// snapshot that covers it came in meanwhile ([`RawNode::installing_snapshot`]): the configuration is that of the
    /// snapshot from then on, and an older change on top of it would be wrong.
    ///
    /// # Errors
    ///
    /// If the change does not fit the configuration in place, which stays as it is. Every node sees the same error at the
    /// same entry, so the application may go on.
    pub fn apply_conf_change(&mut self, change: &ConfChangeV2) -> Result<ConfState, ConfChangeError> {
        self.raft.apply_conf_change(change)
    }

    /// Asks for a linearizable read. The answer comes in [`Ready::read_states`], recognised by `context`; it may be lost.
    pub fn read_index(&mut self, context: impl Into<Payload>) {
        let mut request = Message::new(MessageKind::ReadIndex, self.raft.id, NONE);
        request.entries = Entries::One(Entry::proposal(EntryKind::Normal, context));
        let stepped = self.raft.step(&mut request);
        assert_eq!(stepped, Ok(()), "a read request is never refused");
    }

    /// Hands the leadership to `to`, directly or through the leader this node follows. It may fail silently.
    pub fn transfer_leader(&mut self, to: NodeId) {
        let mut request = Message::new(MessageKind::TransferLeader, to, NONE);
        request.term = self.raft.term;
        // Wrong ids are nobody's progress, and are ignored like every transfer that cannot be.
        let _ = self.raft.step_admitted(&mut request);
    }

    /// Stops following the leader, in the same term, so that others can be elected. Without effect on other roles.
    ///
    /// # Errors
    ///
    /// [`StepError::LeaseReads`] under [`ReadMode::LeaseBased`](crate::ReadMode::LeaseBased).
    pub fn forget_leader(&mut self) -> Result<(), StepError> {
        self.raft.forget_leader()
    }

    /// Reports that a message to `peer` was probably lost.
    pub fn report_unreachable(&mut self, peer: NodeId) {
        self.raft.report_unreachable(peer);
    }

    /// Reports what became of the last snapshot to `peer`: whether it arrived. Has to be called for every one that was lost.
    pub fn report_snapshot(&mut self, peer: NodeId, arrived: bool) {
        self.raft.report_snapshot(peer, arrived);
    }

    /// Asks the leader for a snapshot, for a node whose own state is damaged.
    ///
    /// # Errors
    ///
    /// [`StepError::SnapshotRequestDropped`] without [`Config::follower_snapshots`], without a leader, at a leader, or while a
    /// snapshot is under way.
    pub fn request_snapshot(&mut self) -> Result<(), StepError> {
        self.raft.request_snapshot()
    }

    /// The storage.
    pub fn storage(&self) -> &S {
        &self.raft.log.storage
    }

    /// The storage, to be written as a [`Ready`] demands.
    pub fn storage_mut(&mut self) -> &mut S {
        &mut self.raft.log.storage
    }
}
