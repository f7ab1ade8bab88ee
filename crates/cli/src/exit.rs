//! Exit codes: one meaning each, all below 125 but the last two, so that `git bisect run` works with them.

use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Nothing was found.
    Clean = 0,
    /// A violation or a difference was found.
    Found = 1,
    /// The command line or an input file is wrong.
    Usage = 2,
    /// The same plan gave two different runs.
    Nondeterministic = 3,
    /// There was nothing to run.
    NothingRan = 4,
    /// A saved file no longer does what it did.
    Stale = 5,
    /// No verdict within the budget.
    Unknown = 6,
    /// A bug of our own.
    Bug = 70,
    /// For `git bisect run`: this commit cannot tell.
    Untold = 125,
    /// Stopped by Ctrl-C.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

impl Exit {
    /// The exit with that code. Panics if there is none.
    pub(crate) fn of_code(code: u8) -> Exit {
        Exit::with_code(code.into()).expect("every code has a meaning")
    }

    /// The exit with that code, if there is one.
    pub(crate) fn with_code(code: i32) -> Option<Exit> {
        let all = [
            Exit::Clean,
            Exit::Found,
            Exit::Usage,
            Exit::Nondeterministic,
            Exit::NothingRan,
            Exit::Stale,
            Exit::Unknown,
            Exit::Bug,
            Exit::Untold,
            Exit::Interrupted,
        ];
        all.into_iter().find(|exit| *exit as i32 == code)
    }

    /// The code of the first of several commands that was not clean.
    pub fn and(self, later: Exit) -> Exit {
        if self == Exit::Clean { later } else { self }
    }
}
