//! What nobody does once faults are over: stand for election without end or beside a leader, send a snapshot twice.

use crate::change::Standing;
use crate::log::RaftRules;
use crate::log_view::Stimulus;
use crate::membership::Membership;
use crate::rule::broken;
use whitewater_sim::{NodeId, Role, SERVERS_MAX, Span, Time, Violation};

/// The rules, name and claim each.
pub(crate) const CALM_RULES: [(&str, &str); 3] = [ELECTIONS, LEADER_KEPT, SNAPSHOT_ONCE];

const ELECTIONS: (&str, &str) = (
    "elections-bounded",
    "Once faults are over, a connected majority has a leader after a bounded number of elections.",
);
const LEADER_KEPT: (&str, &str) = (
    "leader-kept",
    "Once faults are over, nobody stands for election right after hearing from the leader of its term.",
);
const SNAPSHOT_ONCE: (&str, &str) = (
    "snapshot-sent-once",
    "Once faults are over, nobody is sent a snapshot again that it has long taken over.",
);

/// What a step of a server was, as far as these rules care.
#[derive(Clone, Copy, Debug)]
pub struct Witness<'a> {
    /// The server.
    pub node: NodeId,
    /// When.
    pub now: Time,
    /// What it was an answer to.
    pub stimulus: Stimulus,
    /// Whether it was told to stand for election: by a leader that hands over, or by a script.
    pub provoked: bool,
    /// The term of the append, heartbeat or snapshot that it received from a leader, if it did.
    pub heard: Option<u64>,
    /// Snapshots that it sent: to whom, and up to which index they reach.
    pub snapshots: &'a [(NodeId, u64)],
}

/// Limits of a phase of settling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The servers that owe progress, a bit each by position.
    pub(crate) core: u16,
    /// Elections that they may hold; `None` if somebody else disturbs them.
    pub(crate) elections: Option<u64>,
    /// Shortest election timeout.
    pub(crate) election_low: Span,
    /// See [`crate::Ground::round_trip`].
    pub(crate) round_trip: Span,
}

impl Limits {
    /// How long after hearing from its leader a server surely does not stand for election.
    ///
    /// An election timeout of n ticks, n at least 2, lasts at least n - 1 of them, as the first may have begun before: half
    /// of the shortest timeout. Clocks run at most a fifth too fast, which leaves 5/12 of it. This is 2/5: nothing is left
    /// to chance, and the probability of a false alarm is 0.
    fn quiet(&self) -> Span {
        self.election_low.part(5).times(2)
    }

    /// How long after a peer has taken over a snapshot its leader surely knows.
    ///
    /// The peer answers when it has it, and nothing is lost: that takes half a round trip. Four times as much leaves nothing
    /// to chance either.
    fn knowledge(&self) -> Span {
        self.round_trip.times(2)
    }
}

/// A snapshot that was sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    from: NodeId,
    to: NodeId,
    term: u64,
    index: u64,
    /// The membership in which it was sent: who leaves and comes again is told everything anew.
    membership: Option<Membership>,
    at: Time,
    /// When its receiver was first seen to have all of it.
    taken: Option<Time>,
}

impl Sent {
    fn is_same(&self, other: &Sent) -> bool {
        let name = |sent: &Sent| (sent.from, sent.to, sent.term, sent.index, sent.membership);
        name(self) == name(other)
    }
}

/// Watches a phase of settling.
#[derive(Clone, Debug)]
pub(crate) struct Calm {
    limits: Limits,
    /// Elections since the phase began, and the term of the last one.
    elections: (u64, u64),
    /// By position: how the server stood, and when it last heard from the leader of which term.
    seen: [Standing; SERVERS_MAX],
    heard: [Option<(Time, u64)>; SERVERS_MAX],
    snapshots: Vec<Sent>,
}

impl Calm {
    pub(crate) fn begin(limits: Limits, rules: &RaftRules) -> Calm {
        let standing = |position| rules.standing(NodeId::server(position));
        let seen: [Standing; SERVERS_MAX] = std::array::from_fn(standing);
        let highest = seen.iter().map(|standing| standing.term).max().unwrap_or(0);
        Calm { limits, elections: (0, highest), seen, heard: [None; SERVERS_MAX], snapshots: Vec::new() }
    }

    /// Whether a step changed the part of its server in elections.
    #[inline]
    pub(crate) fn is_news(&self, witness: &Witness<'_>, rules: &RaftRules) -> bool {
        self.seen[witness.node.position()] != rules.standing(witness.node)
            || witness.stimulus == Stimulus::Booted
    }

    /// Looks at a step, after the rules have.
    ///
    /// # Errors
    /// The rule that is broken.
    pub(crate) fn observe(&mut self, witness: &Witness<'_>, rules: &RaftRules) -> Result<(), Violation> {
        let place = witness.node.position();
        let after = rules.standing(witness.node);
        let before = std::mem::replace(&mut self.seen[place], after);
        if witness.stimulus == Stimulus::Booted {
            self.heard[place] = None;
            self.snapshots.retain(|sent| sent.from != witness.node && sent.to != witness.node);
        } else if before != after && self.owes(witness.node) && !witness.provoked {
            self.check_candidate(witness, &before, &after)?;
        }
        if witness.heard == Some(after.term) {
            self.heard[place] = Some((witness.now, after.term));
        }
        self.follow_snapshots(witness, rules)
    }

    fn owes(&self, node: NodeId) -> bool {
        self.limits.core & 1 << node.position() != 0
    }

    fn check_candidate(
        &mut self,
        witness: &Witness<'_>,
        before: &Standing,
        after: &Standing,
    ) -> Result<(), Violation> {
        let (node, now, term) = (witness.node, witness.now, before.term);
        let stands = |role| matches!(role, Role::PreCandidate | Role::Candidate);
        if before.role == Role::Follower
            && stands(after.role)
            && let Some((heard, _)) = self.heard[node.position()].filter(|&(_, known)| known == term)
            && now.since(heard) < self.limits.quiet()
        {
            let message = format!(
                "{node} stands for election at {now}, and at {heard} it heard from the leader of its term {term}, when \
                 the shortest election timeout is {}",
                self.limits.election_low
            );
            return broken(LEADER_KEPT, node, before.leader, message);
        }
        let begins = after.term > term && matches!(after.role, Role::Candidate | Role::Leader);
        if !begins || after.term <= self.elections.1 {
            return Ok(());
        }
        self.elections = (self.elections.0 + 1, after.term);
        let (count, term) = self.elections;
        match self.limits.elections {
            Some(most) if count > most => {
                let message = format!(
                    "{node} begins election {count} since faults are over, in term {term} at {}, and {most} are enough",
                    witness.now
                );
                broken(ELECTIONS, node, None, message)
            }
            _ => Ok(()),
        }
    }

    fn follow_snapshots(&mut self, witness: &Witness<'_>, rules: &RaftRules) -> Result<(), Violation> {
        let (node, now) = (witness.node, witness.now);
        for sent in self.snapshots.iter_mut().filter(|sent| sent.to == node) {
            // What is not durable has not been acknowledged.
            let standing = rules.log_standing(node);
            let has_it = standing.commit.min(standing.durable_index) >= sent.index;
            sent.taken = if has_it { sent.taken.or(Some(now)) } else { None };
        }
        for &(to, index) in witness.snapshots {
            let sent = Sent {
                from: node,
                to,
                term: rules.standing(node).term,
                index,
                membership: rules.membership(node),
                at: now,
                taken: None,
            };
            let Some(place) = self.snapshots.iter().position(|before| before.is_same(&sent)) else {
                self.snapshots.push(sent);
                continue;
            };
            let Sent { at: first, taken, .. } = self.snapshots[place];
            self.snapshots[place].at = now;
            let is_known = |taken: &Time| now.since(first.max(*taken)) > self.limits.knowledge();
            if let Some(taken) = taken.filter(is_known).filter(|_| self.owes(node) && self.owes(to)) {
                let message = format!(
                    "{node} sends the snapshot up to entry {index} to {to} at {now}, after it did at {first}, and {to} \
                     has had all of it since {taken}"
                );
                return broken(SNAPSHOT_ONCE, node, Some(to), message);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::testing::{N1, N2, N3, Run};

    const LIMITS: Limits = Limits {
        core: 0b111,
        elections: Some(3),
        election_low: Span::from_millis(100),
        round_trip: Span::from_millis(20),
    };

    /// A run that settles.
    struct Settling {
        run: Run,
        calm: Calm,
    }

    impl Settling {
        fn new() -> Settling {
            let mut run = Run::new();
            for (node, role) in [(N1, Role::Leader), (N2, Role::Follower), (N3, Role::Follower)] {
                run.step(node, |n| {
                    n.enter(1, role);
                    n.append(if node == N1 { &[1; 9] } else { &[] });
                    n.leader = Some(N1);
                })
                .unwrap();
            }
            let calm = Calm::begin(LIMITS, &run.rules);
            Settling { run, calm }
        }

        fn see(&mut self, witness: Witness<'_>) -> Option<&'static str> {
            self.calm.observe(&witness, &self.run.rules).err().map(|violation| violation.rule)
        }

        /// A server hears from the leader of its term.
        fn hear(&mut self, node: NodeId, millis: u64) {
            let term = self.run.rules.standing(node).term;
            assert_eq!(self.see(Witness { heard: Some(term), ..witness(node, millis) }), None);
        }

        /// A server stands for election in the next term.
        fn stand(&mut self, node: NodeId, millis: u64, provoked: bool) -> Option<&'static str> {
            let term = self.run.rules.standing(node).term + 1;
            self.run.step(node, |n| n.enter(term, Role::Candidate)).unwrap();
            self.see(Witness { provoked, ..witness(node, millis) })
        }

        fn send(&mut self, millis: u64, index: u64) -> Option<&'static str> {
            self.see(Witness { snapshots: &[(N2, index)], ..witness(N1, millis) })
        }

        /// The second server has committed so much.
        fn take(&mut self, millis: u64, commit: u64) {
            self.run.rules.blind("committed-on-quorum").unwrap();
            self.run
                .step(N2, |n| {
                    n.append(&vec![1; commit as usize]);
                    (n.commit, n.applied) = (commit, commit);
                })
                .unwrap();
            assert_eq!(self.see(witness(N2, millis)), None);
        }
    }

    fn witness(node: NodeId, millis: u64) -> Witness<'static> {
        Witness {
            node,
            now: Time::from_millis(millis),
            stimulus: Stimulus::Other,
            provoked: false,
            heard: None,
            snapshots: &[],
        }
    }

    #[test]
    fn who_has_just_heard_from_its_leader_does_not_stand_for_election() {
        let stands = |after_millis: u64, provoked| {
            let mut settling = Settling::new();
            settling.hear(N2, 1_000);
            settling.stand(N2, 1_000 + after_millis, provoked)
        };
        assert_eq!(stands(39, false), Some("leader-kept"));
        assert_eq!(stands(40, false), None, "its clock may run fast");
        assert_eq!(stands(5, true), None, "a leader that hands over says so");
    }

    #[test]
    fn what_a_server_heard_before_it_started_or_in_another_term_does_not_bind_it() {
        let mut settling = Settling::new();
        settling.hear(N2, 1_000);
        settling.run.crash(N2);
        settling.run.boot(N2, |_| {}).unwrap();
        settling.see(Witness { stimulus: Stimulus::Booted, ..witness(N2, 1_001) });
        assert_eq!(settling.stand(N2, 1_002, false), None);
        settling.see(Witness { heard: Some(1), ..witness(N3, 1_003) });
        settling.run.step(N3, |n| n.enter(2, Role::Follower)).unwrap();
        settling.see(witness(N3, 1_004));
        assert_eq!(settling.stand(N3, 1_005, false), None);
    }

    #[test]
    fn one_election_more_than_are_enough_is_one_too_many() {
        let mut settling = Settling::new();
        for round in 1..=3 {
            assert_eq!(settling.stand(N2, round * 200, false), None);
            assert_eq!(settling.stand(N3, round * 200 + 1, false), None, "it is the same election");
        }
        assert_eq!(settling.stand(N2, 900, false), Some("elections-bounded"));
        let mut disturbed = Settling::new();
        disturbed.calm.limits.elections = None;
        for round in 1..=9 {
            assert_eq!(disturbed.stand(N2, round * 200, false), None);
        }
    }

    #[test]
    fn a_snapshot_that_was_taken_over_long_ago_is_not_sent_again() {
        let again = |index, millis: u64| {
            let mut settling = Settling::new();
            assert_eq!(settling.send(1_000, 5), None);
            settling.take(1_010, 5);
            settling.send(millis, index)
        };
        assert_eq!(again(5, 1_051), Some("snapshot-sent-once"));
        assert_eq!(again(5, 1_050), None, "its leader may not know yet");
        assert_eq!(again(6, 1_051), None, "it is another one");
        let mut lost = Settling::new();
        assert_eq!(lost.send(1_000, 5), None);
        lost.take(1_010, 4);
        assert_eq!(lost.send(1_500, 5), None, "who has not got it is sent it again");
        let mut slow = Settling::new();
        assert_eq!(slow.send(1_000, 5), None);
        slow.take(1_010, 5);
        slow.run.step(N2, |n| n.durable_index = 4).unwrap();
        slow.see(witness(N2, 1_011));
        assert_eq!(slow.send(1_500, 5), None, "what is not durable is not acknowledged");
    }
}
