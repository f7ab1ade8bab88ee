//! One search for one planted bug: runs in the order of their seeds, until enough of them have broken a rule.

use super::Typed;
use super::bug::Bug;
use super::tell::Result as Found;
use super::watchers::{self, Fired};
use crate::telling::system;
use crate::{Systems, core_clock};
use anyhow::{Context, bail};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use whitewater_plan::{Restrictions, generate};

/// When a search ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    pub(super) deliveries: u64,
    pub(super) core_seconds: u64,
    pub(super) hits: u32,
    /// In so many hits every rule is asked whether it sees the bug.
    pub(super) watched: u32,
}

/// What it took to get to a run that broke a rule, from the one before it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gap {
    pub(super) deliveries: u64,
    pub(super) runs: u64,
    /// None where the operating system does not tell.
    pub(super) core: Option<Duration>,
}

/// A run that broke a rule.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    pub(super) seed: u64,
    pub(super) rule: &'static str,
    pub(super) gap: Gap,
}

/// How a search went.
#[derive(Clone, Debug, Default)]
pub(super) struct Stream {
    pub(super) hits: Vec<Hit>,
    /// What was spent behind the last hit.
    pub(super) rest: Gap,
    /// The rules that are broken in the first hits.
    pub(super) watched: Vec<Vec<Fired>>,
}

/// What a search for this bug is restricted to.
pub(super) fn restrictions(bug: &str, clients_only: bool, set: &[(String, String)]) -> Restrictions {
    let checks = clients_only.then(|| ("checks".to_owned(), "clients".to_owned()));
    let set = set.iter().cloned().chain(checks).collect();
    Restrictions { bug: Some(bug.to_owned()), set, ..Restrictions::default() }
}

/// Searches until enough runs have broken a rule or the budget is spent, or until `stop` is raised.
///
/// # Errors
/// A plan cannot be drawn or run.
pub(super) fn run(
    typed: &Typed,
    restrictions: &Restrictions,
    budget: &Budget,
    systems: Systems,
    stop: &AtomicBool,
) -> anyhow::Result<Stream> {
    let mut stream = Stream::default();
    let (mut spent, mut begun) = (0, core_clock::of_this_thread());
    let mut last = begun;
    let clock =
        |since: Option<Duration>| since.zip(core_clock::of_this_thread()).map(|(then, now)| now - then);
    let mut seed = typed.seed;
    while stream.hits.len() < budget.hits as usize
        && spent < budget.deliveries
        && !stop.load(Ordering::SeqCst)
    {
        if clock(begun).is_some_and(|core| core >= Duration::from_secs(budget.core_seconds)) {
            break;
        }
        let plan = generate(systems, seed, restrictions).map_err(anyhow::Error::msg)?;
        let outcome = whitewater_hunt::run(system(&plan.system, systems)?, &plan, false);
        let outcome = outcome.map_err(anyhow::Error::msg)?;
        spent += outcome.counters.deliveries;
        stream.rest.runs += 1;
        stream.rest.deliveries += outcome.counters.deliveries;
        stream.rest.core = clock(last);
        if !outcome.verdict.is_pass() {
            let gap = std::mem::take(&mut stream.rest);
            stream.hits.push(Hit { seed, rule: outcome.verdict.rule(), gap });
            last = core_clock::of_this_thread();
            if stream.watched.len() < budget.watched as usize {
                stream.watched.push(watchers::of(system(&plan.system, systems)?, &plan)?);
                // That was no search.
                begun = begun.zip(clock(last)).map(|(begun, took)| begun + took);
                last = core_clock::of_this_thread();
            }
        }
        seed = seed.wrapping_add(1);
    }
    Ok(stream)
}

/// Has another build of this program search, and takes its result.
///
/// # Errors
/// The program cannot be started, or says something that is no result.
pub(super) fn elsewhere(program: &Path, bug: &Bug, typed: &Typed, budget: &Budget) -> anyhow::Result<Found> {
    let mut command = Command::new(program);
    command.args(["mutants", &bug.id, "--jobs", "1", "--message-format", "json"]);
    command.args([
        "--deliveries",
        &typed.deliveries.to_string(),
        "--core-seconds",
        &typed.core_seconds.to_string(),
    ]);
    command.args(["--hits", &typed.hits.to_string(), "--seed", &typed.seed.to_string()]);
    if typed.clients_only {
        command.arg("--clients-only");
    }
    for (name, value) in &typed.set {
        command.args(["--set", &format!("{name}={value}")]);
    }
    if budget.watched > 0 {
        command.args(["--watchers", &budget.watched.to_string()]);
    }
    let output = command.stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("{} cannot be started", program.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let Some(line) = text.lines().find(|line| line.contains("\"type\":\"mutant\"")) else {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("the build with the bug `{}` in it gave no result: {}", bug.id, said.trim());
    };
    serde_json::from_str(line)
        .with_context(|| format!("the build with the bug `{}` in it gave `{line}`", bug.id))
}
