//! What later releases brought to elections: votes judged twice, witnesses, early ends of split elections, resignation.

use super::{Mode, Raft, TimerOrder};
use crate::bug::Bug;
use crate::vclock::Vclock;
use whitewater_sim::{NodeId, Role};

impl Raft {
    /// Whether the vote is for another node and what was written before it may not be durable.
    pub(super) fn waits_before_voting(&self) -> bool {
        self.wanted.is_some_and(|(_, is_behind_barrier)| !is_behind_barrier)
    }

    /// What to write in place of a vote that waits.
    pub(super) fn vote_before(&self) -> Option<NodeId> {
        if self.durable_term == self.term { self.durable_vote } else { None }
    }

    /// Everything that was written before the vote is durable. The node may have rows by now that the candidate lacks.
    pub(super) fn judge_again(&mut self, vclock: &Vclock) {
        let Some((candidate_has, _)) = self.wanted.take() else { return };
        if !candidate_has.covers(vclock) && !self.later.planted.is(Bug::EarlyVote) {
            self.vote = None;
        }
    }

    /// Whether it finds out that its leader is gone.
    pub(super) fn watches(&self) -> bool {
        self.mode == Mode::Candidate || self.mode == Mode::Voter && self.later.asks_witnesses
    }

    /// What it tells others about the leader. Who takes no part in elections has no timer to find out that a leader is
    /// gone, so it must not say that it sees one.
    pub(super) fn says_it_sees(&self) -> bool {
        let may_tell = self.mode != Mode::Off || self.later.planted.is(Bug::BlindWitness);
        let sees = self.state == Role::Leader || self.census.is_witness(self.id);
        may_tell && self.leader.is_some() && sees
    }

    /// The leader was not heard of for too long. It may be there all the same, and leads this term until there is another
    /// one: whoever forgot it would refuse its rows when it is heard again, and nobody would tell it a second time.
    pub(super) fn lose_sight(&mut self) {
        if self.census.sees_leader(self.id, false) {
            self.is_broadcast_scheduled = true;
        }
    }

    /// A connection to a source begins or ends. Returns whether an election was called for it.
    pub fn connected(&mut self, source: NodeId, is_connected: bool) -> bool {
        self.census.connect(source, is_connected);
        if is_connected || !self.later.asks_witnesses {
            return false;
        }
        let is_blind = self.mode == Mode::Off && self.later.planted.is(Bug::BlindWitness);
        if self.leader == Some(source) && !is_blind {
            self.lose_sight();
        }
        let stands = self.mode == Mode::Candidate && self.state != Role::Leader && !self.is_write_in_progress;
        let calls = stands && !self.census.has_witness() && self.census.may_stand_alone();
        if calls {
            self.begin_election();
        }
        calls
    }

    /// Whether this node and those it is connected to are a quorum.
    pub fn reaches_quorum(&self) -> bool {
        self.census.reaches_quorum()
    }

    /// A leader leads no more, in the same term.
    pub fn resign(&mut self) -> bool {
        if self.state != Role::Leader {
            return false;
        }
        self.state = Role::Follower;
        self.leader = None;
        self.votes = 0;
        self.census.sees_leader(self.id, false);
        self.timer = Some(TimerOrder::ElectionEnd);
        self.is_broadcast_scheduled = true;
        true
    }

    /// Somebody promotes it by hand.
    pub fn promote(&mut self) -> Result<(), &'static str> {
        self.campaign()?;
        self.is_promoting = true;
        Ok(())
    }

    /// Its part in elections changes.
    pub fn set_mode(&mut self, mode: Mode) {
        assert!(
            !self.later.planted.is(Bug::ModeDuringWrite) || !self.is_write_in_progress,
            "the mode changes only while nothing is written"
        );
        self.mode = mode;
        if mode == Mode::Candidate {
            let waits = !self.is_write_in_progress && self.state != Role::Leader;
            self.timer = waits.then_some(TimerOrder::Death).or(self.timer);
            return;
        }
        if self.state != Role::Follower {
            self.leader = self.leader.filter(|&leader| leader != self.id);
            self.state = Role::Follower;
            self.votes = 0;
            self.is_broadcast_scheduled = true;
        }
        self.timer = Some(TimerOrder::Stop);
    }

    /// A term from an acknowledgement.
    pub fn hear_term(&mut self, term: u64) {
        if term > self.term {
            self.schedule_new_term(term);
        }
    }

    /// Calls a split election again early, once in a term.
    pub(super) fn notice_split(&mut self) {
        let stands = self.mode == Mode::Candidate && self.leader.is_none() && !self.is_write_in_progress;
        if self.later.notices_splits && stands && !self.is_split && self.census.is_split() {
            self.is_split = true;
            self.timer = Some(TimerOrder::Split);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Later, Work};
    use super::*;
    use crate::message::Announcement;

    const N1: NodeId = NodeId::server(0);
    const N2: NodeId = NodeId::server(1);

    fn later(later: Later) -> Raft {
        let mut raft = Raft::start(N1, Mode::Candidate, 3, 0, None).with(later, 2, 3);
        assert!(matches!(raft.work(&Vclock::default()), Work::Broadcast(_)));
        raft
    }

    fn request() -> Announcement {
        let vclock = Some(Vclock::default());
        Announcement { term: 1, vote: Some(N2), state: Role::Candidate, vclock, sees_leader: None }
    }

    #[test]
    fn a_vote_is_revoked_if_a_row_that_was_being_written_is_one_the_candidate_lacks() {
        let mut raft = later(Later { judges_votes_twice: true, ..Later::default() });
        assert_eq!(raft.receive(N2, &request(), &Vclock::default()), None);
        assert_eq!(raft.work(&Vclock::default()), Work::Write { term: 1, vote: None });
        raft.written(1, None);
        let mut rows = Vclock::default();
        rows.follow(N1, 1);
        assert!(!matches!(raft.work(&rows), Work::Write { vote: Some(vote), .. } if vote == N2));
        assert_ne!(raft.vote(), Some(N2));
    }

    #[test]
    fn a_vote_is_written_behind_everything_else() {
        let mut raft = later(Later { judges_votes_twice: true, ..Later::default() });
        raft.receive(N2, &request(), &Vclock::default());
        assert_eq!(raft.work(&Vclock::default()), Work::Write { term: 1, vote: None });
        raft.written(1, None);
        assert_eq!(raft.work(&Vclock::default()), Work::Write { term: 1, vote: Some(N2) });
    }

    #[test]
    fn a_node_that_is_told_of_a_leader_calls_no_election() {
        let mut raft = later(Later { asks_witnesses: true, ..Later::default() });
        raft.connected(N2, true);
        let said = Announcement {
            vote: None,
            state: Role::Follower,
            vclock: None,
            sees_leader: Some(true),
            term: 0,
        };
        raft.receive(N2, &said, &Vclock::default());
        raft.timeout();
        assert_eq!(raft.term(), 0);
        raft.receive(N2, &Announcement { sees_leader: Some(false), ..said }, &Vclock::default());
        raft.timeout();
        assert_eq!(raft.term(), 1);
    }

    #[test]
    fn a_leader_that_is_heard_again_is_still_the_leader() {
        let mut raft = later(Later { asks_witnesses: true, ..Later::default() });
        raft.connected(N2, true);
        let leads =
            Announcement { vote: None, state: Role::Leader, vclock: None, sees_leader: Some(true), term: 0 };
        raft.receive(N2, &leads, &Vclock::default());
        assert!(raft.says_it_sees());
        raft.connected(N2, false);
        assert!(!raft.says_it_sees());
        raft.connected(N2, true);
        raft.heartbeat(N2);
        assert!(raft.says_it_sees() && raft.allows_rows_of(N2));
    }

    #[test]
    fn a_leader_that_resigns_stays_in_its_term() {
        let mut raft = later(Later::default());
        assert!(!raft.resign());
        raft.timeout();
        while let Work::Write { term, vote } = raft.work(&Vclock::default()) {
            raft.written(term, vote);
        }
        let vote = Announcement { vote: Some(N1), state: Role::Follower, vclock: None, ..request() };
        raft.receive(N2, &vote, &Vclock::default());
        assert_eq!(raft.state(), Role::Leader);
        assert!(raft.resign());
        assert_eq!((raft.state(), raft.leader(), raft.term()), (Role::Follower, None, 1));
    }
}
