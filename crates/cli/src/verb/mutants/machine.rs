//! Bugs chosen by a machine: a sample of what `cargo mutants` makes up, each held against one campaign.

use super::Typed;
use crate::{Exit, Screen, files, interrupt, patched, rebuild};
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::Ordering;
use std::time::Instant;
use whitewater_sim::Digester;

/// What a campaign had to say of a bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Judgement {
    /// It broke a rule.
    Found,
    /// It did not come to an end.
    Hung,
    /// It does not compile.
    NoProgram,
    /// The campaign passed.
    Missed,
}

/// A bug that was judged.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Judged {
    name: String,
    judgement: Judgement,
    /// To build it and to search for it.
    seconds: u64,
}

/// A campaign that takes longer than so many seconds hangs: alone on a machine it takes half a minute.
const TIMEOUT_SECONDS: &str = "600";

/// Survivors that were looked at, from the top folder of the project: `FILE: CHANGE | why nothing can find it`.
const EXPLAINED: &str = "crates/mutants/machine.txt";

/// Judges so many bugs, drawn by the first seed.
///
/// # Errors
/// `cargo mutants` is not there or fails, or a file cannot be read or written.
pub(super) fn run(count: usize, typed: &Typed, screen: &Screen) -> anyhow::Result<Exit> {
    let root = rebuild::project_folder();
    let home = rebuild::target().join("machine");
    let source = home.join("source");
    patched::copy(&root, &source)?;
    let sample = drawn(all(&source)?, typed.seed, count);
    let path = home.join("judged.jsonl");
    let mut known = if typed.resume { read(&path)? } else { BTreeMap::new() };
    let explained = explained(&root)?;
    let interrupted = interrupt::flag();
    let mut judged = Vec::new();
    for (at, name) in sample.iter().enumerate() {
        let one = match known.remove(name) {
            Some(one) => one,
            None => {
                // Whatever an interrupted search has left there is taken back.
                patched::copy(&root, &source)?;
                let one = judge(name, &source, &home)?;
                if interrupted.load(Ordering::SeqCst) {
                    return Ok(Exit::Interrupted);
                }
                let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
                writeln!(file, "{}", serde_json::to_string(&one).expect("a judgement can be written"))?;
                one
            }
        };
        screen.print(&format!("{:>4}/{} {}", at + 1, sample.len(), text(&one, &explained)));
        judged.push(one);
        // Whoever interrupts it has the table of what was judged by then.
        if let Some(file) = &typed.table {
            files::write_behind(file, BEGIN, &table(typed.seed, sample.len(), &judged, &explained))?;
        }
    }
    Ok(tell(&judged, &explained, screen))
}

/// Behind this line of a file stands what was judged.
const BEGIN: &str = "<!-- sample -->\n";

/// What was judged, as a table for people, under the figures of all of it.
fn table(seed: u64, count: usize, judged: &[Judged], explained: &BTreeMap<String, String>) -> String {
    let mut text = format!("\n{} of a sample of {count}, drawn by seed {seed}: ", judged.len());
    text += &format!(
        "{}.\n\n| judgement | seconds | what was changed |\n|---|---|---|\n",
        figures(judged, explained)
    );
    for one in judged {
        let why = why(one, explained).map_or_else(String::new, |why| format!(" ({why})"));
        // A bar would end the column.
        let name = format!("{}{why}", one.name).replace('|', "\\|");
        text += &format!("| {} | {} | {name} |\n", verdict(one), one.seconds);
    }
    text
}

fn text(one: &Judged, explained: &BTreeMap<String, String>) -> String {
    let why = why(one, explained).map_or_else(String::new, |why| format!(" ({why})"));
    format!("{:<10} {:>4} s  {}{why}", verdict(one), one.seconds, one.name)
}

fn verdict(one: &Judged) -> &'static str {
    match one.judgement {
        Judgement::Found => "found",
        Judgement::Hung => "hung",
        Judgement::NoProgram => "no program",
        Judgement::Missed => "MISSED",
    }
}

/// Why nothing can find one that was missed, if somebody has looked at it.
fn why<'a>(one: &Judged, explained: &'a BTreeMap<String, String>) -> Option<&'a str> {
    let why = explained.get(&without_place(&one.name)).filter(|_| one.judgement == Judgement::Missed);
    why.map(String::as_str)
}

fn tell(judged: &[Judged], explained: &BTreeMap<String, String>, screen: &Screen) -> Exit {
    screen.print(&figures(judged, explained));
    let is_hole = |one: &Judged| one.judgement == Judgement::Missed && why(one, explained).is_none();
    if judged.iter().any(is_hole) { Exit::Found } else { Exit::Clean }
}

fn figures(judged: &[Judged], explained: &BTreeMap<String, String>) -> String {
    let count = |judgement| judged.iter().filter(|one| one.judgement == judgement).count();
    let found = count(Judgement::Found) + count(Judgement::Hung);
    let equivalent = judged.iter().filter(|one| why(one, explained).is_some()).count();
    let real = found + count(Judgement::Missed) - equivalent;
    format!(
        "{found} of {real} bugs found, {} %; {equivalent} more change nothing that anybody could see, {} do not compile",
        (found * 100).checked_div(real).unwrap_or(100),
        count(Judgement::NoProgram),
    )
}

/// The name without line and column, which move: `FILE: CHANGE`.
fn without_place(name: &str) -> String {
    let mut parts = name.splitn(4, ':');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(file), Some(_), Some(_), Some(change)) => format!("{file}:{change}"),
        _ => name.to_owned(),
    }
}

fn explained(root: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let path = root.join(EXPLAINED);
    if !path.is_file() {
        return Ok(BTreeMap::new());
    }
    let mut all = BTreeMap::new();
    for (at, line) in files::read(&path)?.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let Some((change, why)) = line.split_once(" | ") else {
            bail!("{EXPLAINED}:{}: write `FILE: CHANGE | why nothing can find it`", at + 1);
        };
        all.insert(change.trim().to_owned(), why.trim().to_owned());
    }
    Ok(all)
}

/// Judgements of earlier searches; a last line that was cut short by a crash is none.
fn read(path: &Path) -> anyhow::Result<BTreeMap<String, Judged>> {
    let text = if path.exists() { files::read(path)? } else { String::new() };
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Judged>(line).ok());
    Ok(lines.map(|one| (one.name.clone(), one)).collect())
}

/// Every bug that the machine makes up.
fn all(source: &Path) -> anyhow::Result<Vec<String>> {
    let output = mutants(source, &["--list"])?;
    if !output.status.success() {
        bail!("`cargo mutants --list` failed:\n{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(text.lines().map(str::to_owned).filter(|line| !line.is_empty()).collect())
}

/// So many of them, drawn by the seed: whichever of them is taken away, the others stay.
fn drawn(mut names: Vec<String>, seed: u64, count: usize) -> Vec<String> {
    let number = |name: &String| {
        let mut digester = Digester::default();
        digester.word(seed);
        digester.bytes(name.as_bytes());
        digester.short()
    };
    names.sort_by_cached_key(number);
    names.truncate(count);
    names
}

fn judge(name: &str, source: &Path, home: &Path) -> anyhow::Result<Judged> {
    let begun = Instant::now();
    let only = format!("^{}$", escaped(name));
    let output = home.join("output");
    let target: PathBuf = home.join("build");
    fs::create_dir_all(&output)?;
    let arguments = ["--in-place", "--baseline", "skip", "--timeout", TIMEOUT_SECONDS, "--re", &only];
    let arguments = arguments.iter().copied().chain(["--output", output.to_str().context("a path of text")?]);
    // All bugs share what is built, of which each changes one file.
    let made = command(source).args(arguments).env("CARGO_TARGET_DIR", &target).output();
    let made = made.context("`cargo mutants` cannot be started")?;
    let outcomes = output.join("mutants.out/outcomes.json");
    let text = fs::read_to_string(&outcomes).with_context(|| format!("{}", outcomes.display()))?;
    let counts: Counts = serde_json::from_str(&text).with_context(|| format!("{}", outcomes.display()))?;
    let judgement = match counts {
        Counts { caught: 1, .. } => Judgement::Found,
        Counts { missed: 1, .. } => Judgement::Missed,
        Counts { timeout: 1, .. } => Judgement::Hung,
        Counts { unviable: 1, .. } => Judgement::NoProgram,
        _ => bail!("`cargo mutants` judged nothing:\n{}", String::from_utf8_lossy(&made.stderr).trim()),
    };
    Ok(Judged { name: name.to_owned(), judgement, seconds: begun.elapsed().as_secs() })
}

/// What `cargo mutants` counted.
#[derive(Deserialize)]
struct Counts {
    caught: u32,
    missed: u32,
    timeout: u32,
    unviable: u32,
}

fn escaped(name: &str) -> String {
    let escape = |letter: char| match letter.is_ascii_alphanumeric() || letter == ' ' || letter == '_' {
        true => letter.to_string(),
        false => format!("\\x{{{:x}}}", letter as u32),
    };
    name.chars().map(escape).collect()
}

fn command(source: &Path) -> Command {
    let mut command = rebuild::cargo();
    command.arg("mutants").current_dir(source);
    command
}

fn mutants(source: &Path, arguments: &[&str]) -> anyhow::Result<Output> {
    command(source).args(arguments).output().context("`cargo mutants` cannot be started")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "crates/raft/src/log.rs:99:5: replace Log::last -> u64 with 0";

    #[test]
    fn a_sample_is_drawn_by_its_seed_and_a_larger_one_has_the_smaller_one_in_it() {
        let names: Vec<String> = (0..100).map(|number| format!("bug {number}")).collect();
        let small = drawn(names.clone(), 7, 10);
        assert_eq!(small, drawn(names.clone(), 7, 20)[..10]);
        assert_ne!(small, drawn(names, 8, 10));
    }

    #[test]
    fn what_was_missed_and_explained_counts_neither_for_nor_against() {
        let one = |name: &str, judgement| Judged { name: name.to_owned(), judgement, seconds: 3 };
        let other = "crates/raft/src/log.rs:7:5: replace | with ^ in Log::flags";
        let judged = [
            one("a", Judgement::Found),
            one("b", Judgement::Hung),
            one("c", Judgement::NoProgram),
            one(NAME, Judgement::Missed),
            one(other, Judgement::Missed),
        ];
        let explained = BTreeMap::from([(without_place(NAME), "nobody calls it".to_owned())]);
        let text = table(7, 150, &judged, &explained);
        assert!(
            text.contains("5 of a sample of 150, drawn by seed 7: 2 of 3 bugs found, 66 %; 1 more"),
            "{text}"
        );
        assert!(text.contains(&format!("| MISSED | 3 | {NAME} (nobody calls it) |")), "{text}");
        assert!(text.contains("replace \\| with ^"), "{text}");
    }

    #[test]
    fn an_explanation_outlives_a_line_that_moves() {
        assert_eq!(without_place(NAME), "crates/raft/src/log.rs: replace Log::last -> u64 with 0");
    }

    #[test]
    fn every_letter_of_a_name_stands_for_itself() {
        assert_eq!(escaped("a: b -> (c)"), "a\\x{3a} b \\x{2d}\\x{3e} \\x{28}c\\x{29}");
    }
}
