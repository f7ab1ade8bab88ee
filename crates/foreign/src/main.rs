//! The command line with Rafts that somebody else wrote.

use std::process::ExitCode;
use whitewater_cli::systems;
use whitewater_noraft::{NORAFT, NORAFT_04, NORAFT_MIXED};
use whitewater_tikv::TIKV;

fn main() -> ExitCode {
    whitewater_cli::main(systems![NORAFT, NORAFT_04, NORAFT_MIXED, TIKV])
}
