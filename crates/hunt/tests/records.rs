//! Records against their schema: every field that is printed is described, and what is described is printed.

use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use whitewater_hunt::{
    FailureLine, FailureRecord, Fingerprint, Finished, Progress, ProgressLine, Record, RunLine, ShrunkLine,
    Signature, Spread, Summary, SummaryLine,
};
use whitewater_plan::Profile;
use whitewater_sim::{Span, TraceHash};

fn schema() -> Value {
    serde_json::from_str(include_str!("../schema/records.json")).expect("the schema is JSON")
}

/// A record of each type, with everything that may be missing there and missing.
fn records() -> Vec<Record> {
    let signature = Signature { rule: "follower-applies".into(), site: "a follower".into() };
    let failure = FailureRecord {
        seed: Some(42),
        system: "relay".into(),
        profile: Some(Profile::Swarm),
        rule: "follower-applies".into(),
        message: "n2 applied no rows".into(),
        suspect: Some("e16".into()),
        fingerprint: Some(Fingerprint::coarse("relay", &signature)),
        hash: Some(TraceHash(7)),
        command: "cargo xtask fuzz --seed 0x2a".into(),
    };
    let bare = FailureRecord {
        seed: None,
        profile: None,
        suspect: None,
        fingerprint: None,
        hash: None,
        ..failure.clone()
    };
    let run = Finished {
        index: 3,
        seed: u64::MAX,
        system: "relay".into(),
        profile: Some(Profile::Calm),
        rule: "pass",
        deliveries: 5_000,
        simulated: Span::from_millis(2_500),
        hash: Some(TraceHash(u128::MAX)),
        repeated: true,
    };
    let summary = Summary {
        runs: 9,
        failing_runs: 1,
        failures_by_rule: BTreeMap::from([("follower-applies".into(), 1)]),
        leader_changes: Spread { median: 2, upper_quartile: 4 },
        fault_hits: BTreeMap::from([("drop", 3)]),
        mark_hits: BTreeMap::from([("deposed", 0)]),
        never_reached: vec!["deposed"],
        ..Summary::default()
    };
    vec![
        Record::Run(RunLine::of(&run)),
        Record::Progress(ProgressLine::of(&Progress { runs: 5, ..Progress::default() }, 1.5)),
        Record::Failure(FailureLine::of(&failure)),
        Record::Failure(FailureLine::of(&bare)),
        Record::Shrunk(shrunk(Some("0x000000000000002a".into()))),
        Record::Shrunk(shrunk(None)),
        Record::Summary(SummaryLine::of(&summary, 2.25, true)),
    ]
}

fn shrunk(seed: Option<String>) -> ShrunkLine {
    ShrunkLine {
        fingerprint: "F-0123456789".into(),
        seed,
        system: "relay".into(),
        rule: "follower-applies".into(),
        message: "n2 applied no rows".into(),
        nodes: 3,
        steps: 2,
        pins: 1,
        deliveries: 21,
        minimal: true,
        file: "found/F-0123456789.json".into(),
        command: "cargo xtask replay F-0123456789".into(),
    }
}

/// Says what is wrong with a value, as far as the parts of JSON Schema go that our schema uses.
fn faults(schema: &Value, place: &str, rule: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let rule = match rule["$ref"].as_str() {
        Some(path) => schema.pointer(path.trim_start_matches('#')).expect("a reference leads somewhere"),
        None => rule,
    };
    if let Some(wanted) = rule.get("const")
        && wanted != value
    {
        found.push(format!("{place} is {value}, not {wanted}"));
    }
    let types: Vec<&str> = match &rule["type"] {
        Value::String(one) => vec![one],
        Value::Array(many) => many.iter().filter_map(Value::as_str).collect(),
        _ => vec![],
    };
    if !types.is_empty() && !types.iter().any(|t| is_of(t, value)) {
        found.push(format!("{place} is {value}, not {types:?}"));
    }
    if let (Some(pattern), Some(text)) = (rule["pattern"].as_str(), value.as_str()) {
        let digits: usize =
            pattern.trim_start_matches("^0x[0-9a-f]{").trim_end_matches("}$").parse().unwrap();
        let hex =
            text.strip_prefix("0x").is_some_and(|h| h.len() == digits && u128::from_str_radix(h, 16).is_ok());
        if !hex {
            found.push(format!("{place} is {text}, not {pattern}"));
        }
    }
    if let Value::Object(fields) = value {
        found.extend(fields_faults(schema, place, rule, fields));
    }
    for (at, item) in value.as_array().into_iter().flatten().enumerate() {
        found.extend(faults(schema, &format!("{place}[{at}]"), &rule["items"], item));
    }
    found
}

fn fields_faults(schema: &Value, place: &str, rule: &Value, fields: &Map<String, Value>) -> Vec<String> {
    let mut found = Vec::new();
    let required = rule["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    found.extend(required.filter(|n| !fields.contains_key(*n)).map(|n| format!("{place} lacks {n}")));
    for (name, field) in fields {
        match rule["properties"].get(name).or(rule.get("additionalProperties")) {
            Some(rule) => found.extend(faults(schema, &format!("{place}.{name}"), rule, field)),
            None => found.push(format!("{place}.{name} is not described")),
        }
    }
    found
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        other => panic!("this test does not know the type {other}"),
    }
}

fn parsed(record: &Record) -> Value {
    let line = record.line();
    assert!(!line.contains('\n'), "one record is one line");
    serde_json::from_str(&line).expect("a record is JSON")
}

#[test]
fn every_record_is_as_the_schema_says() {
    let schema = schema();
    for record in records() {
        let value = parsed(&record);
        let kind = value["type"].as_str().expect("a record has a type");
        let rule = &schema["$defs"][kind];
        assert!(rule.is_object(), "{kind} is not described");
        assert_eq!(faults(&schema, kind, rule, &value), Vec::<String>::new());
    }
}

#[test]
fn a_record_that_is_not_as_the_schema_says_is_noticed() {
    let schema = schema();
    let mut value = parsed(&records()[2]);
    let fields = value.as_object_mut().unwrap();
    fields.remove("command");
    fields.insert("colour".into(), "red".into());
    fields.insert("seed".into(), 42.into());
    fields.insert("trace_hash".into(), "0x7".into());
    let found = faults(&schema, "failure", &schema["$defs"]["failure"], &value);
    assert_eq!(found.len(), 4, "{found:?}");
}

#[test]
fn every_described_field_is_printed_by_some_record() {
    let schema = schema();
    let mut printed: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for value in records().iter().map(parsed) {
        let kind = value["type"].as_str().unwrap().to_owned();
        printed.entry(kind).or_default().extend(value.as_object().unwrap().keys().cloned());
    }
    for choice in schema["oneOf"].as_array().unwrap() {
        let kind = choice["$ref"].as_str().unwrap().trim_start_matches("#/$defs/");
        let described: BTreeSet<String> =
            schema["$defs"][kind]["properties"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(printed[kind], described, "{kind}");
    }
}

#[test]
fn seeds_and_hashes_are_strings_of_all_their_digits() {
    let run = parsed(&records()[0]);
    assert_eq!(run["seed"], "0xffffffffffffffff");
    assert_eq!(run["trace_hash"], "0xffffffffffffffffffffffffffffffff");
    assert_eq!(parsed(&records()[2])["trace_hash"], "0x00000000000000000000000000000007");
}
