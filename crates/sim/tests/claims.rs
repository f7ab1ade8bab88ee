//! What scripts claim about a run: expectations at a moment, within a time and at the end, and what never happens.

mod common;

use common::*;
use whitewater_sim::*;

fn leads(node: usize) -> Condition {
    Condition::Takes(Target::Node(n(node)), Role::Leader)
}

fn counts(node: usize, value: u64) -> Condition {
    Condition::Reaches(Target::Node(n(node)), "counter".to_owned(), value)
}

fn pong() -> Condition {
    Condition::Arrives(Pattern { name: Some("Pong".to_owned()), to: Some(n(1).into()), ..Pattern::default() })
}

fn expect(when: Trigger, condition: Condition, within: Option<u64>) -> Step {
    Step::new(when, Action::Expect(condition, within.map(Span::from_millis)))
}

/// What comes of a run in which n1 leads from 50 ms on, and which has this step as well.
fn verdict(claim: Step) -> Verdict {
    let outcome = run(&short(vec![order(at(50), n(1), "lead"), order(at(60), n(1), "ping"), claim]));
    assert!(!outcome.verdict.is_pass() || outcome.unfired.is_empty(), "every step has its moment");
    outcome.verdict
}

fn broken(claim: Step) -> (&'static str, Option<NodeId>) {
    match verdict(claim) {
        Verdict::Violated(violation) => (violation.rule, violation.node),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_state_is_looked_at_in_its_moment() {
    assert_eq!(verdict(expect(at(51), leads(1), None)), Verdict::Pass);
    assert_eq!(broken(expect(at(49), leads(1), None)), ("expected", Some(n(1))));
    assert_eq!(broken(expect(at(51), leads(2), None)), ("expected", Some(n(2))));
}

#[test]
fn what_is_expected_within_a_time_may_come_late_but_not_too_late() {
    assert_eq!(verdict(expect(at(10), leads(1), Some(41))), Verdict::Pass);
    assert_eq!(broken(expect(at(10), leads(1), Some(39))), ("expected", Some(n(1))));
    assert_eq!(verdict(expect(at(55), leads(1), Some(0))), Verdict::Pass, "it holds already");
    assert_eq!(verdict(expect(at(60), pong(), Some(30))), Verdict::Pass);
    assert_eq!(broken(expect(at(190), leads(3), Some(60_000))), ("expected", Some(n(3))), "the run ends");
}

#[test]
fn the_end_is_after_everything_else() {
    assert_eq!(verdict(expect(Trigger::End, leads(2), None)).rule(), "expected");
    assert_eq!(verdict(expect(Trigger::End, counts(1, 1), None)), Verdict::Pass);
    assert_eq!(verdict(expect(Trigger::End, counts(1, 1_000_000), None)).rule(), "expected");
}

#[test]
fn what_must_never_happen_may_happen_before_and_after() {
    let never = |from, until| step(at(from), Action::Never(leads(1)), Some(at(until)));
    assert_eq!(verdict(never(0, 49)), Verdict::Pass);
    assert_eq!(broken(never(0, 51)), ("never", Some(n(1))));
    assert_eq!(broken(never(60, 70)), ("never", Some(n(1))), "it leads all the time");
    let never = |from, until| step(at(from), Action::Never(pong()), Some(at(until)));
    assert_eq!(verdict(never(0, 2)), Verdict::Pass);
    assert_eq!(broken(never(0, 150)), ("never", Some(n(1))));
}

#[test]
fn a_step_may_wait_for_a_figure() {
    let reached = Trigger::When(counts(2, 3), Span::ZERO);
    let outcome = run(&short(vec![order(reached.clone(), n(2), "lead")]));
    assert_eq!(outcome.unfired, Vec::<usize>::new());
    let nowhere = Trigger::When(counts(2, 1_000_000), Span::ZERO);
    assert_eq!(run(&short(vec![order(nowhere, n(2), "lead")])).unfired, [0]);
}

#[test]
fn a_claim_that_cannot_be_meant_is_refused() {
    let refused = |claim: Step| short(vec![claim]).validate().unwrap_err();
    assert!(refused(expect(at(5), pong(), None)).contains("within"));
    assert!(refused(Step::new(Trigger::End, Action::Never(leads(1)))).contains("at the end"));
    let ended = step(at(5), Action::Expect(leads(1), None), Some(at(9)));
    assert!(refused(ended).contains("within"));
}
