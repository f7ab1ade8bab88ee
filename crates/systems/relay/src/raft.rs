//! The election: a state machine without clock and disk, driven by broadcasts, with volatile and durable halves.
//!
//! Decisions go by what is volatile, broadcasts by what is durable. While a write is in progress the node is a follower
//! and its timer stands still. One worker writes and broadcasts; broadcasts coalesce, each is the whole present state.

use crate::bug::{Bug, Planted};
use crate::census::Census;
use crate::message::Announcement;
use crate::vclock::Vclock;
use std::fmt;
use whitewater_sim::{NodeId, Role};

/// How far a node takes part in elections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Not at all: it follows terms and leaders, has no vote, and accepts rows from anybody.
    Off,
    /// It votes.
    Voter,
    /// It votes and stands for election.
    Candidate,
}

/// What the state machine wants of its one timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerOrder {
    /// Stand still.
    Stop,
    /// Go off after the death timeout: the leader is dead, or there is none.
    Death,
    /// Go off after the election timeout with a random shift: nobody has won.
    ElectionEnd,
    /// Go off after a random shift only: nobody can win any more.
    Split,
}

/// What later releases do differently; nothing of it in the release that is modelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Later {
    /// A vote for another node is judged again when everything written before it is durable.
    pub judges_votes_twice: bool,
    /// No election is called while somebody is known to see the leader.
    pub asks_witnesses: bool,
    /// A split election is called again early.
    pub notices_splits: bool,
    /// The bug planted in it, if any.
    pub planted: Planted,
}

/// What the worker has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Write term and vote, then call [`Raft::written`].
    Write {
        /// The term.
        term: u64,
        /// The vote in it.
        vote: Option<NodeId>,
    },
    /// Push this to every relay.
    Broadcast(Announcement),
    /// Nothing.
    Nothing,
}

/// Why nothing came of an announcement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skipped {
    /// Its term is over.
    Outdated,
    /// The node has no vote.
    Off,
    /// There is a leader, so no vote is needed.
    LeaderKnown,
    /// It is a vote for this node, which is no candidate any more.
    TooLate,
    /// It tells of a vote for a third node.
    ForAnother,
    /// The node has chosen in this term.
    Voted,
    /// The candidate lacks rows that the node has.
    Refused,
    /// Both are candidates.
    Competing,
    /// Two leaders in one term. The original does nothing about it either.
    Conflict,
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Skipped::Outdated => "outdated term",
            Skipped::Off => "elections are off here",
            Skipped::LeaderKnown => "the leader is known",
            Skipped::TooLate => "a vote for one who is no candidate any more",
            Skipped::ForAnother => "a vote for somebody else",
            Skipped::Voted => "has voted in this term",
            Skipped::Refused => "vote refused, the candidate lacks rows",
            Skipped::Competing => "a competing candidate",
            Skipped::Conflict => "ANOTHER LEADER in the same term",
        })
    }
}

/// The state of one node in elections.
#[derive(Clone, Debug)]
pub struct Raft {
    id: NodeId,
    mode: Mode,
    quorum: u32,
    durable_term: u64,
    durable_vote: Option<NodeId>,
    term: u64,
    vote: Option<NodeId>,
    state: Role,
    leader: Option<NodeId>,
    votes: u32,
    is_write_in_progress: bool,
    is_broadcast_scheduled: bool,
    timer: Option<TimerOrder>,
    elections: u64,
    later: Later,
    census: Census,
    /// What the node had that it means to vote for, until that vote is durable, and whether what was written before the vote
    /// is durable.
    wanted: Option<(Vclock, bool)>,
    /// Whether the split of this term was noticed.
    is_split: bool,
    /// Whether somebody has promoted it by hand and it has not won yet.
    is_promoting: bool,
}

impl Raft {
    /// As it stands after a start, with what was durable. `servers` counts all of them, whatever their modes.
    pub fn start(id: NodeId, mode: Mode, servers: usize, term: u64, vote: Option<NodeId>) -> Raft {
        let quorum = whitewater_check::majority(servers) as u32;
        Raft {
            later: Later::default(),
            census: Census::new(servers, quorum, Planted::default()),
            wanted: None,
            is_split: false,
            is_promoting: false,
            id,
            mode,
            quorum,
            durable_term: term,
            durable_vote: vote,
            term,
            vote,
            state: Role::Follower,
            leader: None,
            votes: 0,
            is_write_in_progress: false,
            // Others may know of an older term only, and would ignore it.
            is_broadcast_scheduled: true,
            // A restart is no reason to disturb a leader: wait as long as one would for a dead one.
            timer: (mode == Mode::Candidate).then_some(TimerOrder::Death),
            elections: 0,
        }
    }

    /// The same with what later releases do differently, and another quorum.
    pub fn with(self, later: Later, quorum: u32, servers: usize) -> Raft {
        Raft { later, quorum, census: Census::new(servers, quorum, later.planted), ..self }
    }

    /// The term it acts in.
    pub fn term(&self) -> u64 {
        self.term
    }

    /// The term that is durable.
    pub fn durable_term(&self) -> u64 {
        self.durable_term
    }

    /// Whom it chose in its durable term, as far as that is durable.
    pub fn durable_vote(&self) -> Option<NodeId> {
        self.durable_vote
    }

    /// Whom it chose in the term it acts in.
    pub fn vote(&self) -> Option<NodeId> {
        self.vote
    }

    /// Its part.
    pub fn state(&self) -> Role {
        self.state
    }

    /// The leader of its term, if it knows one.
    pub fn leader(&self) -> Option<NodeId> {
        self.leader
    }

    /// How far it takes part.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Elections it has called since it started.
    pub fn elections(&self) -> u64 {
        self.elections
    }

    /// Whether it waits for a write.
    pub fn is_write_in_progress(&self) -> bool {
        self.is_write_in_progress
    }

    /// Who voted for it in the election it stands in or has won, as a set of bits by position.
    pub fn votes(&self) -> u32 {
        self.votes
    }

    /// Whether rows of `source` are accepted.
    pub fn allows_rows_of(&self, source: NodeId) -> bool {
        self.mode == Mode::Off || self.leader == Some(source)
    }

    /// What the timer shall do now; at most once per order.
    pub fn take_timer(&mut self) -> Option<TimerOrder> {
        self.timer.take()
    }

    /// Whether the worker has to be woken.
    pub fn has_work(&self) -> bool {
        self.is_write_in_progress || self.is_broadcast_scheduled
    }

    /// What the worker does next. Not to be asked while a write it ordered is under way.
    pub fn work(&mut self, vclock: &Vclock) -> Work {
        loop {
            if self.is_write_in_progress {
                if !self.is_fully_on_disk() {
                    if self.waits_before_voting() {
                        // Behind this write everything is durable that was written before: then the vote is judged again.
                        return Work::Write { term: self.term, vote: self.vote_before() };
                    }
                    self.judge_again(vclock);
                    if self.is_fully_on_disk() {
                        continue;
                    }
                    return Work::Write { term: self.term, vote: self.vote };
                }
                self.settle();
            }
            if self.is_broadcast_scheduled {
                self.is_broadcast_scheduled = false;
                return Work::Broadcast(self.announcement(vclock));
            }
            if !self.is_write_in_progress {
                return Work::Nothing;
            }
        }
    }

    /// A write that [`Raft::work`] ordered is durable.
    pub fn written(&mut self, term: u64, vote: Option<NodeId>) {
        assert!(self.is_write_in_progress, "only an ordered write comes back");
        assert!(term >= self.durable_term, "terms on disk do not go back");
        let is_barrier = self.wanted.is_some() && vote != self.vote;
        if let Some(wanted) = &mut self.wanted
            && is_barrier
        {
            *wanted = (wanted.0, true);
        }
        (self.durable_term, self.durable_vote) = (term, vote);
        // What is durable is visible, and it has changed.
        self.is_broadcast_scheduled = true;
        if self.is_fully_on_disk() {
            self.settle();
        }
    }

    /// The present state as others may know it: what is durable.
    pub fn announcement(&self, vclock: &Vclock) -> Announcement {
        Announcement {
            term: self.durable_term,
            vote: self.durable_vote,
            state: self.state,
            vclock: (self.state == Role::Candidate).then_some(*vclock),
            sees_leader: self.later.asks_witnesses.then(|| self.says_it_sees()),
        }
    }

    /// The timer went off. Nothing comes of one that was stopped: a held timer may be let go too late.
    pub fn timeout(&mut self) {
        if !self.watches() || self.state == Role::Leader || self.is_write_in_progress {
            return;
        }
        if self.later.asks_witnesses {
            self.lose_sight();
            if self.mode != Mode::Candidate {
                return;
            }
            if self.census.has_witness() || !self.census.reaches_quorum() {
                self.timer = Some(TimerOrder::Death);
                return;
            }
        }
        self.begin_election();
    }

    /// Somebody asks for an election, with this node for a candidate. Says why not, if not.
    pub fn campaign(&mut self) -> Result<(), &'static str> {
        if self.mode != Mode::Candidate {
            return Err("no candidate");
        }
        if self.state == Role::Leader {
            return Err("leads already");
        }
        self.begin_election();
        Ok(())
    }

    /// `source` shows that it is there. Only the leader counts.
    pub fn heartbeat(&mut self, source: NodeId) {
        if self.leader == Some(source) && self.census.sees_leader(self.id, true) && self.later.asks_witnesses
        {
            self.is_broadcast_scheduled = true;
        }
        let waits = self.watches() && self.state != Role::Leader;
        if waits && self.leader == Some(source) && !self.is_write_in_progress {
            self.timer = Some(TimerOrder::Death);
        }
    }

    /// `source` announces its state. `vclock` is what this node has durably.
    ///
    /// Returns why nothing came of it, if nothing did that the state itself shows.
    pub fn receive(&mut self, source: NodeId, said: &Announcement, vclock: &Vclock) -> Option<Skipped> {
        if said.term < self.term {
            return Some(Skipped::Outdated);
        }
        if said.term > self.term {
            self.schedule_new_term(said.term);
            if self.is_promoting && self.later.planted.is(Bug::PromoteForever) {
                self.begin_election();
                return Some(Skipped::Outdated);
            }
            self.is_promoting = false;
        }
        if let Some(sees) = said.sees_leader {
            self.census.sees_leader(source, sees);
            if sees && self.state == Role::Candidate && self.later.planted.is(Bug::WitnessStopsCandidate) {
                self.timer = Some(TimerOrder::Stop);
            }
        }
        if let Some(vote) = said.vote {
            self.census.chose(source, vote);
            self.notice_split();
        }
        let mut skipped = None;
        if let Some(vote) = said.vote {
            skipped = match self.state {
                Role::Candidate => self.count_vote(source, vote),
                _ => self.consider(said, vote, vclock),
            };
        }
        if said.state != Role::Leader {
            if self.leader == Some(source) {
                // It has resigned. Only a candidate clears it by a new term.
                assert!(
                    !self.later.planted.is(Bug::ResignDuringWrite) || !self.is_write_in_progress,
                    "a leader resigns only while nothing is written"
                );
                self.leader = None;
                self.census.sees_leader(self.id, false);
                if self.mode == Mode::Candidate {
                    self.begin_election();
                }
            }
            return skipped;
        }
        match self.leader {
            None => self.follow_leader(source),
            Some(leader) if leader == source => {}
            Some(_) => return Some(Skipped::Conflict),
        }
        None
    }

    fn consider(&mut self, said: &Announcement, vote: NodeId, vclock: &Vclock) -> Option<Skipped> {
        if self.mode == Mode::Off {
            return Some(Skipped::Off);
        }
        if self.leader.is_some() {
            return Some(Skipped::LeaderKnown);
        }
        if vote == self.id {
            return Some(Skipped::TooLate);
        }
        let Some(candidate_has) = said.vclock.filter(|_| said.state == Role::Candidate) else {
            return Some(Skipped::ForAnother);
        };
        if self.vote.is_some() {
            return Some(Skipped::Voted);
        }
        if !candidate_has.covers(vclock) {
            return Some(Skipped::Refused);
        }
        self.schedule_new_vote(vote);
        self.wanted = self.later.judges_votes_twice.then_some((candidate_has, false));
        None
    }

    fn count_vote(&mut self, source: NodeId, vote: NodeId) -> Option<Skipped> {
        if vote != self.id {
            return Some(Skipped::Competing);
        }
        self.votes |= 1 << source.position();
        if self.votes.count_ones() >= self.quorum {
            self.become_leader();
        }
        None
    }

    fn is_fully_on_disk(&self) -> bool {
        self.durable_term == self.term && self.durable_vote == self.vote
    }

    /// All is durable: now it shows what to become.
    fn settle(&mut self) {
        self.is_write_in_progress = false;
        if self.mode != Mode::Candidate {
            self.timer =
                (self.watches() && self.leader.is_some()).then_some(TimerOrder::Death).or(self.timer);
            return;
        }
        if self.leader.is_some() {
            self.timer = Some(TimerOrder::Death);
        } else if self.durable_vote == Some(self.id) {
            if self.quorum == 1 {
                self.become_leader()
            } else {
                self.become_candidate()
            }
            // Others may have chosen while the vote was written.
            self.notice_split();
        } else if self.durable_vote.is_some() {
            self.timer = Some(TimerOrder::ElectionEnd);
            self.notice_split();
        } else {
            self.schedule_new_vote(self.id);
        }
    }

    fn begin_election(&mut self) {
        self.elections += 1;
        self.schedule_new_term(self.term + 1);
        self.schedule_new_vote(self.id);
    }

    fn schedule_new_term(&mut self, term: u64) {
        assert!(term > self.term, "terms do not go back");
        self.term = term;
        self.vote = None;
        self.wanted = None;
        self.census.new_term();
        self.is_split = false;
        self.leader = None;
        self.state = Role::Follower;
        self.pause_and_dump();
        self.is_broadcast_scheduled = true;
    }

    fn schedule_new_vote(&mut self, vote: NodeId) {
        assert!(self.vote.is_none() && self.leader.is_none(), "a vote is free only once in a term");
        self.vote = Some(vote);
        self.wanted = None;
        self.census.chose(self.id, vote);
        self.state = Role::Follower;
        self.pause_and_dump();
    }

    fn pause_and_dump(&mut self) {
        if !self.is_write_in_progress {
            self.is_write_in_progress = true;
            self.timer = Some(TimerOrder::Stop);
        }
    }

    fn become_candidate(&mut self) {
        self.state = Role::Candidate;
        self.votes = 1 << self.id.position();
        self.timer = Some(TimerOrder::ElectionEnd);
        self.is_broadcast_scheduled = true;
    }

    fn become_leader(&mut self) {
        assert!(self.leader.is_none() && !self.is_write_in_progress, "a leader is elected once in a term");
        if self.quorum == 1 {
            self.votes = 1 << self.id.position();
        }
        self.state = Role::Leader;
        self.is_promoting = false;
        self.leader = Some(self.id);
        self.timer = Some(TimerOrder::Stop);
        self.is_broadcast_scheduled = true;
    }

    fn follow_leader(&mut self, leader: NodeId) {
        assert!(self.state != Role::Leader, "a leader follows nobody");
        self.state = Role::Follower;
        self.is_promoting = false;
        self.leader = Some(leader);
        self.census.sees_leader(self.id, true);
        if !self.is_write_in_progress && self.watches() {
            self.timer = Some(TimerOrder::Death);
        }
        self.is_broadcast_scheduled = true;
    }
}

mod later;

#[cfg(test)]
#[path = "raft_tests.rs"]
mod tests;
