//! Figures that are kept: a line of JSON each, with the commit and the machine they belong to.

use crate::commit;
use anyhow::Context;
use serde::Serialize;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

/// What is kept of a result.
#[derive(Serialize)]
struct Kept<'a, T> {
    #[serde(flatten)]
    result: &'a T,
    commit: Option<String>,
    machine: String,
    /// Processes that ran or waited to, on average over the last minute, this one among them; with more than one per core
    /// the figures are those of a machine with company.
    load: Option<f64>,
}

/// Adds a result to a file.
///
/// # Errors
/// The file cannot be written.
pub(super) fn add(file: &Path, result: &impl Serialize) -> anyhow::Result<()> {
    let commit = commit::current().map(commit::Commit::short);
    let kept = Kept { result, commit, machine: machine(), load: load() };
    let line = serde_json::to_string(&kept).expect("results are plain data");
    let mut open = OpenOptions::new()
        .create(true)
        .append(true)
        .open(file)
        .with_context(|| format!("{} cannot be opened to add to it", file.display()))?;
    writeln!(open, "{line}").with_context(|| format!("{} cannot be written", file.display()))
}

/// Commit and machine in one line, and how busy the machine was.
pub(super) fn circumstances() -> String {
    let commit = commit::current().map_or_else(String::new, |commit| format!(", commit {}", commit.short()));
    let load = load().map_or_else(String::new, |load| format!(", load {load}"));
    format!("{}{commit}{load}", machine())
}

/// The load of the machine, where it can be had.
fn load() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

/// The kind of processor and the number of cores.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors.lines().find(|line| line.starts_with("model name"));
    let model = model.and_then(|line| line.split_once(':')).map_or(std::env::consts::ARCH, |(_, name)| name);
    format!("{}, {cores} cores", model.trim())
}
