//! Progress that is owed once faults are over: a leader, and its rows on every follower it reaches.
//!
//! What is owed follows from options, topology and timing alone. A core - a majority that is wholly connected, with nobody
//! else reaching into it - owes a leader if a majority of it could vote for one of its candidates, and if the script gives
//! it enough time for the elections this may take. A follower owes the leader's rows once both have stood for
//! [`Settings::catch_up_bound`].

use super::{claims, is_majority, rounded};
use crate::node::RelayNode;
use crate::queue::Queue;
use crate::raft::Mode;
use crate::settings::{Settings, settle_delay};
use crate::vclock::Vclock;
use whitewater_check::{Change, Core, ElectionView, Obstructions, rounds_needed};
use whitewater_sim::{Cluster, NodeId, Role, SERVERS_MAX, Script, Span, Time, Violation};

/// No majority is wholly connected and left alone by the others.
const NO_CORE: &str = "no-majority";
/// Nobody of the majority has all rows that those who vote have.
const NOBODY_ELECTABLE: &str = "nobody-electable";
/// What it may take needs more time than the script gives.
const TOO_LITTLE_TIME: &str = "too-little-time";

/// By number of members of a core from three on: chances, in thousandths and rounded down, that one, two and more servers
/// all hear of a new term from the candidate before they hear of it from somebody else, who passes it on to everybody.
///
/// Who hears of it elsewhere first and stands for election votes for itself. If every message takes a time that is drawn
/// evenly from nothing to a longest one, these are the chances that the direct way to each of them is the shortest of all
/// ways over the other servers; counted in 30,000 drawn clusters of each size. Writing on the way makes detours longer.
const DIRECTLY_HEARD: [&[u64]; 7] = [
    &[830],
    &[700, 470],
    &[600, 345],
    &[525, 258, 126],
    &[460, 200, 84],
    &[415, 162, 58, 21],
    &[370, 128, 41, 12],
];

/// How things stand with what is owed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owed {
    /// Everything is there.
    Paid,
    /// It is not there, and not owed: why.
    Nothing(&'static str),
    /// It is not there yet.
    Waiting(Violation),
}

/// What is owed in a run.
#[derive(Debug)]
pub struct Debts {
    obstructions: Obstructions,
    limit: Span,
    pub(super) catch_up: Span,
    /// Part of the random wait in which a second candidate spoils an election, in thousandths.
    clash_permille: u64,
    /// Longest round of an election.
    round: Span,
    began: Time,
    /// For each server since when it is up, and leads if it does.
    stands: Vec<Time>,
    overdue: Option<Violation>,
}

impl Debts {
    pub(super) fn new(settings: &Settings, script: &Script) -> Debts {
        // From the moment a candidate's timer goes off until its request is known to another one.
        let spoiled = script.disk.high + settings.queue_delay.times(4) + settle_delay(script);
        let shift = (settings.election_high - settings.election_low).nanos().max(1);
        let timing = settings.timing();
        Debts {
            obstructions: Obstructions::of(script),
            limit: script.settle.limit,
            catch_up: settings.catch_up_bound(script),
            clash_permille: (spoiled.nanos() * 1_000 / shift).min(1_000),
            round: timing.election_high + spoiled.times(2),
            began: Time::ZERO,
            stands: vec![Time::ZERO; SERVERS_MAX],
            overdue: None,
        }
    }

    /// A phase in which progress is owed begins.
    pub(super) fn begin(&mut self, now: Time) {
        self.began = now;
        self.overdue = None;
    }

    /// What a follower has owed for longer than its bound.
    pub(super) fn overdue(&mut self) -> Option<Violation> {
        self.overdue.take()
    }

    /// A node has crashed.
    pub(super) fn forget(&mut self, node: NodeId) {
        self.stands[node.index()] = Time::MAX;
    }

    pub(super) fn observe(&mut self, node: NodeId, change: &Change<'_>, fresh: bool, now: Time) {
        let led = change.before.role == Role::Leader && change.before.term == change.after.term;
        if fresh || (change.after.role == Role::Leader) != led {
            self.stands[node.index()] = now;
        }
    }

    /// How things stand.
    pub(super) fn owed(&mut self, now: Time, cluster: &Cluster<RelayNode>) -> Owed {
        let Some(core) = Core::of(cluster, &self.obstructions) else { return Owed::Nothing(NO_CORE) };
        match self.leader(&core, cluster) {
            Some(leader) => self.rows(leader, &core, now, cluster),
            None => self.election(&core, now, cluster),
        }
    }

    /// The leader of the highest term that somebody in the core leads.
    fn leader(&self, core: &Core, cluster: &Cluster<RelayNode>) -> Option<NodeId> {
        let leads = |&node: &NodeId| {
            let view = cluster.view(node).filter(|view| view.role() == Role::Leader)?;
            Some((node, view.term()))
        };
        latest(core.members.iter().filter_map(leads))
    }

    fn rows(&mut self, leader: NodeId, core: &Core, now: Time, cluster: &Cluster<RelayNode>) -> Owed {
        let source = cluster.view(leader).expect("members of a core are up");
        let behind = core
            .members
            .iter()
            .copied()
            .find(|&node| cluster.view(node).is_some_and(|view| !view.vclock().covers(source.vclock())));
        let Some(node) = behind else { return self.queue(leader, core, now, cluster) };
        let since = self.began.max(self.stands[leader.index()]).max(self.stands[node.index()]);
        let waited = now.since(since);
        let violation = self.stranded(node, leader, waited, cluster);
        self.lags(violation, waited, now)
    }

    /// All have the same rows: nothing may wait in the queue any more, nor may it be claimed by somebody who leads no more.
    fn queue(&mut self, leader: NodeId, core: &Core, now: Time, cluster: &Cluster<RelayNode>) -> Owed {
        let term = cluster.view(leader).map_or(0, |view| view.term());
        let is_open = |node: &NodeId| {
            let queue = cluster.view(*node).and_then(|view| view.queue());
            queue.is_some_and(|queue| is_undrained(queue, term))
        };
        let Some(&node) = core.members.iter().find(|node| is_open(node)) else { return Owed::Paid };
        let waited = now.since(self.began.max(self.stands[leader.index()]).max(self.stands[node.index()]));
        let claimed = cluster.view(node).and_then(|view| view.queue()).map_or(0, Queue::term);
        let message = undrained(node, claimed, waited, (leader, term));
        let (rule, claim) = claims::QUEUE_DRAINS;
        self.lags(Violation { rule, claim, message, node: Some(node), peer: Some(leader) }, waited, now)
    }

    /// A follower has lagged behind for so long.
    fn lags(&mut self, violation: Violation, waited: Span, now: Time) -> Owed {
        if waited > self.catch_up {
            self.overdue = Some(violation.clone());
        } else if now >= self.deadline() {
            return Owed::Nothing(TOO_LITTLE_TIME);
        }
        Owed::Waiting(violation)
    }

    fn stranded(
        &self,
        node: NodeId,
        leader: NodeId,
        waited: Span,
        cluster: &Cluster<RelayNode>,
    ) -> Violation {
        let view = |node| cluster.view(node).expect("members of a core are up");
        let (follower, source) = (view(node), view(leader));
        let missing = follower.vclock().missing_from(source.vclock());
        let all = source.vclock().total();
        let (terms, known) = ((source.term(), follower.term()), follower.leader());
        lagging((node, leader), terms, known, (missing, all), waited)
    }

    fn election(&self, core: &Core, now: Time, cluster: &Cluster<RelayNode>) -> Owed {
        let views = core.members.iter().filter_map(|&node| cluster.view(node));
        let members: Vec<(Mode, Vclock)> = views.map(|view| (view.mode(), *view.vclock())).collect();
        named(self.leaderless(now, chances(&members, cluster.server_count())), core)
    }

    fn leaderless(&self, now: Time, chances: Chances) -> Owed {
        let waited = now.since(self.began);
        let Chances { candidates, electable, granted_permille } = chances;
        let rounds = rounds_needed(candidates, electable, self.clash_permille, granted_permille);
        let is_owed = match rounds {
            Some(rounds) => self.catch_up.times(2) + self.round.times(rounds) <= self.limit,
            // What is still being written may yet make somebody electable.
            None if waited <= self.round.times(2) => true,
            None => return Owed::Nothing(NOBODY_ELECTABLE),
        };
        if !is_owed && now >= self.deadline() {
            return Owed::Nothing(TOO_LITTLE_TIME);
        }
        let (rule, claim) = claims::LEADER_ELECTED;
        let message = format!("a majority is connected and has had no leader for {}", rounded(waited));
        Owed::Waiting(Violation { rule, claim, message, node: None, peer: None })
    }

    fn deadline(&self) -> Time {
        self.began + self.limit
    }
}

/// Of leaders, each with its term, that of the highest one.
fn latest(leaders: impl Iterator<Item = (NodeId, u64)>) -> Option<NodeId> {
    leaders.max_by_key(|&(_, term)| term).map(|(node, _)| node)
}

/// Whether rows wait in a queue, or another term has it than the one that somebody leads.
fn is_undrained(queue: &Queue, led: u64) -> bool {
    queue.last_waiting().is_some() || queue.term() != led
}

/// What decides how many elections a core may need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Chances {
    /// Members that stand for election.
    candidates: u64,
    /// Those of them that could win.
    electable: u64,
    /// The chance that one of these gets the votes it needs if nobody else's timer goes off, in thousandths.
    granted_permille: u64,
}

/// The chances of a core: to win one needs a majority of all servers, counted among those that vote and have nothing that it
/// lacks. Of the other candidates as many may vote for themselves as there are more votes than that.
fn chances(members: &[(Mode, Vclock)], servers: usize) -> Chances {
    let votes = |has: &Vclock| {
        members.iter().filter(|(mode, theirs)| *mode != Mode::Off && has.covers(theirs)).count()
    };
    let candidates = members.iter().filter(|(mode, _)| *mode == Mode::Candidate);
    let count = candidates.clone().count();
    let electable: Vec<usize> =
        candidates.map(|(_, has)| votes(has)).filter(|&votes| is_majority(votes, servers)).collect();
    let fewest = electable.iter().copied().min().unwrap_or(0);
    let spare = fewest.saturating_sub(servers / 2 + 1);
    let rivals = count.saturating_sub(1 + spare);
    let granted_permille = match (DIRECTLY_HEARD.get(members.len().wrapping_sub(3)), rivals) {
        (_, 0) | (None, _) => 1_000,
        (Some(chances), rivals) => chances[rivals.min(chances.len()) - 1],
    };
    Chances { candidates: count as u64, electable: electable.len() as u64, granted_permille }
}

/// A follower of a leader, with the terms they are in, lacks some of so many rows and takes somebody for the leader.
fn lagging(
    (node, leader): (NodeId, NodeId),
    (led, term): (u64, u64),
    known: Option<NodeId>,
    (missing, all): (u64, u64),
    waited: Span,
) -> Violation {
    let rows = match missing == all {
        true => format!("has applied none of its {all} row{}", if all == 1 { "" } else { "s" }),
        false => format!("has not applied {missing} of its {all} rows"),
    };
    let term = if term == led { "in that term".to_owned() } else { format!("in term {term}") };
    let knows = match known {
        Some(known) if known == leader => "knows that it leads".to_owned(),
        Some(known) => format!("takes {known} for the leader"),
        None => "knows no leader".to_owned(),
    };
    let message = format!(
        "{node} is up, connected to leader {leader} of term {led}, {term} and {knows}, but {rows} for {}",
        rounded(waited),
    );
    let (rule, claim) = claims::FOLLOWER_CATCHES_UP;
    Violation { rule, claim, message, node: Some(node), peer: Some(leader) }
}

/// What does not come to an end in the queue of a node, where somebody leads a term: rows that wait, or a claim of an earlier
/// term.
fn undrained(node: NodeId, claimed: u64, waited: Span, (leader, term): (NodeId, u64)) -> String {
    let what = match claimed {
        0 => format!("the queue of {node} is not claimed"),
        claimed if claimed == term => format!("rows wait in the queue of {node}"),
        claimed => format!("the queue of {node} is claimed in term {claimed}"),
    };
    format!("{what} for {}, and {leader} leads term {term}", rounded(waited))
}

/// The same, with those who could have elected a leader.
fn named(owed: Owed, core: &Core) -> Owed {
    let Owed::Waiting(violation) = owed else { return owed };
    let names: Vec<String> = core.members.iter().map(NodeId::to_string).collect();
    let message = format!("{}, {}", violation.message, names.join(" "));
    Owed::Waiting(Violation { message, ..violation })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::bug::Planted;
    use crate::row::Row;
    use whitewater_sim::Options;

    fn debts(limit: Span) -> Debts {
        let mut script = Script::default();
        script.settle.limit = limit;
        Debts::new(&Settings::new(&Options::new(), script.servers), &script)
    }

    fn after(debts: &Debts, share: u64) -> Time {
        debts.began + debts.limit.times(share).part(100)
    }

    /// Three candidates, so many of whom could win, and nobody is needed who may stand as well.
    fn left_alone(electable: u64) -> Chances {
        Chances { candidates: 3, electable, granted_permille: 1_000 }
    }

    /// Of members of a cluster of three: candidates, and those who could win.
    fn counted(members: &[(Mode, Vclock)]) -> (u64, u64) {
        let Chances { candidates, electable, .. } = chances(members, 3);
        (candidates, electable)
    }

    fn with_row_of(positions: &[usize]) -> Vclock {
        let mut vclock = Vclock::default();
        positions.iter().for_each(|&position| vclock.follow(NodeId::server(position), 1));
        vclock
    }

    /// A leader is missing, and nothing can be waited for.
    pub(in crate::monitor) fn sample() -> Violation {
        let debts = debts(Span::from_millis(60_000));
        let core = Core { members: (0..3).map(NodeId::server).collect() };
        match named(debts.leaderless(after(&debts, 100), left_alone(3)), &core) {
            Owed::Waiting(violation) => violation,
            other => panic!("a leader is owed, and not {other:?}"),
        }
    }

    /// What those rules that say several things say besides.
    pub(in crate::monitor) fn further() -> Vec<Violation> {
        let (rule, claim) = claims::QUEUE_DRAINS;
        let (node, leader, waited) = (NodeId::server(0), NodeId::server(1), Span::from_millis(40));
        let undrained = |claimed| {
            let message = undrained(node, claimed, waited, (leader, 3));
            Violation { rule, claim, message, node: Some(node), peer: Some(leader) }
        };
        let another = Some(NodeId::server(2));
        vec![
            undrained(2),
            undrained(0),
            lagging((node, leader), (3, 2), another, (1, 1), waited),
            lagging((node, leader), (3, 3), None, (7, 7), waited),
        ]
    }

    #[test]
    fn a_leader_that_could_be_elected_and_is_not_there_in_time_is_a_violation() {
        let debts = debts(Span::from_millis(60_000));
        let Owed::Waiting(violation) = debts.leaderless(after(&debts, 100), left_alone(3)) else {
            panic!("a leader is owed")
        };
        assert_eq!(violation.rule, "leader-elected");
    }

    #[test]
    fn a_follower_that_lags_for_longer_than_its_bound_is_a_violation_even_if_it_catches_up_later() {
        let mut debts = debts(Span::from_millis(4_000));
        let (rule, claim) = claims::FOLLOWER_CATCHES_UP;
        let violation = Violation { rule, claim, message: String::new(), node: None, peer: None };
        let bound = debts.catch_up;
        let now = debts.began + bound;
        assert!(matches!(debts.lags(violation.clone(), bound, now), Owed::Waiting(_)));
        assert_eq!(debts.overdue(), None);
        let longer = bound + Span::from_nanos(1);
        assert!(matches!(debts.lags(violation.clone(), longer, now), Owed::Waiting(_)));
        assert_eq!(debts.overdue(), Some(violation.clone()));
        assert_eq!(debts.overdue(), None, "it is told once");
        // Who began to lag too late to catch up by the end owes nothing.
        let end = debts.deadline();
        assert_eq!(debts.lags(violation, bound, end), Owed::Nothing(TOO_LITTLE_TIME));
    }

    #[test]
    fn a_script_that_ends_before_an_election_is_sure_owes_no_leader() {
        let debts = debts(Span::from_millis(1_000));
        assert!(matches!(debts.leaderless(after(&debts, 50), left_alone(3)), Owed::Waiting(_)));
        assert_eq!(debts.leaderless(after(&debts, 100), left_alone(3)), Owed::Nothing(TOO_LITTLE_TIME));
    }

    #[test]
    fn without_anybody_electable_nothing_is_owed_once_writes_are_over() {
        let debts = debts(Span::from_millis(60_000));
        assert!(matches!(debts.leaderless(after(&debts, 0), left_alone(0)), Owed::Waiting(_)));
        let written = debts.began + debts.round.times(2);
        assert!(matches!(debts.leaderless(written, left_alone(0)), Owed::Waiting(_)));
        let later = written + Span::from_nanos(1);
        assert_eq!(debts.leaderless(later, left_alone(0)), Owed::Nothing(NOBODY_ELECTABLE));
        assert_eq!(debts.leaderless(after(&debts, 50), left_alone(0)), Owed::Nothing(NOBODY_ELECTABLE));
    }

    #[test]
    fn of_two_leaders_that_of_the_later_term_is_the_one_whose_rows_are_owed() {
        let (one, other) = (NodeId::server(0), NodeId::server(1));
        assert_eq!(latest([(one, 2), (other, 3)].into_iter()), Some(other));
        assert_eq!(latest([(one, 3), (other, 2)].into_iter()), Some(one));
        assert_eq!(latest([].into_iter()), None);
    }

    #[test]
    fn a_queue_is_drained_once_nothing_waits_and_the_leader_has_claimed_it() {
        let queue = |texts: &[&str]| {
            let mut queue = Queue::new(Planted::default());
            for (lsn, &text) in (1..).zip(texts) {
                queue.apply(&Row { origin: NodeId::server(0), lsn, text: text.into() });
            }
            queue
        };
        assert!(is_undrained(&queue(&[]), 1), "nobody has claimed it");
        assert!(!is_undrained(&queue(&["promote 1"]), 1));
        assert!(is_undrained(&queue(&["promote 1"]), 2), "it is claimed in an earlier term");
        assert!(is_undrained(&queue(&["promote 1", "sync x=1"]), 1));
        assert!(!is_undrained(&queue(&["promote 1", "sync x=1", "confirm n1:2"]), 1));
    }

    #[test]
    fn candidates_with_rows_that_the_other_lacks_cannot_be_elected_without_a_third() {
        let (one, other) = (with_row_of(&[0]), with_row_of(&[1]));
        let both = [(Mode::Candidate, one), (Mode::Candidate, other)];
        assert_eq!(counted(&both), (2, 0));
        let third = (Mode::Voter, Vclock::default());
        assert_eq!(counted(&[both[0], both[1], third]), (2, 2));
        let third = (Mode::Voter, other);
        assert_eq!(counted(&[both[0], both[1], third]), (2, 1));
    }

    #[test]
    fn whose_elections_are_off_does_not_vote_and_counts_for_the_majority() {
        let (none, off) = (Vclock::default(), Mode::Off);
        assert_eq!(counted(&[(Mode::Candidate, none), (off, none), (off, none)]), (1, 0));
        assert_eq!(counted(&[(Mode::Candidate, none), (Mode::Voter, none), (off, none)]), (1, 1));
    }

    #[test]
    fn candidates_whose_votes_are_needed_have_to_hear_of_a_term_from_the_one_that_stands_first() {
        let granted = |candidates: usize, voters: usize, off: usize| {
            let modes = [(Mode::Candidate, candidates), (Mode::Voter, voters), (Mode::Off, off)];
            let member = |mode| (mode, Vclock::default());
            let members: Vec<_> =
                modes.iter().flat_map(|&(mode, count)| (0..count).map(move |_| member(mode))).collect();
            chances(&members, members.len()).granted_permille
        };
        assert_eq!(granted(1, 2, 0), 1_000);
        assert_eq!(granted(2, 1, 0), 1_000, "two votes of three are enough, and the third is no candidate's");
        assert_eq!(granted(3, 0, 0), 830);
        assert_eq!(granted(2, 0, 1), 830, "one whose elections are off passes on what it hears");
        assert_eq!(granted(5, 0, 4), 12, "all five of nine that vote at all are needed");
        assert_eq!(granted(1, 4, 4), 1_000);
        assert_eq!(granted(2, 0, 0), 1_000, "there is nobody to hear of it from");
    }
}
