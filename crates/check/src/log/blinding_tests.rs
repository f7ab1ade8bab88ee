//! Each rule has a run that it alone finds: whoever switches a rule off misses something.

use super::rules::RaftRules;
use super::testing::{Going, N1, N2, N3, Run};
use super::{
    abstract_step, acknowledgements_durable, answers_asked, appends_fit, applied_durable,
    campaign_configured, candidates_vote, commit_monotonic, commit_own_term, commit_within_log,
    committed_agree, committed_kept, committed_on_quorum, durable_log_kept, elected_by_quorum,
    grants_durable, leader_append_only, leader_completeness, leader_longest, leader_named, log_matching,
    log_terms, match_truth, matches_grow, membership_agreed, membership_steps, message_terms,
    next_beyond_match, one_change_at_a_time, peer_refused, pre_vote_keeps_term, responses_durable,
    retries_carry, snapshot_committed, snapshot_ended, state_machine_safety, transfer_ordered, vote_kept,
};
use crate::log_view::Spoken;
use whitewater_sim::{Role, Violation};

fn two_leaders_of_a_term(run: &mut Run) -> Going {
    run.step(N1, |n| n.enter(4, Role::Leader))?;
    run.step(N1, |n| n.enter(5, Role::Follower))?;
    run.step(N2, |n| n.enter(4, Role::Leader))
}

fn a_term_that_goes_back(run: &mut Run) -> Going {
    run.step(N1, |n| n.enter(3, Role::Follower))?;
    run.step(N1, |n| n.term = 2)
}

fn two_votes_in_a_term(run: &mut Run) -> Going {
    run.say(N1, Spoken::Grant { to: N2, term: 1 }, |n| {
        n.enter(1, Role::Follower);
        n.choose(N2);
    })?;
    // Late, from a term later: what it chose in the term of the votes is not seen any more.
    run.say(N1, Spoken::Grant { to: N3, term: 1 }, |n| n.enter(2, Role::Follower))
}

pub(super) type Violating = fn(&mut Run) -> Going;

pub(super) const RUNS: &[(&str, Violating)] = &[
    ("election-safety", two_leaders_of_a_term),
    ("monotonic-terms", a_term_that_goes_back),
    ("vote-once", two_votes_in_a_term),
    ("grants-durable", grants_durable::tests::violating),
    ("responses-durable", responses_durable::tests::violating),
    ("acknowledgements-durable", acknowledgements_durable::tests::violating),
    ("message-terms", message_terms::tests::violating),
    ("appends-fit", appends_fit::tests::violating),
    ("retries-carry", retries_carry::tests::violating),
    ("snapshot-committed", snapshot_committed::tests::violating),
    ("transfer-ordered", transfer_ordered::tests::violating),
    ("vote-kept", vote_kept::tests::violating),
    ("pre-vote-keeps-term", pre_vote_keeps_term::tests::violating),
    ("durable-log-kept", durable_log_kept::tests::violating),
    ("log-terms", log_terms::tests::violating),
    ("leader-append-only", leader_append_only::tests::violating),
    ("log-matching", log_matching::tests::violating),
    ("leader-longest", leader_longest::tests::violating),
    ("leader-named", leader_named::tests::violating),
    ("committed-kept", committed_kept::tests::violating),
    ("commit-within-log", commit_within_log::tests::violating),
    ("applied-durable", applied_durable::tests::violating),
    ("commit-monotonic", commit_monotonic::tests::violating),
    ("commit-own-term", commit_own_term::tests::violating),
    ("committed-agree", committed_agree::tests::violating),
    ("leader-completeness", leader_completeness::tests::violating),
    ("state-machine-safety", state_machine_safety::tests::violating),
    ("match-truth", match_truth::tests::violating),
    ("matches-grow", matches_grow::tests::violating),
    ("next-beyond-match", next_beyond_match::tests::violating),
    ("snapshot-ended", snapshot_ended::tests::violating),
    ("membership-agreed", membership_agreed::tests::violating),
    ("membership-steps", membership_steps::tests::violating),
    ("one-change-at-a-time", one_change_at_a_time::tests::violating),
    ("campaign-configured", campaign_configured::tests::violating),
    ("candidates-vote", candidates_vote::tests::violating),
    ("elected-by-quorum", elected_by_quorum::tests::violating),
    ("committed-on-quorum", committed_on_quorum::tests::violating),
    ("peer-refused", peer_refused::tests::violating),
    ("answers-asked", answers_asked::tests::violating),
    ("abstract-step", abstract_step::tests::violating),
];

/// The rules under which a run shows what it is to show of one of them.
pub(super) fn run_for(name: &str) -> Run {
    match name {
        "abstract-step" => Run::without_short_cuts(),
        "answers-asked" => Run::but("abstract-step"),
        _ => Run::new(),
    }
}

#[test]
fn every_rule_has_a_run_in_the_table() {
    let names: Vec<&str> = RaftRules::rules().into_iter().map(|(name, _)| name).collect();
    let runs: Vec<&str> = RUNS.iter().map(|&(name, _)| name).collect();
    assert_eq!(runs, names);
    let sources = RaftRules::sources();
    assert!(sources.iter().zip(&names).all(|(source, name)| source.0 == *name && !source.1.is_empty()));
}

#[test]
fn a_rule_finds_what_is_missed_when_it_alone_is_blind() {
    for &(name, violating) in RUNS {
        let mut run = run_for(name);
        let violation = violating(&mut run).expect_err(name);
        assert_eq!(violation.rule, name);
        assert!(!violation.claim.is_empty() && violation.node.is_some(), "{name}");

        let mut run = run_for(name);
        run.rules.blind(name).unwrap();
        assert_eq!(violating(&mut run), Ok(()), "another rule stands in for {name}");
    }
}

/// One step breaks several rules: n1 leads, then it cuts its log and has other entries of its term.
#[test]
fn of_several_rules_that_a_step_breaks_the_earliest_cause_is_reported_and_all_are_known() {
    let mut run = Run::new();
    run.step(N1, |n| n.enter(1, Role::Leader)).unwrap();
    run.step(N1, |n| n.append(&[1, 1])).unwrap();
    let several = |run: &mut Run| {
        run.step(N1, |n| {
            n.cut(0);
            n.log.append(1, 1, 8);
            (n.commit, n.applied) = (2, 3);
        })
    };
    assert_eq!(several(&mut run.clone()).unwrap_err().rule, "leader-append-only");
    several(&mut run).unwrap_err();
    assert_eq!(
        run.rules.broken(),
        ["leader-append-only", "log-matching", "commit-within-log", "state-machine-safety"]
    );
    // The step is in the books: whoever goes on sees what comes next, and not the same again.
    assert_eq!(run.step(N1, |_| {}), Ok(()));
    assert!(run.rules.broken().is_empty());
}

/// Over several steps a vote that was not durable leads to a second leader of its term, and that to two logs, two commits
/// and two states of one index.
fn a_vote_is_forgotten(run: &mut Run) -> Going {
    let votes = |run: &mut Run, candidate| {
        run.say(N3, Spoken::Grant { to: candidate, term: 1 }, |n| {
            (n.term, n.durable_term, n.vote) = (1, 1, Some(candidate));
        })
    };
    let leads = |run: &mut Run, node, content| {
        run.step(node, |n| n.enter(1, Role::Leader))?;
        run.step(node, |n| {
            n.log.append(1, 1, content);
            n.durable_index = 1;
        })?;
        run.step(node, |n| (n.commit, n.applied) = (1, 1))
    };
    votes(run, N1)?;
    leads(run, N1, 7)?;
    run.crash(N3);
    run.boot(N3, |_| {})?;
    votes(run, N2)?;
    leads(run, N2, 8)
}

/// What a run is reported for if all causes that come before are not looked at: the chain, from its beginning to its end.
#[test]
fn of_rules_that_several_steps_break_the_earliest_cause_is_reported_and_then_what_comes_of_it() {
    let mut blind: Vec<&str> = Vec::new();
    loop {
        let mut run = Run::new();
        blind.iter().for_each(|rule| run.rules.blind(rule).unwrap());
        match a_vote_is_forgotten(&mut run) {
            Err(violation) => blind.push(violation.rule),
            Ok(()) => break,
        }
    }
    assert_eq!(
        blind,
        [
            "grants-durable",
            "vote-kept",
            "vote-once",
            "election-safety",
            "log-matching",
            "committed-agree",
            "state-machine-safety"
        ]
    );
}

#[test]
fn a_rule_that_does_not_exist_cannot_be_blinded() {
    let refusal = RaftRules::new(3).blind("vote-twice").unwrap_err();
    assert!(refusal.contains("vote-twice") && refusal.contains("vote-once"), "{refusal}");
}

/// A run that breaks each rule, for the list of all messages.
pub(crate) fn samples() -> Vec<Violation> {
    RUNS.iter().map(|&(name, violating)| violating(&mut run_for(name)).expect_err(name)).collect()
}
