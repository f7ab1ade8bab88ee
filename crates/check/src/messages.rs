//! Every message of every rule, as an engineer reads it: a change of one is seen like a change of code.

use crate::client::record::tests as linearizable;
use crate::{
    BoundRules, ClientRules, LINEARIZABLE, LeaseRules, PROGRESS_RULES, PaceRules, RaftRules, bounds, circle,
    client, lease, log, pace, progress_tests,
};
use whitewater_sim::Violation;

/// A run that breaks each rule, in the order of the rules.
fn samples() -> Vec<Violation> {
    let beside = lease::tests::RUNS.iter().chain(bounds::tests::RUNS).chain(pace::tests::RUNS);
    let mut samples = log::blinding_tests::samples();
    samples.extend(beside.map(|(name, run)| run().expect_err(name)));
    samples.extend(client::tests::samples());
    samples.push(linearizable::sample());
    samples.extend(progress_tests::samples());
    samples
}

/// Runs in which rules say something else than in those.
fn further() -> Vec<Violation> {
    let beside = lease::tests::FURTHER.iter().chain(bounds::tests::FURTHER);
    let beside = beside.map(|(name, run)| run().expect_err(name));
    let clients = client::tests::further().chain(linearizable::further());
    let (rule, claim) = PROGRESS_RULES[0];
    let unled = circle::tests::explanations().map(|why| {
        let message = format!("a majority is connected and has no leader; {why}");
        Violation { rule, claim, message, node: None, peer: None }
    });
    let progress = progress_tests::further().chain(unled);
    log::further_tests::samples().chain(beside).chain(clients).chain(progress).collect()
}

#[test]
fn every_message_names_who_did_what_in_which_term_and_where() {
    let (samples, further) = (samples(), further());
    let beside = LeaseRules::rules().into_iter().chain(BoundRules::rules()).chain(PaceRules::rules());
    let clients = ClientRules::rules().into_iter().chain([LINEARIZABLE]);
    let rules = RaftRules::rules().into_iter().chain(beside).chain(clients).chain(PROGRESS_RULES);
    let shown: Vec<(&str, &str)> = samples.iter().map(|sample| (sample.rule, sample.claim)).collect();
    assert_eq!(
        shown,
        rules.collect::<Vec<_>>(),
        "each rule has a run that breaks it, in the order of the rules"
    );

    let mut text = String::new();
    for sample in &samples {
        text += &format!("{}\n  claim    {}\n", sample.rule, sample.claim);
        for said in [sample].into_iter().chain(further.iter().filter(|said| said.rule == sample.rule)) {
            text += &format!("  message  {}\n", said.message);
        }
    }
    insta::assert_snapshot!("messages", text);
}
