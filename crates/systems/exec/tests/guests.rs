//! Guests in a shell: what an honest one comes to, and the verdict on each kind of bad one.

use whitewater_exec::Exec;
use whitewater_sim::{Action, NodeId, Options, Outcome, Script, Step, Target, Time, Trigger};

/// A guest that answers everything with no effects, but an operation with what is given.
fn guest(at_operation: &str) -> String {
    let honest = r#"echo '{"effects":[]}'"#;
    let hello = r#"echo '{"operations":["get"],"messages":["M"],"timers":["t"],"patience_ms":2000}'"#;
    let cases = format!("*hello*) {hello};; *operation*) {at_operation};; *) {honest};;");
    let program = format!("while read -r line; do case \"$line\" in {cases} esac; done");
    // One word of the command, whatever is in it.
    let named = whitewater_sim::draw::name_hash(at_operation);
    let file = std::env::temp_dir().join(format!("whitewater-guest-{}-{named:016x}", std::process::id()));
    std::fs::write(&file, program).expect("a file can be written");
    format!("exec:sh {}", file.display())
}

/// A run in which n1 is asked for a read.
fn run(at_operation: &str) -> Outcome {
    let system = Exec::make(&guest(at_operation)).expect("it says what it is like");
    let ask =
        Action::Operate { target: Target::Node(NodeId::server(0)), text: "get r1".to_owned(), every: None };
    let steps = vec![Step::new(Trigger::At(Time::from_millis(10)), ask)];
    let script = Script { servers: 2, steps, ..Script::default() };
    system.run(&script, &Options::new(), false).expect("the script is right")
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
