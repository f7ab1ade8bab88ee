//! What the patch as mailed gets wrong, played by hand: what it keeps is never cleared.

mod common;

use common::{N1, N2, N3, at, during, fires, noted, pattern, run, takes, tell};
use whitewater_sim::{Action, Outcome, Role, Script, Span, Target, Verdict};

/// n1 stands for election while nobody has subscribed, so its request is kept. It wins once its relays run, so the news of
/// that goes out by itself. Then n2 loses the connection for a while and subscribes again.
fn script() -> Script {
    let after_ready = || fires("relay-ready", N1, N2, 5);
    let cut = |from, to| Action::Cut { from: Target::Node(from), to: Target::Node(to) };
    let mut script = common::script(vec![
        during(at(0), takes(N1, Role::Candidate), Action::Hold(pattern("Subscribe", N2, N1))),
        during(at(0), takes(N1, Role::Candidate), Action::Hold(pattern("Subscribe", N3, N1))),
        tell(N1, fires("relay-ready", N2, N1, 1), "campaign"),
        during(at(0), after_ready(), Action::Hold(pattern("Announce", N2, N1))),
        during(at(0), after_ready(), Action::Hold(pattern("Announce", N3, N1))),
        during(at(100), at(400), cut(N1, N2)),
        during(at(100), at(400), cut(N2, N1)),
    ]);
    script.horizon = Span::from_millis(410);
    script.settle.power_cycle = false;
    script
}

fn play(not_ready: &str, mode_of_others: &str) -> Outcome {
    let modes = [("election-mode.n2", mode_of_others), ("election-mode.n3", "voter")];
    run(&script(), &[modes[0], modes[1], ("relay-not-ready", not_ready)])
}

#[test]
fn a_stale_request_that_is_sent_again_makes_a_voter_forget_its_leader() {
    let outcome = play("latch", "voter");
    let Verdict::Violated(violation) = &outcome.verdict else { panic!("{}", outcome.verdict) };
    assert_eq!(violation.rule, "follower-catches-up");
    assert_eq!((violation.node, violation.peer), (Some(N2), Some(N1)));
    assert!(outcome.marks.contains(&"stale-broadcast-sent"));
    assert!(noted(&outcome, "n1 leads no more, says it"));
}

#[test]
fn a_mailbox_that_was_emptied_stays_empty() {
    for mode in ["voter", "candidate"] {
        let outcome = play("mailbox", mode);
        assert_eq!(outcome.verdict, Verdict::Pass);
        assert!(!noted(&outcome, "n1 leads no more, says it"));
    }
}

#[test]
fn what_is_kept_goes_out_at_teardown_too() {
    let mut script = script();
    // Only acknowledgements are lost: n2 still hears n1 when n1 gives the connection up.
    script.steps.remove(5);
    let outcome = run(&script, &[("relay-not-ready", "latch"), ("election-mode.n2", "voter")]);
    assert!(outcome.marks.contains(&"broadcast-sent-at-teardown"));
    assert!(noted(&outcome, "n1 leads no more, says it"));
}
