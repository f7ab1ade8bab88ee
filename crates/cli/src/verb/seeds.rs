//! `seeds`: the failures that are kept; lists them and says whether each still does what it owes.

use crate::rebuild::Build;
use crate::telling::system;
use crate::{Exit, Screen, Systems, files, meant};
use anyhow::{Context, bail};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use whitewater_hunt::{Again, Fate, again};
use whitewater_plan::{Owes, Saved};

/// Failures that are kept in the folder `seeds`.
#[derive(Debug, clap::Args)]
pub(crate) struct Typed {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Runs each and says whether it does what it owes; ends with 5 if one does not.
    ///
    /// One that owes `fails` breaks its rule at its site; one that owes `passes` was mended and stays so.
    Verify(Folder),
    /// Lists them.
    List(Folder),
}

#[derive(Debug, clap::Args)]
struct Folder {
    /// Another folder, or files.
    #[arg(value_name = "FILE|FOLDER")]
    paths: Vec<PathBuf>,
}

impl Folder {
    fn files(&self) -> anyhow::Result<Vec<PathBuf>> {
        if self.paths.is_empty() {
            return files::json_files(&files::folder("seeds"));
        }
        let mut all = Vec::new();
        for path in &self.paths {
            match path.is_dir() {
                true => all.extend(files::json_files(path)?),
                false => all.push(path.clone()),
            }
        }
        Ok(all)
    }
}

/// Does what was typed.
pub(crate) fn run(typed: &Typed, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let (Action::Verify(folder) | Action::List(folder)) = &typed.action;
    let files = folder.files()?;
    if files.is_empty() {
        screen.remark("nothing ran: no failure is kept in that folder");
        return Ok(Exit::NothingRan);
    }
    match typed.action {
        Action::Verify(_) => verify_all(files, systems, screen),
        Action::List(_) => {
            for file in &files {
                let saved = load(file, systems)?;
                let name = file.display();
                screen.print(&format!("{name}  {}  {}: {}", saved.owes.word(), saved.rule, saved.message));
            }
            Ok(Exit::Clean)
        }
    }
}

/// Verifies each file in a build that has the bug it plants.
fn verify_all(files: Vec<PathBuf>, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let mut by_build: BTreeMap<Option<Build>, Vec<PathBuf>> = BTreeMap::new();
    // One file that is wrong hides nothing of the others.
    let mut wrong = Vec::new();
    for file in files {
        let bug = meant::bugs_in(&file, systems).pop_first();
        let build = bug.map_or(Ok(None), |bug| Build::with(&bug, systems));
        match build.with_context(|| file.display().to_string()) {
            Ok(build) => by_build.entry(build).or_default().push(file),
            Err(error) => wrong.push(format!("{error:#}")),
        }
    }
    let mut exit = Exit::Clean;
    for (build, files) in by_build {
        match build {
            Some(build) => {
                let words = ["seeds", "verify"].map(OsString::from).into_iter();
                let words: Vec<OsString> =
                    words.chain(files.into_iter().map(PathBuf::into_os_string)).collect();
                exit = exit.and(build.run(&words, screen)?);
            }
            None => {
                for file in files {
                    let verified = load(&file, systems).and_then(|s| verify(&file, &s, systems, screen));
                    match verified {
                        Ok(verified) => exit = exit.and(verified),
                        Err(error) => wrong.push(format!("{error:#}")),
                    }
                }
            }
        }
    }
    if !wrong.is_empty() {
        bail!("{}", wrong.join("\n"));
    }
    Ok(exit)
}

fn load(file: &Path, systems: Systems) -> anyhow::Result<Saved> {
    Ok(Saved::parse(&file.display().to_string(), &files::read(file)?, systems)?)
}

/// Whether a saved failure does what its file says that it owes.
pub(super) fn is_as_owed(saved: &Saved, again: &Again) -> bool {
    match saved.owes {
        Owes::Fails => again.fate == Fate::Same,
        Owes::Passes => again.fate == Fate::Gone,
    }
}

fn verify(file: &Path, saved: &Saved, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let system = system(&saved.plan.system, systems)?;
    let again = again(system, saved).map_err(anyhow::Error::msg);
    let again: Again = again.with_context(|| file.display().to_string())?;
    let owed = is_as_owed(saved, &again);
    let word = saved.owes.word();
    let name = file.display();
    if owed {
        screen.print(&format!("{name}: {word}, as it owes: {again}"));
        return Ok(Exit::Clean);
    }
    screen.print(&format!("{name}: owes `{word}` and does NOT: {again}"));
    if let Some(parting) = &again.parting {
        screen.print(&format!("  {parting}"));
    }
    Ok(if again.fate == Fate::Undecided { Exit::Unknown } else { Exit::Stale })
}
