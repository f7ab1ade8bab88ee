//! Plans drawn from a seed: system, profile, options, cluster, faults and operations.

mod clocks;
mod cluster;
mod cuts;
mod decide;
mod disks;
mod faults;
mod lasting;
mod moments;
mod operations;
mod options;
mod processes;
mod size;
mod weights;

use crate::suggest::listed;
use crate::{PLAN_VERSION, Plan, Profile, Tuning};
use decide::Decisions;
use size::Size;
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
    /// Values of options, by name; with them the size of the cluster, as `nodes` and `clients`.
    pub set: Vec<(String, String)>,
    /// What differs from the profile, see [`Tuning::parse`].
    pub tuning: Tuning,
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
    let decisions = Decisions::new(seed, &restrictions.tuning);
    let profile = restrictions.profile.unwrap_or(Profile::Swarm);
    let system = choose_system(systems, &decisions, restrictions)?;
    let size = Size::demanded(restrictions)?;
    let servers = size.servers.unwrap_or_else(|| cluster::servers(&decisions));
    let scope = profile.scope();
    let options = options::draw(system, scope.options, servers, &decisions, restrictions)?;
    let timing = system.timing(&options);
    if size.clients.is_some_and(|clients| clients > 0) && system.clients() == (0, 0) {
        return Err(format!("`clients`: {} has no clients, its servers are asked themselves", system.name()));
    }
    let clients = size.clients.unwrap_or_else(|| cluster::clients(system.clients(), &decisions));
    let mut script = cluster::script(seed, servers, clients, timing, &decisions);
    if scope.links {
        cluster::disturb(&mut script, timing, system, &decisions);
    }
    disks::add(&mut script.disk, scope.disks, system, timing, &decisions);
    faults::add(&mut script, timing, system, &restrictions.set, scope, &decisions);
    cluster::calm(&mut script, timing);
    operations::add(&mut script, system, &options, &decisions);
    Ok(Plan { version: PLAN_VERSION, system: system.name().to_owned(), profile, options, script })
}

fn choose_system(
    systems: &[&'static dyn System],
    decisions: &Decisions,
    restrictions: &Restrictions,
) -> Result<&'static dyn System, String> {
    Ok(*decisions.draw("system", 0).pick(&eligible(systems, restrictions)?))
}

/// The systems that plans under these restrictions are drawn from: the one that is named, or else those that have the
/// bug and every option that is given; and they stand the profile. At least one.
///
/// # Errors
/// There is none; says what none of them has, and lists what there is.
pub fn eligible(
    systems: &[&'static dyn System],
    restrictions: &Restrictions,
) -> Result<Vec<&'static dyn System>, String> {
    let candidates = match &restrictions.system {
        Some(name) => vec![find_system(systems, name)?],
        None => with_bug_and_options(systems, restrictions)?,
    };
    let profile = restrictions.profile.unwrap_or(Profile::Swarm);
    let suited: Vec<_> = candidates.iter().copied().filter(|system| profile.suits(*system)).collect();
    if suited.is_empty() { Err(not_stood(&candidates, profile)) } else { Ok(suited) }
}

/// The systems that have the bug and every option that is given; at least one.
fn with_bug_and_options(
    systems: &[&'static dyn System],
    restrictions: &Restrictions,
) -> Result<Vec<&'static dyn System>, String> {
    if systems.is_empty() {
        return Err("there is no system to draw from".to_owned());
    }
    let mut eligible = systems.to_vec();
    if let Some(bug) = &restrictions.bug {
        eligible.retain(|system| system.bugs().contains(&bug.as_str()));
        if eligible.is_empty() {
            return Err(no_bug(systems, bug));
        }
    }
    for (name, _) in restrictions.set.iter().filter(|(name, _)| !Size::has(name)) {
        let before = eligible.clone();
        eligible.retain(|system| has_option(*system, name));
        if eligible.is_empty() {
            let elsewhere = systems.iter().find(|system| has_option(**system, name));
            return Err(match elsewhere {
                Some(system) => of_two_systems(&before, name, *system),
                None => no_option(&before, name),
            });
        }
    }
    Ok(eligible)
}

/// That an option is of another system than what was given before it.
fn of_two_systems(before: &[&'static dyn System], name: &str, system: &dyn System) -> String {
    let others: Vec<&str> = before.iter().map(|system| system.name()).collect();
    format!(
        "no system has all of this: `{name}` is an option of {}, and what was given before it is of {}",
        system.name(),
        others.join(", ")
    )
}

/// Whether a system has that option, which may be given for one node, as in `mode.n1`.
fn has_option(system: &dyn System, name: &str) -> bool {
    let base = name.split('.').next().unwrap_or_default();
    system.options().iter().any(|spec| spec.name == base)
}

/// That none of these systems has the option, and which options they have.
fn no_option(systems: &[&'static dyn System], name: &str) -> String {
    let of = |system: &&'static dyn System| {
        let names: Vec<&str> = system.options().iter().map(|spec| spec.name).collect();
        match names.is_empty() {
            true => format!("{} has none", system.name()),
            false => format!("{} has {}", system.name(), names.join(", ")),
        }
    };
    let there: Vec<String> = systems.iter().map(of).collect();
    format!("there is no option `{name}`; {}; every system has {}", there.join("; "), Size::NAMES.join(", "))
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
    format!("{nobody} what profile `{profile}` has; {}", each.join("; "))
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
