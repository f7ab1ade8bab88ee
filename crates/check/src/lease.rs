//! Leases: voters stand by a leader they have just heard of, and a leader stands down that its voters do not answer.
//!
//! A node takes the leader's word for as long as the shortest election timeout, and both by their own clocks: the rules count
//! the ticks that a node itself was given, so that no clock, and no disk that keeps it waiting, can mislead them.

use crate::change::Standing;
use crate::membership::Membership;
use crate::rule::{broken, switch_off};
use whitewater_sim::{NodeId, Role, SERVERS_MAX, Violation};

const VOTERS_LOYAL: (&str, &str) = (
    "voters-loyal",
    "Who has heard of its leader within the shortest election timeout neither votes for another nor enters its term, unless the \
     leader has said so.",
);
const LEADS_BY_CONTACT: (&str, &str) = (
    "leads-by-contact",
    "A leader that no quorum has answered in its own term for two election timeouts leads no more.",
);

const LEASE_GIVEN_AWAY: (&str, &str) = (
    "lease-given-away",
    "A leader that has told another to take over serves no read by its lease, which the other need not wait for.",
);

/// What a message that a core was given means to a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Its sender leads.
    Leader,
    /// Its sender asks for a vote or a pre-vote.
    Ballot {
        /// Because its leader told it to.
        takes_over: bool,
    },
    /// Anything else.
    Other,
}

/// A step of a server, as far as leases care.
#[derive(Clone, Copy, Debug)]
pub struct LeaseStep<'a> {
    /// Which.
    pub node: NodeId,
    /// How many ticks the shortest election timeout has.
    pub election_ticks: u32,
    /// Ticks that its core was given in this life.
    pub ticks: u64,
    /// The message it was given: from whom, of which term, and what it means.
    pub heard: Option<(NodeId, u64, Heard)>,
    /// Its part in elections before.
    pub before: &'a Standing,
    /// And now.
    pub after: &'a Standing,
    /// Its membership now; nobody votes in it if memberships never change.
    pub membership: &'a Membership,
    /// Whom it granted a pre-vote in this step.
    pub pre_vote_for: Option<NodeId>,
    /// While it hands over, a leader waits for another election timeout.
    pub hands_over: bool,
    /// Who was answered a read in the step in which it asked; looked for only in a term in which it has told another to take
    /// over.
    pub served_at_once: Option<NodeId>,
}

/// What a leader knows of its contacts, as anybody could see it.
#[derive(Clone, Copy, Debug, Default)]
struct Contacts {
    term: u64,
    /// At which of its ticks each server was heard of, by position; the beginning of the leadership if it was not.
    at: [u64; SERVERS_MAX],
    membership: Membership,
    /// Nothing can be wrong before this tick.
    good_until: u64,
}

/// The rules over leases. They ask for check-quorum: without it nobody promises anything.
#[derive(Clone, Debug)]
pub struct LeaseRules {
    servers: usize,
    /// By position: at which of its ticks a follower heard of the leader of its term last, of which term, and who that is.
    heard: [Option<(u64, u64, NodeId)>; SERVERS_MAX],
    leading: [Contacts; SERVERS_MAX],
    /// Rules that are switched off, by place in [`LeaseRules::rules`].
    blind: [bool; 3],
}

impl LeaseRules {
    /// Rules for a cluster of so many servers, none of which has started.
    pub fn new(servers: usize) -> LeaseRules {
        let leading = [Contacts::default(); SERVERS_MAX];
        LeaseRules { servers, heard: [None; SERVERS_MAX], leading, blind: [false; 3] }
    }

    /// Name and claim of each rule.
    pub const fn rules() -> [(&'static str, &'static str); 3] {
        [VOTERS_LOYAL, LEADS_BY_CONTACT, LEASE_GIVEN_AWAY]
    }

    /// Switches a rule off, if it is one of these; says whether it is.
    pub fn blind(&mut self, name: &str) -> bool {
        switch_off(&LeaseRules::rules(), &mut self.blind, name)
    }

    /// A server starts, or is gone: it has heard of nobody.
    pub fn forget(&mut self, node: NodeId) {
        self.heard[node.position()] = None;
        self.leading[node.position()] = Contacts::default();
    }

    /// Looks at a step.
    ///
    /// # Errors
    /// The rule that it breaks.
    #[inline]
    pub fn observe(&mut self, step: LeaseStep<'_>) -> Result<(), Violation> {
        if let Some((from, term, heard)) = step.heard {
            match heard {
                Heard::Leader if step.after.leader == Some(from) && step.after.term == term => {
                    self.heard[step.node.index()] = Some((step.ticks, term, from));
                }
                Heard::Ballot { takes_over: false } if !self.blind[0] => {
                    // A copy, here and below: most steps pass by without having to lie in memory.
                    let asked = step;
                    self.vote(&asked, (from, term))?;
                }
                _ => {}
            }
        }
        if step.after.role != Role::Leader {
            return Ok(());
        }
        if let Some(reader) = step.served_at_once.filter(|_| !self.blind[2]) {
            let served = step;
            self.serve(&served, reader)?;
        }
        if self.blind[1] || self.follow_contacts(&step) {
            return Ok(());
        }
        let lonely = step;
        self.lead(&lonely)
    }

    /// Who votes in a step.
    fn membership(&self, step: &LeaseStep<'_>) -> Membership {
        match step.membership.voters {
            0 => Membership::of_first(self.servers),
            _ => *step.membership,
        }
    }

    /// A leader that has given its lease away has served a read without asking anybody.
    #[inline(never)]
    fn serve(&self, step: &LeaseStep<'_>, reader: NodeId) -> Result<(), Violation> {
        let LeaseStep { node, after, .. } = step;
        // Who decides alone needs no lease.
        if self.membership(step).decides(1 << node.position()) {
            return Ok(());
        }
        let message = format!(
            "{node} leads term {}, in which it has told another to take over, and serves {reader} a read at once, as if its \
             lease still held",
            after.term
        );
        broken(LEASE_GIVEN_AWAY, *node, Some(reader), message)
    }

    /// A server was asked for a vote in a term.
    #[inline(never)]
    fn vote(&self, step: &LeaseStep<'_>, (candidate, asked_term): (NodeId, u64)) -> Result<(), Violation> {
        let LeaseStep { node, before, after, .. } = step;
        let Some((at, term, leader)) = self.heard[node.position()] else { return Ok(()) };
        let follows = before.role == Role::Follower && (before.term, before.leader) == (term, Some(leader));
        let lease = u64::from(step.election_ticks);
        // Whom it has voted for in this term it may say so once more: that takes nobody away from the leader.
        let repeats = asked_term <= before.term && before.vote == Some(candidate);
        if !follows || repeats || leader == candidate || step.ticks - at >= lease {
            return Ok(());
        }
        let voted = after.vote == Some(candidate) && (before.term, before.vote) != (after.term, after.vote);
        // The term of a candidate takes the leader away from whoever enters it, voting or not (Raft thesis, section 4.2.3).
        let entered = after.term == asked_term
            && after.term > before.term
            && (after.role, after.leader) == (Role::Follower, None);
        let deed = if voted {
            format!("gives {candidate} its vote in")
        } else if step.pre_vote_for == Some(candidate) {
            format!("gives {candidate} its pre-vote in")
        } else if entered {
            format!("follows {candidate}, who asks for its vote, into")
        } else {
            return Ok(());
        };
        let message = format!(
            "{node} {deed} term {}, and has heard of {leader}, who leads term {term}, {} of its ticks ago, when it stands by a \
             leader for {lease}",
            after.term,
            step.ticks - at
        );
        broken(VOTERS_LOYAL, *node, Some(candidate), message)
    }

    /// A server leads. Says whether it has been heard of long enough not to be looked at more closely.
    #[inline]
    fn follow_contacts(&mut self, step: &LeaseStep<'_>) -> bool {
        let (now, term) = (step.ticks, step.after.term);
        let known = &mut self.leading[step.node.index()];
        if known.term != term || step.before.role != Role::Leader {
            *known = Contacts { term, at: [now; SERVERS_MAX], ..Contacts::default() };
        }
        // Whoever is new counts as heard of, and during a transfer nobody looks.
        if known.membership != *step.membership || step.hands_over {
            (known.membership, known.at) = (*step.membership, [now; SERVERS_MAX]);
        }
        if let Some((from, heard_term, _)) = step.heard
            && heard_term == term
            && from.is_server()
        {
            known.at[from.index()] = now;
        }
        now < known.good_until
    }

    /// Who leads when nothing says that its quorum was there of late?
    #[inline(never)]
    fn lead(&mut self, step: &LeaseStep<'_>) -> Result<(), Violation> {
        let (now, term) = (step.ticks, step.after.term);
        let patience = 2 * u64::from(step.election_ticks) + 2;
        let membership = self.membership(step);
        let known = &mut self.leading[step.node.position()];
        let own = 1 << step.node.position();
        if membership.decides(own) {
            return Ok(());
        }
        // The tick since which a quorum was heard of: the latest one that the contacts from then on decide at.
        let reaches = |since: u64| {
            let recent = (0..SERVERS_MAX).filter(|&peer| known.at[peer] >= since);
            membership.decides(recent.fold(own, |set, peer| set | 1 << peer))
        };
        let since = known.at.iter().copied().filter(|&at| reaches(at)).max().unwrap_or(0);
        known.good_until = since + patience;
        if now <= known.good_until {
            return Ok(());
        }
        let message = format!(
            "{} leads term {term} with {membership}, and no quorum has answered it in that term for {} of its ticks: it \
             looks every {}",
            step.node,
            now - since,
            step.election_ticks
        );
        broken(LEADS_BY_CONTACT, step.node, None, message)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    const N1: NodeId = NodeId::server(0);
    const N2: NodeId = NodeId::server(1);
    const N3: NodeId = NodeId::server(2);

    fn follower(term: u64, leader: Option<NodeId>) -> Standing {
        Standing { term, leader, role: Role::Follower, ..Standing::default() }
    }

    fn leader(term: u64) -> Standing {
        Standing { term, leader: Some(N1), role: Role::Leader, ..Standing::default() }
    }

    /// Nobody votes in it, as memberships never change.
    const FIXED: &Membership = &Membership::of_first(0);

    fn step<'a>(node: NodeId, ticks: u64, before: &'a Standing, after: &'a Standing) -> LeaseStep<'a> {
        LeaseStep {
            node,
            election_ticks: 10,
            ticks,
            heard: None,
            before,
            after,
            membership: FIXED,
            pre_vote_for: None,
            hands_over: false,
            served_at_once: None,
        }
    }

    /// n2 hears of n1 at tick 10 and votes for n3 at `votes`.
    fn votes(votes: u64, ballot: Heard, pre: bool) -> Result<(), Violation> {
        let mut rules = LeaseRules::new(3);
        let follows = follower(4, Some(N1));
        let heard = Some((N1, 4, Heard::Leader));
        rules.observe(LeaseStep { heard, ..step(N2, 10, &follower(3, None), &follows) })?;
        let voted = Standing { vote: Some(N3), ..follower(5, None) };
        let (after, pre_vote_for) = if pre { (follows, Some(N3)) } else { (voted, None) };
        let heard = Some((N3, 5, ballot));
        rules.observe(LeaseStep { heard, pre_vote_for, ..step(N2, votes, &follows, &after) })
    }

    const ASKS: Heard = Heard::Ballot { takes_over: false };

    #[test]
    fn a_voter_that_deserts_a_leader_it_has_just_heard_of_is_found() {
        let rule = |votes: Result<(), Violation>| votes.err().map(|violation| violation.rule);
        assert_eq!(rule(votes(19, ASKS, false)), Some("voters-loyal"));
        assert_eq!(rule(votes(19, ASKS, true)), Some("voters-loyal"), "a pre-vote is support, too");
        assert_eq!(votes(20, ASKS, false), Ok(()), "ten of its ticks have passed");
        assert_eq!(votes(12, Heard::Ballot { takes_over: true }, false), Ok(()), "the leader has said so");
    }

    #[test]
    fn who_says_again_whom_it_voted_for_in_the_term_of_its_leader_is_loyal() {
        let mut rules = LeaseRules::new(3);
        let follows = Standing { vote: Some(N3), ..follower(5, Some(N1)) };
        let heard = Some((N1, 5, Heard::Leader));
        rules.observe(LeaseStep { heard, ..step(N2, 10, &follower(5, None), &follows) }).unwrap();
        // A request from before the election, late.
        let late = LeaseStep {
            heard: Some((N3, 5, ASKS)),
            pre_vote_for: Some(N3),
            ..step(N2, 11, &follows, &follows)
        };
        assert_eq!(rules.observe(late), Ok(()));
        let another = LeaseStep { heard: Some((N1, 5, Heard::Leader)), ..late };
        assert_eq!(rules.observe(another), Ok(()), "nobody asks");
        let next = LeaseStep { heard: Some((N3, 6, ASKS)), ..late };
        assert_eq!(rules.observe(next).unwrap_err().rule, "voters-loyal");
    }

    /// n2 hears of n1 at tick 10, is asked for a vote in term 5 by n3 at tick 19, and is `after` that.
    fn enters(ballot: Heard, after: Standing) -> Result<(), Violation> {
        let mut rules = LeaseRules::new(3);
        let follows = follower(4, Some(N1));
        let heard = Some((N1, 4, Heard::Leader));
        rules.observe(LeaseStep { heard, ..step(N2, 10, &follower(3, None), &follows) })?;
        let heard = Some((N3, 5, ballot));
        rules.observe(LeaseStep { heard, ..step(N2, 19, &follows, &after) })
    }

    #[test]
    fn a_voter_that_is_torn_from_its_leader_by_a_vote_it_refuses_is_found() {
        let violation = enters(ASKS, follower(5, None)).unwrap_err();
        assert_eq!((violation.rule, violation.peer), ("voters-loyal", Some(N3)));
        assert_eq!(enters(ASKS, follower(4, Some(N1))), Ok(()), "it is deaf to that");
        assert_eq!(enters(ASKS, follower(6, None)), Ok(()), "that is not the term of the candidate");
        assert_eq!(enters(ASKS, follower(5, Some(N1))), Ok(()), "it has heard of the leader of that term");
        let stands = Standing { role: Role::Candidate, ..follower(5, None) };
        assert_eq!(enters(ASKS, stands), Ok(()), "it stands itself");
        assert_eq!(enters(Heard::Ballot { takes_over: true }, follower(5, None)), Ok(()));
    }

    #[test]
    fn who_has_heard_of_another_term_meanwhile_owes_its_leader_nothing() {
        let mut rules = LeaseRules::new(3);
        let heard = Some((N1, 4, Heard::Leader));
        rules
            .observe(LeaseStep { heard, ..step(N2, 10, &follower(3, None), &follower(4, Some(N1))) })
            .unwrap();
        let voted = Standing { vote: Some(N3), ..follower(6, None) };
        let heard = Some((N3, 6, ASKS));
        let (homeless, follows) = (follower(5, None), follower(4, Some(N1)));
        let late = LeaseStep { heard, ..step(N2, 12, &homeless, &voted) };
        assert_eq!(rules.observe(late), Ok(()));
        rules.forget(N2);
        let restarted = LeaseStep { before: &follows, ..late };
        assert_eq!(rules.observe(restarted), Ok(()), "a start forgets whom one has heard of");
    }

    /// n1 leads from 0 on, n2 answers in `term` at tick 10, and n1 still leads at `until`.
    fn leads(term: u64, until: u64, hands_over: bool) -> Result<(), Violation> {
        let mut rules = LeaseRules::new(3);
        rules.observe(step(N1, 0, &follower(4, None), &leader(4)))?;
        let heard = Some((N2, term, Heard::Other));
        rules.observe(LeaseStep { heard, hands_over, ..step(N1, 10, &leader(4), &leader(4)) })?;
        rules.observe(step(N1, until, &leader(4), &leader(4)))
    }

    #[test]
    fn a_leader_that_goes_on_without_a_quorum_is_found() {
        let rule = |leads: Result<(), Violation>| leads.err().map(|violation| violation.rule);
        assert_eq!(rule(leads(4, 33, false)), Some("leads-by-contact"));
        assert_eq!(leads(4, 32, false), Ok(()), "two timeouts and two ticks have not passed");
        assert_eq!(rule(leads(3, 23, false)), Some("leads-by-contact"), "an answer of another term is none");
        assert_eq!(rule(leads(5, 23, false)), Some("leads-by-contact"), "nor is one of a later term");
        assert_eq!(leads(3, 32, true), Ok(()), "a transfer gives it time");
    }

    /// n1 has told another to take over, and answers somebody, or nobody, in the step in which it asks.
    fn serves(served_at_once: Option<NodeId>, membership: &Membership) -> Result<(), Violation> {
        let leads = leader(4);
        LeaseRules::new(3).observe(LeaseStep { membership, served_at_once, ..step(N1, 5, &leads, &leads) })
    }

    #[test]
    fn a_leader_that_gave_its_lease_away_and_serves_a_read_by_it_is_found() {
        let client = Some(NodeId::client(0));
        assert_eq!(serves(client, FIXED).unwrap_err().rule, "lease-given-away");
        assert_eq!(serves(None, FIXED), Ok(()), "it asks the others first");
        assert_eq!(serves(client, &Membership::of_first(1)), Ok(()), "it needs none");
    }

    #[test]
    fn what_is_blind_finds_nothing() {
        let mut rules = LeaseRules::new(3);
        assert!(rules.blind("leads-by-contact") && !rules.blind("no-rule"));
        for ticks in [0, 6_000] {
            assert_eq!(rules.observe(step(N1, ticks, &leader(4), &leader(4))), Ok(()));
        }
    }

    #[test]
    fn a_leader_that_votes_alone_leads_for_ever() {
        let mut rules = LeaseRules::new(3);
        let alone = &Membership::of_first(1);
        for ticks in [0, 100, 6_000] {
            let leads = leader(4);
            let alone = LeaseStep { membership: alone, ..step(N1, ticks, &leads, &leads) };
            assert_eq!(rules.observe(alone), Ok(()));
        }
    }

    type Breaking = fn() -> Result<(), Violation>;

    /// A run that breaks each rule, for the list of all messages.
    pub(crate) const RUNS: &[(&str, Breaking)] = &[
        ("voters-loyal", || votes(19, ASKS, false)),
        ("leads-by-contact", || leads(3, 23, false)),
        ("lease-given-away", || serves(Some(NodeId::client(0)), FIXED)),
    ];

    /// Runs in which a rule says something else than in those.
    pub(crate) const FURTHER: &[(&str, Breaking)] =
        &[("voters-loyal", || votes(19, ASKS, true)), ("voters-loyal", || enters(ASKS, follower(5, None)))];
}
