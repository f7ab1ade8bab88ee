//! Every message about a guest, as the engineer reads it who wrote the guest: each way to misbehave has one.

mod common;

use common::{HELLO, guest, run};
use std::collections::BTreeMap;
use whitewater_check::{ClientRules, LINEARIZABLE};
use whitewater_exec::Exec;
use whitewater_sim::Verdict;

/// What a guest does with an operation, for each sentence there is.
const DEEDS: &[&str] = &[
    "exit 3",
    "exec sleep 30",
    "echo well",
    r"printf '\377\n'",
    "printf %01100000d 0; echo",
    r#"echo '{}'"#,
    r#"echo '{"effects":1}'"#,
    r#"echo '{"effects":[],"role":"king"}'"#,
    r#"echo '{"effects":[],"term":-1}'"#,
    r#"echo '{"effects":[{"note":"a","mark":"b"}]}'"#,
    r#"echo '{"effects":[{"dance":1}]}'"#,
    r#"echo '{"effects":[{"send":{"to":"n3","kind":"M","body":1}}]}'"#,
    r#"echo '{"effects":[{"send":{"to":"n1","kind":"N","body":1}}]}'"#,
    r#"echo '{"effects":[{"timer":{"name":"u","low_ms":1,"high_ms":1}}]}'"#,
    r#"echo '{"effects":[{"timer":{"name":"t","low_ms":2,"high_ms":1}}]}'"#,
    r#"echo '{"effects":[{"reply":{"result":"ok"}}]}'"#,
    r#"echo '{"effects":[{"reply":{"op":0,"result":"fine"}}]}'"#,
    r#"echo '{"effects":[{"mark":"seen"}]}'"#,
    r#"echo '{"ask":"draw","site":"x","low":2,"high":1}'"#,
    r#"echo '{"ask":"read","file":"../../etc/passwd"}'"#,
    r#"echo '{"ask":"append","file":"f"}'"#,
    r#"echo '{"ask":"truncate","file":"f","length":-1}'"#,
    r#"while true; do echo '{"ask":"read","file":"f"}'; read -r line; done"#,
    r#"while true; do echo '{"ask":"read","file":"f"}'; done"#,
    r#"l='{"cancel":"t"}'; i=0; while [ $i -lt 1000 ]; do l="$l,{\"cancel\":\"t\"}"; i=$((i+1)); done; echo "{\"effects\":[$l]}""#,
    r#"t='{"effects":[{"timer":{"name":"t","low_ms":0,"high_ms":0}}]}'; echo "$t"; while read -r line; do echo "$t"; done"#,
    r#"echo '{"effects":[],"role":"leader","term":4}'"#,
];

#[test]
fn every_message_about_a_guest_says_what_it_did_upon_which_input_and_when() {
    let mut messages: BTreeMap<&str, (&str, Vec<String>)> = BTreeMap::new();
    for deed in DEEDS {
        let Verdict::Violated(violation) = run(&guest(HELLO, deed)).verdict else { panic!("{deed} passes") };
        let message = violation.message;
        messages.entry(violation.rule).or_insert((violation.claim, Vec::new())).1.push(message);
    }
    let rules = Exec::make(&guest(HELLO, "exit 3")).expect("it says what it is like").rules();
    let shared: Vec<_> = ClientRules::rules().into_iter().chain([LINEARIZABLE]).collect();
    let own = rules.into_iter().filter(|rule| !shared.contains(rule));
    let mut text = String::new();
    for (rule, claim) in own {
        let (said, messages) = messages.remove(rule).unwrap_or_else(|| panic!("`{rule}` has no sample"));
        assert_eq!(said, claim, "{rule}");
        text += &format!("{rule}\n  claim    {claim}\n");
        messages.iter().for_each(|message| text += &format!("  message  {message}\n"));
    }
    assert!(messages.is_empty(), "{messages:?}");
    insta::assert_snapshot!("messages", text);
}
