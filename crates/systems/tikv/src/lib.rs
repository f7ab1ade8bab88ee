//! The public crate `raft` 0.7, the Raft of TiKV, in the world.

mod guards;
mod message;
mod shelf;

pub use message::TikvMessage;
use raft::eraftpb::{Message, MessageType};
use raft::{Config, LightReady, Raft, RawNode, ReadOnlyOption, Ready, SnapshotStatus, StateRole};
use shelf::Shelf;
use std::ops::Range;
use std::sync::Arc;
use whitewater_check::{Membership, RefusalReason};
use whitewater_sim::{NodeId, OptionSpec, Role, Values};
use whitewater_store::core::{Order, Seat, Shown};
use whitewater_store::options::{drawn, switch};
use whitewater_store::{Core, Entry, Log, ReadId, Settings, Step, Store, Todo, number_of, server_of};

/// The system.
pub static TIKV: Store<Tikv> = Store::new();

/// A `RawNode` with what of it is under way.
pub struct Tikv {
    raw: RawNode<Shelf>,
    seat: Seat,
    /// Whether it is kept from what is known to stall or to end it.
    guarded: bool,
    /// Whether reads ask for the read index, or trust a lease, in place of going through the log.
    reads_by_index: bool,
    /// What is being stored, if inputs wait for it.
    ready: Option<Ready>,
    /// What came out when it was stored.
    light: Option<LightReady>,
}

impl Tikv {
    /// Whether something is let through that the guards keep from the crate.
    fn passes(&self, guard: impl Fn(&Raft<Shelf>) -> bool) -> bool {
        !self.guarded || guard(&self.raw.raft)
    }
}

fn addressed(message: Message) -> (NodeId, TikvMessage) {
    (server_of(message.to).expect("it writes to members"), TikvMessage(Box::new(message)))
}

impl Core for Tikv {
    type Message = TikvMessage;
    const NAME: &'static str = "tikv";
    const ABOUT: &'static str =
        "The public crate raft 0.7, the Raft of TiKV, with a store, clients and a durable log.";
    // With lease reads it does.
    const NEEDS_NO_CLOCK: bool = false;
    const REQUESTS_SNAPSHOTS: bool = true;
    const OPTIONS: &'static [OptionSpec] = whitewater_store::options! {
        TICK, ELECTION_TICKS, HEARTBEAT_TICKS, PRE_VOTE, CHECK_QUORUM, MESSAGE_SIZE, IN_FLIGHT, STORAGE, READ_AT,
        FORWARDING, SNAPSHOT_ENTRIES, SNAPSHOT_TRAIL, SNAPSHOT_REFUSALS, SEGMENT_BYTES, MEMBERSHIP, FOUNDERS,
        CLIENT_ATTEMPTS;
        drawn("reads", Values::Words(&["index", "lease", "log"]), "index",
            "Whether reads ask a majority for the read index, trust the lease of the leader, or go through the log."),
        switch("batch-append", "off", "Whether appends that wait are sent as one."),
        switch("skip-broadcast-commit", "off",
            "Whether followers learn of a commit only with the next append or heartbeat."),
        OptionSpec { drawn: false, ..switch("guards", "on",
            "Whether it is kept from what is known to stall or to end it, see FINDINGS.") },
    };

    fn start(seat: &Seat, log: Log) -> Tikv {
        let settings = &seat.settings;
        let lease = settings.own("reads") == "lease" && settings.check_quorum;
        let config = Config {
            id: number_of(seat.id),
            election_tick: settings.election_ticks as usize,
            // What it draws by itself is far beyond what the world draws from: it shows that a timeout is wanted, and is never
            // used. That one is in range instead would take some 10^17 draws.
            min_election_tick: settings.election_ticks as usize,
            max_election_tick: usize::MAX,
            heartbeat_tick: settings.heartbeat_ticks as usize,
            applied: log.snapshot_index(),
            max_size_per_msg: settings.message_size_max_bytes,
            max_inflight_msgs: settings.inflight_count_max as usize,
            pre_vote: settings.pre_vote,
            check_quorum: settings.check_quorum,
            read_only_option: if lease { ReadOnlyOption::LeaseBased } else { ReadOnlyOption::Safe },
            batch_append: settings.own("batch-append") == "on",
            skip_bcast_commit: settings.own("skip-broadcast-commit") == "on",
            ..Config::default()
        };
        let silent = slog::Logger::root(slog::Discard, slog::o!());
        let raw = RawNode::new(&config, Shelf { log, members: seat.members }, &silent);
        let raw = raw.expect("the options fit each other, and the log is whole");
        let (guarded, reads_by_index) = (settings.own("guards") == "on", settings.own("reads") != "log");
        Tikv { raw, seat: seat.clone(), guarded, reads_by_index, ready: None, light: None }
    }

    fn log(&self) -> &Log {
        &self.raw.store().log
    }

    fn log_mut(&mut self) -> &mut Log {
        &mut self.raw.mut_store().log
    }

    fn tick(&mut self) {
        if self.passes(guards::may_win_at_once) {
            self.raw.tick();
        }
    }

    fn receive(&mut self, _from: NodeId, message: TikvMessage) -> Result<(), RefusalReason> {
        let kind = message.0.get_msg_type();
        let is_kept_off = match kind {
            MessageType::MsgTimeoutNow => !self.passes(guards::may_win_at_once),
            MessageType::MsgPropose => !self.passes(guards::may_take_entries),
            _ => false,
        };
        if is_kept_off {
            return Ok(());
        }
        let forwarded = matches!(kind, MessageType::MsgPropose | MessageType::MsgReadIndex);
        self.raw.step(*message.0).map_err(|error| match error {
            raft::Error::ProposalDropped if forwarded => RefusalReason::ForwardedWithoutLeader,
            raft::Error::StepPeerNotFound => RefusalReason::ResponseOfStranger,
            raft::Error::Store(_) => RefusalReason::Error("its log does not have what it looks for"),
            _ => RefusalReason::Error("for another reason"),
        })
    }

    fn propose(&mut self, data: Arc<[u8]>) -> bool {
        self.passes(guards::may_take_entries) && self.raw.propose(Vec::new(), data.to_vec()).is_ok()
    }

    fn read(&mut self, id: ReadId) -> bool {
        if self.reads_by_index {
            self.raw.read_index(id);
        }
        self.reads_by_index
    }

    fn trusts_clocks(settings: &Settings) -> bool {
        settings.own("reads") == "lease"
    }

    fn obey(&mut self, order: Order<'_>) -> bool {
        match order {
            Order::Campaign => self.passes(guards::may_stand) && self.raw.campaign().is_ok(),
            Order::Transfer(to) => {
                self.raw.transfer_leader(number_of(to));
                self.raw.raft.leader_id != 0
            }
            Order::Change(steps) => {
                let leads = self.raw.raft.state == StateRole::Leader && self.passes(guards::may_take_entries);
                leads && self.raw.propose_conf_change(Vec::new(), shelf::change_of(steps)).is_ok()
            }
            Order::RequestSnapshot => {
                self.passes(guards::may_request_snapshot) && self.raw.request_snapshot().is_ok()
            }
            Order::SnapshotSent { to, arrived } => {
                let status = if arrived { SnapshotStatus::Finish } else { SnapshotStatus::Failure };
                self.raw.report_snapshot(number_of(to), status);
                true
            }
            Order::Unreachable(peer) => {
                self.raw.report_unreachable(number_of(peer));
                true
            }
        }
    }

    fn ready(&mut self, todo: &mut Todo<TikvMessage>, applied: u64) -> bool {
        self.raw.advance_apply_to(applied);
        if let Some(mut light) = self.light.take() {
            todo.messages.extend(light.take_messages().into_iter().map(addressed));
            todo.hard_state = light.commit_index().map(|_| shelf::hard_state(&self.raw.raft.hard_state()));
            todo.may_be_lost = true;
            todo.committed.extend(light.committed_entries().iter().map(shelf::written));
            return true;
        }
        if !self.raw.has_ready() {
            return false;
        }
        let mut ready = self.raw.ready();
        todo.number = ready.number();
        let early =
            if self.passes(guards::may_speak_early) { &mut todo.messages } else { &mut todo.promises };
        early.extend(ready.take_messages().into_iter().map(addressed));
        todo.promises.extend(ready.take_persisted_messages().into_iter().map(addressed));
        todo.hard_state = ready.hs().map(shelf::hard_state);
        todo.may_be_lost = !ready.must_sync();
        todo.snapshot = (!ready.snapshot().is_empty()).then(|| shelf::stored(ready.snapshot()));
        todo.entries.extend(ready.entries().iter().map(shelf::written));
        todo.committed.extend(ready.committed_entries().iter().map(shelf::written));
        todo.reads.extend(ready.take_read_states().into_iter().map(|read| (read.request_ctx, read.index)));
        self.ready = Some(ready);
        true
    }

    fn written(&mut self) {
        if let Some(ready) = self.ready.take_if(|_| self.seat.settings.overlapping) {
            self.raw.advance_append_async(ready);
        }
    }

    fn stored(&mut self, number: u64) {
        // One that inputs do not wait for may be stuck meanwhile: it is not the one that is stored.
        match self.ready.take_if(|_| !self.seat.settings.overlapping) {
            Some(ready) => self.light = Some(self.raw.advance_append(ready)),
            None => self.raw.on_persist_ready(number),
        }
    }

    fn applied(&mut self, change: &Entry) {
        if let Some(change) = shelf::change_in(change) {
            // One that does not fit changes nothing, at everybody alike.
            let _ = self.raw.apply_conf_change(&change);
        }
        let raft = &mut self.raw.raft;
        if raft.state == StateRole::Leader && !raft.prs().conf().voters().contains(raft.id) {
            // Who is removed is to be stopped by its user: it would lead on for ever.
            raft.become_follower(raft.term, 0);
        }
    }

    fn overlaps(&self) -> bool {
        self.seat.settings.overlapping
    }

    fn timeout_wanted(&mut self) -> Option<Range<u64>> {
        let range = self.seat.settings.election_range();
        (self.raw.raft.randomized_election_timeout() as u64 >= range.end).then_some(range)
    }

    fn set_timeout(&mut self, ticks: u64) {
        self.raw.raft.set_randomized_election_timeout(ticks as usize);
    }

    fn shown(&self) -> Shown {
        let raft = &self.raw.raft;
        Shown {
            term: raft.term,
            vote: server_of(raft.vote),
            role: match raft.state {
                StateRole::Follower => Role::Follower,
                StateRole::PreCandidate => Role::PreCandidate,
                StateRole::Candidate => Role::Candidate,
                StateRole::Leader => Role::Leader,
            },
            leader: server_of(raft.leader_id),
            last_index: raft.raft_log.last_index(),
            commit: raft.raft_log.committed,
        }
    }

    fn match_index(&self, peer: NodeId) -> Option<u64> {
        self.raw.raft.prs().get(number_of(peer)).map(|progress| progress.matched)
    }

    fn members(&self) -> Option<Membership> {
        Some(shelf::members_in(&self.raw.raft.prs().conf().to_conf_state()))
    }

    fn change_in(entry: &Entry) -> Option<Vec<Step>> {
        shelf::change_in(entry).map(|change| shelf::steps_of(&change))
    }
}
