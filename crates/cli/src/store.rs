//! Where failures lie that were found and not kept: files in the folder of what is built, one per fingerprint.

use crate::commit::{self, Commit};
use crate::program::called;
use crate::telling::system;
use crate::{Systems, files};
use anyhow::bail;
use std::path::{Path, PathBuf};
use whitewater_hunt::{Failure, Fingerprint, Shrunk, Signature, Size, course, run};
use whitewater_plan::{Owes, Plan, Saved};
use whitewater_sim::Outcome;

/// Where failures go that nobody said a folder for.
pub(crate) fn found() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    target.unwrap_or_else(|| files::folder("target")).join("found")
}

/// The file of a failure in a folder.
pub(crate) fn file_of(folder: &Path, fingerprint: &str) -> PathBuf {
    folder.join(format!("{fingerprint}.json"))
}

/// A failure as a file holds it; what it was shrunk to, if it was.
pub(crate) fn saved(failure: &Failure, fingerprint: Option<Fingerprint>, shrunk: Option<&Shrunk>) -> Saved {
    let site = Signature::of(&failure.outcome).map_or_else(String::new, |signature| signature.site);
    Saved {
        plan: failure.plan.clone(),
        seed: failure.seed,
        commit: commit::current().map(Commit::whole),
        rule: failure.rule().to_owned(),
        message: failure.message(),
        site,
        fingerprint: fingerprint.map(|fingerprint| fingerprint.to_string()),
        owes: Owes::Fails,
        shrunk: shrunk.map(Shrunk::sentence),
        trace_hash: failure.outcome.hash,
        course: course(&failure.outcome),
        notice: None,
        gone: Vec::new(),
    }
}

/// How large the failure in a file is, if it is still the same one as this plan ends with, and no larger: then the file stays.
pub(crate) fn smaller(file: &Path, plan: &Plan, outcome: &Outcome, systems: Systems) -> Option<Size> {
    let saved = Saved::parse(&file.display().to_string(), &files::read(file).ok()?, systems).ok()?;
    let system = system(&saved.plan.system, systems).ok()?;
    let before = run(system, &saved.plan, false).ok()?;
    let size = Size::of(&saved.plan, &before);
    let is_same = Signature::of(&before).is_some() && Signature::of(&before) == Signature::of(outcome);
    (is_same && size <= Size::of(plan, outcome)).then_some(size)
}

/// Whether a word is meant to be a fingerprint, or the beginning of one.
pub(crate) fn is_fingerprint(word: &str) -> bool {
    let digits = word.strip_prefix("F-").or_else(|| word.strip_prefix("f-"));
    digits.is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

/// The file of the failure with that fingerprint, or the only one that begins so: among what was found, then among what
/// is kept.
///
/// # Errors
/// There is none, or there are several; lists those there are.
pub(crate) fn by_fingerprint(word: &str) -> anyhow::Result<PathBuf> {
    let wanted = word.to_ascii_lowercase();
    let mut there = Vec::new();
    for folder in [found(), files::folder("seeds")] {
        for file in files::json_files(&folder)? {
            let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let known = there.iter().any(|(known, _): &(String, PathBuf)| *known == stem);
            if is_fingerprint(&stem) && !known {
                there.push((stem, file));
            }
        }
    }
    let begins: Vec<_> =
        there.iter().filter(|(stem, _)| stem.to_ascii_lowercase().starts_with(&wanted)).collect();
    let names = |files: &[&(String, PathBuf)]| {
        files.iter().map(|(stem, _)| stem.as_str()).collect::<Vec<_>>().join(", ")
    };
    match begins[..] {
        [(_, file)] if wanted.len() > 2 => Ok(file.clone()),
        [] if there.is_empty() => {
            bail!("there is no failure {word}: nothing was found yet; `{} fuzz` searches", called())
        }
        [] => bail!("there is no failure {word}; there are {}", names(&there.iter().collect::<Vec<_>>())),
        _ => bail!("{word} is the beginning of several: {}; write more of it", names(&begins)),
    }
}
