//! The schema of scenario files, made of what there is: systems with their options and rules, and the grammar's words.
//!
//! An editor that knows it completes names and values. It describes the container only; lines of a script have a grammar
//! of their own.

use super::read::VERDICTS;
use crate::text::words_of_scripts;
use serde_json::{Value, json};
use whitewater_sim::{CLAIM_RULES, OptionSpec, System, Values};

/// The schema for scenarios of these systems, as text in its one layout.
pub fn schema(systems: &[&dyn System]) -> String {
    let names: Vec<&str> = systems.iter().map(|system| system.name()).collect();
    let of_system: Vec<Value> = systems.iter().map(|system| of_system(*system)).collect();
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A scenario: one script, run under several options, with what is expected of each",
        "type": "object",
        "additionalProperties": false,
        "required": ["name", "system", "script", "variants"],
        "properties": {
            "$schema": { "type": "string" },
            "name": text("The same as the name of the file without .json."),
            "theme": text("What it is about, in a word or two: the index lists scenarios by their themes."),
            "moral": text("What is to be learned from it, in one sentence."),
            "notes": {
                "type": "array",
                "items": { "type": "string" },
                "description": "What happens and why it matters, for people.",
            },
            "source": text("Where it comes from."),
            "system": { "enum": names, "description": "The system it is for." },
            "options": reference("options", "Options of every variant."),
            "script": script(),
            "variants": {
                "type": "object",
                "minProperties": 1,
                "propertyNames": { "pattern": "^[a-z0-9-]+$" },
                "additionalProperties": { "$ref": "#/$defs/variant" },
            },
        },
        "allOf": of_system,
        "$defs": {
            "options": {
                "type": "object",
                "additionalProperties": { "type": "string" },
                "description": "Values by name; name.n2 is the value at one server.",
            },
            "variant": variant(),
        },
    });
    let text = serde_json::to_string_pretty(&schema).expect("a value can be written");
    text + "\n"
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn reference(to: &str, description: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{to}"), "description": description })
}

fn script() -> Value {
    json!({
        "type": "array",
        "description": "Settings and steps, one line each; see scenarios/README.md.",
        "items": {
            "type": "string",
            "description": format!("A line begins with one of {}, or with a command of the system.", words_of_scripts()),
            "examples": [
                "seed 0x5445",
                "servers 3",
                "delay 1ms..10ms",
                "crash n3 at 200ms until end losing unsynced",
                "partition n1 | n2 n3 from 1s until 2s",
                "hold relay-ready n1->n2 until n1 leads | a note",
                "drop n1->n2 MsgApp term 2 #3",
                "propose x=1 at leader when n1 leads",
                "expect n1 leads within 500ms when n2 campaigns",
                "never n3 leads from 100ms until 2s",
            ],
        },
    })
}

fn variant() -> Value {
    let violates = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["rule", "node"],
        "properties": {
            "rule": text("A rule of the system, or expected, never, panic or limit."),
            "node": text("The node at which it shows; none if it shows at no node in particular."),
        },
    });
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["expect"],
        "properties": {
            "note": text("What it stands for, for people."),
            "options": reference("options", "What it adds to the options of the scenario."),
            "bug": text("A bug to plant; needs a build with the feature mutants."),
            "expect": {
                "oneOf": [
                    { "const": "pass" },
                    {
                        "type": "object",
                        "additionalProperties": false,
                        "required": ["violates"],
                        "properties": { "violates": violates },
                    },
                ],
            },
        },
    })
}

/// What scenarios of one system may say: its options with their values, and its rules.
fn of_system(system: &dyn System) -> Value {
    let options: serde_json::Map<String, Value> =
        system.options().iter().map(|spec| (spec.name.to_owned(), option(spec))).collect();
    let at_nodes: serde_json::Map<String, Value> = system
        .options()
        .iter()
        .filter(|spec| spec.per_node)
        .map(|spec| (format!("^{}\\.n[0-9]+$", spec.name), option(spec)))
        .collect();
    let options =
        json!({ "properties": options, "patternProperties": at_nodes, "additionalProperties": false });
    let rules = system.rules().into_iter().chain(CLAIM_RULES).map(|(name, _)| name).chain(VERDICTS);
    let rules = json!({ "enum": rules.collect::<Vec<_>>() });
    let expect = json!({ "properties": { "violates": { "properties": { "rule": rules } } } });
    json!({
        "if": { "properties": { "system": { "const": system.name() } } },
        "then": {
            "properties": {
                "options": options,
                "variants": { "additionalProperties": { "properties": { "options": options, "expect": expect } } },
            },
        },
    })
}

fn option(spec: &OptionSpec) -> Value {
    let about = format!("{} {} unless given.", spec.about, spec.default);
    match spec.values {
        Values::Words(words) => json!({ "enum": words, "description": about }),
        _ => json!({ "type": "string", "description": format!("{about} Values: {}.", spec.values) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::SYSTEMS;

    #[test]
    fn an_editor_is_told_the_options_and_rules_of_each_system() {
        let schema: Value = serde_json::from_str(&schema(&SYSTEMS)).unwrap();
        assert_eq!(schema["properties"]["system"]["enum"], json!(["pond", "lake"]));
        let pond = &schema["allOf"][0]["then"]["properties"];
        let options = &pond["options"];
        assert_eq!(options["properties"]["announce"]["enum"], json!(["drop", "latch", "mailbox"]));
        assert!(options["patternProperties"].get("^mode\\.n[0-9]+$").is_some());
        let rules = &pond["variants"]["additionalProperties"]["properties"]["expect"]["properties"]["violates"]
            ["properties"]["rule"]["enum"];
        let rules: Vec<&str> = rules.as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert!(rules.contains(&"one-leader") && rules.contains(&"never") && rules.contains(&"panic"));
    }
}
