//! Text traces and reports of a toy with a planted race.

mod toy;

use toy::{BEACON, FLAKY};
use whitewater_hunt::report::About;
use whitewater_hunt::{Failure, report, run, run_twice, scenario_text, trace_text};
use whitewater_plan::text::parse_script;
use whitewater_plan::{Expect, PLAN_VERSION, Plan, Profile, Restrictions, Scenario, generate};
use whitewater_sim::{Options, System, Verdict};

static BEACONS: [&dyn System; 1] = [&BEACON];

const SCRIPT: &[&str] = &[
    "seed 0x5445",
    "servers 3",
    "delay 2ms..2ms",
    "horizon 250ms",
    "settle 400ms delay 2ms no power-cycle",
    "crash n3 at 0ms until end | n2 is all there is",
    "hold ready n1->n2 until n1 leads | THE RACE: n1 leads before its link to n2 is ready",
    "write 7 at n1 when n1->n2 Beat arrives after 30ms",
];

fn plan(not_ready: &str) -> Plan {
    let lines: Vec<String> = SCRIPT.iter().map(|line| (*line).to_owned()).collect();
    let script = parse_script(&lines, Some(&BEACON)).expect("the script is right");
    let mut options = Options::new();
    options.set(BEACON.options(), "not-ready", not_ready).expect("the option exists");
    Plan { version: PLAN_VERSION, system: "beacon".into(), profile: Profile::Calm, options, script }
}

fn failure() -> Failure {
    let outcome = run_twice(&BEACON, &plan("drop")).unwrap();
    let command = "cargo xtask fuzz --seed 0x5445".to_owned();
    Failure::record(&BEACON, plan("drop"), &outcome, Some(0x5445), command).unwrap()
}

#[test]
fn the_trace_of_the_race_is_a_story() {
    let outcome = run(&BEACON, &plan("drop"), true).unwrap();
    insta::assert_snapshot!("beacon@drop", trace_text::render(&plan("drop"), &outcome, "beacon @drop"));
}

#[test]
fn the_trace_of_the_mended_toy_differs_by_a_few_lines() {
    let outcome = run(&BEACON, &plan("keep"), true).unwrap();
    insta::assert_snapshot!("beacon@keep", trace_text::render(&plan("keep"), &outcome, "beacon @keep"));
}

fn about() -> About {
    About {
        commit: Some("3f2c9ab".to_owned()),
        fingerprint: Some("F-0123456789".to_owned()),
        shrunk: Some("5 nodes to 3".to_owned()),
        commands: vec![("Keep", "cargo xtask keep F-0123456789".to_owned())],
    }
}

#[test]
fn the_report_is_also_markdown() {
    let text = report::markdown(&failure(), &about());
    let hash = failure().outcome.hash.to_string();
    insta::assert_snapshot!("beacon@drop-markdown", text.replace(&hash, "(hash)"));
}

#[test]
fn the_report_says_what_why_and_how_to_see_it_again() {
    let text = report::text(&failure(), &about());
    let hash = failure().outcome.hash.to_string();
    insta::assert_snapshot!("beacon@drop-report", text.replace(&hash, "(hash)"));
}

#[test]
fn a_trace_holds_no_hash() {
    let failure = failure();
    let text = trace_text::render(&failure.plan, &failure.outcome, "beacon");
    assert!(!text.contains(&failure.outcome.hash.to_string()[2..10]));
}

#[test]
fn a_long_run_fits_on_a_few_screens() {
    let restrictions = Restrictions {
        profile: Some(Profile::Swarm),
        set: vec![("not-ready".into(), "drop".into())],
        ..Restrictions::default()
    };
    for seed in 0..6 {
        let plan = generate(&BEACONS, seed, &restrictions).unwrap();
        let outcome = run(&BEACON, &plan, true).unwrap();
        let text = trace_text::render(&plan, &outcome, "long");
        assert!(text.lines().count() < 140, "{} lines for seed {seed}", text.lines().count());
        if !outcome.verdict.is_pass() {
            assert!(text.contains("VIOLATION"), "{text}");
        }
    }
}

#[test]
fn a_run_that_is_not_the_same_twice_says_where_it_parts() {
    let plan = Plan { system: "flaky".into(), ..plan("drop") };
    let outcome = run_twice(&FLAKY, &plan).unwrap();
    assert_eq!(outcome.verdict, Verdict::Nondeterministic);
    let failure = Failure::record(&FLAKY, plan, &outcome, None, String::new()).unwrap();
    assert_eq!(failure.rule(), "nondeterministic");
    let difference = failure.difference.clone().unwrap();
    assert!(difference.starts_with("event ") && difference.contains("was once"), "{difference}");
    assert!(report::text(&failure, &About::default()).contains(&format!("NO: {difference}")));
}

#[test]
fn a_run_that_fails_otherwise_when_it_is_recorded_is_not_deterministic() {
    let mut first = run(&BEACON, &plan("drop"), false).unwrap();
    first.hash.0 ^= 1;
    let failure = Failure::record(&BEACON, plan("drop"), &first, None, String::new()).unwrap();
    assert_eq!(failure.rule(), "nondeterministic");
    assert!(failure.difference.unwrap().contains("does not show every time"));
}

fn scenario(lines: &[&str]) -> Scenario {
    let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    let plan = Plan { script: parse_script(&lines, Some(&BEACON)).unwrap(), ..plan("keep") };
    Scenario::of_plan("late", &plan, Expect::Pass)
}

#[test]
fn a_scenario_gives_its_trace_under_name_and_variant() {
    let (text, outcome) = scenario_text(&BEACON, &scenario(SCRIPT), "found").unwrap();
    assert!(text.starts_with("late @found    seed 0x5445"), "{text}");
    assert!(outcome.trace.is_some());
}

#[test]
fn a_step_that_never_happens_is_named_with_the_time_the_run_ended() {
    let lines = [SCRIPT, &["write 8 at n1 when n2 leads"]].concat();
    let refusal = scenario_text(&BEACON, &scenario(&lines), "found").unwrap_err();
    assert!(refusal.contains("step 4, `write 8 at n1 when n2 leads`, never happened"), "{refusal}");
}

#[test]
fn a_variant_that_does_not_exist_is_refused_with_those_that_do() {
    let refusal = scenario_text(&BEACON, &scenario(SCRIPT), "drop").unwrap_err();
    assert!(refusal.contains("there are found"), "{refusal}");
}
