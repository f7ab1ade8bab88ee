//! Of several rules that a planted bug breaks, the report tells whose cause came first, whichever ended the run.
#![cfg(feature = "mutants")]

use whitewater_hunt::report::{About, text};
use whitewater_hunt::{Failure, Place, run};
use whitewater_kv::KV;
use whitewater_plan::{Restrictions, generate};
use whitewater_sim::System;

/// The failure of a seed with a bug planted, examined; none if it passes.
fn failure(system: &'static dyn System, bug: &str, seed: u64) -> Option<Failure> {
    let restrictions = Restrictions {
        system: Some(system.name().to_owned()),
        bug: Some(bug.to_owned()),
        ..Restrictions::default()
    };
    let plan = generate(&[system], seed, &restrictions).expect("the bug can be planted");
    let outcome = run(system, &plan, false).expect("the plan can be run");
    if outcome.verdict.is_pass() {
        return None;
    }
    let mut failure =
        Failure::record(system, plan, &outcome, Some(seed), String::new()).expect("it can be run");
    failure.examine(system);
    Some(failure)
}

/// Failures of a bug, as many as there are seeds to look at.
fn failures(bug: &'static str, seeds: std::ops::Range<u64>) -> impl Iterator<Item = Failure> {
    seeds.filter_map(move |seed| failure(&KV, bug, seed))
}

/// A run ends at the first deed that breaks a rule, and so only an answer can turn out later to have come before.
fn assert_in_order(failure: &Failure) {
    let causes: Vec<_> = failure.sights.iter().map(|sight| sight.cause).collect();
    assert!(causes.is_sorted(), "{causes:?}");
    let before = failure.sights.iter().filter(|sight| sight.place == Place::Before);
    let rules: Vec<&str> = before.map(|sight| sight.violation.rule).collect();
    assert!(rules.iter().all(|rule| *rule == "linearizable"), "{rules:?} before {}", failure.rule());
}

#[test]
fn what_comes_of_a_planted_bug_is_told_behind_its_first_sign() {
    // The vote of a server without a log, a log that is taken over where it does not fit, an acknowledgement of what a disk
    // has lost.
    for (bug, first) in [
        ("M15", "leader-completeness"),
        ("R06", "abstract-step"),
        ("wal-retry-after-failed-sync", "acknowledgements-durable"),
    ] {
        let mut told = failures(bug, 0..400).filter(|failure| failure.rule() == first);
        let shows = told.find(|failure| {
            assert_in_order(failure);
            failure.sights.iter().any(|sight| sight.place == Place::Behind)
        });
        let failure = shows.unwrap_or_else(|| panic!("nothing comes of {bug} in any run"));
        let report = text(&failure, &About::default());
        assert!(report.contains("each watching alone") && report.contains("comes of it"), "{report}");
    }
}
