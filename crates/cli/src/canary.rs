//! Runs beside a search that must fail: if none of them does, the search could not have found anything either.

use crate::Systems;
use anyhow::Context;
use std::fmt;
use whitewater_plan::{Restrictions, generate};
use whitewater_sim::{Canary, System};

/// So many seeds are tried at most. About one in twenty is enough for each canary there is.
const RUNS_MAX: u64 = 2_000;

/// A canary that no run found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Silent {
    system: &'static str,
    canary: Canary,
}

impl fmt::Display for Silent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set: Vec<_> = self.canary.set.iter().map(|(name, value)| format!("{name}={value}")).collect();
        write!(
            f,
            "the canary of {} lives: {RUNS_MAX} runs with {} in the profile {} broke no rule, although they must. Faults or \
             checks of this build do not work, and what it calls clean may be anything",
            self.system,
            set.join(" "),
            self.canary.profile
        )
    }
}

/// Looks for the canary of every system that a search is about. Touches neither its seeds nor its counters.
///
/// # Errors
/// A canary does not fit its system.
pub(crate) fn listen(systems: Systems, restrictions: &Restrictions) -> anyhow::Result<Option<Silent>> {
    for &system in systems {
        let about = restrictions.system.as_deref().is_none_or(|name| name == system.name());
        if let Some(canary) = system.canary()
            && about
            && !is_found(system, canary)?
        {
            return Ok(Some(Silent { system: system.name(), canary }));
        }
    }
    Ok(None)
}

fn is_found(system: &'static dyn System, canary: Canary) -> anyhow::Result<bool> {
    let text = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let restrictions = Restrictions {
        system: Some(system.name().to_owned()),
        profile: Some(canary.profile.parse().map_err(anyhow::Error::msg)?),
        set: canary.set.iter().map(text).collect(),
        ..Restrictions::default()
    };
    for seed in 0..RUNS_MAX {
        let plan = generate(&[system], seed, &restrictions).map_err(anyhow::Error::msg);
        let plan = plan.with_context(|| format!("the canary of {}", system.name()))?;
        let outcome = whitewater_hunt::run(system, &plan, false).map_err(anyhow::Error::msg)?;
        if !outcome.verdict.is_pass() {
            return Ok(true);
        }
    }
    Ok(false)
}
