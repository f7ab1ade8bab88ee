//! Reading scenario files.

use super::{Expect, NO_NODE, Scenario, Variant, sense};
use crate::InputError;
use crate::file::{Entries, PlanParts, Source};
use crate::suggest::listed;
use crate::text::{Line, Read, parse_lines, print_pin, print_step, script_of};
use serde::Deserialize;
use whitewater_sim::{CLAIM_RULES, NodeId, Options, Script, System};

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct ScenarioFile {
    #[serde(rename = "$schema")]
    schema: Option<String>,
    name: String,
    theme: Option<String>,
    moral: Option<String>,
    #[serde(default)]
    notes: Vec<String>,
    source: Option<String>,
    system: String,
    #[serde(default)]
    options: Entries<String>,
    script: Vec<String>,
    variants: Entries<VariantFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct VariantFile {
    note: Option<String>,
    #[serde(default)]
    options: Entries<String>,
    bug: Option<String>,
    expect: ExpectFile,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ExpectFile {
    Pass,
    Violates(ViolatesFile),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct ViolatesFile {
    rule: String,
    node: Option<String>,
}

/// Names a verdict may have besides the rules of the system.
pub(super) const VERDICTS: [&str; 3] = ["panic", "limit", "nondeterministic"];

/// Refuses the name of a rule that no run of the system can break.
pub(crate) fn check_rule(
    source: &Source<'_>,
    path: &[&str],
    system: &dyn System,
    rule: &str,
) -> Result<(), InputError> {
    let rules = system.rules().into_iter().chain(CLAIM_RULES).map(|(name, _)| name);
    let rules: Vec<&str> = rules.chain(VERDICTS).collect();
    match rules.contains(&rule) {
        true => Ok(()),
        false => {
            let message = format!("{} has no rule `{rule}`", system.name());
            Err(source.wrong(path, message, listed(rule, &rules)))
        }
    }
}

impl Scenario {
    /// Reads a scenario file.
    ///
    /// # Errors
    /// What is wrong, where, and how to mend it.
    pub fn parse(
        file_name: &str,
        json: &str,
        systems: &[&'static dyn System],
    ) -> Result<Scenario, InputError> {
        let source = Source::new(file_name, json);
        let file: ScenarioFile = source.parse()?;
        check_name(&source, &file.name)?;
        let parts = PlanParts { source: &source, systems };
        let system = parts.system(&file.system)?;
        let mut options = Options::new();
        parts.add_options(&mut options, &["options"], system, &file.options)?;
        let read = parse_lines(&file.script, Some(system)).map_err(|wrong| source.wrong_line(wrong))?;
        let script = script_of(&read, file.script.len()).map_err(|wrong| source.wrong_line(wrong))?;
        sense::check(&read, &file.script, &script).map_err(|wrong| source.wrong_line(wrong))?;
        if file.variants.0.is_empty() {
            let mend = r#"add one, such as "plain": { "expect": "pass" }"#;
            return Err(source.wrong(&["variants"], "a scenario has at least one variant".to_owned(), mend));
        }
        let variants = file.variants.0.iter().map(|(name, variant)| {
            let path = ["variants", name.as_str()];
            check_variant_name(&source, &path, name)?;
            let mut added = Options::new();
            parts.add_options(&mut added, &[&path[..], &["options"]].concat(), system, &variant.options)?;
            parts.plant(&mut added, &[&path[..], &["bug"]].concat(), system, variant.bug.as_deref())?;
            let expect =
                expect(&source, &[&path[..], &["expect"]].concat(), system, &script, &variant.expect)?;
            Ok(Variant { name: name.clone(), note: variant.note.clone(), options: added, expect })
        });
        let variants = variants.collect::<Result<Vec<_>, InputError>>()?;
        Ok(Scenario {
            schema: file.schema,
            name: file.name,
            theme: file.theme,
            moral: file.moral,
            notes: file.notes,
            source: file.source,
            system: file.system,
            options,
            lines: usual_form(&read),
            script,
            variants,
        })
    }
}

/// Every line in its usual form, settings first and in their usual order.
fn usual_form(read: &[Read]) -> Vec<String> {
    let mut settings = Vec::new();
    let (mut lines, mut pins) = (Vec::new(), Vec::new());
    for read in read {
        match &read.line {
            Line::Setting(setting) => settings.push(setting),
            Line::Step(step) => lines.push(print_step(step)),
            Line::Pin(pin) => pins.push(print_pin(pin)),
        }
    }
    settings.sort_by_key(|setting| setting.rank());
    settings.into_iter().map(ToString::to_string).chain(lines).chain(pins).collect()
}

fn check_name(source: &Source<'_>, name: &str) -> Result<(), InputError> {
    let file = source.file().rsplit(['/', '\\']).next().unwrap_or_default();
    match file.strip_suffix(".json") {
        Some(stem) if stem != name => {
            let message = format!("the scenario is called `{name}` and its file `{file}`");
            Err(source.wrong(&["name"], message, format!("write \"{stem}\", or call the file {name}.json")))
        }
        _ => Ok(()),
    }
}

fn check_variant_name(source: &Source<'_>, path: &[&str], name: &str) -> Result<(), InputError> {
    let is_right = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    match !name.is_empty() && name.chars().all(is_right) {
        true => Ok(()),
        false => {
            let message = format!("`{name}` cannot be the name of a variant");
            Err(source.wrong_key(
                path,
                message,
                "write small letters, digits and hyphens: files are named after it",
            ))
        }
    }
}

fn expect(
    source: &Source<'_>,
    path: &[&str],
    system: &dyn System,
    script: &Script,
    file: &ExpectFile,
) -> Result<Expect, InputError> {
    let ExpectFile::Violates(ViolatesFile { rule, node }) = file else { return Ok(Expect::Pass) };
    let at = |field| [path, &["violates", field]].concat();
    check_rule(source, &at("rule"), system, rule)?;
    let Some(node) = node else {
        let message = format!("at which node `{rule}` is violated is not said");
        let mend =
            format!("add such as \"node\": \"n1\", or \"{NO_NODE}\" if it shows at no node in particular");
        return Err(source.wrong(&[path, &["violates"]].concat(), message, mend));
    };
    let node = match node.parse::<NodeId>() {
        _ if node == NO_NODE => None,
        Ok(id) if script.has(id) => Some(id),
        _ => {
            let message = format!("`{node}` is no node of the cluster");
            let clients = if script.clients > 0 {
                format!(", a client c1 to c{}", script.clients)
            } else {
                String::new()
            };
            let mend = format!("write a server n1 to n{}{clients}, or {NO_NODE}", script.servers);
            return Err(source.wrong(&at("node"), message, mend));
        }
    };
    Ok(Expect::Violates { rule: rule.clone(), node })
}
