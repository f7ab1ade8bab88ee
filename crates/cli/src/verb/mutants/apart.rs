//! `mutants --apart`: whether fingerprints tell bugs apart: failures of each are shrunk and sorted by their fingerprints.

use super::Typed;
use super::bug::Bug;
use super::search::restrictions;
use crate::telling::system;
use crate::{Exit, Screen, Systems, interrupt, rebuild};
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use whitewater_hunt::{Fingerprint, ShrinkBudget, Shrinking, agreement, run as run_plan, shrink};
use whitewater_plan::{Plan, generate, seed_text};

/// Plans tried for one failure at most, so that the result is the same on every machine.
const TRIES_MAX: u64 = 12_000;

/// A failure of a bug with its fingerprint, for programs.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Sorted {
    v: u32,
    r#type: String,
    /// The bug that was planted.
    id: String,
    seed: String,
    /// The rule that was broken and where.
    signature: String,
    fingerprint: String,
    /// What the fingerprint is made of: what two failures of one bug differ in if they have two.
    skeleton: Vec<String>,
    /// Messages delivered in what is left of it.
    deliveries: u64,
}

/// Shrinks `count` failures of each bug and tells how well their fingerprints agree with the bugs.
pub(super) fn run(
    bugs: &[Bug],
    count: usize,
    typed: &Typed,
    root: &Path,
    systems: Systems,
    screen: &Screen,
) -> anyhow::Result<Exit> {
    let interrupted = interrupt::flag();
    let mut all = Vec::new();
    for bug in bugs {
        let sorted = match bug.patch.as_ref().filter(|_| !bug.is_here(systems)) {
            Some(patch) => elsewhere(&rebuild::build(patch, root, screen)?, bug, count, typed)?,
            None => here(bug, count, typed, systems, &interrupted)?,
        };
        if interrupted.load(Ordering::SeqCst) {
            return Ok(Exit::Interrupted);
        }
        sorted.iter().for_each(|one| tell(one, screen));
        all.extend(sorted);
    }
    if all.is_empty() {
        return Ok(Exit::NothingRan);
    }
    screen.print(&text(&all));
    Ok(Exit::Clean)
}

/// Failures of a bug that this build has.
fn here(
    bug: &Bug,
    count: usize,
    typed: &Typed,
    systems: Systems,
    stop: &std::sync::atomic::AtomicBool,
) -> anyhow::Result<Vec<Sorted>> {
    let mut sorted = Vec::new();
    let (mut seed, mut spent) = (typed.seed, 0);
    while sorted.len() < count && spent < typed.deliveries && !stop.load(Ordering::SeqCst) {
        let restrictions = restrictions(&bug.id, false, &typed.set);
        let plan = generate(systems, seed, &restrictions).map_err(anyhow::Error::msg)?;
        let outcome = run_plan(system(&plan.system, systems)?, &plan, false).map_err(anyhow::Error::msg)?;
        spent += outcome.counters.deliveries;
        if !outcome.verdict.is_pass() {
            sorted.push(sort(bug, seed, &plan, typed, systems)?);
        }
        seed = seed.wrapping_add(1);
    }
    Ok(sorted)
}

fn sort(bug: &Bug, seed: u64, plan: &Plan, typed: &Typed, systems: Systems) -> anyhow::Result<Sorted> {
    let system = system(&plan.system, systems)?;
    let jobs = typed.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let shrinking = Shrinking { system, budget: ShrinkBudget::Tries(TRIES_MAX), jobs, watch: &|_| {} };
    let small = shrink(&shrinking, plan).map_err(anyhow::Error::msg)?;
    let skeleton = Fingerprint::skeleton(system, &small).map_err(anyhow::Error::msg)?;
    Ok(Sorted {
        v: 1,
        r#type: "fingerprint".to_owned(),
        id: bug.id.clone(),
        seed: seed_text(seed),
        signature: small.signature.to_string(),
        fingerprint: Fingerprint::of_skeleton(&skeleton).to_string(),
        skeleton,
        deliveries: small.after.deliveries,
    })
}

/// Failures of a bug that another build has.
fn elsewhere(program: &Path, bug: &Bug, count: usize, typed: &Typed) -> anyhow::Result<Vec<Sorted>> {
    let mut command = Command::new(program);
    command.args(["mutants", &bug.id, "--apart", &count.to_string(), "--message-format", "json"]);
    command.args(["--deliveries", &typed.deliveries.to_string(), "--seed", &typed.seed.to_string()]);
    for (name, value) in &typed.set {
        command.arg("--set").arg(format!("{name}={value}"));
    }
    if let Some(jobs) = typed.jobs {
        command.args(["--jobs", &jobs.to_string()]);
    }
    let output = command.stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("{} cannot be started", program.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("the build with the bug `{}` in it gave no result: {}", bug.id, said.trim());
    }
    let lines = text.lines().filter(|line| line.contains("\"type\":\"fingerprint\""));
    let parsed = lines.map(serde_json::from_str).collect::<Result<_, _>>();
    parsed.with_context(|| format!("the build with the bug `{}` in it", bug.id))
}

fn tell(one: &Sorted, screen: &Screen) {
    screen.message(one);
    screen.print(&format!(
        "{:<12} {}  {}  {} deliveries  {}",
        one.id, one.seed, one.fingerprint, one.deliveries, one.signature
    ));
}

/// The fingerprints of each bug, and how well they agree with the bugs.
fn text(all: &[Sorted]) -> String {
    let mut counts: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for one in all {
        *counts.entry(&one.id).or_default().entry(&one.fingerprint).or_default() += 1;
    }
    let mut lines: Vec<String> = counts
        .iter()
        .map(|(id, prints)| {
            let prints: Vec<String> =
                prints.iter().map(|(print, times)| format!("{print} {times}")).collect();
            format!("{id:<12} {}", prints.join(", "))
        })
        .collect();
    let truth: Vec<String> = all.iter().map(|one| one.id.clone()).collect();
    let prints: Vec<String> = all.iter().map(|one| one.fingerprint.clone()).collect();
    lines.push(format!(
        "adjusted Rand index {:.3} of {} fingerprints against {} bugs, 1 is best",
        agreement(&truth, &prints) as f64 / 1_000.0,
        all.len(),
        counts.len()
    ));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(id: &str, fingerprint: &str) -> Sorted {
        let text = String::from;
        Sorted {
            v: 1,
            r#type: text("fingerprint"),
            id: text(id),
            seed: text("0x000000000000002a"),
            signature: text("vote-once"),
            fingerprint: text(fingerprint),
            skeleton: vec![text("vote-once")],
            deliveries: 7,
        }
    }

    #[test]
    fn each_bug_has_its_fingerprints_with_how_often_they_came() {
        let all = [one("A", "F-1"), one("A", "F-1"), one("B", "F-2"), one("B", "F-3")];
        let text = text(&all);
        assert!(text.contains("F-1 2\n") && text.contains("F-2 1, F-3 1\n"), "{text}");
        assert!(
            text.ends_with("adjusted Rand index 0.571 of 4 fingerprints against 2 bugs, 1 is best"),
            "{text}"
        );
    }
}
