//! What is still missing of the progress that a Raft with a log owes: a leader, equal logs, answers, service.

use crate::calm::{CALM_RULES, Calm, Limits, Witness};
use crate::circle::Circle;
use crate::log::RaftRules;
use crate::membership::set_of;
use crate::owed::{Because, Ground, Owed, elections_max, owed};
use crate::progress::Core;
use crate::terrain::Terrain;
use whitewater_sim::{Cluster, Node, NodeId, Progress, Role, Span, Time, Violation};

/// Rules of progress, name and claim each.
pub const PROGRESS_RULES: [(&str, &str); 11] = {
    let [elections, kept, snapshots] = CALM_RULES;
    [
        LEADER,
        CONVERGE,
        JOINT_LEFT,
        TRANSFER_ENDED,
        PROPOSALS_ACCEPTED,
        ANSWERS,
        FRESH_WRITE,
        FRESH_READ,
        elections,
        kept,
        snapshots,
    ]
};

/// The one bound that chance has a part in: all rounds of election that [`SETTLE_TIMEOUTS`](crate::SETTLE_TIMEOUTS) leaves
/// time for fail with a probability below 10^-10, by the calculation there. Each rule below waits for the same moment, and
/// so for a leader as well; what comes behind the leader is bounded without chance, as said at each.
const LEADER: (&str, &str) =
    ("leader-elected", "Once faults are over, a connected majority elects a leader.");
/// Nothing is lost any more, so that each round trip brings a follower at least one append, and the time for those is added
/// to the bound ([`Owed::Progress`], `allowance`). Probability of a false alarm: that of [`LEADER`].
const CONVERGE: (&str, &str) =
    ("logs-converge", "Once faults are over, a leader commits its log and its followers apply all of it.");
/// A leader that has applied a joint membership proposes to leave it in the same step; that entry is one of those that logs
/// converge to, which are waited for in any case. Probability of a false alarm: that of [`LEADER`].
const JOINT_LEFT: (&str, &str) = (
    "joint-left",
    "Once faults are over, a joint membership that is to be left without being asked is left.",
);
/// A transfer is given up after the shortest election timeout by the leader's own clock, which is at most a quarter longer
/// where that runs a fifth too slowly: of the time that a phase has, this is a thirtieth. Nothing is left to chance but what
/// [`LEADER`] is.
const TRANSFER_ENDED: (&str, &str) =
    ("transfer-ended", "Once faults are over, a leader that hands over has done so or gives it up.");
/// All that a leader has is committed and applied by then, so that it refuses nothing for want of room: nothing is left to
/// chance but what [`LEADER`] is.
const PROPOSALS_ACCEPTED: (&str, &str) = (
    "proposals-accepted",
    "Once faults are over, a leader that has nothing uncommitted takes proposals again.",
);
/// A client asks somebody else after at most two longest election timeouts, and there are as many servers to ask; the time
/// for that is added to the bound by the system. Probability of a false alarm: that of [`LEADER`].
const ANSWERS: (&str, &str) = ("clients-answered", "Once faults are over, every client gets its answer.");
/// One round trip behind a leader that its client has found, see [`ANSWERS`]. Probability of a false alarm: that of
/// [`LEADER`].
const FRESH_WRITE: (&str, &str) =
    ("fresh-write-served", "Once faults are over, a new write is acknowledged.");
/// One round trip for the read index and one for the answer, else as [`FRESH_WRITE`].
const FRESH_READ: (&str, &str) = ("fresh-read-served", "Once faults are over, a new read is answered.");

/// How a fresh operation stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Served {
    /// It was not asked for.
    #[default]
    NotAsked,
    /// It was, and there is no answer yet.
    Waiting,
    /// It was answered.
    Yes,
}

/// How leaders and clients stand, as the system tells it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Service {
    /// Leaders that hand over, a bit each by position.
    pub transferring: u16,
    /// Leaders that have too much uncommitted, as they believe, to take another proposal, a bit each by position.
    pub declining: u16,
    /// A client that waits for an answer.
    pub unanswered: Option<NodeId>,
    /// A write asked for when the phase began.
    pub fresh_write: Served,
    /// A read asked for when the phase began.
    pub fresh_read: Served,
}

/// The progress that is owed in a phase of settling.
#[derive(Clone, Debug)]
pub struct Settlement {
    owed: Owed,
    calm: Option<Calm>,
    circle: Circle,
    servers: usize,
    /// The terrain, where one server alone reaches a majority and would be elected by it. So it is only while nobody's log
    /// becomes newer, be it by what was sent before or waits at a server that its disk keeps from looking at it.
    around_hub: Option<Box<Terrain>>,
}

impl Settlement {
    /// Decides what is owed, at the beginning of a phase.
    pub fn begin(ground: &Ground, mut terrain: Terrain, rules: &RaftRules) -> Settlement {
        rules.survey(&mut terrain);
        let owed = owed(ground, &terrain);
        let calm = match &owed {
            Owed::Nothing(_) => None,
            Owed::Progress { core, alone, .. } => {
                let limits = Limits {
                    core: set_of(core.members.iter().copied()),
                    elections: elections_max(ground, &terrain, *alone),
                    election_low: ground.timing.election_low,
                    round_trip: ground.round_trip,
                };
                Some(Calm::begin(limits, rules))
            }
        };
        let servers = terrain.servers;
        let is_by_hub = matches!(owed, Owed::Progress { .. }) && terrain.court().is_none();
        let around_hub = is_by_hub.then(|| Box::new(terrain));
        Settlement { owed, calm, circle: Circle::default(), servers, around_hub }
    }

    /// Looks at a step of a server, after the rules have.
    ///
    /// # Errors
    /// It did what nobody does once faults are over.
    #[inline]
    pub fn observe(&mut self, witness: &Witness<'_>, rules: &RaftRules) -> Result<(), Violation> {
        let Some(calm) = &mut self.calm else { return Ok(()) };
        if calm.is_news(witness, rules) {
            self.circle.look(witness.now, rules, self.servers);
        }
        calm.observe(witness, rules)
    }

    /// A bound was missed: adds to the violation why nothing comes of it, if that can be seen.
    pub fn explain(&self, now: Time, violation: Violation) -> Violation {
        match self.circle.explain(now) {
            Some(why) => Violation { message: format!("{}; {why}", violation.message), ..violation },
            None => violation,
        }
    }

    /// What is owed.
    pub fn owed(&self) -> &Owed {
        &self.owed
    }

    /// Time beyond the script's limit, see [`Owed::Progress`].
    pub fn allowance(&self) -> Span {
        match self.owed {
            Owed::Progress { allowance, .. } => allowance,
            Owed::Nothing(_) => Span::ZERO,
        }
    }

    /// Why nothing is owed, if so.
    pub fn nothing_because(&self) -> Option<Because> {
        match self.owed {
            Owed::Nothing(because) => Some(because),
            Owed::Progress { .. } => None,
        }
    }

    /// What is missing at this moment: the first thing of those that [`PROGRESS_RULES`] lists.
    pub fn progress<N: Node>(&self, rules: &RaftRules, cluster: &Cluster<N>, service: &Service) -> Progress {
        self.progress_of(rules, cluster, |_| true, service)
    }

    /// The same, where nothing is expected of servers that `healthy` denies.
    pub fn progress_of<N: Node>(
        &self,
        rules: &RaftRules,
        cluster: &Cluster<N>,
        healthy: impl Fn(NodeId) -> bool,
        service: &Service,
    ) -> Progress {
        let servers = cluster.servers().filter(|&node| healthy(node));
        self.missing(rules, servers, |a, b| cluster.connected(a, b), service)
    }

    pub(crate) fn missing(
        &self,
        rules: &RaftRules,
        servers: impl Iterator<Item = NodeId>,
        connected: impl Fn(NodeId, NodeId) -> bool,
        service: &Service,
    ) -> Progress {
        let Owed::Progress { core, alone, .. } = &self.owed else { return Progress::Done };
        let eligible: Vec<NodeId> = servers.filter(|&node| !alone || core.has(node)).collect();
        let Some(leader) = leader(rules, &eligible, core, &connected) else {
            return match &self.around_hub {
                Some(terrain) if !has_hub(terrain, rules) => Progress::Done,
                _ => waiting(LEADER, unled(rules, core), None, None),
            };
        };
        let membership = rules.membership(leader);
        let is_member = |node| membership.is_none_or(|membership| membership.has(node));
        let behind = |&&node: &&NodeId| node == leader || connected(leader, node) && is_member(node);
        for &node in eligible.iter().filter(behind) {
            if let Some(message) = lag(rules, leader, node) {
                let peer = (node != leader).then_some(leader);
                return waiting(CONVERGE, message, Some(node), peer);
            }
        }
        if let Some(joint) = membership.filter(|membership| membership.auto_leave) {
            let (term, last) = (rules.standing(leader).term, rules.log_standing(leader).last_index);
            let message = format!(
                "{leader} leads with {joint}, and does not leave that joint membership in term {term}, in which all of its {last} \
                 entries are committed"
            );
            return waiting(JOINT_LEFT, message, Some(leader), None);
        }
        let is_in = |set: u16| set & 1 << leader.position() != 0;
        if is_in(service.transferring) {
            let term = rules.standing(leader).term;
            let message =
                format!("{leader} leads term {term}, and does not come to an end with handing over");
            return waiting(TRANSFER_ENDED, message, Some(leader), None);
        }
        if is_in(service.declining) {
            let (term, last) = (rules.standing(leader).term, rules.log_standing(leader).last_index);
            let message = format!(
                "{leader} leads term {term}, has committed and applied all of its {last} entries, and has no room for another"
            );
            return waiting(PROPOSALS_ACCEPTED, message, Some(leader), None);
        }
        if let Some(client) = service.unanswered {
            let message = format!("{client} waits for an answer, {}", served_by(rules, leader));
            return waiting(ANSWERS, message, Some(client), Some(leader));
        }
        for (fresh, rule, what) in [
            (
                service.fresh_write,
                FRESH_WRITE,
                "a write that was asked for after the faults is not acknowledged",
            ),
            (service.fresh_read, FRESH_READ, "a read that was asked for after the faults is not answered"),
        ] {
            if fresh == Served::Waiting {
                let message = format!("{what}, {}", served_by(rules, leader));
                return waiting(rule, message, Some(leader), None);
            }
        }
        Progress::Done
    }
}

/// Whether one server alone would be elected, as logs are now.
fn has_hub(terrain: &Terrain, rules: &RaftRules) -> bool {
    let mut terrain = terrain.clone();
    rules.survey(&mut terrain);
    terrain.hub().is_some()
}

/// The leader of the highest term that anybody leads who reaches a part of the core.
fn leader(
    rules: &RaftRules,
    eligible: &[NodeId],
    core: &Core,
    connected: impl Fn(NodeId, NodeId) -> bool,
) -> Option<NodeId> {
    let leads = |&node: &NodeId| {
        let reaches = core.has(node) || core.members.iter().any(|&member| connected(node, member));
        reaches && rules.is_up(node) && rules.standing(node).role == Role::Leader
    };
    eligible.iter().copied().filter(leads).max_by_key(|&node| rules.standing(node).term)
}

/// That nobody leads, with the terms in which those stand that could choose a leader.
fn unled(rules: &RaftRules, core: &Core) -> String {
    let stands = |&node: &NodeId| format!("{node} in term {}", rules.standing(node).term);
    let those: Vec<String> = core.members.iter().map(stands).collect();
    format!("a majority is connected and has no leader, {}", those.join(", "))
}

/// Who could have served what was not served.
fn served_by(rules: &RaftRules, leader: NodeId) -> String {
    let (term, last) = (rules.standing(leader).term, rules.log_standing(leader).last_index);
    format!("although {leader} leads term {term} and has committed and applied all of its {last} entries")
}

/// What a server lacks of a leader's log, in words.
fn lag(rules: &RaftRules, leader: NodeId, node: NodeId) -> Option<String> {
    let (source, log) = (rules.log_standing(leader), rules.log_standing(node));
    let (last, term) = (source.last_index, rules.standing(leader).term);
    if log.last_index == last && log.commit == last && log.applied == last {
        return None;
    }
    if node == leader {
        let commit = log.commit;
        return Some(format!("{node} leads term {term} and has committed {commit} of its {last} entries"));
    }
    let standing = rules.standing(node);
    let knows = match standing.leader {
        Some(known) if known == leader => "knows that it leads".to_owned(),
        Some(known) => format!("takes {known} for the leader"),
        None => "knows no leader".to_owned(),
    };
    let its_term = standing.term;
    let (end, commit, applied) = (log.last_index, log.commit, log.applied);
    Some(format!(
        "{node} is up, connected to leader {leader} of term {term}, in term {its_term} and {knows}, but of {last} entries \
         it has {end}, {commit} committed and {applied} applied"
    ))
}

fn waiting(
    (rule, claim): (&'static str, &'static str),
    message: String,
    node: Option<NodeId>,
    peer: Option<NodeId>,
) -> Progress {
    Progress::Waiting(Violation { rule, claim, message, node, peer })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::testing::{N1, N2, N3, Run};
    use crate::membership::Membership;
    use whitewater_sim::Link;

    fn of(owed: Owed) -> Settlement {
        Settlement { owed, calm: None, circle: Circle::default(), servers: 3, around_hub: None }
    }

    fn settlement(positions: &[usize], alone: bool) -> Settlement {
        let members = positions.iter().map(|&p| NodeId::server(p)).collect();
        of(Owed::Progress { core: Core { members }, alone, allowance: Span::ZERO })
    }

    /// What is missing where `n3` is cut off.
    fn missing(settlement: &Settlement, run: &Run, service: &Service) -> Option<&'static str> {
        let connected = |a, b| a != N3 && b != N3;
        match settlement.missing(&run.rules, [N1, N2, N3].into_iter(), connected, service) {
            Progress::Done => None,
            Progress::Waiting(violation) => Some(violation.rule),
        }
    }

    fn settled() -> Run {
        let mut run = Run::new();
        run.step(N1, |n| n.enter(1, Role::Leader)).unwrap();
        for node in [N1, N2] {
            run.step(node, |n| {
                if node != N1 {
                    n.enter(1, Role::Follower);
                }
                n.append(&[1, 1]);
                (n.commit, n.applied) = (2, 2);
            })
            .unwrap();
        }
        run
    }

    #[test]
    fn a_settled_majority_owes_nothing_more_whatever_is_outside() {
        let mut run = settled();
        assert_eq!(missing(&settlement(&[0, 1], true), &run, &Service::default()), None);
        run.step(N3, |n| n.enter(9, Role::Candidate)).unwrap();
        assert_eq!(missing(&settlement(&[0, 1], true), &run, &Service::default()), None);
    }

    #[test]
    fn without_a_leader_that_is_up_one_is_missing() {
        let mut run = settled();
        run.crash(N1);
        assert_eq!(missing(&settlement(&[0, 1], true), &run, &Service::default()), Some("leader-elected"));
        let fresh = Run::new();
        assert_eq!(missing(&settlement(&[0, 1], true), &fresh, &Service::default()), Some("leader-elected"));
    }

    #[test]
    fn a_server_that_alone_reaches_a_majority_need_not_be_elected_once_another_log_is_newer() {
        let around_n1 = |grows: &[NodeId]| {
            // Of four one is down.
            let mut terrain = Terrain::new(4);
            for (from, to) in [(N1, N1), (N2, N2), (N3, N3), (N1, N2), (N2, N1), (N1, N3), (N3, N1)] {
                terrain.open(Link { from, to });
            }
            let mut run = Run::new();
            let mut settlement = settlement(&[0, 1, 2], false);
            settlement.around_hub = Some(Box::new(terrain));
            run.rules.blind("leader-longest").unwrap();
            for &node in grows {
                run.step(node, |n| {
                    n.enter(1, Role::Follower);
                    n.append(&[1]);
                })
                .unwrap();
            }
            missing(&settlement, &run, &Service::default())
        };
        assert_eq!(around_n1(&[]), Some("leader-elected"));
        assert_eq!(around_n1(&[N1]), Some("leader-elected"));
        assert_eq!(around_n1(&[N2]), None, "n2 votes for nobody whose log is older");
        assert_eq!(around_n1(&[N1, N2]), Some("leader-elected"));
    }

    #[test]
    fn a_leader_or_a_follower_that_is_behind_has_not_converged() {
        let run = |both: bool, applied| {
            let mut run = settled();
            run.step(N1, |n| n.append(&[1])).unwrap();
            if both {
                run.step(N2, |n| n.append(&[1])).unwrap();
                run.step(N1, |n| (n.commit, n.applied) = (3, 3)).unwrap();
                run.step(N2, |n| (n.commit, n.applied) = (3, applied)).unwrap();
            }
            missing(&settlement(&[0, 1], true), &run, &Service::default())
        };
        assert_eq!(run(false, 0), Some("logs-converge"));
        assert_eq!(run(true, 2), Some("logs-converge"));
        assert_eq!(run(true, 3), None);
    }

    #[test]
    fn a_follower_with_more_than_its_leader_has_not_converged() {
        let mut run = settled();
        run.rules.blind("leader-longest").unwrap();
        run.step(N2, |n| n.append(&[1])).unwrap();
        assert_eq!(missing(&settlement(&[0, 1], true), &run, &Service::default()), Some("logs-converge"));
    }

    #[test]
    fn a_server_that_is_no_member_need_not_converge_and_a_learner_must() {
        let with = |learners| {
            let mut run = settled();
            run.step(N1, |n| {
                n.append(&[1]);
                n.memberships = vec![(0, Membership { voters: 0b101, learners, ..Membership::default() })];
            })
            .unwrap();
            run.rules.blind("committed-on-quorum").unwrap();
            run.step(N1, |n| (n.commit, n.applied) = (3, 3)).unwrap();
            missing(&settlement(&[0, 1], true), &run, &Service::default())
        };
        assert_eq!(with(0), None);
        assert_eq!(with(0b010), Some("logs-converge"));
    }

    #[test]
    fn a_joint_membership_has_to_be_left_if_it_is_left_without_being_asked() {
        let with = |auto_leave| {
            let mut run = settled();
            run.rules.blind("committed-on-quorum").unwrap();
            for node in [N1, N2] {
                run.step(node, |n| {
                    n.append(&[1]);
                    let joint = Membership { outgoing: 0b011, auto_leave, ..Membership::of_first(3) };
                    (n.commit, n.applied) = (3, 3);
                    n.memberships = vec![(3, joint)];
                })
                .unwrap();
            }
            missing(&settlement(&[0, 1], true), &run, &Service::default())
        };
        assert_eq!(with(true), Some("joint-left"));
        assert_eq!(with(false), None);
    }

    #[test]
    fn what_clients_wait_for_is_missing_until_it_is_answered() {
        let (run, settlement) = (settled(), settlement(&[0, 1], true));
        let unanswered = Service { unanswered: Some(NodeId::client(0)), ..Service::default() };
        assert_eq!(missing(&settlement, &run, &unanswered), Some("clients-answered"));
        let mut service = Service { fresh_write: Served::Waiting, ..Service::default() };
        assert_eq!(missing(&settlement, &run, &service), Some("fresh-write-served"));
        (service.fresh_write, service.fresh_read) = (Served::Yes, Served::Waiting);
        assert_eq!(missing(&settlement, &run, &service), Some("fresh-read-served"));
        service.fresh_read = Served::Yes;
        assert_eq!(missing(&settlement, &run, &service), None);
    }

    #[test]
    fn a_leader_that_hands_over_or_refuses_proposals_without_end_is_not_done() {
        let (run, settlement) = (settled(), settlement(&[0, 1], true));
        let with = |transferring, declining| {
            missing(&settlement, &run, &Service { transferring, declining, ..Service::default() })
        };
        assert_eq!(with(0b001, 0), Some("transfer-ended"));
        assert_eq!(with(0, 0b001), Some("proposals-accepted"));
        assert_eq!(with(0b010, 0b110), None, "it is about the leader alone");
    }

    #[test]
    fn a_missed_bound_says_what_goes_round_in_circles() {
        let run = settled();
        let mut settlement = settlement(&[0, 1], true);
        settlement.circle.look(Time::from_millis(30), &run.rules, 3);
        let Progress::Waiting(violation) =
            waiting(LEADER, "a majority is connected and has no leader".to_owned(), None, None)
        else {
            unreachable!()
        };
        let explained = settlement.explain(Time::from_millis(900), violation);
        assert_eq!(
            explained.message,
            "a majority is connected and has no leader; nothing has changed in the cluster since 30ms"
        );
    }

    #[test]
    fn nothing_is_missing_where_nothing_is_owed() {
        let settlement = of(Owed::Nothing(Because::NoMajority));
        assert_eq!(missing(&settlement, &Run::new(), &Service::default()), None);
        assert_eq!(settlement.nothing_because(), Some(Because::NoMajority));
    }

    #[test]
    fn a_leader_outside_the_core_counts_if_it_reaches_into_it() {
        let mut run = Run::new();
        run.step(N2, |n| n.enter(1, Role::Leader)).unwrap();
        assert_eq!(missing(&settlement(&[0], false), &run, &Service::default()), None);
        assert_eq!(missing(&settlement(&[0], true), &run, &Service::default()), Some("leader-elected"));
    }
}
