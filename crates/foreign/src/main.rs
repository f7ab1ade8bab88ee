//! The command line with Rafts that somebody else wrote, beside the systems of the project.

use std::process::ExitCode;
use whitewater_cli::{Made, More, main_with, systems};
use whitewater_exec::{Exec, PREFIX};
use whitewater_kv::KV;
use whitewater_noraft::{NORAFT, NORAFT_04, NORAFT_MIXED};
use whitewater_relay::RELAY;
use whitewater_tikv::TIKV;

fn main() -> ExitCode {
    let more = More { made: vec![Made { prefix: PREFIX, make: Exec::make }], ..More::default() };
    main_with(systems![RELAY, KV, NORAFT, NORAFT_04, NORAFT_MIXED, TIKV], &more)
}
