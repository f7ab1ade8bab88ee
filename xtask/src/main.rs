//! The command line with the systems of this project, plus `ci`.

mod ci;
mod readme;

use std::process::ExitCode;
use whitewater_cli::{Extra, main_with, systems};
use whitewater_relay::RELAY;

fn main() -> ExitCode {
    let ci =
        Extra { name: "ci", about: "Runs everything that must hold before a change lands", run: ci::run };
    main_with(systems![RELAY], &[ci])
}
