//! Every message of every rule of every system and of the world, in one snapshot, and no message in the sources without one.

mod support;

use std::collections::BTreeMap;
use support::{root, sources};
use whitewater_hunt::BY_ITSELF;
use whitewater_kv::KV;
use whitewater_relay::RELAY;
use whitewater_sim::System;

/// Snapshots of messages, each held by a test beside its rules that asks a registry for all of them, and the sources that
/// say these messages: folders and files.
const SNAPSHOTS: [(&str, &[&str]); 5] = [
    ("crates/check/src/snapshots/whitewater_check__messages__messages.snap", &["crates/check/src/"]),
    (
        "crates/systems/kv/tests/snapshots/oracles__messages.snap",
        &["crates/systems/kv/src/monitor/", "crates/systems/store/src/monitor/"],
    ),
    (
        "crates/systems/relay/src/monitor/snapshots/whitewater_relay__monitor__samples_tests__messages.snap",
        &["crates/systems/relay/src/monitor/"],
    ),
    (
        "crates/systems/exec/tests/snapshots/messages__messages.snap",
        &[
            "crates/systems/exec/src/guest.rs",
            "crates/systems/exec/src/node.rs",
            "crates/systems/exec/src/system.rs",
        ],
    ),
    (
        "crates/sim/tests/snapshots/messages__messages.snap",
        &["crates/sim/src/verdict.rs", "crates/sim/src/world/claims.rs", "crates/sim/src/world/phases.rs"],
    ),
];

/// Texts in those sources that no rule says: names, errors about what a caller wrote, words of other things.
const NO_MESSAGES: &[&str] = &[
    "there is no rule `{name}`; there are {}",
    "key {key}",
    "fresh key",
    "power cycle",
    "faults are over",
    // Of limits no other than those that the snapshot shows are hit in this way.
    "events of a run",
    "events waiting at once",
    "simulated time",
    "effects of one input",
    "more than {most} {limit}",
    // What has no end may not have happened, and so explains nothing away: it is left out as far as anybody has seen.
    "{node} {what} after {began}, perhaps",
    "{node} {what} at any time, perhaps",
    // Only of a long history a stretch is shown whose beginning nobody knows, see `history/src/reduce.rs`.
    ", whatever the value was before",
    // A guest that cannot even be started is refused before anything runs, see `exec/tests/guests.rs`.
    "`{program}` cannot be started: {error}",
    "the command is empty",
    "a quote is not closed: {open} in `{command}`",
    // Upon which input that is noticed is up to the machine; `exec/src/guest.rs` tests it.
    "it speaks without being asked: `{line}`",
    // Scripts of guests have honest disks.
    "syncs a disk that takes its time",
    "{PREFIX}{command}: {trouble}",
    "A system in any language: one process per node, spoken to in lines of JSON.",
    "put r{register} v{number}",
    "append a{register} v{number}",
    "cas r{register} v{old} v{number}",
    "get a{register}",
    "get r{register}",
];

/// What is said of a rule: its claim and its messages.
type Said = BTreeMap<(String, String), Vec<String>>;

/// What a snapshot says of each rule.
fn said_in(file: &str) -> Said {
    let text = std::fs::read_to_string(root().join(file)).unwrap_or_else(|why| panic!("{file}: {why}"));
    let (_, body) = text.trim_start_matches("---").split_once("\n---\n").expect("a snapshot has a head");
    let (mut said, mut rule, mut claim) = (Said::new(), "", "");
    for line in body.lines() {
        if let Some(message) = line.strip_prefix("  message  ") {
            said.entry((rule.to_owned(), claim.to_owned())).or_default().push(message.to_owned());
        } else if let Some(words) = line.strip_prefix("  claim    ") {
            claim = words;
        } else {
            (rule, claim) = (line, "");
        }
    }
    said
}

fn told(text: &mut String, rule: &str, claim: &str, messages: &[String]) {
    *text += &format!("{rule}\n");
    if !claim.is_empty() {
        *text += &format!("  claim    {claim}\n");
    }
    messages.iter().for_each(|message| *text += &format!("  message  {message}\n"));
}

#[test]
fn every_rule_of_every_system_has_messages_that_an_engineer_has_read() {
    let mut known = Said::new();
    for (rule, messages) in SNAPSHOTS.iter().flat_map(|(file, _)| said_in(file)) {
        known.entry(rule).or_insert(messages);
    }
    let mut text = String::new();
    let systems: [&dyn System; 2] = [&KV, &RELAY];
    for system in systems {
        text += &format!("# {}\n", system.name());
        for (rule, claim) in system.rules() {
            let messages = known.get(&(rule.to_owned(), claim.to_owned()));
            let messages = messages.unwrap_or_else(|| panic!("`{rule}` of {} has no sample", system.name()));
            told(&mut text, rule, claim, messages);
        }
    }
    for (name, (file, _)) in ["exec", "world"].into_iter().zip(&SNAPSHOTS[3..]) {
        text += &format!("# {name}\n");
        said_in(file).iter().for_each(|((rule, claim), messages)| told(&mut text, rule, claim, messages));
    }
    insta::assert_snapshot!("messages", text);
}

#[test]
fn every_sentence_in_the_sources_of_the_rules_stands_in_the_snapshot() {
    let sources = sources();
    let (mut missing, mut texts) = (Vec::new(), 0);
    for (snapshot, places) in SNAPSHOTS {
        let said = said_in(snapshot);
        let lines: Vec<&String> =
            said.iter().flat_map(|((_, claim), said)| said.iter().chain([claim])).collect();
        let is_there = |path: &str| {
            let is_test =
                path.contains("test") || path.contains("abstract_raft") || path.ends_with("messages.rs");
            places.iter().any(|place| path.starts_with(place)) && !is_test
        };
        for (path, source) in sources.iter().filter(|(path, _)| is_there(&path.to_string_lossy())) {
            for sentence in sentences(source) {
                texts += 1;
                let stands = lines.iter().any(|line| holds(line, &sentence));
                if !stands && !NO_MESSAGES.contains(&&*sentence) {
                    missing.push(format!("{}: {sentence}", path.display()));
                }
            }
        }
    }
    assert!(texts > 200, "the sentences are found: {texts}");
    assert!(missing.is_empty(), "no sample of a message says:\n{}", missing.join("\n"));
}

/// Whether the pieces of a text between what is filled in follow each other in a line.
fn holds(line: &str, text: &str) -> bool {
    let mut rest = line;
    let mut pieces = text.split('{').enumerate().map(|(place, piece)| match place {
        0 => piece,
        _ => piece.split_once('}').map_or(piece, |(_, piece)| piece),
    });
    pieces.all(|piece| match rest.find(piece) {
        Some(at) => {
            rest = &rest[at + piece.len()..];
            true
        }
        None => false,
    })
}

/// The texts of several words in the sources of a file without its tests, but for what only a bug of ours would say and
/// where a rule is stated.
fn sentences(source: &str) -> Vec<String> {
    const NOT_SAID: [&str; 7] =
        ["expect(", "assert", "panic!(", "reason =", "SOURCE: &", "unreachable!(", "fn source"];
    let source = source.split("#[cfg(test)]").next().unwrap_or_default();
    let code: Vec<&str> = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n").replace("'\"'", "' '");
    let mut sentences = Vec::new();
    let mut before = String::new();
    for (place, piece) in code.replace("\\\"", "\u{1}").split('"').enumerate() {
        if place % 2 == 0 {
            before = piece.rsplit([';', '}']).next().unwrap_or_default().to_owned();
            continue;
        }
        let joined: Vec<&str> = piece.split("\\\n").collect();
        let text = joined.iter().map(|part| part.trim_start_matches(' ')).collect::<String>();
        let text = if joined.len() > 1 { text } else { piece.to_owned() };
        let letters = text.chars().filter(|letter| letter.is_alphabetic()).count();
        if text.trim().contains(' ') && letters > 3 && !NOT_SAID.iter().any(|word| before.contains(word)) {
            sentences.push(text.replace('\u{1}', "\""));
        }
    }
    sentences
}

#[test]
fn a_sentence_without_a_sample_would_be_found() {
    let source = "fn f() {\n    format!(\"{node} leads term {} \\\n             twice\")\n}\n#[cfg(test)]\n\"a b c d\"";
    assert_eq!(sentences(source), ["{node} leads term {} twice"]);
    assert!(holds("n1 leads term 3 twice", "{node} leads term {} twice"));
    assert!(!holds("n1 leads term 3", "{node} leads term {} twice"));
    assert_eq!(sentences("x.expect(\"it is there\");"), [""; 0]);
}

#[test]
fn every_rule_that_stands_for_others_is_one_of_a_system() {
    let systems: [&dyn System; 2] = [&KV, &RELAY];
    for name in BY_ITSELF {
        let is_rule = |system: &&dyn System| system.rules().iter().any(|(rule, _)| *rule == name);
        assert!(systems.iter().any(is_rule), "no system has a rule `{name}`");
    }
}
