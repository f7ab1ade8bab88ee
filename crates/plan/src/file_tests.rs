//! Files both ways: what is written reads back, and what is wrong is located to the column.

use crate::testing::{POND, SYSTEMS};
use crate::{
    Expect, InputError, InputFile, Owes, PLAN_VERSION, Plan, Restrictions, Saved, Scenario, generate,
};
use proptest::prelude::*;
use whitewater_sim::{Options, System, TraceHash};

const RACE: &str = r#"{
  "$schema": "schema/scenario.json",
  "name": "early-announcement",
  "theme": "announcements",
  "moral": "What is said once is said again.",
  "notes": [
    "A leader announces itself once.",
    "Whoever is not ready to pass it on loses it."
  ],
  "source": "a story",
  "system": "pond",
  "options": { "mode.n3": "off" },
  "script": [
    "seed 0x5445",
    "delay 2ms",
    "crash n3 until end | n2's vote alone decides",
    "hold relay-ready n1->n2 until n1 leads",
    "campaign at n1",
    "propose x=1 at leader when relay-ready n1->n2 fires"
  ],
  "variants": {
    "drop": {
      "note": "before the patch",
      "options": { "announce": "drop" },
      "expect": { "violates": { "rule": "catches-up", "node": "n2" } }
    },
    "lazy": {
      "bug": "lazy",
      "expect": { "violates": { "rule": "panic", "node": "n1" } }
    },
    "mailbox": {
      "options": { "announce": "mailbox", "mode.n3": "voter" },
      "expect": "pass"
    }
  }
}
"#;

fn race() -> Scenario {
    Scenario::parse("scenarios/early-announcement.json", RACE, &SYSTEMS).unwrap()
}

const PLAN: &str = r#"{
  "plan": 1,
  "system": "pond",
  "profile": "swarm",
  "options": { "announce": "drop", "election": "120ms" },
  "script": [
    "servers 5",
    "crash leader when any leads until end losing unsynced"
  ]
}"#;

fn saved() -> Saved {
    Saved {
        plan: Plan::parse("p.json", PLAN, &SYSTEMS).unwrap(),
        seed: Some(42),
        commit: Some("90a575839cd4fbf11234567890abcdef00000a2a".to_owned()),
        rule: "catches-up".to_owned(),
        message: "n2 is \"up\" and accepts nothing".to_owned(),
        site: "a follower".to_owned(),
        fingerprint: Some("F-0123456789".to_owned()),
        owes: Owes::Passes,
        shrunk: Some("5 nodes to 3".to_owned()),
        trace_hash: TraceHash(0x0123_4567_89ab_cdef_0000_0000_0000_002a),
        course: vec!["n2 crash".to_owned()],
        notice: None,
        gone: Vec::new(),
    }
}

#[test]
fn a_saved_failure_names_a_rule_that_its_system_has() {
    let of = |rule: &str| Saved { rule: rule.to_owned(), ..saved() }.to_json();
    for rule in ["catches-up", "panic", "limit", "never"] {
        assert!(Saved::parse("f.json", &of(rule), &SYSTEMS).is_ok(), "{rule}");
    }
    let refused = Saved::parse("f.json", &of("catches-upp"), &SYSTEMS).expect_err("no such rule").to_string();
    let place = 1 + of("catches-upp").lines().position(|line| line.contains("\"rule\"")).unwrap();
    for said in [&format!("f.json:{place}:"), "pond has no rule `catches-upp`", "did you mean `catches-up`?"]
    {
        assert!(refused.contains(said), "{refused}");
    }
}

#[test]
fn a_scenario_in_its_layout_is_written_as_it_was_read() {
    assert_eq!(race().format(), RACE);
}

#[test]
fn a_scenario_in_another_layout_comes_into_the_one_there_is() {
    let value: serde_json::Value = serde_json::from_str(RACE).unwrap();
    let messy = value
        .to_string()
        .replace("seed 0x5445", "propose y=2   at  n1  from 5ms")
        .replace("delay 2ms", "seed 21573");
    let scenario = Scenario::parse("-", &messy, &SYSTEMS).unwrap();
    assert_eq!(&scenario.lines[..2], ["seed 0x5445", "propose y=2 at n1 at 5ms"]);
    let again = Scenario::parse("early-announcement.json", &scenario.format(), &SYSTEMS).unwrap();
    assert_eq!(again.format(), scenario.format());
}

#[test]
fn a_variant_adds_its_options_to_those_of_the_scenario() {
    let race = race();
    let given = |name: &str| {
        let options = race.plan(race.variant(name).unwrap()).options;
        options.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
    };
    assert_eq!(given("drop"), ["announce=drop", "mode.n3=off"]);
    assert_eq!(given("mailbox"), ["announce=mailbox", "mode.n3=voter"]);
    assert_eq!(race.plan(race.variant("lazy").unwrap()).options.planted(), Some("lazy"));
    assert_eq!(race.variant("latch"), None);
}

#[test]
fn a_scenario_made_of_a_plan_reads_back() {
    let Saved { plan, rule, .. } = saved();
    let scenario = Scenario::of_plan("found", &plan, Expect::Violates { rule, node: None });
    assert!(scenario.format().contains(r#"{ "rule": "catches-up", "node": "none" }"#));
    assert_eq!(Scenario::parse("found.json", &scenario.format(), &SYSTEMS), Ok(scenario.clone()));
    assert_eq!(scenario.plan(&scenario.variants[0]).script, plan.script);
}

#[test]
fn the_beginning_of_a_scenario_reads_back() {
    let begun = Scenario::begin("story", "pond");
    assert_eq!(begun.lines[1..3], ["servers 3", "delay 1ms..10ms"]);
    assert_eq!(Scenario::parse("story.json", &begun.format(), &SYSTEMS), Ok(begun));
}

#[test]
fn a_saved_failure_reads_back_as_it_was_written() {
    let saved = saved();
    assert_eq!(Saved::parse("f.json", &saved.to_json(), &SYSTEMS), Ok(saved.clone()));
    assert!(saved.to_json().contains("\"trace-hash\": \"0x0123456789abcdef000000000000002a\""));
    let unknown = Saved {
        seed: None,
        commit: None,
        site: String::new(),
        fingerprint: None,
        owes: Owes::Fails,
        shrunk: None,
        course: Vec::new(),
        ..saved
    };
    assert_eq!(Saved::parse("f.json", &unknown.to_json(), &SYSTEMS), Ok(unknown));
}

#[test]
fn what_the_code_no_longer_has_is_left_out_of_a_saved_failure_and_told() {
    let json = saved().to_json();
    let old = json.replace("\"announce\"", "\"pre-vote\": \"on\",\n    \"announce\"").replace(
        "\"crash leader",
        "\"drop n1->n2 Farewell #1\",\n    \"crash n1 when snapshot-due n2 fires until +5ms\",\n    \"crash leader",
    );
    let read = Saved::parse("f.json", &old, &SYSTEMS).expect("it is read");
    let gone = ["option `pre-vote`", "step `drop n1->n2 Farewell #1`"];
    assert_eq!(read.gone[..2], gone);
    assert!(read.gone.len() == 3 && read.gone[2].contains("snapshot-due"), "{:?}", read.gone);
    assert!(read.notice.as_ref().is_some_and(|notice| gone.iter().all(|gone| notice.contains(gone))));
    assert_eq!(read.plan, saved().plan);
    // Of a plan that somebody writes nothing is left out.
    let written = PLAN.replace("\"announce\"", "\"pre-vote\": \"on\", \"announce\"");
    let refused = Plan::parse("p.json", &written, &SYSTEMS).expect_err("no such option").to_string();
    assert!(refused.contains("pond has no option `pre-vote`"), "{refused}");
}

#[test]
fn an_option_that_is_called_otherwise_now_is_known_by_being_the_only_one_that_is_missing() {
    // Drawn are mode, election and window.
    let of = |options: &str| {
        let json = saved().to_json();
        let given = "\"election\": \"120ms\"";
        assert!(json.contains(given), "{json}");
        Saved::parse("f.json", &json.replace(given, options), &SYSTEMS).expect("it is read")
    };
    let known = of(r#""election": "120ms", "mode": "off", "pipeline": "64""#);
    assert_eq!((known.plan.options.given("window"), known.gone.len()), (Some("64"), 0));
    let two = of(r#""election": "120ms", "pipeline": "64""#);
    assert_eq!(
        (two.plan.options.given("window"), &two.gone[..]),
        (None, &["option `pipeline`".to_owned()][..])
    );
    let other = of(r#""election": "120ms", "mode": "off", "pipeline": "deep""#);
    assert_eq!((other.plan.options.given("window"), other.gone.len()), (None, 1));
}

#[test]
fn an_error_behind_what_is_left_out_is_at_its_own_line() {
    let old = saved().to_json().replace(
        "\"crash leader",
        "\"drop n1->n2 Farewell #1\",\n    \"crush n1 at 5ms\",\n    \"crash leader",
    );
    let place = 1 + old.lines().position(|line| line.contains("crush")).unwrap();
    let refused = Saved::parse("f.json", &old, &SYSTEMS).expect_err("no such step").to_string();
    assert!(refused.starts_with(&format!("f.json:{place}:")), "{refused}");
}

#[test]
fn a_slip_of_the_hand_in_a_saved_failure_is_refused() {
    let old = saved().to_json().replace("\"announce\"", "\"annuonce\"");
    let refused = Saved::parse("f.json", &old, &SYSTEMS).expect_err("no such option").to_string();
    assert!(refused.contains("did you mean `announce`?"), "{refused}");
}

#[test]
fn a_fingerprint_that_names_another_file_is_refused() {
    for wrong in ["../../evil", "/F-0123456789", "", "F-", "F-012345678", "F-012345678g"] {
        let json = saved().to_json().replace("F-0123456789", wrong);
        let refused = Saved::parse("f.json", &json, &SYSTEMS).expect_err(wrong).to_string();
        assert!(refused.contains("f.json:5:18") && refused.contains("ten hexadecimal digits"), "{refused}");
    }
}

#[test]
fn every_kind_of_file_is_told_apart() {
    let kind = |json: &str| match InputFile::parse("early-announcement.json", json, &SYSTEMS).unwrap() {
        InputFile::Scenario(_) => "scenario",
        InputFile::Saved(_) => "saved",
        InputFile::Plan(_) => "plan",
    };
    assert_eq!(kind(RACE), "scenario");
    assert_eq!(kind(&saved().to_json()), "saved");
    assert_eq!(kind(&saved().plan.to_json()), "plan");
}

#[test]
fn a_file_of_another_plan_version_is_read_with_a_notice() {
    let json = saved().to_json().replace("\"plan\": 1", "\"plan\": 7");
    let other = Saved::parse("f.json", &json, &SYSTEMS).unwrap();
    assert_eq!(other.plan.version, 7);
    assert_eq!(
        other.notice.as_deref(),
        Some("plan version 7, and this program writes 1: its trace hash is not compared")
    );
    assert_eq!(other.plan.script, saved().plan.script);
    let newer = json.replace("\"rule\"", "\"broke\"");
    let wrong = Saved::parse("f.json", &newer, &SYSTEMS).unwrap_err();
    assert!(wrong.mend.ends_with("the file is of plan version 7, this program of 1"), "{wrong}");
    assert_eq!(PLAN_VERSION, 1);
}

/// Makes one change to a file and gives the error it leads to.
fn broken<T>(
    json: &str,
    (from, to): (&str, &str),
    parse: impl Fn(&str, &str, &[&'static dyn System]) -> Result<T, InputError>,
) -> String {
    assert_eq!(json.matches(from).count(), 1, "`{from}` is one place in {json}");
    let text = json.replace(from, to);
    let Err(wrong) = parse("early-announcement.json", &text, &SYSTEMS) else { panic!("`{to}` is accepted") };
    let line = text.lines().nth(wrong.line - 1).unwrap_or_default();
    let caret = format!("{}^", " ".repeat(wrong.column - 1));
    format!("{wrong}\n  {line}\n  {caret}")
}

#[test]
fn errors_of_a_scenario_point_at_their_place() {
    let changes = [
        (r#""notes": ["#, r#""nots": ["#),
        (r#""note": "before"#, r#""notes": "before"#),
        (r#""name": "early-announcement""#, r#""name": "late-announcement""#),
        (r#""system": "pond""#, r#""system": "bond""#),
        (r#""system": "pond","#, ""),
        (r#""mode.n3": "off" },"#, r#""mood.n3": "off" },"#),
        (r#""mode.n3": "off" },"#, r#""mode.n3": "of" },"#),
        (r#""mode.n3": "off" },"#, r#""mode.x3": "off" },"#),
        (r#""announce": "drop""#, r#""announce.n1": "drop""#),
        (r#""announce": "drop""#, r#""announce": 5"#),
        (r#""announce": "mailbox", "#, r#""mode.n3": "off", "#),
        ("hold relay-ready", "hold relay-redy"),
        ("hold relay-ready", r#"hold \"relay-redy\""#),
        ("crash n3 until", "crash n4 until"),
        ("campaign at n1\"", r#"\"propose \u00e9\" at n9""#),
        ("campaign at n1\"", "campain at n1\""),
        ("delay 2ms", "delay 2"),
        ("delay 2ms", "seed 1"),
        (r#""mailbox": {"#, r#""drop": {"#),
        (r#""mailbox": {"#, r#""Mail box": {"#),
        (r#""expect": "pass""#, r#""expect": "passes""#),
        (r#""expect": "pass""#, r#""expect": true"#),
        (r#""expect": "pass""#, r#""expect": "violates""#),
        (r#""expect": "pass""#, r#""expect": { "pass": {} }"#),
        (r#""source": "a story""#, r#""source": {}"#),
        (r#""violates": { "rule": "panic","#, r#""violate": { "rule": "panic","#),
        (r#""rule": "panic""#, r#""rul": "panic""#),
        (r#""rule": "panic""#, r#""rule": "catch-up""#),
        (r#""node": "n2""#, r#""node": "n5""#),
        (r#", "node": "n2""#, ""),
        (r#""node": "n2""#, r#""node": null"#),
        (r#""node": "n2""#, r#""node": ["n1", "n2"]"#),
        (r#""bug": "lazy""#, r#""bug": "lasy""#),
        (r#""source": "a story","#, r#""source": "a story""#),
        (r#""drop": {"#, r#""drop": "#),
        (r#""campaign at n1","#, r#""campaign at n1", // now"#),
        (r#""a story","#, r#""a \ud800 story","#),
        (r#""a story","#, r#""a \q story","#),
        (r#""system": "pond","#, r#""system": "pond", "system": "lake","#),
        (r#""notes": ["#, r#""notes": [[["#),
        (r#""source": "a story""#, r#""source": 1e999"#),
        // What a line may say, and the script cannot mean.
        ("crash n3 until end", "crash n3 at 2001ms until end"),
        ("crash n3 until end", "crash n3 at 300ms until 200ms"),
        ("crash n3 until end", "cut n3->n3 until 200ms"),
        ("crash n3 until end", "drop n3->n3 MsgApp"),
        ("crash n3 until end", "crash follower-3 until end"),
    ];
    let in_files = changes.map(|change| broken(RACE, change, Scenario::parse));
    // Every error of the lines as well, each as one more line of the script.
    let in_lines = crate::testing::WRONG_LINES.iter().map(|line| {
        let text = serde_json::to_string(line).unwrap();
        let with_another = format!("\"delay 2ms\",\n    \"servers 3\",\n    {text},");
        format!("{line}\n{}", broken(RACE, (r#""delay 2ms","#, &with_another), Scenario::parse))
    });
    let (before_variants, variants) = RACE.split_once("\"variants\"").unwrap();
    let none = broken(RACE, (&format!("\"variants\"{variants}"), "\"variants\": {}\n}\n"), Scenario::parse);
    assert!(before_variants.ends_with("  "), "it is the last field");
    let no_object = Scenario::parse("early-announcement.json", "[]", &SYSTEMS).unwrap_err();
    // Steps are counted without the settings before them.
    let never = Scenario::wrong_step(
        "early-announcement.json",
        RACE,
        1,
        "@drop: step 2, `hold relay-ready n1->n2 until n1 leads`, never happened".to_owned(),
        "give the step a moment that comes, or take it out",
    );
    let odd = [
        ("", "empty"),
        (" \n", "blank"),
        ("{", "an open brace"),
        ("\u{0}", "no text"),
        ("'name'", "other quotes"),
    ];
    let odd = odd.map(|(json, what)| {
        let wrong = Scenario::parse("early-announcement.json", json, &SYSTEMS).unwrap_err();
        format!("({what}) {wrong}")
    });
    let whole = [none, no_object.to_string(), never.to_string()].into_iter().chain(odd);
    let told: Vec<String> = in_files.into_iter().chain(whole).chain(in_lines).collect();
    insta::assert_snapshot!(told.join("\n\n"));
    let sources = [
        ("scenario/read.rs", include_str!("scenario/read.rs")),
        ("scenario/sense.rs", include_str!("scenario/sense.rs")),
        ("file/shared.rs", include_str!("file/shared.rs")),
    ];
    let missed = crate::testing::unreached(&sources, &["source.wrong(", "source.wrong_key("]);
    assert!(missed.is_empty(), "write a wrong file for each of these:\n{}", missed.join("\n"));
}

#[test]
fn a_file_that_is_no_object_is_told_to_become_one() {
    for json in ["[]", "null", "5", "\"a story\""] {
        let error = Scenario::parse("story.json", json, &SYSTEMS).unwrap_err();
        assert_eq!((error.line, error.column), (1, 1), "{error}");
        assert_eq!(error.mend, "write an object in braces", "{error}");
    }
}

#[test]
fn errors_of_a_saved_failure_point_at_their_place() {
    let json = saved().to_json();
    let changes = [
        (r#""plan": 1"#, r#""plan": "1""#),
        (r#""plan": 1"#, r#""plan": 0"#),
        (r#""plan": 1"#, r#""plan": -1"#),
        (r#""seed": "0x000000000000002a""#, r#""seed": "0x2g""#),
        (r#""seed": "0x000000000000002a""#, r#""seed": 42"#),
        (r#""trace-hash": "0x0123"#, r#""trace-hash": "0x123"#),
        (r#""profile": "swarm""#, r#""profile": "swam""#),
        (r#""rule": "catches-up","#, ""),
        (r#""rule": "catches-up""#, r#""rule": "catches-up", "rule": "b""#),
        ("\n}", "\n]"),
    ];
    let told = changes.map(|change| broken(&json, change, Saved::parse));
    insta::assert_snapshot!(told.join("\n\n"));
}

/// The fields an editor offers are those that are read, and those that have to be there are demanded.
#[test]
fn the_schema_of_scenarios_knows_their_fields() {
    let schema: serde_json::Value = serde_json::from_str(&crate::schema(&SYSTEMS)).unwrap();
    let parse = |json: &serde_json::Value| Scenario::parse("-", &json.to_string(), &SYSTEMS);
    let race: serde_json::Value = serde_json::from_str(RACE).unwrap();
    let places = ["", "/variants/drop", "/variants/drop/expect/violates"];
    let violates = schema.pointer("/$defs/variant/properties/expect/oneOf/1/properties/violates").unwrap();
    for (place, object) in places.into_iter().zip([&schema, &schema["$defs"]["variant"], violates]) {
        let mut known: Vec<&String> = object["properties"].as_object().unwrap().keys().collect();
        known.sort_unstable();
        let mut with_another = race.clone();
        with_another.pointer_mut(place).unwrap()["another"] = "field".into();
        let offered = parse(&with_another).unwrap_err().mend.replace("there are ", "");
        let mut offered: Vec<&str> = offered.split(", ").collect();
        offered.sort_unstable();
        assert_eq!(offered, known, "{place}");
        for &field in &known {
            let mut without = race.clone();
            let is_demanded = object["required"].as_array().unwrap().iter().any(|other| other == field);
            let had = without.pointer_mut(place).unwrap().as_object_mut().unwrap().remove(field).is_some();
            assert!(!is_demanded || had && parse(&without).is_err(), "{place}/{field} is demanded");
            assert!(is_demanded || parse(&without).is_ok(), "{place}/{field} may be missing");
        }
    }
}

#[test]
fn an_empty_file_and_one_that_is_no_object_are_refused() {
    for json in ["", "[]", "null", "{", "{}"] {
        assert!(InputFile::parse("f.json", json, &SYSTEMS).is_err(), "{json}");
    }
}

proptest! {
    #[test]
    fn no_file_makes_the_reader_panic(at in 0..RACE.len(), junk in ".{0,3}") {
        // Whatever is broken in a file, it is a value that says so.
        let at = (0..=at).rev().find(|&at| RACE.is_char_boundary(at)).unwrap();
        let _ = InputFile::parse("f.json", &format!("{}{junk}{}", &RACE[..at], &RACE[at..]), &SYSTEMS);
        let _ = InputFile::parse("f.json", &RACE[..at], &SYSTEMS);
    }

    #[test]
    fn every_generated_plan_survives_its_file(seed in any::<u64>()) {
        let plan = generate(&SYSTEMS, seed, &Restrictions::default()).unwrap();
        prop_assert_eq!(Plan::parse("p.json", &plan.to_json(), &SYSTEMS), Ok(plan));
    }
}

#[test]
fn options_that_are_left_out_have_their_defaults() {
    let json = r#"{"plan": 1, "system": "pond", "profile": "calm", "script": []}"#;
    let plan = Plan::parse("p.json", json, &SYSTEMS).unwrap();
    assert_eq!(plan.options, Options::new());
    assert_eq!(plan.options.text(POND.options(), "announce"), "mailbox");
    assert_eq!(plan.script, whitewater_sim::Script::default());
}
