//! Plans drawn from a seed: system, profile, options, cluster, faults and operations.

mod cluster;
mod decide;
mod disks;
mod faults;
mod moments;
mod operations;
mod options;
mod weights;

use crate::suggest::listed;
use crate::{PLAN_VERSION, Plan, Profile};
use decide::Decisions;
use std::collections::BTreeSet;
use whitewater_sim::System;

/// What a draw is restricted to; the default is no restriction.
///
/// A restriction changes only the decision it names: everything else is drawn as it would be without it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restrictions {
    /// This system only.
    pub system: Option<String>,
    /// This profile only.
    pub profile: Option<Profile>,
    /// Values of options, by name.
    pub set: Vec<(String, String)>,
    /// With this bug planted, in a system that has it; builds without the feature `mutants` have none.
    pub bug: Option<String>,
}

/// The plan that `seed` stands for.
///
/// A seed alone is complete: it decides system, profile, options and script. Times follow the timing of the system
/// under the drawn options, so a restricted option that changes the timing stretches the script.
///
/// # Errors
/// Names a system, option or value that does not exist and lists those that do; or names a profile that the system, or
/// every system, does not stand, and lists those it does.
pub fn generate(
    systems: &[&'static dyn System],
    seed: u64,
    restrictions: &Restrictions,
) -> Result<Plan, String> {
    let decisions = Decisions::new(seed);
    let profile = restrictions.profile.unwrap_or(Profile::Swarm);
    let system = choose_system(systems, profile, &decisions, restrictions)?;
    let servers = cluster::servers(&decisions);
    let scope = profile.scope();
    let options = options::draw(system, scope.options, servers, &decisions, restrictions)?;
    let timing = system.timing(&options);
    let mut script = cluster::script(seed, servers, system.clients(), timing, &decisions);
    if scope.links {
        cluster::disturb(&mut script, timing, &decisions);
    }
    disks::add(&mut script.disk, scope.disks, system, timing, &decisions);
    faults::add(&mut script, timing, system.names(), scope, &decisions);
    operations::add(&mut script, system, &options, &decisions);
    Ok(Plan { version: PLAN_VERSION, system: system.name().to_owned(), profile, options, script })
}

/// The system that is named, or one drawn from those that have the bug and stand the profile.
fn choose_system(
    systems: &[&'static dyn System],
    profile: Profile,
    decisions: &Decisions,
    restrictions: &Restrictions,
) -> Result<&'static dyn System, String> {
    let Restrictions { system, bug, .. } = restrictions;
    let candidates = match (system, bug) {
        (Some(name), _) => vec![find_system(systems, name)?],
        (None, _) if systems.is_empty() => return Err("there is no system to draw from".to_owned()),
        (None, None) => systems.to_vec(),
        (None, Some(bug)) => with_bug(systems, bug)?,
    };
    let suited: Vec<_> = candidates.iter().copied().filter(|system| profile.suits(*system)).collect();
    match suited.as_slice() {
        [] => Err(not_stood(&candidates, profile)),
        several => Ok(*decisions.draw("system", 0).pick(several)),
    }
}

/// That none of these systems stands the profile, and which profiles each does.
fn not_stood(systems: &[&'static dyn System], profile: Profile) -> String {
    let stood = |system: &&'static dyn System| {
        let names = Profile::ALL.into_iter().filter(|profile| profile.suits(*system)).map(Profile::name);
        format!("{} stands {}", system.name(), names.collect::<Vec<_>>().join(", "))
    };
    let each: Vec<String> = systems.iter().map(stood).collect();
    let nobody = match systems {
        [only] => format!("{} does not stand", only.name()),
        _ => "no system stands".to_owned(),
    };
    format!("{nobody} the disks of profile `{profile}`; {}", each.join("; "))
}

/// The systems that have this bug.
///
/// # Errors
/// None has it; lists the bugs there are.
fn with_bug(systems: &[&'static dyn System], bug: &str) -> Result<Vec<&'static dyn System>, String> {
    let with_it: Vec<_> = systems.iter().copied().filter(|system| system.bugs().contains(&bug)).collect();
    if with_it.is_empty() { Err(no_bug(systems, bug)) } else { Ok(with_it) }
}

/// That no system has this bug, and which there are.
fn no_bug(systems: &[&'static dyn System], bug: &str) -> String {
    let bugs: BTreeSet<&str> = systems.iter().flat_map(|system| system.bugs()).copied().collect();
    match bugs.is_empty() {
        true => format!("`{bug}` cannot be planted: this build has no bugs in it"),
        false => {
            let bugs: Vec<&str> = bugs.into_iter().collect();
            format!("there is no bug `{bug}`; {}", listed(bug, &bugs))
        }
    }
}

/// The system of that name.
///
/// # Errors
/// Lists the systems there are.
pub(crate) fn find_system(
    systems: &[&'static dyn System],
    name: &str,
) -> Result<&'static dyn System, String> {
    systems.iter().copied().find(|system| system.name() == name).ok_or_else(|| {
        let names: Vec<&str> = systems.iter().map(|system| system.name()).collect();
        format!("there is no system `{name}`; {}", listed(name, &names))
    })
}

#[cfg(test)]
mod profile_tests;
#[cfg(test)]
#[path = "tests.rs"]
mod tests;
