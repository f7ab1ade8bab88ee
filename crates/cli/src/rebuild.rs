//! Has a command line run again by a build that has the planted bugs in it; a default build has none.

use crate::{Exit, Screen, Systems, interrupt, patched};
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use whitewater_mutants::{Patch, named};

/// Set for the second build, so that it never asks for a third.
const REBUILT: &str = "WHITEWATER_REBUILT";
/// The package with the command line, which hands the feature down to its systems.
pub(crate) const PACKAGE: &str = "xtask";
/// The feature that brings the bugs.
pub(crate) const FEATURE: &str = "mutants";

/// In place of a bug: the build that has them all, and none of them planted.
pub(crate) const NO_BUG: &str = "none";

/// Whether this build has bugs in it.
fn has_bugs(systems: Systems) -> bool {
    systems.iter().any(|system| !system.bugs().is_empty())
}

/// Runs the same command line in a build that has this bug, and gives how that ended; `None` if this build has it.
///
/// # Errors
/// There is no such bug, or the build fails.
pub(crate) fn with_bug(id: &str, systems: Systems, screen: &Screen) -> anyhow::Result<Option<Exit>> {
    if id == NO_BUG {
        return with_bugs(systems, screen);
    }
    if systems.iter().any(|system| system.bugs().contains(&id)) {
        return Ok(None);
    }
    let root = project_folder();
    let patches = whitewater_mutants::all(&root)?;
    if let Some(patch) = patches.iter().find(|patch| patch.id == id) {
        let program = build(patch, &root, screen)?;
        return again(Command::new(program).args(std::env::args_os().skip(1))).map(Some);
    }
    // A project without the list has to be built to know.
    let named = named(&root)?;
    if !named.is_empty() && !named.iter().any(|bug| bug.id == id) {
        let mut there: Vec<_> = named.iter().map(|bug| bug.id.as_str()).collect();
        there.extend(patches.iter().map(|patch| patch.id.as_str()));
        there.sort_unstable();
        bail!("there is no bug `{id}`; there are {}", there.join(", "));
    }
    with_bugs(systems, screen)
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
    patched::program(root, &target, PACKAGE, patch)
}

/// Runs the same command line in a build with bugs and gives how that ended; `None` if this is such a build.
///
/// # Errors
/// Cargo cannot be started, the build fails, or there are no bugs in the project.
pub(crate) fn with_bugs(systems: Systems, screen: &Screen) -> anyhow::Result<Option<Exit>> {
    if has_bugs(systems) {
        return Ok(None);
    }
    if std::env::var_os(REBUILT).is_some() {
        bail!("no bugs can be planted: the feature `{FEATURE}` of the package `{PACKAGE}` brings none");
    }
    let folder = target_folder();
    if !folder.exists() {
        screen.remark(&format!(
            "Builds once more, with the planted bugs, into {}; the first time takes a while.",
            folder.display()
        ));
    }
    let mut command = cargo();
    command
        .args(["run", "--quiet", "--profile", "fuzz", "--package", PACKAGE, "--features", FEATURE])
        .arg("--target-dir")
        .arg(&folder)
        .arg("--")
        .args(std::env::args_os().skip(1));
    again(&mut command).map(Some)
}

/// Runs another build of this program to its end.
fn again(command: &mut Command) -> anyhow::Result<Exit> {
    // The second process gets Ctrl-C as well; this one has to outlive it to pass on how it ended.
    let _outlive = interrupt::flag();
    let status = command.env(REBUILT, "1").status().with_context(|| {
        let program = PathBuf::from(command.get_program());
        format!(
            "`{}` cannot be started, and bugs can be planted only in a build of their own",
            program.display()
        )
    })?;
    match status.code().and_then(Exit::with_code) {
        Some(exit) => Ok(exit),
        None => bail!("the build with planted bugs did not come to an end: {status}"),
    }
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
