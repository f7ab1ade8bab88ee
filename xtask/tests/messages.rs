//! Every message of every rule of every system, in one snapshot.

mod support;

use std::collections::BTreeMap;
use support::root;
use whitewater_hunt::BY_ITSELF;
use whitewater_kv::KV;
use whitewater_relay::RELAY;
use whitewater_sim::System;

/// Snapshots of messages, each held by a test beside its rules that asks a registry for all of them.
const SOURCES: [&str; 3] = [
    "crates/check/src/snapshots/whitewater_check__messages__messages.snap",
    "crates/systems/kv/tests/snapshots/oracles__messages.snap",
    "crates/systems/relay/src/monitor/snapshots/whitewater_relay__monitor__samples_tests__messages.snap",
];

/// Rule, claim and message of each sample in a snapshot.
fn samples(file: &str) -> Vec<[String; 3]> {
    let text = std::fs::read_to_string(root().join(file)).unwrap_or_else(|why| panic!("{file}: {why}"));
    let (_, body) = text.trim_start_matches("---").split_once("\n---\n").expect("a snapshot has a head");
    let lines: Vec<&str> = body.lines().collect();
    let sample = |lines: &[&str]| {
        let word = |at: usize, name: &str| {
            let line = lines[at].trim_start();
            line.strip_prefix(name).unwrap_or_else(|| panic!("{file}: {line}")).trim().to_owned()
        };
        [lines[0].to_owned(), word(1, "claim"), word(2, "message")]
    };
    lines.chunks(3).filter(|lines| lines.len() == 3).map(sample).collect()
}

#[test]
fn every_rule_of_every_system_has_a_message_that_an_engineer_has_read() {
    let mut known: BTreeMap<(String, String), String> = BTreeMap::new();
    for [rule, claim, message] in SOURCES.into_iter().flat_map(samples) {
        known.entry((rule, claim)).or_insert(message);
    }
    let mut text = String::new();
    let systems: [&dyn System; 2] = [&KV, &RELAY];
    for system in systems {
        text += &format!("# {}\n", system.name());
        for (rule, claim) in system.rules() {
            let message = known.get(&(rule.to_owned(), claim.to_owned()));
            let message = message.unwrap_or_else(|| panic!("`{rule}` of {} has no sample", system.name()));
            text += &format!("{rule}\n  claim    {claim}\n  message  {message}\n");
        }
    }
    insta::assert_snapshot!("messages", text);
}

#[test]
fn every_rule_that_stands_for_others_is_one_of_a_system() {
    let systems: [&dyn System; 2] = [&KV, &RELAY];
    for name in BY_ITSELF {
        let is_rule = |system: &&dyn System| system.rules().iter().any(|(rule, _)| *rule == name);
        assert!(systems.iter().any(is_rule), "no system has a rule `{name}`");
    }
}
