//! Planted bugs are found, shrunk and told apart: what is left is small, needs each of its elements, and nothing random.
//!
//! By default a few bugs are tried; `WHITEWATER_ALL=1` tries all of them and prints a table.
#![cfg(feature = "mutants")]

mod support;

use std::time::Instant;
use whitewater_hunt::{
    Fingerprint, ShrinkBudget, Shrinking, Shrunk, Signature, elements, run, shrink, without,
};
use whitewater_kv::KV;
use whitewater_plan::{Plan, Restrictions, generate};
use whitewater_relay::RELAY;
use whitewater_sim::{Action, Decision, Pattern, Rest, Span, Step, System, Time, Trigger};

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

/// Every bug there is, or a few of them.
fn bugs() -> Vec<&'static str> {
    match std::env::var_os("WHITEWATER_ALL") {
        Some(_) => {
            let mut all: Vec<&str> = SYSTEMS.iter().flat_map(|system| system.bugs()).copied().collect();
            all.sort_unstable();
            all.dedup();
            all
        }
        None => vec!["E04", "R06", "seed-e7"],
    }
}

#[test]
fn what_is_left_of_a_failure_needs_each_of_its_elements_and_no_seed() {
    for bug in bugs() {
        let Some((plan, seed)) = failing(bug, 0) else {
            println!("{bug:<36} not found in {RUNS_MAX} runs");
            continue;
        };
        let begun = Instant::now();
        let small = shrunk(&plan, 2);
        let took = begun.elapsed().as_secs_f64();
        println!("{bug:<36} {:<40} {took:>6.1} s  {}", small.signature.to_string(), small.sentence());
        assert_eq!(small.plan.script.rest, Rest::Fixed, "{bug}, seed {seed}: something is left to a seed");
        assert!(small.minimal, "{bug}, seed {seed}: {} tries did not do", small.tries);
        let needed = elements(&small.plan, system(&plan));
        for element in &needed {
            let Some(less) = without(&small.plan, system(&plan), element) else { continue };
            let ends = run(system(&plan), &less, false).ok().and_then(|outcome| Signature::of(&outcome));
            assert_ne!(ends, Some(small.signature.clone()), "{bug}, seed {seed}: {element:?} is not needed");
        }
    }
}

#[test]
fn what_is_left_does_not_depend_on_the_number_of_threads() {
    let (plan, _) = failing("R06", 0).expect("it is found");
    let (one, three) = (shrunk(&plan, 1), shrunk(&plan, 3));
    assert_eq!(one.plan, three.plan);
}

/// How well two ways to sort the same things agree, in thousandths: the adjusted Rand index.
fn agreement(a: &[String], b: &[String]) -> i64 {
    let pairs = |n: i64| n * (n - 1) / 2;
    let count = |of: &dyn Fn(usize) -> (String, String)| -> i64 {
        let mut counts = std::collections::BTreeMap::new();
        (0..a.len()).for_each(|at| *counts.entry(of(at)).or_insert(0_i64) += 1);
        counts.into_values().map(pairs).sum()
    };
    let both = count(&|at| (a[at].clone(), b[at].clone()));
    let (ones, others) =
        (count(&|at| (a[at].clone(), String::new())), count(&|at| (String::new(), b[at].clone())));
    let all = pairs(a.len() as i64).max(1);
    let expected = ones * others / all;
    let best = (ones + others) / 2;
    if best == expected { 1_000 } else { 1_000 * (both - expected) / (best - expected) }
}

#[test]
fn sorting_alike_agrees_wholly_and_sorting_by_nothing_not_at_all() {
    let words = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
    assert_eq!(agreement(&words("aabbcc"), &words("xxyyzz")), 1_000);
    assert!(agreement(&words("abababab"), &words("xxyyxxyy")) < 100);
}

/// Fingerprints against the bugs that were planted.
#[test]
fn fingerprints_tell_bugs_apart() {
    let (bugs, each): (Vec<&str>, usize) = match std::env::var("WHITEWATER_BUGS") {
        Ok(list) => (list.split(',').map(|bug| &*bug.to_owned().leak()).collect(), 13),
        Err(_) => (vec!["E04", "R06", "seed-e2"], 3),
    };
    let (mut truth, mut told) = (Vec::new(), Vec::new());
    for bug in &bugs {
        let mut seed = 0;
        for _ in 0..each {
            let Some((plan, at)) = failing(bug, seed) else { break };
            seed = at + 1;
            let small = shrunk(&plan, 2);
            let recorded = run(system(&plan), &small.plan, true).expect("the plan runs");
            let fingerprint = Fingerprint::fine(&small.plan, &small.signature, &recorded);
            println!("{bug} {at} {fingerprint} {}", small.signature);
            truth.push((*bug).to_owned());
            told.push(fingerprint.to_string());
        }
    }
    let agreement = agreement(&truth, &told);
    println!("adjusted Rand index {agreement}/1000 over {} failures", truth.len());
    assert!(agreement >= 900, "{agreement}/1000 of {} failures", truth.len());
}

/// A change of the code, as far as a plan can play it.
type Change = (&'static str, fn(&mut Plan));

/// What changes of the code do to a saved plan: other timing, more messages, names that are gone, other defaults.
const CHANGES: [Change; 10] = [
    ("another seed behind it", |plan| plan.script.seed ^= 0x5eed),
    ("a tick a fifth longer", |plan| scale_option(plan, "tick", 6, 5)),
    ("slower links", |plan| {
        let delay = Span::from_nanos(plan.script.network.delay_low.nanos() * 5 / 4);
        (plan.script.network.delay_low, plan.script.network.delay_high) = (delay, delay);
    }),
    ("a message more of every heartbeat", |plan| {
        let heartbeats = Pattern { name: Some("MsgHeartbeat".to_owned()), ..Pattern::default() };
        let twice = Action::Duplicate(heartbeats, Span::from_micros(50));
        plan.script.steps.push(Step::new(Trigger::At(Time::ZERO), twice));
    }),
    ("sessions that take longer to start", |plan| scale_option(plan, "session-start-low", 5, 4)),
    ("a message kind under another name", |plan| {
        for pin in &mut plan.script.pins {
            if let Decision::Message { name, .. } = &mut pin.decision {
                name.push_str("New");
            }
        }
    }),
    ("another key of messages", |plan| {
        for pin in &mut plan.script.pins {
            if let Decision::Message { key, .. } = &mut pin.decision {
                *key ^= 1;
            }
        }
    }),
    ("a draw more at every site", |plan| {
        for pin in &mut plan.script.pins {
            if let Decision::Draw { number, .. } | Decision::Timer { number, .. } = &mut pin.decision {
                *number += 1;
            }
        }
    }),
    ("a storage call more at every start", |plan| {
        for pin in &mut plan.script.pins {
            if let Decision::Disk { number, .. } = &mut pin.decision {
                *number += 1;
            }
        }
    }),
    ("a client that does something else as well", |plan| {
        plan.script.clients = (plan.script.clients + 1).min(8);
    }),
];

fn scale_option(plan: &mut Plan, name: &str, by: u64, of: u64) {
    let specs = system(plan).options();
    if !specs.iter().any(|spec| spec.name == name) {
        return;
    }
    let nanos = plan.options.span(specs, name).nanos() * by / of;
    let value = Span::from_nanos(nanos / 1_000 * 1_000).to_string();
    plan.options.set(specs, name, &value).expect("it is in range");
}

/// Saved failures against changes, and the plain seeds beside them.
#[test]
fn saved_failures_outlive_changes() {
    let bugs: Vec<String> = match std::env::var("WHITEWATER_SURVIVAL") {
        Ok(list) => list.split(',').map(str::to_owned).collect(),
        Err(_) => vec!["E04".into(), "R14".into(), "seed-e2".into()],
    };
    let (mut kept, mut seeds, mut all) = (0, 0, 0);
    for bug in &bugs {
        let Some((plan, _)) = failing(bug, 0) else { continue };
        let small = shrunk(&plan, 2);
        let mut lost = Vec::new();
        for (name, change) in CHANGES {
            let survives = |plan: &Plan| {
                let mut changed = plan.clone();
                change(&mut changed);
                let ends = run(system(plan), &changed, false).ok().and_then(|o| Signature::of(&o));
                ends.as_ref() == Some(&small.signature)
            };
            all += 1;
            seeds += u32::from(survives(&plan));
            match survives(&small.plan) {
                true => kept += 1,
                false => lost.push(name),
            }
        }
        println!(
            "{bug:<36} {} of {} survive; not: {}",
            CHANGES.len() - lost.len(),
            CHANGES.len(),
            lost.join(", ")
        );
    }
    println!("shrunk: {kept} of {all}; the plain seeds: {seeds} of {all}");
    assert!(kept * 10 >= all * 9, "{kept} of {all} survive");
}
