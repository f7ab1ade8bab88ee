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
#[path = "support/proof.rs"]
mod proof;
mod support;

use families::{CRASHES, CUTS, With, search};
use proof::{Proven, median_seconds};
use whitewater_kv::KV;
use whitewater_mutants::{Together, together};
use whitewater_plan::Restrictions;

/// Messages delivered in vain, for each delivered until the bug was found where there is both, at least.
const IN_VAIN_MIN: u64 = 5;
/// Messages delivered in vain that are measured again by default.
const AGAIN: u64 = 150_000;

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
    let mut all = Vec::new();
    for bug in chosen() {
        let searched = search(&KV, &restrictions(&bug), With::Both, 2 * bug.found_after);
        let (plan, _) = searched.found.unwrap_or_else(|| panic!("{} is not found any more", bug.bug));
        let proven = Proven::of(bug.bug, &KV, &plan);
        println!("{}", proven.row());
        assert_eq!(proven.complaint(), None);
        let small = &proven.small.plan;
        assert!(CRASHES.are_in(small), "{} without a crash: {}", proven.name, small.to_json());
        assert!(CUTS.are_in(small), "{} without a cut: {}", proven.name, small.to_json());
        all.push(proven);
    }
    println!("median {:.1} s", median_seconds(&all));
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
