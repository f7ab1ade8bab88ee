//! A few generated plans: the merged patch passes them, the state before it does not. Campaigns run the many.

use whitewater_plan::{Restrictions, generate};
use whitewater_relay::RELAY;
use whitewater_sim::{Outcome, System};

fn run(not_ready: &str, seed: u64) -> Outcome {
    let set = vec![("relay-not-ready".to_owned(), not_ready.to_owned())];
    let restrictions = Restrictions { system: Some("relay".to_owned()), set, ..Restrictions::default() };
    let plan = generate(&[&RELAY], seed, &restrictions).unwrap();
    RELAY.run(&plan.script, &plan.options, false).unwrap()
}

#[test]
fn the_merged_patch_passes_generated_plans() {
    for seed in 0..20 {
        let outcome = run("mailbox", seed);
        assert!(outcome.verdict.is_pass(), "seed {seed}: {}", outcome.verdict);
    }
}

#[test]
fn what_was_before_the_patch_fails_some_generated_plan_by_a_rule_of_progress() {
    let failure = (0..400).map(|seed| run("drop", seed)).find(|outcome| !outcome.verdict.is_pass());
    let rule = failure.expect("a few of a hundred fail").verdict.rule();
    assert!(["follower-catches-up", "no-needless-election"].contains(&rule), "{rule}");
}
