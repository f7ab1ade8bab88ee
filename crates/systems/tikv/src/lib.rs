//! The public crate `raft` 0.7, the Raft of TiKV, in the world.

mod shelf;
mod words {
    whitewater_store::raftpb!(raft::eraftpb);
}

use raft::{Config, RawNode, ReadOnlyOption, Ready, SnapshotStatus};
use shelf::Shelf;
use std::rc::Rc;
use whitewater_check::{Membership, RefusalReason};
use whitewater_sim::{NodeId, OptionSpec};
use whitewater_store::core::{Notice, Order, Seat, Shown};
use whitewater_store::options::{Reads, switch};
use whitewater_store::{Core, Entry, Log, ReadId, Settings, Step, Store, Todo, etcd, number_of, server_of};
pub use words::Speech;

/// The system.
pub static TIKV: Store<Tikv> = Store::new();

/// A `RawNode` with what of it is under way.
pub struct Tikv {
    raw: RawNode<Shelf>,
    settings: Settings,
    /// What is being stored, if inputs wait for it, or the disk does not take it yet.
    ready: Option<Ready>,
}

impl Core for Tikv {
    type Message = Speech;
    const NAME: &'static str = "tikv";
    const ABOUT: &'static str =
        "The public crate raft 0.7, the Raft of TiKV, with a store, clients and a durable log.";
    // With lease reads it does.
    const NEEDS_NO_CLOCK: bool = false;
    const REQUESTS_SNAPSHOTS: bool = true;
    const TRANSFERS: bool = true;
    const OPTIONS: &'static [OptionSpec] = whitewater_store::options! {
        TICK, ELECTION_TICKS, HEARTBEAT_TICKS, PRE_VOTE, CHECK_QUORUM, MESSAGE_SIZE, IN_FLIGHT, STORAGE, READS,
        READ_AT, FORWARDING, SNAPSHOT_ENTRIES, SNAPSHOT_TRAIL, SNAPSHOT_REFUSALS, SEGMENT_BYTES, MEMBERSHIP, FOUNDERS,
        CLIENT_ATTEMPTS, GUARDS;
        switch("batch-append", "off", "Whether appends that wait are sent as one."),
        switch("skip-broadcast-commit", "off",
            "Whether followers learn of a commit only with the next append or heartbeat."),
    };

    fn start(seat: &Seat, log: Log) -> Tikv {
        let settings = &seat.settings;
        let lease = settings.reads == Reads::Lease && settings.check_quorum;
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
        Tikv { raw, settings: settings.clone(), ready: None }
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

    fn receive(&mut self, _from: NodeId, message: Speech) -> Result<(), RefusalReason> {
        let forwarded = etcd::is_forwarded(message.0.msg_type as u8);
        self.raw.step(*message.0).map_err(|error| match error {
            raft::Error::ProposalDropped if forwarded => RefusalReason::ForwardedWithoutLeader,
            raft::Error::StepPeerNotFound => RefusalReason::ResponseOfStranger,
            raft::Error::Store(_) => RefusalReason::Error("its log does not have what it looks for"),
            _ => RefusalReason::Error("for another reason"),
        })
    }

    fn propose(&mut self, data: Rc<[u8]>) -> bool {
        self.raw.propose(Vec::new(), data.to_vec()).is_ok()
    }

    fn read(&mut self, id: ReadId) {
        self.raw.read_index(id);
    }

    fn obey(&mut self, order: Order<'_>) -> bool {
        match order {
            Order::Campaign => self.raw.campaign().is_ok(),
            Order::Change(steps) => self.raw.propose_conf_change(Vec::new(), words::change(steps)).is_ok(),
            Order::RequestSnapshot => self.raw.request_snapshot().is_ok(),
        }
    }

    fn notice(&mut self, notice: Notice) {
        match notice {
            Notice::Transfer(to) => self.raw.transfer_leader(number_of(to)),
            Notice::SnapshotArrived(to) => self.raw.report_snapshot(number_of(to), SnapshotStatus::Finish),
            Notice::SnapshotLost(to) => self.raw.report_snapshot(number_of(to), SnapshotStatus::Failure),
            Notice::Unreachable(peer) => self.raw.report_unreachable(number_of(peer)),
            Notice::Removed => self.raw.raft.become_follower(self.raw.raft.term, 0),
        }
    }

    fn ready(&mut self, todo: &mut Todo<Speech>, applied: u64) -> bool {
        self.raw.advance_apply_to(applied);
        if !self.raw.has_ready() {
            return false;
        }
        let mut ready = self.raw.ready();
        todo.number = ready.number();
        todo.messages.extend(ready.take_messages().into_iter().map(words::addressed));
        todo.promises.extend(ready.take_persisted_messages().into_iter().map(words::addressed));
        todo.hard_state = ready.hs().map(words::kept_hard_state);
        todo.may_be_lost = !ready.must_sync();
        todo.snapshot = (!ready.snapshot().is_empty()).then(|| words::kept_snapshot(ready.snapshot()));
        todo.entries.extend(ready.entries().iter().map(words::kept_entry));
        todo.committed = ready.committed_entries().last().map_or(0, |entry| entry.index);
        todo.reads.extend(ready.take_read_states().into_iter().map(|read| (read.request_ctx, read.index)));
        self.ready = Some(ready);
        true
    }

    fn written(&mut self) {
        if let Some(ready) = self.ready.take_if(|_| self.settings.overlapping) {
            self.raw.advance_append_async(ready);
        }
    }

    fn stored(&mut self, number: u64, todo: &mut Todo<Speech>) {
        // One that inputs do not wait for may be stuck meanwhile: it is not the one that is stored.
        let Some(ready) = self.ready.take_if(|_| !self.settings.overlapping) else {
            return self.raw.on_persist_ready(number);
        };
        let mut light = self.raw.advance_append(ready);
        todo.messages.extend(light.take_messages().into_iter().map(words::addressed));
        todo.hard_state = light.commit_index().map(|_| words::kept_hard_state(&self.raw.raft.hard_state()));
        todo.may_be_lost = true;
        todo.committed = light.committed_entries().last().map_or(0, |entry| entry.index);
    }

    fn applied(&mut self, steps: &[Step]) {
        // One that does not fit changes nothing, at everybody alike.
        let _ = self.raw.apply_conf_change(&words::change(steps));
    }

    fn timeout_wanted(&mut self) -> bool {
        self.raw.raft.randomized_election_timeout() as u64 >= self.settings.election_range().end
    }

    fn set_timeout(&mut self, ticks: u64) {
        self.raw.raft.set_randomized_election_timeout(ticks as usize);
    }

    fn shown(&self) -> Shown {
        let raft = &self.raw.raft;
        Shown {
            term: raft.term,
            vote: server_of(raft.vote),
            role: etcd::ROLES[raft.state as usize],
            leader: server_of(raft.leader_id),
            last_index: raft.raft_log.last_index(),
            commit: raft.raft_log.committed,
        }
    }

    fn match_index(&self, peer: NodeId) -> Option<u64> {
        self.raw.raft.prs().get(number_of(peer)).map(|progress| progress.matched)
    }

    fn members(&self) -> Option<Membership> {
        Some(words::members(&self.raw.raft.prs().conf().to_conf_state()))
    }

    fn change_in(entry: &Entry) -> Option<Vec<Step>> {
        words::steps(entry)
    }
}
