//! What is run: a system, its options and a script, complete as data.

use crate::Profile;
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
