//! The guest in Python: it survives, and what it forgets with `--forgetful` is found, shrunk and replayed. Without `python3` these
//! tests say so and test nothing.

use std::process::Command;
use whitewater::hunts::{ShrinkBudget, Shrinking, run, shrink};
use whitewater::plan::{Restrictions, generate};
use whitewater::sim::System;
use whitewater_exec::Exec;

/// The system of the guest, if there is a Python to run it.
fn register(option: &str) -> Option<&'static dyn System> {
    if !Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: there is no `python3` here");
        return None;
    }
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/register.py");
    Some(Exec::make(&format!("exec:python3 '{file}' {option}")).expect("it says what it is like"))
}

fn restrictions(system: &dyn System) -> Restrictions {
    Restrictions { system: Some(system.name().to_owned()), ..Restrictions::default() }
}

#[test]
fn the_register_in_python_survives_and_repeats_itself() {
    let Some(system) = register("") else { return };
    // In the second, writes of one server overlap, which once gave two values one stamp.
    for seed in [0, 0xd] {
        let plan = generate(&[system], seed, &restrictions(system)).expect("a plan can be drawn");
        let outcomes = [run(system, &plan, false).unwrap(), run(system, &plan, false).unwrap()];
        assert_eq!(outcomes[0].verdict.rule(), "pass", "{}", outcomes[0].verdict);
        assert_eq!(outcomes[0].hash, outcomes[1].hash);
    }
}

#[test]
fn the_bug_of_the_register_in_python_is_found_shrunk_and_replayed() {
    let Some(system) = register("--forgetful") else { return };
    // The first seed that finds it from 0 on: every delivery is a line through a pipe and back.
    let plan = generate(&[system], 7, &restrictions(system)).expect("a plan can be drawn");
    let found = run(system, &plan, false).expect("it can be run");
    assert!(!found.verdict.is_pass(), "a read that returns less than one before it is found");
    let shrinking = Shrinking { system, budget: ShrinkBudget::Tries(20), jobs: 1, watch: &|_: &_| {} };
    let shrunk = shrink(&shrinking, &plan).expect("it fails the same way twice");
    assert!(shrunk.after < shrunk.before, "{}", shrunk.plan.script.steps.len());
    assert_eq!(shrunk.outcome.verdict.rule(), found.verdict.rule());
    let again = run(system, &shrunk.plan, false).expect("it can be run");
    assert_eq!((again.verdict.rule(), again.hash), (found.verdict.rule(), shrunk.outcome.hash));
}
