//! Pins: a run with its decisions pinned needs no seed, and a decision is met by its name.

#![allow(missing_docs)]

mod common;

use common::{Manner, at, n, order, run, run_as, short, step};
use whitewater_sim::*;

fn half() -> Ratio {
    Ratio::of(1, 2)
}

/// A script in which everything is left to the seed.
fn wild(seed: u64) -> Script {
    // Damage to copies is the one thing that pins cannot tell.
    let damage = seed.is_multiple_of(2);
    let lossy = Pattern { from: Some(n(1).into()), ..Pattern::default() };
    let steps = vec![
        step(
            at(20),
            Action::Crash { node: Target::Node(n(2)), losing: Losing::Some, at_call: 0 },
            Some(at(50)),
        ),
        step(at(60), Action::Lossy(lossy.clone(), Ratio::of(1, 4)), Some(at(90))),
        step(
            at(70),
            Action::Jitter {
                pattern: lossy.clone(),
                low: Span::from_millis(1),
                high: Span::from_millis(4),
                shape: Shape::Uniform,
            },
            Some(at(120)),
        ),
        match damage {
            true => step(at(95), Action::Corrupt(lossy.clone(), Ratio::of(1, 4)), Some(at(130))),
            false => step(at(100), Action::Replay(lossy.clone(), 1), Some(at(140))),
        },
        step(
            at(110),
            Action::Slow {
                node: Target::Node(n(1)),
                low: Span::from_micros(10),
                high: Span::from_micros(900),
            },
            Some(at(150)),
        ),
        step(
            at(15),
            Action::Reorder { pattern: lossy.clone(), share: half(), window: Span::from_millis(9) },
            Some(at(75)),
        ),
        match damage {
            true => step(at(10), Action::Clog { from: n(3).into(), to: n(1).into() }, Some(at(19))),
            false => step(
                at(10),
                Action::DuplicateSome { pattern: lossy.clone(), share: half(), after: Span::from_millis(4) },
                Some(at(90)),
            ),
        },
        match damage {
            true => step(at(60), Action::Clog { from: n(3).into(), to: n(1).into() }, Some(at(65))),
            false => step(at(25), Action::MisdeliverSome(lossy, half()), Some(at(95))),
        },
        order(at(145), n(2), "lead"),
        order(at(30), n(1), "write 7"),
        order(at(70), n(3), "write 9"),
        order(at(80), n(3), "draw"),
    ];
    let mut script = Script { seed, ..short(steps) };
    script.network = Network {
        loss: Ratio::of(1, 20),
        duplicate: if damage { Ratio::NEVER } else { Ratio::of(1, 10) },
        reorder: Ratio::of(1, 10),
        reorder_window: Span::from_millis(15),
        corrupt: if damage { Ratio::of(1, 20) } else { Ratio::NEVER },
        misdeliver: if damage { Ratio::NEVER } else { Ratio::of(1, 20) },
        ..Network::default()
    };
    script.disk = DiskTiming { low: Span::from_micros(10), high: Span::from_millis(3), ..script.disk };
    script
}

/// The script with every decision of its run pinned and no seed.
fn pinned(script: &Script, outcome: &Outcome) -> Script {
    let pins = outcome.decisions.clone();
    let mut pinned = Script { seed: 0, rest: Rest::Fixed, pins, ..script.clone() };
    pinned.network = script.network.without_chance();
    // What these do by chance is pinned.
    pinned.steps.retain(|step| !step.action.is_by_chance());
    pinned
}

#[test]
fn a_run_with_its_decisions_pinned_is_the_same_run_without_a_seed() {
    for seed in 0..40 {
        let script = wild(seed);
        let drawn = run(&script);
        let again = run(&pinned(&script, &drawn));
        assert_eq!(again.hash, drawn.hash, "seed {seed}");
        assert_eq!(again.unmet, [], "seed {seed}");
        assert!(!pinned(&script, &drawn).pins.is_empty());
    }
}

#[test]
fn without_a_seed_and_pins_a_run_draws_nothing() {
    let fixed = |seed| {
        let outcome = run(&Script { rest: Rest::Fixed, ..wild(seed) });
        assert_eq!(outcome.decisions, []);
        assert_eq!((outcome.counters.bites[Fault::Loss], outcome.counters.bites[Fault::Duplicate]), (0, 0));
        outcome.hash
    };
    assert_eq!((fixed(1), fixed(2)), (fixed(3), fixed(4)));
}

fn ping(number: u32, fate: Fate) -> Pin {
    let name = "Ping".to_owned();
    Pin::new(Decision::Message { from: n(1), to: n(2), name, key: 1, start: 1, number, fate })
}

#[test]
fn code_that_draws_more_still_meets_a_pin_at_its_message() {
    let late = ping(2, Fate::Arrives { after: Span::from_millis(77), again: None, at: None });
    let script = Script { rest: Rest::Fixed, pins: vec![late], ..short(vec![]) };
    let plain = run(&script);
    let other = run_as(&script, Manner { extra_draw: true, ..Manner::default() });
    assert_eq!((&plain.unmet, &other.unmet), (&vec![], &vec![]));
    assert_eq!(plain.hash, other.hash, "the run is the same, too: nothing is drawn in it");
}

#[test]
fn a_pin_that_nothing_meets_is_told() {
    let script = Script { pins: vec![ping(1, Fate::Lost), ping(9_999, Fate::Lost)], ..short(vec![]) };
    let outcome = run(&script);
    assert_eq!(outcome.unmet, [1]);
    assert_eq!(outcome.counters.bites[Fault::Drop], 1);
}

#[test]
fn a_pinned_copy_arrives_when_it_says() {
    let again = Fate::Arrives { after: Span::from_millis(2), again: Some(Span::from_millis(5)), at: None };
    let outcome = run(&Script { rest: Rest::Fixed, pins: vec![ping(1, again)], ..short(vec![]) });
    assert_eq!(outcome.counters.bites[Fault::Duplicate], 1);
    let events = &outcome.trace.as_ref().unwrap().events;
    let sent = events.iter().find(|e| e.kind == EventKind::Send && e.text == "n1->n2 Ping(1)").unwrap();
    let came = events
        .iter()
        .filter(|e| e.kind == EventKind::Recv && e.cause == sent.id)
        .map(|e| e.time.since(sent.time));
    assert_eq!(came.collect::<Vec<_>>(), [Span::from_millis(2), Span::from_millis(7)]);
}

#[test]
fn a_pinned_disk_does_what_the_pin_says_at_that_call_only() {
    let fails = |number| {
        let what = "sync-fails".to_owned();
        Pin::new(Decision::Disk { node: n(1), what, number, value: 1 })
    };
    let outcome = run(&Script { pins: vec![fails(2), fails(500)], ..short(vec![]) });
    assert_eq!((outcome.counters.bites[Fault::SyncFailed], outcome.unmet), (1, vec![1]));
}
