//! Runs that must fail, so that a search that finds nothing is known to be able to find something.

/// What a plan has to be restricted to so that some of its seeds break a rule, in every build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Canary {
    /// The profile of its plans.
    pub profile: &'static str,
    /// Values of options that no search draws.
    pub set: &'static [(&'static str, &'static str)],
}
