//! What is run: a system, its options and a script, complete as data.

use crate::suggest::listed;
use std::fmt;
use std::str::FromStr;
use whitewater_sim::{Options, Script};

/// The version of plans this build writes. A plan of another version is run as well as it can be read; only its trace
/// hash is not compared.
pub const PLAN_VERSION: u32 = 1;

/// A run before it is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The version it was written with, see [`PLAN_VERSION`].
    pub version: u32,
    /// Name of the system it is for.
    pub system: String,
    /// How it came about.
    pub profile: Profile,
    /// Values given for options of the system; the rest have their defaults.
    pub options: Options,
    /// Cluster, network, disks, faults, operations and the horizon.
    pub script: Script,
}

/// Which plans are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Profile {
    /// No faults, and options at their defaults.
    Calm,
    /// Each fault family and feature is off in half of the runs; the ranges of the rest are drawn.
    Swarm,
}

impl Profile {
    /// Every profile there is.
    pub const ALL: [Profile; 2] = [Profile::Calm, Profile::Swarm];

    /// Its name on the command line and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Profile::Calm => "calm",
            Profile::Swarm => "swarm",
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Profile {
    type Err = String;
    fn from_str(text: &str) -> Result<Profile, String> {
        Profile::ALL.into_iter().find(|profile| profile.name() == text).ok_or_else(|| {
            format!("there is no profile `{text}`; {}", listed(text, &Profile::ALL.map(Profile::name)))
        })
    }
}
