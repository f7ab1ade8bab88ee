//! The race of the announcement that comes before the relay is ready, played by hand in its three variants.

mod common;

use common::{N1, N2, N3, at, crash, during, fires, names, options, pattern, run, takes, tell};
use whitewater_relay::RELAY;
use whitewater_sim::{Action, EventKind, Outcome, Role, Script, System, Trigger, Verdict};

/// One of three servers is down. n2 subscribes while n1 stands for election, and can answer at once; the relay from n1 to
/// n2 is held until n1 leads, then n1 writes a row.
fn script() -> Script {
    common::script(vec![
        during(at(0), Trigger::End, crash(N3)),
        during(at(0), takes(N1, Role::Candidate), Action::Hold(pattern("Subscribe", N2, N1))),
        tell(N1, fires("relay-ready", N2, N1, 1), "campaign"),
        during(at(0), takes(N1, Role::Leader), Action::Hold(pattern("relay-ready", N1, N2))),
        tell(N1, fires("relay-ready", N1, N2, 1), "propose x=1"),
    ])
}

fn play(not_ready: &str, mode_of_n2: &str) -> Outcome {
    run(&script(), &[("relay-not-ready", not_ready), ("election-mode.n2", mode_of_n2)])
}

#[test]
fn a_broadcast_that_is_dropped_strands_a_voter_for_ever() {
    let outcome = play("drop", "voter");
    let Verdict::Violated(violation) = &outcome.verdict else { panic!("{}", outcome.verdict) };
    assert_eq!(violation.rule, "follower-catches-up");
    assert_eq!((violation.node, violation.peer), (Some(N2), Some(N1)));
    assert!(violation.message.contains("has applied none of its 2 rows"), "{}", violation.message);
    assert_eq!(names(&outcome, EventKind::Discard), ["LeaderAnnounce"]);
    assert!(outcome.marks.contains(&"rows-rejected"));
}

#[test]
fn a_broadcast_that_is_dropped_makes_a_candidate_disturb_a_healthy_leader() {
    let outcome = play("drop", "candidate");
    let Verdict::Violated(violation) = &outcome.verdict else { panic!("{}", outcome.verdict) };
    assert_eq!(violation.rule, "no-needless-election");
    assert_eq!((violation.node, violation.peer), (Some(N2), Some(N1)));
}

#[test]
fn a_broadcast_that_is_kept_arrives_before_the_rows() {
    for not_ready in ["latch", "mailbox"] {
        for mode in ["voter", "candidate"] {
            let outcome = play(not_ready, mode);
            assert_eq!(outcome.verdict, Verdict::Pass, "{not_ready} {mode}");
            assert!(!outcome.marks.contains(&"rows-rejected"), "{not_ready} {mode}");
            assert_eq!(names(&outcome, EventKind::Discard), [""; 0]);
        }
    }
}

#[test]
fn a_relay_that_is_ready_in_time_hides_the_race() {
    let mut script = script();
    script.steps.remove(3);
    script.settle.power_cycle = false;
    let options = options(&[("relay-not-ready", "drop"), ("election-mode.n2", "voter")]);
    assert_eq!(RELAY.run(&script, &options, false).unwrap().verdict, Verdict::Pass);
}
