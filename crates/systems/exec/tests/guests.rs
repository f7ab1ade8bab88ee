//! Guests in a shell: what an honest one comes to, and the verdict on each kind of bad one.

mod common;

use common::{HELLO, run_asking};
use std::time::{Duration, Instant};
use whitewater_exec::Exec;
use whitewater_sim::Outcome;

fn guest(at_operation: &str) -> String {
    common::guest(HELLO, at_operation)
}

/// A run in which n1 is asked for a read.
fn run(at_operation: &str) -> Outcome {
    run_asking(&guest(at_operation), &[(10, 0, "get r1")])
}

#[test]
fn an_honest_guest_passes_and_its_answers_count() {
    let outcome = run(r#"echo '{"effects":[{"reply":{"op":0,"result":"ok","value":null}}]}'"#);
    assert_eq!(outcome.verdict.rule(), "pass", "{}", outcome.verdict);
    assert_eq!(outcome.counters.replies, 1);
}

#[test]
fn what_a_guest_asks_for_is_given() {
    let ask = r#"echo '{"ask":"append","file":"f","text":"hello"}'; read -r ok; echo '{"ask":"draw","site":"x","low":3,"high":3}'; read -r three; case "$ok$three" in '{"ok":true}{"value":3}') echo '{"effects":[{"note":"right"}]}';; *) exit 9;; esac"#;
    assert_eq!(run(ask).verdict.rule(), "pass", "{}", run(ask).verdict);
}

#[test]
fn a_guest_that_dies_or_babbles_has_a_verdict_of_its_own() {
    assert_eq!(run("exit 3").verdict.rule(), "guest-lives");
    assert_eq!(run("echo well").verdict.rule(), "guest-speaks-protocol");
    assert_eq!(run(r#"echo '{"effects":[{"dance":1}]}'"#).verdict.rule(), "guest-speaks-protocol");
}

#[test]
fn what_a_guest_may_not_say_is_a_verdict_on_it_and_not_on_its_host() {
    for line in [
        r#"{"effects":[{"timer":{"name":"t","low_ms":1,"high_ms":18446744073709551615}}]}"#,
        r#"{"effects":[{"timer":{"name":"t","low_ms":2,"high_ms":1}}]}"#,
        r#"{"effects":[{"timer":{"name":"u","low_ms":1,"high_ms":1}}]}"#,
        r#"{"effects":[{"send":{"to":"n3","kind":"M","body":1}}]}"#,
        r#"{"effects":[{"send":{"to":"n99","kind":"M","body":1}}]}"#,
        r#"{"effects":[{"send":{"to":"n1","kind":"N","body":1}}]}"#,
        r#"{"effects":[{"reply":{"op":4294967296,"result":"ok","value":null}}]}"#,
        r#"{"effects":[{"note":"a","mark":"b"}]}"#,
        r#"{"effects":{}}"#,
        r#"{"effects":[],"role":"king"}"#,
        r#"{"effects":[],"term":-1}"#,
        r#"{"ask":"draw","site":"x","low":2,"high":1}"#,
        r#"{"ask":"read","file":"../../etc/passwd"}"#,
        r#"{"ask":"append","file":"","text":"x"}"#,
        r#"{"ask":"truncate","file":"f","length":-1}"#,
        r#"{"ask":"time"}"#,
        r#"[{"effects":[]}]"#,
        "",
        "null",
        r#"{"effects":[]"#,
    ] {
        let outcome = run(&format!("echo '{line}'"));
        assert_eq!(outcome.verdict.rule(), "guest-speaks-protocol", "{line}: {}", outcome.verdict);
    }
    // A file cannot be cut off where it does not reach, and the guest is told.
    let beyond = r#"echo '{"ask":"truncate","file":"f","length":18446744073709551615}'; read -r no; case "$no" in *false*) echo '{"effects":[]}';; *) exit 9;; esac"#;
    assert_eq!(run(beyond).verdict.rule(), "pass", "{}", run(beyond).verdict);
}

#[test]
fn a_guest_that_hangs_has_a_verdict_of_its_own() {
    let outcome = run("exec sleep 30");
    assert_eq!(outcome.verdict.rule(), "guest-answers", "{}", outcome.verdict);
}

#[test]
fn a_guest_that_floods_has_a_verdict_of_its_own_within_seconds() {
    let message = r#"{"send":{"to":"n2","kind":"M","body":1}}"#;
    let many = format!(
        r#"i=0; l='{message}'; while [ $i -lt 1000 ]; do l="$l,"'{message}'; i=$((i+1)); done; echo "{{\"effects\":[$l]}}""#
    );
    let no_length = r#"echo '{"effects":[{"timer":{"name":"t","low_ms":0,"high_ms":0}}]}'"#;
    let again = format!("{}; while read -r line; do {0}; done", no_length);
    for (deed, piece) in [
        (many.as_str(), "it gives 1001 effects upon one input, and 1000 are the most"),
        (&again, "more than 1000 of its timers go off at one instant"),
    ] {
        let begun = Instant::now();
        let verdict = run(deed).verdict;
        assert_eq!(verdict.rule(), "guest-keeps-measure", "{verdict}");
        assert!(verdict.to_string().contains(piece), "{verdict}");
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    }
}

#[test]
fn messages_that_beget_messages_hit_a_limit_within_seconds() {
    let few = HELLO.replacen('{', r#"{"events":50,"#, 1);
    for (hello, sends, limit) in [
        (few.as_str(), 1, "the run takes more than 50 events"),
        (HELLO, 900, "more than 10000 events wait at once"),
    ] {
        let send = vec![r#"{"send":{"to":"n1","kind":"M","body":1}}"#; sends].join(",");
        let say = format!(r#"echo '{{"effects":[{send}]}}'"#);
        let begun = Instant::now();
        let verdict = run_asking(
            &common::guest(hello, &format!("{say}; while read -r line; do {say}; done")),
            &[(10, 0, "get r1")],
        )
        .verdict;
        assert_eq!(verdict.to_string(), limit);
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    }
}

#[test]
fn what_a_guest_may_do_at_most_is_no_flood() {
    let most = format!(r#"echo '{{"effects":[{}]}}'"#, vec![r#"{"cancel":"t"}"#; 1000].join(","));
    assert_eq!(run(&most).verdict.rule(), "pass", "{}", run(&most).verdict);
}

#[test]
fn an_answer_that_nobody_wrote_is_found_out() {
    let outcome = run(r#"echo '{"effects":[{"reply":{"op":0,"result":"ok","value":"made up"}}]}'"#);
    assert_eq!(outcome.verdict.rule(), "no-phantom-value");
}

#[test]
fn a_command_that_is_none_is_refused() {
    assert!(
        Exec::make("exec:no-such-program-at-all").err().expect("it is refused").contains("cannot be started")
    );
}

#[test]
fn two_guests_that_lead_in_one_term_are_found_and_in_two_terms_are_not() {
    let lead = |term: &str| {
        let lead = format!(r#"echo '{{"effects":[],"role":"leader","term":'{term}'}}'"#);
        run_asking(&guest(&lead), &[(10, 0, "get r1"), (20, 1, "get r1")]).verdict
    };
    assert_eq!(lead("4").rule(), "election-safety");
    assert_eq!(lead("$$").rule(), "pass", "{}", lead("$$"));
}

#[test]
fn what_no_answer_shows_alone_is_found_when_all_is_over() {
    let hello = HELLO.replace(r#"["get"]"#, r#"["put","cas"]"#);
    let reply = |op: u32, result: &str| {
        format!(r#"echo '{{"effects":[{{"reply":{{"op":{op},"result":"{result}"}}}}]}}'"#)
    };
    let swap = |result: &str| {
        let cases = format!("case \"$line\" in *cas*) {};; *) {};; esac", reply(1, result), reply(0, "ok"));
        run_asking(&common::guest(&hello, &cases), &[(10, 0, "put r1 a"), (20, 0, "cas r1 a b")]).verdict
    };
    assert_eq!(swap("ok").rule(), "pass", "{}", swap("ok"));
    assert_eq!(swap("differs").rule(), "linearizable", "it held what was to be replaced");
}
