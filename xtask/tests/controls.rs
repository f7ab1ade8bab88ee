//! Controls: clusters that owe nothing, and losses that nobody can prevent, raise no alarm and are counted as what they are.

mod support;

use std::fs;
use support::root;
use whitewater_kv::KV;
use whitewater_plan::Scenario;
use whitewater_sim::{DiskContract, Fault, Outcome, Script, System, Verdict};

/// Runs a variant of a scenario of the store.
fn run(scenario: &str, variant: &str) -> (Script, Outcome) {
    let file = format!("{scenario}.json");
    let text = fs::read_to_string(root().join("scenarios").join(&file)).expect("the scenario is there");
    let scenario = Scenario::parse(&file, &text, &[&KV]).expect("it can be read");
    let plan = scenario.plan(scenario.variant(variant).expect("it has the variant"));
    let outcome = KV.run(&plan.script, &plan.options, false).expect("it runs");
    assert_eq!(outcome.verdict, Verdict::Pass);
    (plan.script, outcome)
}

#[test]
fn a_cluster_that_is_disturbed_for_ever_owes_nothing_without_pre_vote_and_check_quorum() {
    let (_, neither) = run("disturbed-for-good", "neither");
    assert_eq!(
        (neither.figures.not_owed, neither.figures.excused),
        (2, 0),
        "before and after the power cycle"
    );
    assert_eq!(neither.figures.reasons().collect::<Vec<_>>(), ["disturbed"]);
    let (_, both) = run("disturbed-for-good", "both");
    assert_eq!((both.figures.not_owed, both.figures.excused), (0, 0));
    assert!(both.counters.bites[Fault::Bridge] > 0);
}

#[test]
fn a_cluster_in_which_only_an_old_log_reaches_a_majority_owes_no_leader_meanwhile() {
    let (_, outcome) = run("nobody-can-be-elected", "nothing-is-owed");
    assert_eq!((outcome.figures.not_owed, outcome.figures.excused), (0, 0), "the links heal in the end");
}

#[test]
fn a_cluster_in_which_only_an_old_log_ever_reaches_a_majority_owes_no_leader() {
    for variant in ["asking-before", "not-asking"] {
        let (_, outcome) = run("nobody-can-be-elected-for-good", variant);
        assert_eq!((outcome.figures.not_owed, outcome.figures.excused), (1, 0), "{variant}: nothing is owed");
        assert_eq!(outcome.figures.reasons().collect::<Vec<_>>(), ["no-majority"], "{variant}");
        assert_eq!(outcome.counters.leader_changes, 1, "{variant}: the one before the cuts");
    }
}

#[test]
fn a_server_that_alone_reaches_a_majority_for_ever_owes_to_lead_and_does() {
    let (_, outcome) = run("only-the-hub-for-good", "both");
    assert_eq!((outcome.figures.not_owed, outcome.figures.excused), (0, 0));
    assert_eq!(outcome.figures.acknowledged_writes, 2, "a fresh one before and after the power cycle");
}

#[test]
fn a_majority_that_comes_back_empty_is_outside_of_the_contract() {
    let (script, outcome) = run("majority-comes-back-empty", "outside-the-contract");
    assert_eq!(script.contract(), DiskContract::Unlimited);
    assert_eq!(outcome.counters.bites[Fault::WipedDisk], 2);
    assert_eq!(outcome.figures.acknowledged_writes, 1, "what is lost had been acknowledged");
    assert_eq!((outcome.figures.not_owed, outcome.figures.excused), (1, 0), "nothing is owed any more");
}

#[test]
fn nobody_waits_for_a_write_that_was_not_acknowledged() {
    let (_, outcome) = run("unacknowledged-and-gone", "lost");
    assert_eq!((outcome.figures.not_owed, outcome.figures.excused), (0, 0), "progress is owed and paid");
    // The kept one, and a fresh one before and after the power cycle.
    assert_eq!(outcome.figures.acknowledged_writes, 3);
}
