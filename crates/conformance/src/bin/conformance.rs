//! Runs test files of etcd's Raft: `cargo run -p whitewater-conformance -- PATH...`.

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    match whitewater_conformance::main_with(&paths, &mut std::io::stdout().lock()) {
        Ok(code) => ExitCode::from(code),
        // Nobody listens any more: no reason to fail.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("conformance: {error}");
            ExitCode::from(70)
        }
    }
}
