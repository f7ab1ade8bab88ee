//! Text traces and reports of a toy with a planted race.

mod toy;

use toy::BEACON;
use whitewater_hunt::{Failure, print_command, report, run, run_twice, trace_text};
use whitewater_plan::{Plan, Profile, Restrictions, generate};
use whitewater_sim::{Options, Script, Span, System, Verdict};

static BEACONS: [&dyn System; 1] = [&BEACON];

#[test]
fn show() {
    let restrictions = Restrictions {
        profile: Some(std::env::var("P").map_or(Profile::Calm, |p| p.parse().unwrap())),
        set: vec![("not-ready".into(), "drop".into())],
        ..Restrictions::default()
    };
    for seed in 1_000.. {
        let plan = generate(&BEACONS, seed, &restrictions).unwrap();
        let outcome = run_twice(&BEACON, &plan).unwrap();
        if outcome.verdict.is_pass() {
            continue;
        }
        let f =
            Failure::record(&BEACON, plan, &outcome, Some(seed), print_command(&restrictions, seed)).unwrap();
        println!("{}", report::text(&f, Some("abc")));
        println!("{}", trace_text::render(&f.plan, &f.outcome, "title @drop"));
        break;
    }
}
