//! Scenarios on the command line: what their verbs do, and what they say of files that are wrong.

mod support;

use std::fs;
use support::{command, ended, folder, run};

#[test]
fn whoever_writes_a_scenario_can_look_up_the_words_of_its_system() {
    let ended = run("scenario words relay");
    assert_eq!(ended.code, 0, "{}", ended.err);
    for word in ["propose x=1", "LeaderAnnounce", "relay-ready", "confirmed", "witness", "queue-drains"] {
        assert!(ended.out.contains(word), "{word} is missing:\n{}", ended.out);
    }
    run("scenario words rely").refused(2, &["rely", "relay"]);
}

#[test]
fn a_wrong_file_is_told_with_its_place_and_a_mend() {
    let folder = folder("wrong_files");
    let scenario = |name: &str, body: &str| {
        let file = folder.join(name);
        fs::write(&file, body).unwrap();
        file
    };
    let with = |script: &str, field: &str| {
        format!(
            "{{\n  \"name\": \"wrong\",\n  \"system\": \"relay\",{field}\n  \"script\": [\n    {script}\n  ],\n  \
             \"variants\": {{ \"default\": {{ \"expect\": \"pass\" }} }}\n}}\n"
        )
    };
    let check = |file: &std::path::Path| ended(command("scenario check").arg(file));

    let field = scenario("wrong.json", &with("\"servers 3\"", "\n  \"sistem\": 1,"));
    check(&field).refused(2, &["wrong.json:4:", "sistem", "mend:"]);
    let step = scenario("wrong.json", &with("\"servers 3\",\n    \"crsah n1 at 1s\"", ""));
    check(&step).refused(2, &["wrong.json:6:6:", "crsah", "mend:", "crash"]);
    let broken = scenario("wrong.json", "{ \"name\": ");
    check(&broken).refused(2, &["wrong.json:1:", "mend:"]);
    let system = scenario("wrong.json", &with("\"servers 3\"", "").replace("\"relay\"", "\"rely\""));
    check(&system).refused(2, &["wrong.json:3:", "rely", "relay"]);
    check(&folder.join("none.json")).refused(2, &["none.json"]);
    let saved = scenario("saved.json", "{ \"version\": 1 }");
    ended(command("replay").arg(saved)).refused(2, &["saved.json:1:", "mend:"]);
}

#[test]
fn a_step_that_never_happens_is_an_error_that_names_it_and_the_end_of_the_run() {
    let file = folder("never").join("never.json");
    let text = r#"{
  "name": "never",
  "system": "relay",
  "script": ["horizon 300ms", "crash n1 when n1 follows after 9999s until end"],
  "variants": { "default": { "expect": "pass" } }
}
"#;
    fs::write(&file, text).unwrap();
    ended(command("scenario run").arg(&file)).refused(
        2,
        &["never.json:4:32: @default: step 1", "crash n1 when", "never happened", "ended at", "mend: "],
    );
}

#[test]
fn a_scenario_that_cannot_be_read_or_has_no_such_variant_says_what_would_be_right() {
    let folder = folder("unreadable");
    let no_text = folder.join("no-text.json");
    fs::write(&no_text, [0xff, 0xfe]).unwrap();
    ended(command("scenario run").arg(&no_text)).refused(2, &["no-text.json:1: is no text in UTF-8"]);
    ended(command("scenario check").arg(&folder)).refused(2, &["is a folder", "name a file in it"]);
    ended(command("scenario check").arg(folder.join("nowhere.json"))).refused(2, &["no scenario or file"]);
    let list = folder.join("list.json");
    fs::write(&list, "[]").unwrap();
    ended(command("scenario run").arg(&list)).refused(2, &["list.json:1:1: ", "write an object in braces"]);
    run("scenario run split-vote --variant notised")
        .refused(2, &["split-vote has no variant `notised`", "noticed", "not-noticed"]);
}

#[test]
fn a_variant_is_replayed_by_its_file_or_its_name() {
    for word in ["scenarios/split-vote.json@noticed", "split-vote@noticed"] {
        for more in ["", "-v", "--around 2"] {
            let ended = run(&format!("replay {word} {more}"));
            assert_eq!(ended.code, 0, "{word} {more}: {ended:#?}");
        }
    }
    run("replay scenarios/split-vote.json").refused(2, &["several variants", "@VARIANT"]);
    run("replay split-vote@unseen").refused(2, &["unseen", "not-noticed"]);
    run("replay --profile calm split-vote@noticed").refused(2, &["--profile", "split-vote.json"]);
}

#[test]
fn to_check_a_scenario_builds_nothing_and_refuses_a_bug_there_is_not() {
    let file = folder("planted_in_a_file").join("planted.json");
    let text = |bug: &str| {
        format!(
            r#"{{ "name": "planted", "system": "kv", "script": ["servers 3"],
            "variants": {{ "one": {{ "bug": "{bug}", "expect": "pass" }} }} }}"#
        )
    };
    let check = |bug: &str| {
        fs::write(&file, text(bug)).unwrap();
        // No cargo, no build.
        ended(command("scenario check").arg(&file).env("CARGO", "no-such-cargo"))
    };
    assert_eq!(check("E04").code, 0);
    check("nosuch").refused(2, &["nosuch"]);
}

#[test]
fn a_scenario_that_does_not_do_what_is_expected_is_a_finding() {
    let folder = folder("unexpected");
    let original =
        fs::read_to_string(support::root().join("scenarios/leader-announce-before-relay-ready.json"));
    let original = original.unwrap();
    let run = |name: &str, text: &str| {
        let file = folder.join("leader-announce-before-relay-ready.json");
        fs::write(&file, text).unwrap();
        let ended = ended(command("scenario run").arg(&file));
        assert!(ended.out.contains("FAIL"), "{name}: {ended:#?}");
        ended.code
    };
    let mended = original.replace("\"relay-not-ready\": \"drop\"", "\"relay-not-ready\": \"mailbox\"");
    assert_ne!(mended, original);
    assert_eq!(run("an unexpected pass", &mended), 1);
    let value: serde_json::Value = serde_json::from_str(&original).unwrap();
    let rule = value.pointer("/variants/drop/expect/violates/rule").and_then(|rule| rule.as_str());
    let other =
        original.replace(&format!("\"{}\"", rule.expect("drop breaks a rule")), "\"election-safety\"");
    assert_eq!(run("another rule", &other), 1);
}

#[test]
fn a_new_scenario_runs_as_it_is_and_is_never_written_over() {
    let top = folder("new_scenario");
    fs::create_dir(top.join("scenarios")).unwrap();
    let here = |words: &str| ended(command(words).current_dir(&top));
    let written = here("scenario new two-leaders");
    assert_eq!(written.code, 0, "{written:#?}");
    assert_eq!(here("scenario run two-leaders").code, 0);
    assert_eq!(here("scenario fmt --check").code, 0, "it is written in the layout");
    here("scenario new two-leaders").refused(2, &["two-leaders.json", "already"]);
    here("scenario new Two_Leaders").refused(2, &["Two_Leaders", "hyphens"]);
    assert_eq!(here("scenario list").out.lines().count(), 2);

    let file = top.join("scenarios/two-leaders.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("\n", "\n\n")).unwrap();
    assert_eq!(here("scenario fmt --check").code, 1);
    assert_eq!(here("scenario fmt").code, 0);
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn where_there_is_no_scenario_nothing_is_clean() {
    let top = folder("no_scenarios");
    fs::create_dir(top.join("scenarios")).unwrap();
    for words in ["scenario list", "scenario run", "scenario check", "scenario fmt"] {
        assert_eq!(ended(command(words).current_dir(&top)).code, 4, "{words}");
    }
}
