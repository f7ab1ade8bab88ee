//! Every verb of the command line over a list of systems.
//!
//! A project that tests a system of its own has a package of a few lines whose `main` returns
//! `whitewater_cli::main(systems![MY_SYSTEM])`. Only this crate reads the environment, the clock, files and the
//! terminal; everything below it is told what it needs.

mod abroad;
mod amount;
mod canary;
mod commit;
mod core_clock;
mod difference;
mod duration;
mod exit;
mod files;
mod given;
mod interrupt;
mod isolation;
mod meant;
mod patched;
mod pipeline;
mod program;
mod progress;
mod rebuild;
mod runner;
mod screen;
mod shrinking;
mod store;
mod telling;
mod typed;
mod verb;
mod worker;

pub use abroad::{Abroad, Made};
pub use exit::Exit;
pub use program::Program;
pub use runner::{Extra, More, main, main_with};
pub use screen::{Format, Screen};
pub use whitewater_hunt::quoted;
pub use whitewater_sim::System;

/// The systems a command line is for.
pub type Systems = &'static [&'static dyn System];

/// Makes the list of systems that [`main`] takes: `systems![RELAY, KV]`, each of them a static.
#[macro_export]
macro_rules! systems {
    ($($system:expr),+ $(,)?) => {{
        static SYSTEMS: &[&dyn $crate::System] = &[$(&$system),+];
        SYSTEMS
    }};
}
