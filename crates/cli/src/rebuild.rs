//! Has a command line run again by a build that has the planted bugs in it; a default build has none.

use crate::{Exit, Screen, Systems, interrupt};
use anyhow::{Context, bail};
use std::path::PathBuf;
use std::process::Command;

/// Set for the second build, so that it never asks for a third.
const REBUILT: &str = "WHITEWATER_REBUILT";
/// The package with the command line, which hands the feature down to its systems.
pub(crate) const PACKAGE: &str = "xtask";
/// The feature that brings the bugs.
pub(crate) const FEATURE: &str = "mutants";

/// Whether this build has bugs in it.
fn has_bugs(systems: Systems) -> bool {
    systems.iter().any(|system| !system.bugs().is_empty())
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
    // The second process gets Ctrl-C as well; this one has to outlive it to pass on how it ended.
    let _outlive = interrupt::flag();
    let mut command = cargo();
    let status = command
        .args(["run", "--quiet", "--profile", "fuzz", "--package", PACKAGE, "--features", FEATURE])
        .arg("--target-dir")
        .arg(&folder)
        .arg("--")
        .args(std::env::args_os().skip(1))
        .env(REBUILT, "1")
        .status()
        .with_context(|| {
            format!(
                "`{}` cannot be started, and bugs can be planted only in a build of their own",
                PathBuf::from(cargo().get_program()).display()
            )
        })?;
    match status.code().and_then(Exit::with_code) {
        Some(exit) => Ok(Some(exit)),
        None => bail!("the build with planted bugs did not come to an end: {status}"),
    }
}

/// Cargo, the one that runs this program if it was one.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Where that build lies: beside others, so that neither throws the other away.
pub(crate) fn target_folder() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    target.unwrap_or_else(|| project_folder().join("target")).join(FEATURE)
}

/// The nearest folder above this one that has a lock file of cargo.
fn project_folder() -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    let found = here.ancestors().find(|folder| folder.join("Cargo.lock").is_file());
    found.unwrap_or(&here).to_path_buf()
}
