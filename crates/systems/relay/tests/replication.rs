//! Replication as a whole: losses, restarts, disks, modes.

mod common;

use common::{N1, N2, N3, at, crash, during, noted, pattern, run, tell};
use whitewater_sim::{
    Action, EventKind, NodeId, Outcome, Pattern, Ratio, Script, Span, Step, Trigger, Verdict,
};

fn busy(mut steps: Vec<Step>) -> Script {
    steps.push(tell(N1, at(30), "campaign"));
    steps.extend((0..40).map(|n| tell(N1, at(100 + 10 * n), &format!("propose x={n}"))));
    let mut script = common::script(steps);
    script.horizon = Span::from_millis(600);
    script
}

#[test]
fn rows_reach_everybody_and_are_acknowledged() {
    let outcome = run(&busy(Vec::new()), &[]);
    assert_eq!(outcome.verdict, Verdict::Pass);
    assert!(outcome.figures.acknowledged_writes >= 40);
    assert_eq!(outcome.figures.not_owed, 0);
}

#[test]
fn a_lost_row_breaks_the_connection_and_comes_again_over_the_next() {
    let lost = Pattern { number: Some(1), ..pattern("Rows", N1, N2) };
    let outcome = run(&busy(vec![Step::new(at(0), Action::Drop(lost))]), &[]);
    assert_eq!(outcome.verdict, Verdict::Pass);
    assert!(outcome.marks.contains(&"connection-broken-by-a-gap"));
}

#[test]
fn a_source_that_restarts_is_subscribed_again_at_once() {
    let outcome = run(&busy(vec![during(at(300), at(310), crash(N3))]), &[]);
    assert_eq!(outcome.verdict, Verdict::Pass);
    assert!(noted(&outcome, "connection to n3 is gone, it has restarted"));
}

#[test]
fn a_disk_that_takes_time_and_fails_now_and_then_costs_no_row() {
    let mut script = busy(Vec::new());
    script.disk.high = Span::from_millis(5);
    script.disk.failures = Ratio::of(1, 100).0;
    let outcome = run(&script, &[]);
    assert_eq!(outcome.verdict, Verdict::Pass);
    assert!(outcome.marks.contains(&"started-again-after-failed-sync"));
}

/// What a node was answered, in order.
fn replies(outcome: &Outcome, node: NodeId) -> Vec<&str> {
    let trace = outcome.trace.as_ref().expect("the run is recorded");
    let told = trace.events.iter().filter(|e| e.kind == EventKind::Reply && e.node == Some(node));
    told.map(|event| event.text.as_str()).collect()
}

#[test]
fn an_owner_gives_the_queue_up_behind_what_waits_in_it_and_leads_no_more() {
    let mut script = busy(vec![tell(N2, at(200), "demote"), tell(N1, at(301), "demote")]);
    script.disk.high = Span::from_millis(2);
    let outcome = run(&script, &[("queue", "on")]);
    assert_eq!(outcome.verdict, Verdict::Pass);
    assert!(noted(&outcome, "the queue has no owner any more"));
    // The last write before it is confirmed first, and the next ones are refused.
    let told = replies(&outcome, N1);
    let done = told.iter().position(|text| text.ends_with("done")).expect("it is given up");
    assert_eq!(told[..done].iter().filter(|text| text.contains("written as row")).count(), 21, "{told:?}");
    assert!(!told.iter().any(|text| text.contains("rolled back")), "{told:?}");
    assert!(replies(&outcome, N2)[0].contains("does not own the queue"));
}

#[test]
fn without_a_queue_there_is_none_to_give_up() {
    let outcome = run(&busy(vec![tell(N1, at(200), "demote")]), &[]);
    assert_eq!(outcome.verdict, Verdict::Pass);
    assert!(replies(&outcome, N1).iter().any(|text| text.contains("there is no queue to give up")));
}

#[test]
fn a_node_without_elections_takes_rows_from_anybody() {
    let outcome = run(&busy(Vec::new()), &[("election-mode.n3", "off")]);
    assert_eq!(outcome.verdict, Verdict::Pass);
    assert!(outcome.marks.contains(&"rows-accepted-from-anybody"));
}

#[test]
fn without_a_candidate_no_leader_is_owed() {
    let outcome = run(&busy(Vec::new()), &[("election-mode", "voter")]);
    assert_eq!(outcome.verdict, Verdict::Pass);
    assert_eq!((outcome.counters.leader_changes, outcome.figures.not_owed), (0, 2));
}

#[test]
fn a_majority_that_is_down_for_good_owes_nothing() {
    let down = |node| during(at(0), Trigger::End, crash(node));
    let outcome = run(&busy(vec![down(N2), down(N3)]), &[]);
    assert_eq!(outcome.verdict, Verdict::Pass);
    assert_eq!(outcome.figures.not_owed, 2);
}

#[test]
fn a_link_that_stays_disturbed_owes_nothing() {
    let lossy = Action::Lossy(Pattern { name: None, ..pattern("", N1, N2) }, Ratio::of(1, 2));
    let outcome = run(&busy(vec![during(at(0), Trigger::End, lossy)]), &[]);
    assert_eq!(outcome.verdict, Verdict::Pass);
    assert_eq!(outcome.figures.not_owed, 2);
}

#[test]
fn the_same_script_gives_the_same_run() {
    let hash = || run(&busy(vec![during(at(200), at(300), crash(N1))]), &[]).hash;
    assert_eq!(hash(), hash());
}
