//! What holds for Rafts that somebody else wrote as for our own: runs follow from their seeds, and whoever mixes releases loses.

use whitewater::hunts::{differ, run};
use whitewater::plan::{Plan, Profile, Restrictions, generate};
use whitewater::sim::System;
use whitewater_kv::KV;
use whitewater_noraft::{NORAFT, NORAFT_04, NORAFT_MIXED};
use whitewater_tikv::TIKV;

fn plan(system: &'static dyn System, seed: u64, profile: Profile) -> Plan {
    let restrictions = Restrictions {
        system: Some(system.name().to_owned()),
        profile: Some(profile),
        ..Restrictions::default()
    };
    generate(&[system], seed, &restrictions).expect("a plan can be drawn")
}

#[test]
fn a_run_is_the_same_in_every_thread_with_elections_by_timeout() {
    // The generator of `raft` is one per thread, and was used before in this one and not in the others.
    for system in [&TIKV as &'static dyn System, &NORAFT, &NORAFT_04] {
        let hash = move |seed| {
            let outcome = run(system, &plan(system, seed, Profile::Swarm), false).expect("it can be run");
            (outcome.hash, outcome.counters.events)
        };
        for seed in 0..6 {
            let here = hash(seed);
            let there = std::thread::spawn(move || hash(seed)).join().expect("no run panics");
            assert_eq!(here, there, "{} seed {seed}", system.name());
        }
    }
}

#[test]
fn a_cluster_that_mixes_the_releases_loses_what_one_of_them_loses() {
    let report = whitewater::hunt_in(&NORAFT_MIXED).jobs(1).deliveries(5_000_000).run().unwrap_err();
    assert!(report.contains("leader-completeness") || report.contains("committed"), "{report}");
}

#[test]
fn two_stores_answer_one_client_alike_where_nothing_goes_wrong() {
    // In the last one leaders are told to hand over, and are not the same servers: that no client sees.
    for seed in [0, 1, 2, u64::MAX] {
        let mut plan = plan(&TIKV, seed, Profile::Calm);
        plan.script.clients = plan.script.clients.min(1);
        let script = plan.script.clone();
        plan.script.steps.retain(|step| step.nodes().into_iter().all(|node| script.has(node)));
        let compared = differ(&TIKV, &KV, &plan).expect("both can be run");
        assert_eq!(compared.difference, None, "seed {seed}");
        assert!(compared.answers > 0, "seed {seed}");
    }
}
