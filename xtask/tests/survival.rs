//! Saved failures outlive changes of the code: ten of them against a dozen changes, each a patch of the sources.
//!
//! Every change takes a build of its own, so the figures are made by hand:
//!
//! ```text
//! cargo test --profile fuzz -p xtask --features mutants --test survival -- --ignored --nocapture
//! ```
#![cfg(feature = "mutants")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::root;
use whitewater_hunt::{ShrinkBudget, Shrinking, Signature, course, run, shrink};
use whitewater_kv::KV;
use whitewater_mutants::Patch;
use whitewater_plan::{Owes, Plan, Restrictions, Saved, generate, seed_text};
use whitewater_sim::System;

static SYSTEMS: &[&dyn System] = &[&KV];

/// The bugs whose first failures are saved.
const BUGS: [&str; 10] =
    ["E04", "E08", "R05", "R06", "R07", "R14", "S02", "figure-8", "seed-e2", "wal-cache-not-truncated"];

/// Where the changes are.
const CHANGES: &str = "crates/mutants/changes";

/// What a build needs.
const NEEDED: [&str; 8] =
    ["Cargo.toml", "Cargo.lock", "README.md", ".cargo", "crates", "xtask", "scenarios", "seeds"];

fn changes() -> Vec<Patch> {
    whitewater_mutants::all_in(root(), CHANGES).expect("the changes are patches")
}

#[test]
fn every_change_applies_to_the_sources_as_they_are() {
    let changes = changes();
    assert!(changes.len() >= 12, "{} changes", changes.len());
    for change in changes {
        change.apply(root()).unwrap_or_else(|wrong| panic!("{wrong}"));
    }
}

/// A failure with the seed it came from.
struct Failing {
    bug: &'static str,
    seed: u64,
    signature: Signature,
    file: PathBuf,
}

/// The first failure of a bug, shrunk and saved.
fn failing(bug: &'static str, folder: &Path) -> Failing {
    let restrictions = Restrictions { bug: Some(bug.to_owned()), ..Restrictions::default() };
    let plan = |seed| generate(SYSTEMS, seed, &restrictions).expect("the bug can be planted");
    let fails = |plan: &Plan| !run(&KV, plan, false).expect("the plan runs").verdict.is_pass();
    let seed = (0..3_000).find(|&seed| fails(&plan(seed))).unwrap_or_else(|| panic!("{bug} is not found"));
    let budget = ShrinkBudget::Tries(12_000);
    let shrinking = Shrinking { system: &KV, budget, jobs: 2, watch: &|_| {} };
    let small = shrink(&shrinking, &plan(seed)).expect("the plan fails");
    let recorded = run(&KV, &small.plan, true).expect("the plan runs");
    let saved = Saved {
        seed: Some(seed),
        commit: None,
        rule: small.signature.rule.clone(),
        message: recorded.verdict.to_string(),
        site: small.signature.site.clone(),
        fingerprint: None,
        owes: Owes::Fails,
        shrunk: Some(small.sentence()),
        trace_hash: recorded.hash,
        course: course(&recorded),
        notice: None,
        gone: Vec::new(),
        plan: small.plan,
    };
    let file = folder.join(format!("{bug}.json"));
    fs::write(&file, saved.to_json()).expect("the folder is ours");
    Failing { bug, seed, signature: small.signature, file }
}

/// Makes a copy of a file or folder of the sources.
fn copy(from: &Path, to: &Path) {
    if !from.is_dir() {
        // What is there already is not built again.
        if fs::read(from).ok() != fs::read(to).ok() {
            fs::create_dir_all(to.parent().expect("a file lies in a folder")).expect("the folder is ours");
            fs::copy(from, to).expect("the file can be copied");
        }
        return;
    }
    for entry in fs::read_dir(from).expect("the folder is there") {
        let name = entry.expect("the folder can be read").file_name();
        if name != "target" {
            copy(&from.join(&name), &to.join(&name));
        }
    }
}

/// The program of the sources as they stand in a folder.
fn program(sources: &Path, target: &Path) -> PathBuf {
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--profile", "planted", "-p", "xtask", "--features", "mutants"])
        .arg("--target-dir")
        .arg(target)
        .current_dir(sources)
        .status();
    assert!(status.expect("cargo can be started").success(), "the changed sources do not compile");
    target.join("planted/xtask").with_extension(std::env::consts::EXE_EXTENSION)
}

fn output(program: &Path, words: &[&str]) -> String {
    let output = Command::new(program).args(words).current_dir(root()).output();
    String::from_utf8_lossy(&output.expect("the program can be started").stdout).into_owned()
}

/// Whether the saved failure fails the same way in a program; what it says otherwise.
fn survives(program: &Path, failing: &Failing) -> Result<(), String> {
    let file = failing.file.to_str().expect("a path of text");
    let said = output(program, &["seeds", "verify", file]);
    let first = said.lines().next().unwrap_or("nothing").to_owned();
    if first.contains("fails, as it owes") { Ok(()) } else { Err(first) }
}

/// Whether the seed alone fails the same way.
fn seed_survives(program: &Path, failing: &Failing) -> bool {
    let seed = seed_text(failing.seed);
    let words = ["fuzz", "--system", "kv", "--mutant", failing.bug, "--seed", &seed];
    let said = output(program, &[&words[..], &["--shrink", "off", "--message-format", "json"]].concat());
    let fingerprint = whitewater_hunt::Fingerprint::coarse("kv", &failing.signature).to_string();
    said.lines().any(|line| line.contains("\"type\":\"failure\"") && line.contains(&fingerprint))
}

#[test]
#[ignore = "takes a build for each change"]
fn ten_saved_failures_outlive_a_dozen_changes() {
    let home = support::folder("survival");
    let failures: Vec<Failing> = BUGS.iter().map(|bug| failing(bug, &home)).collect();
    // The copy and its build lie beside those of patched bugs: they stay, and what all have in common is built once.
    let patched = home.ancestors().nth(2).expect("folders of tests lie in the target folder").join("patched");
    let (sources, target) = (patched.join("changed-source"), patched.join("build"));
    let only = std::env::var("WHITEWATER_CHANGES").ok();
    let (mut kept, mut seeds, mut all) = (0, 0, 0);
    for change in changes().iter().filter(|change| only.as_ref().is_none_or(|ids| ids.contains(&change.id))) {
        NEEDED.iter().for_each(|name| copy(&root().join(name), &sources.join(name)));
        for (path, text) in change.apply(root()).expect("the change applies") {
            fs::write(sources.join(path), text).expect("the folder is ours");
        }
        let program = program(&sources, &target);
        let lost: Vec<String> = failures.iter().filter_map(|f| survives(&program, f).err()).collect();
        let seeds_now = failures.iter().filter(|failing| seed_survives(&program, failing)).count();
        all += failures.len();
        kept += failures.len() - lost.len();
        seeds += seeds_now;
        println!(
            "{:<20} {} of {} saved failures fail the same way, {seeds_now} of the seeds",
            change.id,
            failures.len() - lost.len(),
            failures.len()
        );
        lost.iter().for_each(|line| println!("    {line}"));
    }
    println!("saved failures: {kept} of {all}; plain seeds: {seeds} of {all}");
    assert!(kept * 10 >= all * 9, "{kept} of {all} survive");
}
