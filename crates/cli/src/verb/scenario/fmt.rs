//! `scenario fmt`: puts scenario files into their one layout, so that a difference is one of meaning.

use super::{chosen, load, nothing};
use crate::program::called;
use crate::{Exit, Screen, Systems, files};

/// Puts scenario files into their one layout, all of them if none is named.
#[derive(Debug, clap::Args)]
pub(crate) struct Typed {
    /// Names of scenarios, or files.
    #[arg(value_name = "NAME|FILE")]
    names: Vec<String>,
    /// Changes nothing and ends with 1 if a file has another layout.
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(typed: &Typed, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let files = chosen(&typed.names)?;
    if files.is_empty() {
        return Ok(nothing(screen));
    }
    let mut exit = Exit::Clean;
    for file in files {
        let formatted = load(&file, systems)?.format();
        if formatted == files::read(&file)? {
            continue;
        }
        if typed.check {
            screen.print(&format!(
                "{}: not in its layout; `{} scenario fmt` mends it",
                file.display(),
                called()
            ));
            exit = Exit::Found;
        } else {
            files::write_whole(&file, &formatted)?;
            screen.print(&format!("{}: formatted", file.display()));
        }
    }
    Ok(exit)
}
