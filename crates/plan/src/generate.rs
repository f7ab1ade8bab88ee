//! Plans drawn from a seed.

use crate::{PLAN_VERSION, Plan, Profile};
use whitewater_sim::{Options, Script, System};

/// What a draw is restricted to; the default is no restriction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restrictions {
    /// This system only.
    pub system: Option<String>,
    /// This profile only.
    pub profile: Option<Profile>,
    /// Values of options, by name.
    pub set: Vec<(String, String)>,
}

/// The plan that `seed` stands for.
///
/// # Errors
/// Names a system, option or value that does not exist and lists those that do.
pub fn generate(
    systems: &[&'static dyn System],
    seed: u64,
    restrictions: &Restrictions,
) -> Result<Plan, String> {
    let system = systems.first().ok_or("there is no system")?;
    let mut options = Options::new();
    for (name, value) in &restrictions.set {
        options.set(system.options(), name, value)?;
    }
    Ok(Plan {
        version: PLAN_VERSION,
        system: system.name().to_owned(),
        profile: restrictions.profile.unwrap_or(Profile::Swarm),
        options,
        script: Script { seed, ..Script::default() },
    })
}
