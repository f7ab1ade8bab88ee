//! Every message of every rule, as an engineer reads it: a change of one is seen like a change of code.

use crate::client::record::tests::sample as linearizable;
use crate::{
    BoundRules, ClientRules, LINEARIZABLE, LeaseRules, PROGRESS_RULES, PaceRules, RaftRules, bounds, client,
    lease, log, pace, progress_tests,
};

#[test]
fn every_message_names_who_did_what_in_which_term_and_where() {
    let beside = lease::tests::RUNS.iter().chain(bounds::tests::RUNS).chain(pace::tests::RUNS);
    let mut samples = log::blinding_tests::samples();
    samples.extend(beside.map(|(name, run)| run().expect_err(name)));
    samples.extend(client::tests::samples());
    samples.push(linearizable());
    samples.extend(progress_tests::samples());

    let beside = LeaseRules::rules().into_iter().chain(BoundRules::rules()).chain(PaceRules::rules());
    let clients = ClientRules::rules().into_iter().chain([LINEARIZABLE]);
    let rules = RaftRules::rules().into_iter().chain(beside).chain(clients).chain(PROGRESS_RULES);
    let shown: Vec<(&str, &str)> = samples.iter().map(|sample| (sample.rule, sample.claim)).collect();
    assert_eq!(
        shown,
        rules.collect::<Vec<_>>(),
        "each rule has a run that breaks it, in the order of the rules"
    );

    let text: Vec<String> = samples
        .iter()
        .map(|sample| {
            format!("{}\n  claim    {}\n  message  {}\n", sample.rule, sample.claim, sample.message)
        })
        .collect();
    insta::assert_snapshot!("messages", text.concat());
}
