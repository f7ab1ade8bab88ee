//! Elections and pre-elections: standing, voting, counting (Raft paper, section 5.2; thesis, section 9.6).

use crate::bug::planted;
use crate::entry::EntryId;
use crate::error::StepError;
use crate::identity::{NONE, NodeId};
use crate::message::{Message, MessageKind};
use crate::quorum::VoteResult;
use crate::raft::Raft;
use crate::state::Role;
use crate::storage::Storage;

/// Why and how a node stands for election.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Campaign {
    /// Asks whether it could win, first.
    PreElection,
    /// Stands for election.
    Election,
    /// Stands for election because its leader said so: others are to listen in spite of their lease.
    Transfer,
}

impl<S: Storage> Raft<S> {
    /// The timeout passed, or the owner wants this node to lead.
    pub(crate) fn hup(&mut self) {
        let campaign = if self.config.pre_vote { Campaign::PreElection } else { Campaign::Election };
        self.hup_with(campaign);
    }

    /// Stands for election, unless this node leads already or must not lead.
    pub(crate) fn hup_with(&mut self, campaign: Campaign) {
        if self.role == Role::Leader && !planted!(self.log.planted, SeedE1) {
            return;
        }
        // A change that is committed but not applied may have taken this node's vote away, or given others theirs: a majority
        // of the old configuration might not meet a majority of the new one.
        if !self.is_promotable() || self.log.has_unapplied_conf_change() {
            return;
        }
        self.campaign(campaign);
    }

    fn campaign(&mut self, campaign: Campaign) {
        let (kind, response, term) = if campaign == Campaign::PreElection {
            self.become_pre_candidate();
            (MessageKind::PreVote, MessageKind::PreVoteResponse, self.term + 1)
        } else {
            self.become_candidate();
            (MessageKind::Vote, MessageKind::VoteResponse, self.term)
        };
        let last = self.log.last_id();
        let mut peers = std::mem::take(&mut self.tracker.peers);
        for peer in &peers {
            if !self.tracker.configuration.voters.contains(peer.id) {
                continue;
            }
            // The own vote counts once it is durable, like everybody's.
            let own = peer.id == self.id;
            let mut request = self.message(if own { response } else { kind }, peer.id);
            request.term = term;
            if !own {
                request.index = last.index;
                request.log_term = last.term;
                request.transfer = campaign == Campaign::Transfer;
                request.context = self.config.priority.cast_unsigned();
            }
            self.send(request);
        }
        std::mem::swap(&mut self.tracker.peers, &mut peers);
    }

    /// Somebody asks for this node's vote.
    pub(crate) fn handle_vote_request(&mut self, request: &Message) {
        let real = request.kind == MessageKind::Vote;
        let response = if real { MessageKind::VoteResponse } else { MessageKind::PreVoteResponse };
        let mut response = self.message(response, request.from);
        if self.may_vote_for(request) && self.is_worthy(request) {
            // The term of the request: after a pre-vote this node's own is lower, and would be ignored.
            response.term = request.term;
            if real {
                self.clock.election_elapsed = 0;
                self.vote = request.from;
            }
        } else {
            response.reject = true;
        }
        self.send(response);
    }

    /// Whether the vote is still free for this candidate.
    fn may_vote_for(&self, request: &Message) -> bool {
        if planted!(self.log.planted, LearnersAbstain)
            && self.tracker.get(self.id).is_some_and(|own| own.is_learner)
        {
            return false;
        }
        let repeats = self.vote == request.from;
        let free = self.vote == NONE && self.leader == NONE;
        // A pre-vote promises nothing, so a future term needs no free vote.
        let future = request.kind == MessageKind::PreVote && request.term > self.term;
        repeats || free || future
    }

    /// Whether the candidate's log is as recent as this one, and its priority high enough where logs are equal.
    ///
    /// Learners vote, too: a candidate asks only those it knows to be voters, and may know more than this node.
    fn is_worthy(&self, request: &Message) -> bool {
        let theirs = EntryId { term: request.log_term, index: request.index };
        (self.log.is_up_to_date(theirs) || planted!(self.log.planted, E08))
            && (theirs.index > self.log.last_index() || self.config.priority <= request.context.cast_signed())
    }

    pub(crate) fn step_as_candidate(&mut self, message: &mut Message) -> Result<(), StepError> {
        // Late answers to the pre-election must not count in the election.
        let awaited = match self.role {
            Role::PreCandidate => MessageKind::PreVoteResponse,
            _ => MessageKind::VoteResponse,
        };
        match message.kind {
            MessageKind::Propose => return Err(StepError::ProposalDropped),
            MessageKind::Append | MessageKind::Heartbeat | MessageKind::Snapshot => {
                // The term has a leader, so this candidate lost.
                self.become_follower(self.term, message.from);
                return self.step_as_follower(message);
            }
            kind if kind == awaited => self.count_vote(message.from, !message.reject),
            // Among them TimeoutNow: this node stands already.
            _ => {}
        }
        Ok(())
    }

    fn count_vote(&mut self, from: NodeId, granted: bool) {
        self.votes.record(from, granted);
        match self.votes.result(&self.tracker.configuration.voters) {
            VoteResult::Pending => {}
            VoteResult::Won if self.tracker.get(self.id).is_none() => {
                // Removed while the votes came in: nobody would hear of the victory.
                self.become_follower(self.term, NONE);
            }
            VoteResult::Won if self.role == Role::PreCandidate => self.campaign(Campaign::Election),
            VoteResult::Won => {
                self.become_leader();
                self.broadcast_append();
            }
            VoteResult::Lost => self.become_follower(self.term, NONE),
        }
    }

    /// The leader asks this node to take over at once; nobody has to be asked first, as nobody is lost.
    pub(crate) fn handle_timeout_now(&mut self) {
        self.hup_with(Campaign::Transfer);
    }

    /// Stops following without raising the term, so that somebody else can be elected at once.
    pub(crate) fn forget_leader(&mut self) -> Result<(), StepError> {
        if self.role != Role::Follower {
            return Ok(());
        }
        if self.reads_by_lease() {
            // The leader may serve reads on the promise that nobody votes.
            return Err(StepError::LeaseReads);
        }
        self.leader = NONE;
        Ok(())
    }
}
