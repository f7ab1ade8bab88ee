//! Plans and failures that were kept: a plan with what it did, to be run again.

use crate::file::{Entries, Json, PlanParts, Source, options_json, script_json};
use crate::gone::{called_now, is_option_gone, is_step_gone};
use crate::scenario::check_rule;
use crate::text::{LineError, parse_script, script_lines};
use crate::{InputError, PLAN_VERSION, Plan, Profile, parse_seed, seed_text};
use serde::Deserialize;
use whitewater_sim::{Options, System, TraceHash};

/// A failure that was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// What was run.
    pub plan: Plan,
    /// The seed it was drawn from, if it was.
    pub seed: Option<u64>,
    /// The commit it was found at, if known.
    pub commit: Option<String>,
    /// Name of the rule that was broken.
    pub rule: String,
    /// What was wrong, in one sentence.
    pub message: String,
    /// Where it shows, as far as that survives another run; empty if nobody said.
    pub site: String,
    /// What stands for it among failures, if it has been shrunk or grouped.
    pub fingerprint: Option<String>,
    /// What it owes now.
    pub owes: Owes,
    /// What it was shrunk from, in one line.
    pub shrunk: Option<String>,
    /// What nodes saw and did; compared only if there is no [`Saved::notice`].
    pub trace_hash: TraceHash,
    /// The events of the run in short, to find where another one parts from it; empty for a long run.
    pub course: Vec<String>,
    /// Something to tell whoever runs it: it is of another plan version, or speaks of what the code no longer has.
    pub notice: Option<String>,
    /// Options and steps of it that the code no longer has; the plan is without them.
    pub gone: Vec<String>,
}

/// What a saved failure owes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Owes {
    /// To fail as it did: its plan plants a bug or asks for the broken behaviour, or nobody has mended it yet.
    #[default]
    Fails,
    /// To pass: it was mended.
    Passes,
}

impl Owes {
    /// As files write it.
    pub const fn word(self) -> &'static str {
        match self {
            Owes::Fails => "fails",
            Owes::Passes => "passes",
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct SavedFile {
    #[serde(rename = "$schema")]
    _schema: Option<String>,
    plan: u32,
    seed: Option<String>,
    commit: Option<String>,
    rule: String,
    message: String,
    #[serde(default)]
    site: String,
    fingerprint: Option<String>,
    owes: Option<String>,
    shrunk: Option<String>,
    trace_hash: String,
    system: String,
    profile: String,
    #[serde(default)]
    options: Entries<String>,
    bug: Option<String>,
    script: Vec<String>,
    #[serde(default)]
    course: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct PlanFile {
    #[serde(rename = "$schema")]
    _schema: Option<String>,
    plan: u32,
    system: String,
    profile: String,
    #[serde(default)]
    options: Entries<String>,
    bug: Option<String>,
    script: Vec<String>,
}

/// Only the version, whatever else there may be.
#[derive(Deserialize)]
struct VersionFile {
    plan: u32,
}

impl Saved {
    /// Reads a saved failure. One of another plan version is read as far as that is possible, with a notice.
    ///
    /// # Errors
    /// What is wrong, where, and how to mend it.
    pub fn parse(file_name: &str, json: &str, systems: &[&'static dyn System]) -> Result<Saved, InputError> {
        let source = Source::new(file_name, json);
        let read = || {
            let file: SavedFile = source.parse()?;
            let seed = file.seed.as_ref().map(|text| {
                parse_seed(text).map_err(|wrong| {
                    let message = format!("`{text}` is no seed");
                    source.wrong(&["seed"], message, wrong.split_once(": ").map_or("", |(_, mend)| mend))
                })
            });
            let seed = seed.transpose()?;
            let trace_hash = parse_hash(&file.trace_hash).ok_or_else(|| {
                let message = format!("`{}` is no trace hash", file.trace_hash);
                source.wrong(&["trace-hash"], message, "write 0x and 32 hexadecimal digits")
            })?;
            let owes = match file.owes.as_deref() {
                None | Some("fails") => Owes::Fails,
                Some("passes") => Owes::Passes,
                Some(other) => {
                    let message = format!("a saved failure cannot owe `{other}`");
                    let mend = "write \"fails\", or \"passes\" for one that was mended";
                    return Err(source.wrong(&["owes"], message, mend));
                }
            };
            // It names files, and must not lead out of their folder.
            if let Some(other) = file.fingerprint.as_ref().filter(|text| !is_fingerprint(text)) {
                let message = format!("`{other}` is no fingerprint");
                let mend = "write F- and ten hexadecimal digits, or leave the field out";
                return Err(source.wrong(&["fingerprint"], message, mend));
            }
            let SavedFile { plan, system, profile, options, bug, script, .. } = file;
            let plan = PlanFile { _schema: None, plan, system, profile, options, bug, script };
            let (plan, gone) = read_old_plan(&source, systems, plan)?;
            // What no run can break nobody would ever find again, and every replay would be another failure.
            let system = (PlanParts { source: &source, systems }).system(&plan.system)?;
            check_rule(&source, &["rule"], system, &file.rule)?;
            let SavedFile { commit, rule, message, site, fingerprint, shrunk, course, .. } = file;
            let notice = notice(plan.version, &gone);
            Ok(Saved {
                plan,
                seed,
                commit,
                rule,
                message,
                site,
                fingerprint,
                owes,
                shrunk,
                trace_hash,
                course,
                notice,
                gone,
            })
        };
        read().map_err(|wrong| with_version(wrong, json))
    }

    /// The file in its one layout; [`Saved::parse`] reads it back as the same failure.
    pub fn to_json(&self) -> String {
        let mut fields = vec![("plan".to_owned(), Json::Number(self.plan.version))];
        let mut add = |name: &str, value: &str| fields.push((name.to_owned(), Json::text(value)));
        if let Some(seed) = self.seed {
            add("seed", &seed_text(seed));
        }
        if let Some(commit) = &self.commit {
            add("commit", commit);
        }
        if let Some(fingerprint) = &self.fingerprint {
            add("fingerprint", fingerprint);
        }
        add("owes", self.owes.word());
        add("rule", &self.rule);
        if !self.site.is_empty() {
            add("site", &self.site);
        }
        add("message", &self.message);
        if let Some(shrunk) = &self.shrunk {
            add("shrunk", shrunk);
        }
        add("trace-hash", &self.trace_hash.to_string());
        fields.extend(plan_fields(&self.plan));
        if !self.course.is_empty() {
            fields.push(("course".to_owned(), Json::List(self.course.iter().map(Json::text).collect())));
        }
        Json::Open(fields).file()
    }
}

impl Plan {
    /// Reads a plan that stands alone.
    ///
    /// # Errors
    /// What is wrong, where, and how to mend it.
    pub fn parse(file_name: &str, json: &str, systems: &[&'static dyn System]) -> Result<Plan, InputError> {
        let source = Source::new(file_name, json);
        let read = source.parse().and_then(|file: PlanFile| read_plan(&source, systems, &file));
        read.map_err(|wrong| with_version(wrong, json))
    }

    /// The file in its one layout; [`Plan::parse`] reads it back as the same plan.
    pub fn to_json(&self) -> String {
        let version = ("plan".to_owned(), Json::Number(self.version));
        Json::Open([version].into_iter().chain(plan_fields(self)).collect()).file()
    }
}

fn is_fingerprint(text: &str) -> bool {
    let digits = text.strip_prefix("F-").unwrap_or_default();
    digits.len() == 10 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
}

fn plan_fields(plan: &Plan) -> Vec<(String, Json)> {
    let bug = plan.options.planted().map(|bug| ("bug", Json::text(bug)));
    let fields = [
        ("system", Json::text(&plan.system)),
        ("profile", Json::text(plan.profile.name())),
        ("options", options_json(&plan.options)),
    ];
    let script = ("script", script_json(&script_lines(&plan.script)));
    let all = fields.into_iter().chain(bug).chain([script]);
    all.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Reads a plan that other code has written: what this one no longer has is left out of it, and said.
fn read_old_plan(
    source: &Source<'_>,
    systems: &[&'static dyn System],
    mut file: PlanFile,
) -> Result<(Plan, Vec<String>), InputError> {
    let system = (PlanParts { source, systems }).system(&file.system)?;
    let mut gone = Vec::new();
    if let Some((old, new)) = called_now(system, &file.options.0) {
        let (name, _) = file.options.0.iter_mut().find(|(name, _)| *name == old).expect("it is given");
        new.clone_into(name);
    }
    file.options.0.retain(|(name, _)| {
        let is_gone = is_option_gone(system, name);
        gone.extend(is_gone.then(|| format!("option `{name}`")));
        !is_gone
    });
    let (left_out, script): (Vec<_>, Vec<_>) =
        numbered(&file.script).partition(|(_, line)| is_step_gone(system, line));
    gone.extend(left_out.iter().map(|(_, line)| format!("step `{line}`")));
    Ok((read_parts(source, systems, &file, &script)?, gone))
}

fn read_plan(
    source: &Source<'_>,
    systems: &[&'static dyn System],
    file: &PlanFile,
) -> Result<Plan, InputError> {
    read_parts(source, systems, file, &numbered(&file.script).collect::<Vec<_>>())
}

/// Lines with their places in the file.
fn numbered(lines: &[String]) -> impl Iterator<Item = (usize, &String)> {
    lines.iter().enumerate()
}

/// Reads a plan whose script are these lines of the file.
fn read_parts(
    source: &Source<'_>,
    systems: &[&'static dyn System],
    file: &PlanFile,
    script: &[(usize, &String)],
) -> Result<Plan, InputError> {
    if file.plan == 0 {
        let mend = format!("write {PLAN_VERSION}, the version of this program");
        return Err(source.wrong(&["plan"], "there is no plan version 0".to_owned(), mend));
    }
    let parts = PlanParts { source, systems };
    let system = parts.system(&file.system)?;
    let profile = file.profile.parse::<Profile>().map_err(|wrong| {
        let (message, mend) =
            wrong.split_once("; ").expect("the profiles there are stand behind a semicolon");
        source.wrong(&["profile"], message.to_owned(), mend)
    })?;
    let mut options = Options::new();
    parts.add_options(&mut options, &["options"], system, &file.options)?;
    parts.plant(&mut options, &["bug"], system, file.bug.as_deref())?;
    let lines: Vec<String> = script.iter().map(|&(_, line)| line.clone()).collect();
    let script = parse_script(&lines, Some(system)).map_err(|wrong| {
        let line = script.get(wrong.line).map_or(wrong.line, |&(place, _)| place);
        source.wrong_line(LineError { line, ..wrong })
    })?;
    Ok(Plan { version: file.plan, system: file.system.clone(), profile, options, script })
}

fn parse_hash(text: &str) -> Option<TraceHash> {
    let digits = text.strip_prefix("0x").filter(|digits| digits.len() == 32)?;
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    if is_hex { u128::from_str_radix(digits, 16).ok().map(TraceHash) } else { None }
}

fn notice(version: u32, gone: &[String]) -> Option<String> {
    let other = (version != PLAN_VERSION).then(|| {
        format!(
            "plan version {version}, and this program writes {PLAN_VERSION}: its trace hash is not compared"
        )
    });
    let left_out =
        (!gone.is_empty()).then(|| format!("left out, as nothing has it any more: {}", gone.join(", ")));
    let all: Vec<String> = other.into_iter().chain(left_out).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// An error in a file of another version may be no fault of whoever wrote it.
fn with_version(wrong: InputError, json: &str) -> InputError {
    match serde_json::from_str::<VersionFile>(json) {
        Ok(VersionFile { plan }) if plan != PLAN_VERSION && plan != 0 => {
            let mend =
                format!("{}; the file is of plan version {plan}, this program of {PLAN_VERSION}", wrong.mend);
            InputError { mend, ..wrong }
        }
        _ => wrong,
    }
}
