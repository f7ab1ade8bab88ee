//! The command line with the systems of this project, plus `ci` and `conformance`.

mod ci;
mod conformance;
mod readme;

use std::process::ExitCode;
use whitewater_cli::{Extra, main_with, systems};
use whitewater_kv::KV;
use whitewater_relay::RELAY;

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
    main_with(systems![RELAY, KV], &[ci, conformance])
}
