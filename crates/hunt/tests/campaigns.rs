//! Campaigns over a toy with a planted race: order, budgets, stops, repetitions, and what is found.

mod toy;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use toy::{BEACON, BROKEN, FLAKY};
use whitewater_hunt::{
    Budget, Campaign, Failure, FailureRecord, Finished, Observer, Progress, Summary, Unobserved, campaign,
    run,
};
use whitewater_plan::{Profile, Restrictions, generate};
use whitewater_sim::System;

static BEACONS: [&dyn System; 1] = [&BEACON];
static FLAKIES: [&dyn System; 1] = [&FLAKY];
static BROKENS: [&dyn System; 1] = [&BROKEN];

/// A campaign over the toy whose leaders give announcements up.
fn search(budget: Budget<'_>, jobs: usize) -> Campaign<'_> {
    let set = vec![("not-ready".to_owned(), "drop".to_owned())];
    let restrictions = Restrictions { profile: Some(Profile::Calm), set, ..Restrictions::default() };
    Campaign {
        systems: &BEACONS,
        program: "cargo xtask",
        restrictions,
        start: 1_000,
        end: None,
        budget,
        jobs,
        keep_going: true,
        repeat_one_in: 20,
    }
}

fn summary_of(search: &Campaign<'_>) -> Summary {
    campaign(search, &Unobserved, &AtomicBool::new(false)).unwrap()
}

/// Writes down every call.
#[derive(Default)]
struct Clerk {
    lines: Mutex<Vec<String>>,
}

impl Observer for Clerk {
    fn finished(&self, run: &Finished, progress: &Progress) {
        self.lines.lock().unwrap().push(format!("{run:?} {progress:?}"));
    }
    fn failed(&self, record: &FailureRecord, failure: Option<&Failure>) {
        let traced = failure.is_some_and(|f| f.outcome.trace.is_some());
        self.lines.lock().unwrap().push(format!("{record:?} {traced}"));
    }
}

fn seen_of(search: &Campaign<'_>) -> (Vec<String>, Summary) {
    let clerk = Clerk::default();
    let summary = campaign(search, &clerk, &AtomicBool::new(false)).unwrap();
    (clerk.lines.into_inner().unwrap(), summary)
}

#[test]
fn what_is_seen_does_not_depend_on_the_number_of_workers() {
    let seen = |jobs| seen_of(&search(Budget::Runs(12), jobs));
    let alone = seen(1);
    assert_eq!(alone.1.runs, 12);
    assert!(alone.1.failing_runs > 0, "the race was not met");
    assert!(alone.0.len() as u64 == 12 + alone.1.failing_runs);
    for jobs in [2, 5] {
        assert_eq!(seen(jobs), alone);
    }
}

#[test]
fn a_first_failure_ends_the_campaign_and_is_the_lowest_whatever_the_workers() {
    let first = |jobs| seen_of(&Campaign { keep_going: false, ..search(Budget::Runs(500), jobs) });
    let (lines, summary) = first(1);
    assert_eq!(summary.failing_runs, 1);
    assert!(summary.runs < 500);
    assert_eq!(summary.failures[0].seed, Some(1_000 + summary.runs - 1));
    for jobs in [2, 5] {
        assert_eq!(first(jobs), (lines.clone(), summary.clone()));
    }
}

#[test]
fn a_budget_of_deliveries_ends_with_the_run_that_spends_it() {
    let with = |deliveries, jobs| summary_of(&search(Budget::Deliveries(deliveries), jobs));
    let whole = summary_of(&search(Budget::Runs(4), 1));
    let one_less = summary_of(&search(Budget::Runs(3), 1));
    for jobs in [1, 2, 5] {
        assert_eq!(with(whole.deliveries, jobs), whole);
        assert_eq!(with(one_less.deliveries + 1, jobs), whole);
        assert_eq!(with(one_less.deliveries, jobs), one_less);
    }
}

#[test]
fn a_range_runs_every_seed_in_it_once() {
    let seeds = Mutex::new(Vec::new());
    struct Seeds<'a>(&'a Mutex<Vec<u64>>);
    impl Observer for Seeds<'_> {
        fn finished(&self, run: &Finished, _: &Progress) {
            self.0.lock().unwrap().push(run.seed);
        }
    }
    let range = Campaign { end: Some(1_009), ..search(Budget::Seeds, 2) };
    campaign(&range, &Seeds(&seeds), &AtomicBool::new(false)).unwrap();
    assert_eq!(*seeds.lock().unwrap(), (1_000..1_009).collect::<Vec<_>>());
}

#[test]
fn an_empty_range_runs_nothing() {
    let summary = summary_of(&Campaign { end: Some(1_000), ..search(Budget::Seeds, 2) });
    assert_eq!((summary.runs, summary.exit_code()), (0, 4));
}

#[test]
fn seeds_go_on_at_zero_after_the_highest() {
    let clerk = Clerk::default();
    let last = Campaign { start: u64::MAX, ..search(Budget::Runs(2), 1) };
    campaign(&last, &clerk, &AtomicBool::new(false)).unwrap();
    let lines = clerk.lines.into_inner().unwrap().join("\n");
    assert!(lines.contains("seed: 18446744073709551615") && lines.contains("seed: 0,"), "{lines}");
}

#[test]
fn one_seed_in_twenty_is_run_twice() {
    let repeated =
        |every| summary_of(&Campaign { repeat_one_in: every, ..search(Budget::Runs(21), 2) }).repeated;
    assert_eq!((repeated(20), repeated(1), repeated(0)), (2, 21, 0));
}

#[test]
fn a_stop_finishes_what_has_begun_and_begins_nothing_else() {
    struct Stopping<'a>(&'a AtomicBool, AtomicUsize);
    impl Observer for Stopping<'_> {
        fn finished(&self, run: &Finished, _: &Progress) {
            assert_eq!(run.index as usize, self.1.fetch_add(1, Ordering::SeqCst), "a number is missing");
            self.0.store(run.index >= 9, Ordering::SeqCst);
        }
    }
    let stop = AtomicBool::new(false);
    let observer = Stopping(&stop, AtomicUsize::new(0));
    let summary = campaign(&search(Budget::Seeds, 2), &observer, &stop).unwrap();
    assert!((10..60).contains(&summary.runs), "{} runs", summary.runs);
}

#[test]
fn a_time_that_is_over_ends_the_campaign() {
    let asked = AtomicUsize::new(0);
    let over = || asked.fetch_add(1, Ordering::SeqCst) >= 5;
    assert_eq!(summary_of(&search(Budget::Until(&over), 1)).runs, 5);
}

#[test]
fn every_failure_of_a_campaign_comes_again_from_its_seed_alone() {
    let search = search(Budget::Runs(12), 2);
    let summary = summary_of(&search);
    for failure in &summary.failures {
        let plan = generate(&BEACONS, failure.seed.unwrap(), &search.restrictions).unwrap();
        let outcome = run(&BEACON, &plan, false).unwrap();
        assert_eq!(outcome.verdict.rule(), failure.rule);
        assert_eq!(Some(outcome.hash), failure.hash);
        assert!(failure.command.ends_with(&format!("{:016x}", failure.seed.unwrap())));
        assert!(failure.command.contains("--set not-ready=drop"));
    }
    assert_eq!(summary.exit_code(), 1);
}

#[test]
fn the_suspect_of_the_race_is_the_announcement_given_up() {
    let summary = summary_of(&search(Budget::Runs(12), 2));
    assert!(summary.failing_runs > 0);
    for failure in &summary.failures {
        let suspect = failure.suspect.as_deref().unwrap();
        let stranded = failure.message.split(' ').next().unwrap();
        assert!(suspect.contains(&format!("n1 LOST n1->{stranded} Announce")), "{suspect}");
    }
}

#[test]
fn the_fixed_toy_passes_where_the_racy_one_fails() {
    let calm = Restrictions { profile: Some(Profile::Calm), ..Restrictions::default() };
    let fixed = Campaign { restrictions: calm, ..search(Budget::Runs(12), 2) };
    assert!(summary_of(&search(Budget::Runs(12), 2)).failures_by_rule["follower-applies"] > 0);
    let fixed = summary_of(&fixed);
    assert_eq!((fixed.runs, fixed.failing_runs, fixed.exit_code()), (12, 0, 0));
}

#[test]
fn a_system_that_is_not_deterministic_is_found_out() {
    let flaky = Campaign { systems: &FLAKIES, repeat_one_in: 1, ..search(Budget::Runs(3), 1) };
    let summary = summary_of(&flaky);
    assert_eq!(summary.failures_by_rule["nondeterministic"], 3);
    assert_eq!(summary.exit_code(), 3);
}

#[test]
fn a_panic_outside_of_any_node_is_a_failure_of_that_run_only() {
    let broken = |jobs| {
        summary_of(&Campaign { systems: &BROKENS, repeat_one_in: 0, ..search(Budget::Runs(20), jobs) })
    };
    let summary = broken(2);
    assert_eq!(summary, broken(1));
    assert_eq!(summary.runs, 20);
    assert_eq!(summary.failures_by_rule["own-bug"], 4);
    assert_eq!(summary.exit_code(), 70);
    let own = summary.failures.iter().find(|f| f.rule == "own-bug").unwrap();
    assert_eq!(own.seed, Some(1_000));
    assert_eq!(own.system, "broken");
    assert!(own.message.contains("beside themselves"), "{}", own.message);
}

#[test]
fn an_option_that_does_not_exist_is_an_error_and_no_run() {
    let set = vec![("colour".to_owned(), "red".to_owned())];
    let wrong = Campaign {
        restrictions: Restrictions { set, ..Restrictions::default() },
        ..search(Budget::Runs(1), 1)
    };
    let refusal = campaign(&wrong, &Unobserved, &AtomicBool::new(false)).unwrap_err();
    assert!(refusal.contains("not-ready"), "{refusal}");
}

#[test]
fn marks_that_no_run_met_are_named() {
    let summary = summary_of(&search(Budget::Runs(12), 2));
    assert!(summary.never_reached.contains(&"flown"));
    assert!(summary.mark_hits["announced"] > 0);
    assert_eq!(summary.mark_hits["flown"], 0);
}

#[test]
fn a_plan_with_a_bug_that_the_system_does_not_have_is_not_run_without_it() {
    let mut plan = generate(&BEACONS, 1, &Restrictions::default()).unwrap();
    assert!(run(&BEACON, &plan, false).is_ok());
    plan.options.name_bug("lazy");
    let refusal = run(&BEACON, &plan, false).unwrap_err();
    assert!(refusal.contains("`lazy` cannot be planted"), "{refusal}");
}
