//! Has a command line run again by a build that has the planted bugs in it; a default build has none.

use crate::program::program;
use crate::{Exit, Screen, Systems, interrupt, patched};
use anyhow::{Context, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use whitewater_mutants::{Patch, named};

/// Set for the second build, so that it never asks for a third.
const REBUILT: &str = "WHITEWATER_REBUILT";
/// The feature that brings the bugs.
pub(crate) const FEATURE: &str = "mutants";

/// In place of a bug: the build that has them all, and none of them planted.
pub(crate) const NO_BUG: &str = "none";

/// Whether this build has a bug, or those of the code for [`NO_BUG`].
fn is_here(id: &str, systems: Systems) -> bool {
    systems.iter().any(|system| match id {
        NO_BUG => !system.bugs().is_empty(),
        id => system.bugs().contains(&id),
    })
}

/// A build of the sources that has bugs this one lacks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Build {
    /// All those that are branches in the code.
    Named,
    /// One that is a patch of the sources, by its id.
    Patched(String),
}

impl Build {
    /// The build that has this bug; `None` if this one does.
    ///
    /// # Errors
    /// There is no such bug; lists those there are.
    pub(crate) fn with(id: &str, systems: Systems) -> anyhow::Result<Option<Build>> {
        if is_here(id, systems) {
            return Ok(None);
        }
        let package = package()?;
        if std::env::var_os(REBUILT).is_some() {
            bail!(
                "no bugs can be planted: the feature `{FEATURE}` of the package `{package}` does not bring `{id}`"
            );
        }
        let root = project_folder();
        let patches = whitewater_mutants::all(&root)?;
        if patches.iter().any(|patch| patch.id == id) {
            return Ok(Some(Build::Patched(id.to_owned())));
        }
        // A project without the list has to be built to know.
        let named = named(&root)?;
        if id != NO_BUG && !named.is_empty() && !named.iter().any(|bug| bug.id == id) {
            let mut there: Vec<_> = named.iter().map(|bug| bug.id.as_str()).collect();
            there.extend(patches.iter().map(|patch| patch.id.as_str()));
            there.sort_unstable();
            bail!(
                "there is no bug `{id}`; there are {}; crates/mutants/named.txt says what those in the code do",
                there.join(", ")
            );
        }
        Ok(Some(Build::Named))
    }

    /// Has it do what these words say, and gives how that ended.
    ///
    /// # Errors
    /// The build fails, or does not come to an end of its own.
    pub(crate) fn run(&self, words: &[OsString], screen: &Screen) -> anyhow::Result<Exit> {
        match self {
            Build::Named => again(named_build(screen)?.args(words)),
            Build::Patched(id) => {
                let root = project_folder();
                let patches = whitewater_mutants::all(&root)?;
                let Some(patch) = patches.iter().find(|patch| patch.id == *id) else {
                    bail!("the patch {id} is gone");
                };
                again(Command::new(build(patch, &root, screen)?).args(words))
            }
        }
    }
}

/// Runs the same command line in a build that has these bugs, and gives how that ended; `None` if this build has them.
///
/// # Errors
/// There is no such bug, no build has them all, or the build fails.
pub(crate) fn with_bugs(
    ids: &BTreeSet<String>,
    systems: Systems,
    screen: &Screen,
) -> anyhow::Result<Option<Exit>> {
    let mut needed: BTreeMap<Option<Build>, &str> = BTreeMap::new();
    for id in ids {
        needed.insert(Build::with(id, systems)?, id);
    }
    if needed.len() > 1 {
        let ids: Vec<&str> = needed.into_values().collect();
        bail!("{} are in builds of their own: name what plants them one by one", ids.join(" and "));
    }
    let Some((Some(build), _)) = needed.pop_first() else { return Ok(None) };
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    build.run(&words, screen).map(Some)
}

/// The program with a patch in it.
///
/// # Errors
/// The build fails.
pub(crate) fn build(patch: &Patch, root: &Path, screen: &Screen) -> anyhow::Result<PathBuf> {
    let target = target();
    if !target.join("patched").exists() {
        screen.remark("Builds a copy of the sources with the bug in it; the first time takes a while.");
    }
    patched::program(root, &target, package()?, patch)
}

/// The package with the command line, which hands the feature down to its systems.
///
/// # Errors
/// It has no such package.
fn package() -> anyhow::Result<&'static str> {
    program().plants.context(
        "no bugs are planted in this project: put each behind a value of an option of its system, and have it with `--set`",
    )
}

/// The program with the bugs of the code in it, run by cargo.
fn named_build(screen: &Screen) -> anyhow::Result<Command> {
    let folder = target_folder();
    if !folder.exists() {
        screen.remark(&format!(
            "Builds once more, with the planted bugs, into {}; the first time takes a while.",
            folder.display()
        ));
    }
    let mut command = cargo();
    command
        .args(["run", "--quiet", "--profile", "fuzz", "--package", package()?, "--features", FEATURE])
        .arg("--target-dir")
        .arg(&folder)
        .arg("--");
    Ok(command)
}

/// Runs another build of this program to its end.
fn again(command: &mut Command) -> anyhow::Result<Exit> {
    // The second process gets Ctrl-C as well; this one has to outlive it to pass on how it ended.
    let _outlive = interrupt::flag();
    let status = command.env(REBUILT, "1").status().with_context(|| not_started(command))?;
    match status.code().and_then(Exit::with_code) {
        Some(exit) => Ok(exit),
        None => bail!("the build with planted bugs did not come to an end: {status}"),
    }
}

/// What is said if a program cannot be started that bugs take.
pub(crate) fn not_started(command: &Command) -> String {
    let program = PathBuf::from(command.get_program());
    format!("`{}` cannot be started, and bugs can be planted only in a build of their own", program.display())
}

/// Cargo, the one that runs this program if it was one.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Where that build lies: beside others, so that neither throws the other away.
pub(crate) fn target_folder() -> PathBuf {
    target().join(FEATURE)
}

/// Where cargo builds.
pub(crate) fn target() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target = target.unwrap_or_else(|| project_folder().join("target"));
    std::path::absolute(&target).unwrap_or(target)
}

/// The nearest folder above this one that has a lock file of cargo.
pub(crate) fn project_folder() -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    let found = here.ancestors().find(|folder| folder.join("Cargo.lock").is_file());
    found.unwrap_or(&here).to_path_buf()
}
