//! `wal show`: tells what a file of a write-ahead log holds, frame by frame, and what is wrong with it.

use crate::{Exit, Screen};
use anyhow::Context;
use std::path::PathBuf;

/// Looks into files of a write-ahead log, such as `replay --disks DIR` writes.
#[derive(Debug, clap::Args)]
pub(crate) struct Typed {
    #[command(subcommand)]
    what: What,
}

/// What to do with them.
#[derive(Debug, clap::Subcommand)]
enum What {
    /// Prints a line for each frame of a segment, or for a snapshot; where something is damaged it says where and how,
    /// and goes on behind it. Ends with 2 if a file cannot be read or is no part of a log.
    Show {
        /// Segments or snapshots.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

pub(crate) fn run(typed: &Typed, screen: &Screen) -> anyhow::Result<Exit> {
    let What::Show { files } = &typed.what;
    for file in files {
        let bytes = std::fs::read(file).with_context(|| format!("{}: cannot be read", file.display()))?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let text = whitewater_wal::describe(&name, &bytes).with_context(|| {
            format!("{}: is neither a segment nor a snapshot of a write-ahead log", file.display())
        })?;
        screen.print(text.trim_end());
    }
    Ok(Exit::Clean)
}
