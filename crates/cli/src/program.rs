//! How this program is called and built: every line that tells how to go on begins with it.

use std::sync::OnceLock;

/// How people run a command line, and what its project looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program {
    /// What they type before a verb, such as `cargo xtask`.
    pub called: &'static str,
    /// What builds it, for `git bisect`.
    pub built: &'static str,
    /// The package that builds it with the planted bugs of its systems, by a feature `mutants`; `None` if no bugs are planted.
    pub plants: Option<&'static str>,
    /// The file of tests in which each scenario has a line; `None` if each has a test of its own.
    pub scenario_tests: Option<&'static str>,
}

impl Program {
    /// The command line of this project.
    pub const PROJECT: Program = Program {
        called: "cargo xtask",
        built: "cargo build --profile fuzz --package xtask",
        plants: Some("xtask"),
        scenario_tests: Some("xtask/tests/scenarios.rs"),
    };
}

impl Default for Program {
    /// The only program of a package in any other repository.
    fn default() -> Program {
        Program {
            called: "cargo run --release --",
            built: "cargo build --release",
            plants: None,
            scenario_tests: None,
        }
    }
}

static PROGRAM: OnceLock<Program> = OnceLock::new();

/// Says which one this is, once.
pub(crate) fn is(program: Program) {
    // A process has one `main`; in a test that calls it again the first one stays.
    let _ = PROGRAM.set(program);
}

/// Which one this is.
pub(crate) fn program() -> Program {
    PROGRAM.get().copied().unwrap_or_default()
}

/// What people type before a verb.
pub(crate) fn called() -> &'static str {
    program().called
}
