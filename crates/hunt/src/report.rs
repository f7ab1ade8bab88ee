//! The failure report: which rule, what is wrong, why, and how to see it again.

use crate::failure::Failure;
use whitewater_sim::System;

/// What a report says of the project it was found in.
#[derive(Clone, Debug, Default)]
pub struct Found<'a> {
    /// The commit of the sources, with a word about changes, such as `3f2c9ab` or `3f2c9ab with changes`.
    pub commit: Option<&'a str>,
    /// The command that runs it again; that of the failure if none is given.
    pub command: Option<&'a str>,
}

/// The report of a failure.
pub fn text(failure: &Failure, system: &dyn System, found: &Found<'_>) -> String {
    let _ = (system, found);
    failure.message()
}
