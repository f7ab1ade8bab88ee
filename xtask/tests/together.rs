//! Bugs that take a crash and a cut together: found where there are both, and not where there is one of them.
//!
//! Which they are stands in `crates/mutants/together.txt`, with what was measured. By default a part of that is measured again;
//! to measure all of it, and have the lines of the file printed as they are now:
//!
//! ```text
//! WHITEWATER_ALL=1 cargo test --profile fuzz -p xtask --features mutants --test together -- --nocapture
//! ```
#![cfg(feature = "mutants")]

#[path = "support/families.rs"]
mod families;
mod support;

use families::{CRASHES, CUTS, With, search};
use std::time::Instant;
use whitewater_hunt::{ShrinkBudget, Shrinking, Signature, elements, run, shrink, without};
use whitewater_kv::KV;
use whitewater_mutants::{Together, together};
use whitewater_plan::Restrictions;
use whitewater_sim::Rest;

/// Messages delivered in vain, for each delivered until the bug was found where there is both, at least.
const IN_VAIN_MIN: u64 = 5;
/// Messages delivered in vain that are measured again by default.
const AGAIN: u64 = 150_000;
/// Tries of one shrink.
const TRIES: u64 = 16_000;

fn measured() -> Vec<Together> {
    together(support::root()).expect("the list can be read")
}

/// Those that are measured now: all of them, or by default the one that is found soonest.
fn chosen() -> Vec<Together> {
    let mut bugs = measured();
    if std::env::var_os("WHITEWATER_ALL").is_none() {
        bugs.sort_by_key(|bug| bug.found_after);
        bugs.truncate(1);
    }
    bugs
}

fn restrictions(bug: &Together) -> Restrictions {
    Restrictions {
        system: Some("kv".to_owned()),
        bug: Some(bug.bug.clone()),
        set: bug.set.clone(),
        ..Restrictions::default()
    }
}

#[test]
fn each_was_searched_for_much_longer_where_one_of_both_is_missing() {
    let bugs = measured();
    assert!(!bugs.is_empty());
    for bug in bugs {
        let in_vain = bug.not_without_crashes.min(bug.not_without_cuts);
        assert!(in_vain >= IN_VAIN_MIN * bug.found_after, "{}", bug.line());
    }
}

#[test]
fn what_is_left_of_each_has_a_crash_and_a_cut_and_needs_each_of_its_elements() {
    let mut times = Vec::new();
    for bug in chosen() {
        let searched = search(&KV, &restrictions(&bug), With::Both, 2 * bug.found_after);
        let (plan, _) = searched.found.unwrap_or_else(|| panic!("{} is not found any more", bug.bug));
        let begun = Instant::now();
        let shrinking =
            Shrinking { system: &KV, budget: ShrinkBudget::Tries(TRIES), jobs: 2, watch: &|_| {} };
        let small = shrink(&shrinking, &plan).expect("the plan fails");
        let took = begun.elapsed().as_secs_f64();
        times.push(took);
        println!("{:<26} {:<32} {took:>6.1} s  {}", bug.bug, small.signature.to_string(), small.sentence());
        assert!(CRASHES.are_in(&small.plan), "{} without a crash: {}", bug.bug, small.plan.to_json());
        assert!(CUTS.are_in(&small.plan), "{} without a cut: {}", bug.bug, small.plan.to_json());
        assert_eq!(small.plan.script.rest, Rest::Fixed, "{}: something is left to a seed", bug.bug);
        assert!(small.minimal, "{}: {} tries did not do", bug.bug, small.tries);
        for element in elements(&small.plan, &KV) {
            let Some(less) = without(&small.plan, &KV, &element) else { continue };
            let ends = run(&KV, &less, false).ok().and_then(|outcome| Signature::of(&outcome));
            assert_ne!(ends, Some(small.signature.clone()), "{}: {element:?} is not needed", bug.bug);
        }
    }
    times.sort_by(f64::total_cmp);
    println!("median {:.1} s", times[times.len() / 2]);
}

#[test]
fn none_is_found_without_crashes_or_without_cuts() {
    let all = std::env::var_os("WHITEWATER_ALL").is_some();
    for bug in chosen() {
        let restrictions = restrictions(&bug);
        let in_vain = |with: With, measured: u64| {
            let searched = search(&KV, &restrictions, with, if all { measured } else { AGAIN });
            let seed = searched.found.map(|(_, seed)| seed);
            assert_eq!(seed, None, "{} is found {with:?}", bug.bug);
            searched.deliveries
        };
        let now = Together {
            not_without_crashes: in_vain(With::NoCrashes, bug.not_without_crashes),
            not_without_cuts: in_vain(With::NoCuts, bug.not_without_cuts),
            found_after: search(&KV, &restrictions, With::Both, 2 * bug.found_after).deliveries,
            ..bug.clone()
        };
        println!("{}", now.line());
    }
}
