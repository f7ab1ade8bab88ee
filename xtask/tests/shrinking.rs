//! What is left of a shrunk failure is small, needs each of its elements, and nothing random.
//!
//! By default a few bugs are tried; `WHITEWATER_ALL=1` tries all of them and prints a table.
#![cfg(feature = "mutants")]

mod support;

use std::time::Instant;
use whitewater_hunt::{ShrinkBudget, Shrinking, Shrunk, Signature, elements, run, shrink, without};
use whitewater_kv::KV;
use whitewater_plan::{InputFile, Plan, Restrictions, generate};
use whitewater_relay::RELAY;
use whitewater_sim::{Rest, System};

static SYSTEMS: &[&dyn System] = &[&RELAY, &KV];

/// Runs until a bug counts as not found.
const RUNS_MAX: u64 = 3_000;
/// Tries of one shrink.
const TRIES: u64 = 12_000;

/// The first failing plan from a seed on, with the bug planted.
fn failing(bug: &str, mut seed: u64) -> Option<(Plan, u64)> {
    let restrictions = Restrictions { bug: Some(bug.to_owned()), ..Restrictions::default() };
    for _ in 0..RUNS_MAX {
        let plan = generate(SYSTEMS, seed, &restrictions).expect("the bug can be planted");
        if !run(system(&plan), &plan, false).expect("the plan runs").verdict.is_pass() {
            return Some((plan, seed));
        }
        seed += 1;
    }
    None
}

fn system(plan: &Plan) -> &'static dyn System {
    *SYSTEMS.iter().find(|system| system.name() == plan.system).expect("the system is one of ours")
}

fn shrunk(plan: &Plan, jobs: usize) -> Shrunk {
    let shrinking =
        Shrinking { system: system(plan), budget: ShrinkBudget::Tries(TRIES), jobs, watch: &|_| {} };
    shrink(&shrinking, plan).expect("the plan fails")
}

/// Every bug that is not known to survive, or a few of them.
fn bugs() -> Vec<String> {
    if std::env::var_os("WHITEWATER_ALL").is_none() {
        return ["E04", "R06", "seed-e7"].map(str::to_owned).into();
    }
    let named = whitewater_mutants::named(support::root()).expect("the list of bugs can be read");
    named.into_iter().filter(|bug| bug.survives.is_none()).map(|bug| bug.id).collect()
}

/// Deliveries of a forgotten vote at most: those who published theirs needed 21 to 23.
const FORGOTTEN_VOTE_DELIVERIES: u64 = 25;

#[test]
fn what_is_left_of_a_failure_needs_each_of_its_elements_and_no_seed() {
    let mut times = Vec::new();
    for bug in bugs() {
        let Some((plan, seed)) = failing(&bug, 0) else {
            println!("{bug:<36} not found in {RUNS_MAX} runs");
            continue;
        };
        let begun = Instant::now();
        let small = shrunk(&plan, 2);
        let took = begun.elapsed().as_secs_f64();
        times.push(took);
        println!("{bug:<36} {:<40} {took:>6.1} s  {}", small.signature.to_string(), small.sentence());
        assert_eq!(small.plan.script.rest, Rest::Fixed, "{bug}, seed {seed}: something is left to a seed");
        assert!(bug != "E04" || small.after.deliveries <= FORGOTTEN_VOTE_DELIVERIES, "{}", small.sentence());
        if !small.minimal {
            println!("{bug:<36} {} tries did not do", small.tries);
            continue;
        }
        for element in &elements(&small.plan, system(&plan)) {
            let Some(less) = without(&small.plan, system(&plan), element) else { continue };
            let ends = run(system(&plan), &less, false).ok().and_then(|outcome| Signature::of(&outcome));
            assert_ne!(ends, Some(small.signature.clone()), "{bug}, seed {seed}: {element:?} is not needed");
        }
    }
    times.sort_by(f64::total_cmp);
    let median = times[times.len() / 2];
    println!("{} bugs, median {median:.1} s", times.len());
    assert!(median < 60.0, "{median:.1} s");
}

#[test]
fn what_is_left_does_not_depend_on_the_number_of_threads() {
    let (plan, _) = failing("R06", 0).expect("it is found");
    let (one, three) = (shrunk(&plan, 1), shrunk(&plan, 3));
    assert_eq!(one.plan, three.plan);
}

/// Failures minimised by hand: the bug, and the lines of the script besides those that all have.
const BY_HAND: [(&str, &[&str]); 5] = [
    ("E04", &["servers 2", "sync 1ms..1ms", "campaign at n1 at 30ms"]),
    ("R05", &["servers 3", "campaign at n1 at 30ms", "drop n1->n3 MsgApp #1"]),
    ("R14", &["servers 2", "sync 1ms..1ms", "campaign at n1 at 30ms"]),
    ("seed-e12", &["servers 1", "put r1 v1 at n1"]),
    (
        "wal-reply-before-sync",
        &["servers 1", "campaign at n1 at 30ms", "crash n1 at 40ms until 50ms losing unsynced"],
    ),
];

/// The plan that was made by hand.
fn by_hand(bug: &str, lines: &[&str]) -> Plan {
    let all = ["seed none", "clients 0", "delay 1ms", "horizon 100ms", "settle 0ms delay 1ms no power-cycle"];
    let script: Vec<_> = all.iter().chain(lines).copied().collect();
    let json = serde_json::json!({
        "plan": 1, "system": "kv", "profile": "calm", "options": {}, "bug": bug, "script": script,
    });
    match InputFile::parse(bug, &json.to_string(), SYSTEMS).expect("the script is one") {
        InputFile::Plan(plan) => plan,
        _ => panic!("{bug}: a plan"),
    }
}

#[test]
fn what_is_left_is_not_much_larger_than_what_is_left_by_hand() {
    for (bug, lines) in BY_HAND {
        let hand = run(&KV, &by_hand(bug, lines), false).expect("the plan runs");
        let (plan, _) = failing(bug, 0).expect("it is found");
        let small = shrunk(&plan, 2);
        println!("{bug:<10} {} deliveries, by hand {}", small.after.deliveries, hand.counters.deliveries);
        assert_eq!(Signature::of(&hand), Some(small.signature.clone()), "{bug}");
        assert!(small.after.deliveries * 10 <= hand.counters.deliveries * 12, "{bug}: {}", small.sentence());
    }
}
