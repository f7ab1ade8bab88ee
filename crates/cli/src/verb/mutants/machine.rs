//! Bugs chosen by a machine: a sample of what `cargo mutants` makes up, each held against one campaign.

use super::Typed;
use crate::{Exit, Screen, files, interrupt, patched, rebuild};
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};
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

/// A bug that `cargo mutants` makes up.
#[derive(Clone, Debug, Deserialize)]
struct Made {
    /// `FILE:LINE:COLUMN: CHANGE`.
    name: String,
    /// From the top folder of the project.
    file: PathBuf,
    /// A unified diff of the file.
    diff: String,
}

/// A campaign that takes longer hangs: alone on a machine it takes half a minute.
const TIMEOUT: Duration = Duration::from_secs(300);

/// How often is looked whether it is over.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The only test that these bugs are held against.
const TEST: &[&str] = &[
    "test",
    "--no-run",
    "--message-format",
    "json",
    "--profile",
    "planted",
    "--package",
    "whitewater-mutants",
    "--test",
    "machine",
];

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
    for (at, made) in sample.iter().enumerate() {
        let one = match known.remove(&made.name) {
            Some(one) => one,
            None => {
                // Whatever an interrupted search has left there is taken back.
                patched::copy(&root, &source)?;
                let one = judge(made, &source, &home.join("build"))?;
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
    if path.is_file() { explanations(&files::read(&path)?) } else { Ok(BTreeMap::new()) }
}

fn explanations(text: &str) -> anyhow::Result<BTreeMap<String, String>> {
    let mut all = BTreeMap::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        // A change may have a bar in it.
        let Some((change, why)) = line.rsplit_once(" | ") else {
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
fn all(source: &Path) -> anyhow::Result<Vec<Made>> {
    let mut command = rebuild::cargo();
    command.args(["mutants", "--list", "--json", "--diff"]).current_dir(source);
    let output = command.output().context("`cargo mutants` cannot be started")?;
    if !output.status.success() {
        bail!("`cargo mutants --list` failed:\n{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    serde_json::from_slice(&output.stdout).context("`cargo mutants --list --json --diff` gave something else")
}

/// So many of them, drawn by the seed: whichever of them is taken away, the others stay.
fn drawn(mut all: Vec<Made>, seed: u64, count: usize) -> Vec<Made> {
    let number = |made: &Made| {
        let mut digester = Digester::default();
        digester.word(seed);
        digester.bytes(made.name.as_bytes());
        digester.short()
    };
    all.sort_by_cached_key(number);
    all.truncate(count);
    all
}

/// Builds one, in a folder that all share, since each changes one file, and holds it against the test.
fn judge(made: &Made, source: &Path, target: &Path) -> anyhow::Result<Judged> {
    let begun = Instant::now();
    let judged =
        |judgement| Ok(Judged { name: made.name.clone(), judgement, seconds: begun.elapsed().as_secs() });
    let path = source.join(&made.file);
    let whole = files::read(&path)?;
    // Its header has the change for a name, in words that are none.
    let hunks = made.diff.find("@@").map_or("", |at| &made.diff[at..]);
    let diff = diffy::Patch::from_str(hunks).with_context(|| format!("the diff of `{}`", made.name))?;
    let changed = diffy::apply(&whole, &diff).with_context(|| format!("the diff of `{}`", made.name))?;
    fs::write(&path, changed).with_context(|| format!("{} cannot be written", path.display()))?;
    let Some(program) = test(source, target)? else { return judged(Judgement::NoProgram) };
    let mut campaign = Command::new(program);
    campaign.arg("--ignored").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut campaign = campaign.spawn().context("the campaign cannot be started")?;
    let started = Instant::now();
    loop {
        if let Some(status) = campaign.try_wait()? {
            return judged(if status.success() { Judgement::Missed } else { Judgement::Found });
        }
        if started.elapsed() >= TIMEOUT {
            campaign.kill()?;
            campaign.wait()?;
            return judged(Judgement::Hung);
        }
        thread::sleep(LOOK_EVERY);
    }
}

/// What cargo says of a test that it has built.
#[derive(Deserialize)]
struct Built {
    executable: Option<PathBuf>,
}

/// The program of the test; none if it does not compile.
fn test(source: &Path, target: &Path) -> anyhow::Result<Option<PathBuf>> {
    let mut command = rebuild::cargo();
    command.args(TEST).env("CARGO_TARGET_DIR", target).current_dir(source);
    let output = command.output().context("cargo cannot be started")?;
    if !output.status.success() {
        return Ok(None);
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let mut built = text.lines().rev().filter_map(|line| serde_json::from_str::<Built>(line).ok());
    let program = built.find_map(|built| built.executable);
    program.map(Some).context("cargo names no program of the test")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "crates/raft/src/log.rs:99:5: replace Log::last -> u64 with 0";

    #[test]
    fn a_sample_is_drawn_by_its_seed_and_a_larger_one_has_the_smaller_one_in_it() {
        let made =
            |number: u32| Made { name: format!("bug {number}"), file: PathBuf::new(), diff: String::new() };
        let names = |seed, count| -> Vec<String> {
            drawn((0..100).map(made).collect(), seed, count).into_iter().map(|made| made.name).collect()
        };
        assert_eq!(names(7, 10), names(7, 20)[..10]);
        assert_ne!(names(7, 10), names(8, 10));
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
    fn a_change_with_a_bar_in_it_is_explained_and_a_line_without_a_reason_is_refused() {
        let all = explanations("a.rs: replace | with ^ in f | no bit is in both\n\n").unwrap();
        assert_eq!(all["a.rs: replace | with ^ in f"], "no bit is in both");
        let wrong = explanations("a.rs: replace f with ()").unwrap_err().to_string();
        assert!(wrong.starts_with("crates/mutants/machine.txt:1: write"), "{wrong}");
    }

    #[test]
    fn an_explanation_outlives_a_line_that_moves() {
        assert_eq!(without_place(NAME), "crates/raft/src/log.rs: replace Log::last -> u64 with 0");
    }
}
