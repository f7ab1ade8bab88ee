//! The command line with Rafts that somebody else wrote, beside the systems of the project.

use std::process::ExitCode;
use whitewater_cli::{Made, More, Program, main_with, systems};
use whitewater_exec::{Exec, PREFIX};
use whitewater_kv::KV;
use whitewater_noraft::{NORAFT, NORAFT_04, NORAFT_MIXED};
use whitewater_relay::RELAY;
use whitewater_tikv::TIKV;

fn main() -> ExitCode {
    let made = vec![Made { prefix: PREFIX, make: Exec::make }];
    let more = More { made, program: Program::PROJECT, ..More::default() };
    main_with(systems![RELAY, KV, NORAFT, NORAFT_04, NORAFT_MIXED, TIKV], &more)
}
