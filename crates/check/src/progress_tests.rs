//! Each rule over progress has a run that breaks it: whoever adds a rule without one, or blinds one, is told here.

use crate::bounds::BoundRules;
use crate::calm::Witness;
use crate::client::ClientRules;
use crate::lease::LeaseRules;
use crate::log::RaftRules;
use crate::log::testing::{N1, N2, N3, Run};
use crate::log_view::Stimulus;
use crate::membership::Membership;
use crate::owed::Ground;
use crate::pace::PaceRules;
use crate::settlement::{PROGRESS_RULES, Served, Service, Settlement};
use crate::terrain::Terrain;
use whitewater_sim::{Link, NodeId, Progress, Role, Span, Time, Timing, Violation};

/// Three servers that are connected, of which the first leads if `led`; all have the same two entries.
struct Settled {
    run: Run,
    settlement: Settlement,
    service: Service,
}

fn nodes() -> impl Iterator<Item = NodeId> {
    (0..3).map(NodeId::server)
}

impl Settled {
    fn new(led: bool) -> Settled {
        let mut run = Run::new();
        for node in nodes() {
            let role = if led && node == N1 { Role::Leader } else { Role::Follower };
            run.step(node, |n| {
                n.enter(1, role);
                n.append(&[1, 1]);
                (n.commit, n.applied) = (2, 2);
            })
            .unwrap();
        }
        let millis = Span::from_millis;
        let timing = Timing { election_low: millis(100), election_high: millis(200), heartbeat: millis(10) };
        let ground = Ground {
            pre_vote: true,
            check_quorum: true,
            timing,
            round_trip: millis(20),
            connecting: Span::ZERO,
            limit: millis(8_000),
            clocks_true: true,
            entries_per_round_trip: 1,
        };
        let mut terrain = Terrain::new(3);
        nodes().for_each(|from| nodes().for_each(|to| terrain.open(Link { from, to })));
        let settlement = Settlement::begin(&ground, terrain, &run.rules);
        Settled { run, settlement, service: Service::default() }
    }

    /// What is missing when the bound passes.
    fn missing(&self) -> Option<Violation> {
        match self.settlement.missing(&self.run.rules, nodes(), |_, _| true, &self.service) {
            Progress::Done => None,
            Progress::Waiting(violation) => {
                Some(self.settlement.explain(Time::from_millis(9_000), violation))
            }
        }
    }

    fn see(&mut self, witness: Witness<'_>) -> Option<Violation> {
        self.settlement.observe(&witness, &self.run.rules).err()
    }
}

fn witness(node: NodeId, millis: u64) -> Witness<'static> {
    let now = Time::from_millis(millis);
    Witness { node, now, stimulus: Stimulus::Other, provoked: false, heard: None, snapshots: &[] }
}

fn missing(change: impl FnOnce(&mut Settled)) -> Option<Violation> {
    let mut settled = Settled::new(true);
    assert_eq!(settled.missing(), None, "nothing is missing at first");
    change(&mut settled);
    settled.missing()
}

fn nobody_leads() -> Option<Violation> {
    Settled::new(false).missing()
}

fn a_follower_is_behind() -> Option<Violation> {
    missing(|s| s.run.step(N1, |n| n.append(&[1])).unwrap())
}

fn a_joint_membership_stays() -> Option<Violation> {
    missing(|s| {
        s.run.rules.blind("committed-on-quorum").unwrap();
        for node in nodes() {
            s.run
                .step(node, |n| {
                    n.append(&[1]);
                    (n.commit, n.applied) = (3, 3);
                    let joint = Membership { outgoing: 0b011, auto_leave: true, ..Membership::of_first(3) };
                    n.memberships = vec![(3, joint)];
                })
                .unwrap();
        }
    })
}

fn a_transfer_does_not_end() -> Option<Violation> {
    missing(|s| s.service.transferring = 0b001)
}

fn a_leader_refuses_proposals() -> Option<Violation> {
    missing(|s| s.service.declining = 0b001)
}

fn a_client_waits() -> Option<Violation> {
    missing(|s| s.service.unanswered = Some(NodeId::client(0)))
}

fn a_write_is_not_served() -> Option<Violation> {
    missing(|s| s.service.fresh_write = Served::Waiting)
}

fn a_read_is_not_served() -> Option<Violation> {
    missing(|s| s.service.fresh_read = Served::Waiting)
}

fn elections_have_no_end() -> Option<Violation> {
    let mut settled = Settled::new(true);
    (1..1_000).find_map(|round| {
        settled.run.step(N2, |n| n.enter(round + 1, Role::Candidate)).unwrap();
        settled.see(witness(N2, round * 200))
    })
}

fn a_server_stands_beside_its_leader() -> Option<Violation> {
    let mut settled = Settled::new(true);
    assert_eq!(settled.see(Witness { heard: Some(1), ..witness(N2, 1_000) }), None);
    settled.run.step(N2, |n| n.role = Role::PreCandidate).unwrap();
    settled.see(witness(N2, 1_010))
}

fn a_snapshot_is_sent_twice() -> Option<Violation> {
    let mut settled = Settled::new(true);
    let send = |millis| Witness { snapshots: &[(N2, 2)], ..witness(N1, millis) };
    assert_eq!(settled.see(send(1_000)), None);
    assert_eq!(settled.see(witness(N2, 1_010)), None);
    settled.see(send(1_500))
}

/// A follower is behind a leader that has committed all it has, and takes another for the leader, or nobody.
fn a_follower_knows(leader: Option<NodeId>) -> Option<Violation> {
    missing(|s| {
        s.run.rules.blind("leader-named").unwrap();
        for node in [N1, N3] {
            s.run
                .step(node, |n| {
                    n.append(&[1]);
                    (n.commit, n.applied) = (3, 3);
                })
                .unwrap();
        }
        s.run.step(N2, |n| n.leader = leader).unwrap();
    })
}

/// Somebody stands for election again and again while nobody leads.
fn a_candidate_goes_round() -> Option<Violation> {
    let mut settled = Settled::new(false);
    let mut act = |millis, node, act: &dyn Fn(&mut crate::log::testing::Toy)| {
        settled.run.step(node, act).unwrap();
        settled.see(witness(node, millis));
    };
    for round in 0..3 {
        let (term, at) = (round + 2, 100 * round);
        act(at, N2, &|n| n.role = Role::PreCandidate);
        act(at + 10, N2, &|n| n.enter(term, Role::Candidate));
        act(at + 20, N2, &|n| n.role = Role::Leader);
        act(at + 30, N3, &|n| n.leader = Some(N2));
        act(at + 40, N2, &|n| n.role = Role::Follower);
        act(at + 50, N3, &|n| n.leader = None);
    }
    settled.missing()
}

type Breaking = fn() -> Option<Violation>;

const RUNS: &[(&str, Breaking)] = &[
    ("leader-elected", nobody_leads),
    ("logs-converge", a_follower_is_behind),
    ("joint-left", a_joint_membership_stays),
    ("transfer-ended", a_transfer_does_not_end),
    ("proposals-accepted", a_leader_refuses_proposals),
    ("clients-answered", a_client_waits),
    ("fresh-write-served", a_write_is_not_served),
    ("fresh-read-served", a_read_is_not_served),
    ("elections-bounded", elections_have_no_end),
    ("leader-kept", a_server_stands_beside_its_leader),
    ("snapshot-sent-once", a_snapshot_is_sent_twice),
];

#[test]
fn every_rule_over_progress_has_a_run_that_breaks_it_alone() {
    let names: Vec<&str> = PROGRESS_RULES.iter().map(|(name, _)| *name).collect();
    assert_eq!(RUNS.iter().map(|(name, _)| *name).collect::<Vec<_>>(), names);
    for (name, run) in RUNS {
        assert_eq!(run().expect(name).rule, *name);
    }
}

/// A run that breaks each rule, for the list of all messages.
pub(crate) fn samples() -> Vec<Violation> {
    RUNS.iter().map(|(name, run)| run().expect(name)).collect()
}

/// What those rules that say several things say besides.
pub(crate) fn further() -> impl Iterator<Item = Violation> {
    let behind = [Some(N1), Some(N3), None].into_iter().map(a_follower_knows);
    behind.chain([a_candidate_goes_round()]).map(|violation| violation.expect("something is missing"))
}

/// The table of invariants has a row for each of the 36, and names every rule there is, and no other.
#[test]
fn the_table_of_invariants_is_about_the_rules_there_are() {
    let table = include_str!("../INVARIANTS.md");
    for number in 1..=36 {
        assert_eq!(table.matches(&format!("\n| {number} | ")).count(), 1, "row {number}");
    }
    let beside = LeaseRules::rules().into_iter().chain(BoundRules::rules()).chain(PaceRules::rules());
    let rules =
        RaftRules::rules().into_iter().chain(beside).chain(ClientRules::rules()).chain(PROGRESS_RULES);
    let rules: Vec<&str> = rules.map(|(name, _)| name).collect();
    for name in &rules {
        assert!(table.contains(&format!("`{name}`")), "{name} is not in the table");
    }
    for name in table.split('`').skip(1).step_by(2).filter(|name| !name.contains(['.', '/'])) {
        assert!(rules.contains(&name) || name == "linearizable", "there is no rule `{name}`");
    }
}
