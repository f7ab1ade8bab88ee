//! The state of one node, its roles, and how its messages leave.
//!
//! What a node does is split by duty: [`step`](crate::step), [`election`](crate::election),
//! [`replication`](crate::replication), [`follower`](crate::follower) and their neighbours each add methods to [`Raft`].

use crate::bug::planted;
use crate::changer::Changer;
use crate::clock::Clock;
use crate::config::{Config, ReadMode};
use crate::entry::{Entries, Entry};
use crate::error::ConfigError;
use crate::identity::{NONE, NodeId};
use crate::log::Log;
use crate::message::{Message, MessageKind};
use crate::reads::Reads;
use crate::state::{HardState, ReadState, Role, SoftState};
use crate::storage::Storage;
use crate::tracker::Tracker;
use crate::votes::Votes;

/// Messages on their way out.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    /// May be sent at once.
    pub(crate) immediate: Vec<Message>,
    /// Promises: to be sent once everything before them is durable.
    pub(crate) after_append: Vec<Message>,
}

/// One node.
#[derive(Debug)]
pub(crate) struct Raft<S> {
    pub(crate) id: NodeId,
    pub(crate) term: u64,
    pub(crate) vote: NodeId,
    pub(crate) leader: NodeId,
    pub(crate) role: Role,
    pub(crate) log: Log<S>,
    pub(crate) tracker: Tracker,
    pub(crate) votes: Votes,
    pub(crate) reads: Reads,
    pub(crate) read_states: Vec<ReadState>,
    pub(crate) clock: Clock,
    /// The node that is to lead next, while a transfer is under way.
    pub(crate) transferee: NodeId,
    /// This leader has told somebody to take over: in this term its lease promises nothing any more.
    pub(crate) lease_is_given_away: bool,
    /// No configuration change may be proposed until this index is applied.
    pub(crate) pending_conf_index: u64,
    /// Payload of entries proposed in this term and not applied; may be too small, never too large.
    pub(crate) uncommitted_size_bytes: u64,
    /// The index from which this follower has asked for a snapshot, or 0.
    pub(crate) wanted_snapshot: u64,
    pub(crate) outbox: Outbox,
    pub(crate) config: Config,
}

impl<S: Storage> Raft<S> {
    pub(crate) fn new(config: Config, storage: S) -> Result<Raft<S>, ConfigError> {
        config.validate()?;
        let (hard_state, conf_state) = storage.initial_state()?;
        let planted = config.planted();
        let mut log = Log::new(storage, config.applying_size_max_bytes())?;
        log.planted = planted;
        let mut tracker = Tracker::new(config.inflight_count_max, config.inflight_size_max_bytes);
        tracker.planted = planted;
        let last_index = log.last_index();
        let restored = Changer { tracker: &tracker, last_index }.restore(&conf_state);
        let (configuration, peers) = restored.map_err(ConfigError::Membership)?;
        tracker.configuration = configuration;
        tracker.peers = peers;
        let mut raft = Raft {
            id: config.id,
            term: 0,
            vote: NONE,
            leader: NONE,
            role: Role::Follower,
            log,
            tracker,
            votes: Votes::default(),
            reads: Reads::default(),
            read_states: Vec::new(),
            clock: Clock::new(config.election_ticks, config.heartbeat_ticks),
            transferee: NONE,
            lease_is_given_away: false,
            pending_conf_index: 0,
            uncommitted_size_bytes: 0,
            wanted_snapshot: 0,
            outbox: Outbox::default(),
            config,
        };
        raft.load(hard_state)?;
        raft.become_follower(raft.term, NONE);
        Ok(raft)
    }

    /// Continues where the node left off.
    fn load(&mut self, hard_state: HardState) -> Result<(), ConfigError> {
        let (low, high) = (self.log.committed, self.log.last_index());
        if !hard_state.is_empty() {
            if !(low..=high).contains(&hard_state.commit) {
                return Err(ConfigError::CommitOutOfRange { commit: hard_state.commit, low, high });
            }
            self.log.committed = hard_state.commit;
            self.term = hard_state.term;
            self.vote = hard_state.vote;
        }
        let applied = self.config.applied;
        if applied > 0 {
            let high = self.log.committed;
            if !(low..=high).contains(&applied) {
                return Err(ConfigError::AppliedOutOfRange { applied, low, high });
            }
            self.log.applied = applied;
            self.log.applying = applied;
        }
        Ok(())
    }

    pub(crate) fn hard_state(&self) -> HardState {
        HardState { term: self.term, vote: self.vote, commit: self.log.committed }
    }

    pub(crate) fn soft_state(&self) -> SoftState {
        SoftState { leader: self.leader, role: self.role }
    }

    /// Whether this node may become leader: it votes, and its log is not being replaced.
    pub(crate) fn is_promotable(&self) -> bool {
        self.log.unstable.snapshot.is_none()
            && self.tracker.get(self.id).is_some_and(|progress| !progress.is_learner)
    }

    /// A message of this node in its current term.
    pub(crate) fn message(&self, kind: MessageKind, to: NodeId) -> Message {
        Message { kind, from: self.id, to, term: self.term, ..Message::default() }
    }

    /// Hands a message to the outbox; promises wait until they are durable.
    pub(crate) fn send(&mut self, message: Message) {
        let vote_leaks = planted!(self.log.planted, E04)
            && message.kind == MessageKind::VoteResponse
            && message.to != self.id;
        if message.kind.is_promise() && !vote_leaks {
            self.outbox.after_append.push(message);
        } else {
            assert_ne!(message.to, self.id, "only promises are addressed to oneself");
            self.outbox.immediate.push(message);
        }
    }

    /// Forgets what belongs to a role or a term that ends.
    pub(crate) fn reset(&mut self, term: u64) {
        assert!(term >= self.term, "terms never fall");
        if self.term != term {
            self.term = term;
            self.vote = NONE;
        }
        self.leader = NONE;
        self.clock.reset(self.id ^ term.rotate_left(32));
        self.transferee = NONE;
        self.lease_is_given_away = false;
        self.votes.reset();
        let last_index = self.log.last_index();
        for progress in &mut self.tracker.peers {
            progress.reset(last_index + 1);
            if progress.id == self.id {
                progress.match_index = last_index;
            }
        }
        self.pending_conf_index = 0;
        self.uncommitted_size_bytes = 0;
        self.reads.reset();
    }

    pub(crate) fn become_follower(&mut self, term: u64, leader: NodeId) {
        self.reset(term);
        self.role = Role::Follower;
        self.leader = leader;
    }

    pub(crate) fn become_candidate(&mut self) {
        assert!(self.role != Role::Leader, "a leader must not become a candidate");
        self.reset(self.term + 1);
        self.vote = self.id;
        self.role = Role::Candidate;
    }

    /// Keeps term and vote: a pre-election promises nothing.
    pub(crate) fn become_pre_candidate(&mut self) {
        assert!(self.role != Role::Leader, "a leader must not become a pre-candidate");
        self.votes.reset();
        self.leader = NONE;
        self.role = Role::PreCandidate;
    }

    pub(crate) fn become_leader(&mut self) {
        assert!(self.role == Role::Candidate, "only a candidate becomes a leader");
        self.reset(self.term);
        self.leader = self.id;
        self.role = Role::Leader;
        let own_id = self.id;
        if let Some(own) = self.tracker.get_mut(own_id) {
            own.become_replicate();
            own.recent_active = true;
        }
        // There may be a configuration change in the log that was inherited. Waiting for all of it is cheaper than looking.
        self.pending_conf_index =
            if planted!(self.log.planted, M01) { self.log.applied } else { self.log.last_index() };
        let accepted = self.append_as_leader(Entries::One(Entry::default()));
        assert!(accepted, "an empty entry passes every limit");
    }

    pub(crate) fn reads_by_lease(&self) -> bool {
        // Whoever was told to take over is listened to in spite of the lease, however late the order arrives.
        self.config.read_mode == ReadMode::LeaseBased && !self.lease_is_given_away
    }
}
