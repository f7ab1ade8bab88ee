//! Results of searches that are over, so that an interrupted one can go on.

use super::Typed;
use super::tell::Result as Found;
use anyhow::Context;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

/// The results of searches with the same words on the same commit, and the file they are in.
pub(super) struct Kept {
    file: File,
    /// What the searches have in common.
    words: String,
    /// Results that count for this search.
    found: Vec<Found>,
    /// All results, the youngest of each bug last.
    pub(super) all: Vec<Found>,
}

#[derive(serde::Serialize, serde::Deserialize)]
struct Line {
    words: String,
    found: Found,
}

impl Kept {
    /// Opens the file in the target folder.
    ///
    /// # Errors
    /// It cannot be read or written.
    pub(super) fn open(typed: &Typed, target: &Path) -> anyhow::Result<Kept> {
        std::fs::create_dir_all(target).with_context(|| format!("{} cannot be made", target.display()))?;
        let path = target.join("mutants-found.jsonl");
        let failed = || format!("{} cannot be opened", path.display());
        let text =
            if path.exists() { std::fs::read_to_string(&path).with_context(failed)? } else { String::new() };
        let file = OpenOptions::new().create(true).append(true).open(&path).with_context(failed)?;
        let words = words(typed);
        // A last line that was cut short by a crash is no result.
        let lines: Vec<Line> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let found: Vec<Found> = lines
            .iter()
            .filter(|line| typed.resume && line.words == words)
            .map(|line| line.found.clone())
            .collect();
        Ok(Kept { file, words, found, all: lines.iter().map(|line| line.found.clone()).collect() })
    }

    /// The result for this bug, if an earlier search has it.
    pub(super) fn get(&self, id: &str) -> Option<Found> {
        self.found.iter().rfind(|found| found.id == id).cloned()
    }

    /// Keeps a result. One that cannot be written is searched for again, and nothing else is lost.
    pub(super) fn keep(&mut self, found: &Found) {
        let line = Line { words: self.words.clone(), found: found.clone() };
        let text = serde_json::to_string(&line).expect("a result can be written");
        let _ = writeln!(self.file, "{text}");
        self.all.push(found.clone());
    }
}

fn words(typed: &Typed) -> String {
    let commit = crate::commit::current().map_or_else(String::new, |commit| commit.short());
    let Typed { deliveries, core_seconds, hits, seed, clients_only, .. } = typed;
    let set: String = typed.set.iter().map(|(name, value)| format!(" {name}={value}")).collect();
    let watched = typed.budget().watched;
    format!("{commit} {deliveries} {core_seconds} {hits} {seed} {clients_only} {watched}{set}")
}
