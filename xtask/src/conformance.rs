//! `conformance`: test files of etcd's Raft on the core of this project.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::PathBuf;
use whitewater_cli::Exit;

/// Runs files, and those in folders.
///
/// # Errors
/// Standard output cannot be written.
pub(crate) fn run(paths: &[OsString]) -> anyhow::Result<Exit> {
    let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
    match whitewater_conformance::main_with(&paths, &mut std::io::stdout().lock()) {
        Ok(0) => Ok(Exit::Clean),
        Ok(1) => Ok(Exit::Found),
        Ok(_) => Ok(Exit::Usage),
        // Whoever closed the pipe has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Exit::Clean),
        Err(error) => Err(error.into()),
    }
}
