//! `scenario check`: reads scenario files and says what is wrong with them, without running them.

use super::{chosen, load, nothing};
use crate::rebuild::Build;
use crate::{Exit, Screen, Systems, meant};
use anyhow::Context;
use std::path::Path;
use whitewater_plan::Scenario;

/// Reads scenario files without running them, all of them if none is named.
#[derive(Debug, clap::Args)]
pub(crate) struct Typed {
    /// Names of scenarios, or files.
    #[arg(value_name = "NAME|FILE")]
    pub(super) names: Vec<String>,
}

pub(crate) fn run(typed: &Typed, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let files = chosen(&typed.names)?;
    if files.is_empty() {
        return Ok(nothing(screen));
    }
    let mut exit = Exit::Clean;
    for file in files {
        match read(&file, systems) {
            Ok(scenario) => {
                screen.print(&format!("{}: {} variants", file.display(), scenario.variants.len()))
            }
            // One wrong file must not hide what is wrong with the next.
            Err(error) => {
                screen.remark(&format!("error: {error:#}"));
                exit = Exit::Usage;
            }
        }
    }
    Ok(exit)
}

/// Reads a scenario, and looks up the bugs it plants without building what has them.
fn read(file: &Path, systems: Systems) -> anyhow::Result<Scenario> {
    let scenario = load(file, systems)?;
    for bug in meant::bugs_in(file, systems) {
        Build::with(&bug, systems).with_context(|| file.display().to_string())?;
    }
    Ok(scenario)
}
