//! The command line with the systems of this project, plus `ci` and `conformance`.

mod ci;
mod conformance;
mod elsewhere;
mod new_system;
mod readme;

use std::process::ExitCode;
use whitewater_cli::{Abroad, Extra, Made, More, Program, main_with, systems};
use whitewater_exec::{Exec, PREFIX};
use whitewater_kv::KV;
use whitewater_relay::RELAY;

/// Rafts that somebody else wrote.
const FOREIGN: Abroad = Abroad {
    systems: &["noraft", "noraft-0.4", "noraft-mixed", "tikv"],
    manifest: concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/foreign/Cargo.toml"),
};

fn main() -> ExitCode {
    let ci = Extra {
        name: "ci",
        about: "Runs everything that must hold before a change lands",
        operands: None,
        run: |screen, _| ci::run(screen),
    };
    let conformance = Extra {
        name: "conformance",
        about: "Runs data-driven test files of etcd's Raft on the Raft core and tells the first difference in each",
        operands: Some("PATH"),
        run: |_, paths| conformance::run(paths),
    };
    let new_system = Extra {
        name: "new-system",
        about: new_system::ABOUT,
        operands: Some("NAME DIR"),
        run: |screen, operands| new_system::run(screen, operands),
    };
    let guests = Made { prefix: PREFIX, make: Exec::make };
    let extras = vec![ci, conformance, new_system];
    let more = More { extras, elsewhere: vec![FOREIGN], made: vec![guests], program: Program::PROJECT };
    main_with(systems![RELAY, KV], &more)
}
