//! `ci`: everything that must hold before a change lands, with cargo, rustfmt and clippy and nothing else.

use crate::elsewhere::Elsewhere;
use crate::readme::promises;
use anyhow::Context;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use whitewater_cli::{Exit, Screen};

/// The pages whose commands are typed.
const PAGES: [&str; 2] = ["README.md", "crates/cli/README.md"];

/// How long the search with the commit as its seed takes.
const SEARCH: &str = "20s";
/// How long a search of the README takes that names no budget; a person who types it waits a minute.
const README_SEARCH: &str = "10s";

/// The tests of the log alone, with the bugs that can be planted in it.
const LOG_TESTS: &str = "test --package whitewater-wal --features mutants --test log";

/// What can be tested only where bugs can be planted.
const MUTANT_TESTS: &str =
    "test --profile fuzz --package xtask --features mutants --test mutants --test scenarios --test shrinking";

/// One thing that must hold: a command and the exit code it must have.
struct Step {
    name: String,
    program: PathBuf,
    arguments: Vec<String>,
    variables: Vec<(&'static str, &'static str)>,
    code: i32,
}

/// Runs every step, also after one has failed, so that one run tells everything.
///
/// # Errors
/// The README cannot be read, or a command cannot be started.
pub(crate) fn run(screen: &Screen) -> anyhow::Result<Exit> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in the top folder")?;
    let begun = Instant::now();
    let mut lines = Vec::new();
    let mut failed = 0;
    let elsewhere = Elsewhere::new(&target_folder())?;
    for step in steps(root, &elsewhere)? {
        screen.remark(&format!("\nci: {}: {}", step.name, step.text()));
        let (wrong, took) = step.run(root)?;
        failed += u32::from(wrong.is_some());
        let verdict = wrong.unwrap_or_else(|| "ok".to_owned());
        lines.push(format!(
            "ci: {:>6.1} s  {:<9}  {}  {verdict}",
            took.as_secs_f64(),
            step.name,
            step.text()
        ));
    }
    for (name, wrong, right) in [
        ("builds", builds_differ(root)?, "one hash in both profiles"),
        ("template", elsewhere.ways_on()?, "every line that its program prints works there"),
    ] {
        failed += u32::from(wrong.is_some());
        lines.push(format!("ci: {name:<9}  {}", wrong.unwrap_or_else(|| right.to_owned())));
    }
    screen.print(&format!("\n{}", lines.join("\n")));
    let took = begun.elapsed().as_secs();
    screen.print(&match failed {
        0 => format!("ci: all {} steps hold, after {took} s", lines.len()),
        _ => format!("ci: {failed} of {} steps FAILED, after {took} s", lines.len()),
    });
    // One line that every reader of test logs understands, whatever runner it expects.
    let passed = lines.len() as u32 - failed;
    screen.print(&format!("{passed} passed, {failed} failed"));
    Ok(if failed == 0 { Exit::Clean } else { Exit::Found })
}

/// Cheap ones first.
fn steps(root: &Path, elsewhere: &Elsewhere) -> anyhow::Result<Vec<Step>> {
    let own = std::env::current_exe().context("this program has no path")?;
    let own = |name: &str, words: &str| Step::new(name, &own, words);
    let cargo = |name: &str, words: &str| Step::new(name, &cargo(), words);
    let mut documents = cargo("documents", "doc --workspace --no-deps --quiet");
    documents.variables.push(("RUSTDOCFLAGS", "-D warnings"));
    let mut steps = vec![
        cargo("format", "fmt --all --check"),
        own("scenarios", "scenario check"),
        own("scenarios", "scenario fmt --check"),
        own("scenarios", "scenario schema --check"),
        own("scenarios", "scenario index --check"),
        own("scenarios", "scenario run"),
        own("scenarios", "scenario run --around 100"),
        own("seeds", "seeds verify"),
        cargo("lints", "clippy --workspace --all-targets --quiet -- -D warnings"),
        documents,
        cargo("tests", "test --workspace --no-fail-fast"),
        // Both take the build with planted bugs, in a folder of its own.
        own("mutants", "mutants --named --not-explained --hits 1 --deliveries 20000000"),
        // Each takes a build of its own: a sample, another one for each commit.
        own("mutants", &format!("mutants --patches --one-in 10 --hits 1 --seed {}", commit(root))),
        cargo("mutants", &format!("{MUTANT_TESTS} --target-dir {}", mutant_folder().display())),
        // Every crash state of the log with every bug in it; prints how many states were tried.
        cargo("log", &format!("{LOG_TESTS} --target-dir {} -- --nocapture", mutant_folder().display())),
    ];
    // A package as another repository has it: written, built and tested outside of the workspace.
    steps.extend([own("template", &elsewhere.writing()), cargo("template", &elsewhere.tests())]);
    // Rafts that somebody else wrote are no part of the workspace.
    let foreign = target_folder().join("foreign");
    let tests = "test --manifest-path crates/foreign/Cargo.toml --workspace --target-dir";
    steps.push(cargo("foreign", &format!("{tests} {}", foreign.display())));
    for page in PAGES {
        let text =
            std::fs::read_to_string(root.join(page)).with_context(|| format!("{page} cannot be read"))?;
        for promise in promises(page, &text)? {
            let words = promise.words[1..].join(" ");
            if words != "xtask ci" {
                let mut step = cargo("README", &words);
                step.code = promise.code;
                step.variables.push(("WHITEWATER_FOR", README_SEARCH));
                step.variables.push(("WHITEWATER_SHRINK", "off"));
                steps.push(step);
            }
        }
    }
    steps.push(own("search", &format!("fuzz --seed {} --for {SEARCH}", commit(root))));
    Ok(steps)
}

/// Whether a build without optimisation sees other runs than this one; says how.
fn builds_differ(root: &Path) -> anyhow::Result<Option<String>> {
    let failures = |mut command: Command| -> anyhow::Result<Vec<String>> {
        let search = "fuzz --system relay --set relay-not-ready=drop --seeds 0..40 --keep-going --shrink off --message-format json";
        let output = command.args(search.split_whitespace()).current_dir(root).output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(text.lines().filter(|line| line.contains("\"type\":\"failure\"")).map(str::to_owned).collect())
    };
    let optimised = failures(Command::new(std::env::current_exe()?))?;
    let mut plain = Command::new(cargo());
    plain.args("run --quiet --package xtask --".split_whitespace());
    let plain = failures(plain)?;
    Ok(match (optimised.is_empty(), optimised == plain) {
        (true, _) => Some("FAILED: 40 seeds find nothing to compare".to_owned()),
        (_, false) => {
            Some("FAILED: the failures of 40 seeds differ between the profiles fuzz and dev".to_owned())
        }
        (false, true) => None,
    })
}

/// Where commands that plant a bug build themselves.
fn mutant_folder() -> PathBuf {
    target_folder().join("mutants")
}

/// Where everything is built.
fn target_folder() -> PathBuf {
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(|root| root.join("target"));
    std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from).or_else(own).unwrap_or_default()
}

fn cargo() -> PathBuf {
    std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
}

/// The commit that is tested: each one searches other seeds, and everybody who has the commit has the seed.
fn commit(root: &Path) -> String {
    let output = Command::new("git").args(["rev-parse", "HEAD"]).current_dir(root).output();
    let commit = output.ok().filter(|output| output.status.success());
    commit.map_or_else(|| "1".to_owned(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

impl Step {
    fn new(name: &str, program: &Path, words: &str) -> Step {
        Step {
            name: name.to_owned(),
            program: program.to_path_buf(),
            arguments: words.split_whitespace().map(str::to_owned).collect(),
            variables: Vec::new(),
            code: 0,
        }
    }

    fn text(&self) -> String {
        let program = self.program.file_stem().unwrap_or_default().to_string_lossy();
        format!("{program} {}", self.arguments.join(" "))
    }

    /// Runs it; gives what is wrong, if something is, and how long it took.
    fn run(&self, root: &Path) -> anyhow::Result<(Option<String>, Duration)> {
        let begun = Instant::now();
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(root);
        // Nothing that whoever runs this has set may change what is tested.
        std::env::vars_os()
            .map(|(name, _)| name)
            .filter(|name| name.to_string_lossy().starts_with("WHITEWATER_"))
            .for_each(|name| {
                command.env_remove(name);
            });
        let status = command.envs(self.variables.iter().copied()).status();
        let status = status.with_context(|| format!("{} cannot be started", self.text()))?;
        let wrong = match status.code() {
            Some(code) if code == self.code => None,
            Some(code) => Some(format!("FAILED: exit {code} instead of {}", self.code)),
            None => Some("FAILED: ended by a signal".to_owned()),
        };
        Ok((wrong, begun.elapsed()))
    }
}
