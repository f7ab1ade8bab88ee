//! One search for one planted bug, from its first seed to the first run that breaks a rule.

use crate::Systems;
use crate::core_clock;
use crate::telling::system;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use whitewater_plan::{Restrictions, generate};

/// How a search went.
#[derive(Debug)]
pub(super) struct Stream {
    /// Messages delivered, those of the run that found the bug included.
    pub(super) deliveries: u64,
    /// Runs made.
    pub(super) runs: u64,
    /// Time spent on a core; none where the operating system does not tell.
    pub(super) core: Option<Duration>,
    /// The run that found the bug; none if the budget was spent first.
    pub(super) hit: Option<Hit>,
}

/// A run that broke a rule.
#[derive(Debug)]
pub(super) struct Hit {
    /// Its seed.
    pub(super) seed: u64,
    /// The rule.
    pub(super) rule: &'static str,
}

/// The first seed of a stream: far from those of all others, so that no two streams share a run.
pub(super) fn start(base: u64, number: u32) -> u64 {
    base.wrapping_add(u64::from(number) << 40)
}

/// What a search for this bug is restricted to.
pub(super) fn restrictions(bug: &str) -> Restrictions {
    Restrictions { bug: Some(bug.to_owned()), ..Restrictions::default() }
}

/// Searches until a run breaks a rule or the budget is spent. What was found up to then is given when `stop` is raised.
///
/// # Errors
/// A plan cannot be drawn or run.
pub(super) fn run(
    bug: &str,
    start: u64,
    deliveries_max: u64,
    systems: Systems,
    stop: &AtomicBool,
) -> anyhow::Result<Stream> {
    let restrictions = restrictions(bug);
    let begun = core_clock::of_this_thread();
    let mut stream = Stream { deliveries: 0, runs: 0, core: None, hit: None };
    while stream.hit.is_none() && stream.deliveries < deliveries_max && !stop.load(Ordering::SeqCst) {
        let seed = start.wrapping_add(stream.runs);
        let plan = generate(systems, seed, &restrictions).map_err(anyhow::Error::msg)?;
        let outcome = whitewater_hunt::run(system(&plan.system, systems)?, &plan, false);
        let outcome = outcome.map_err(anyhow::Error::msg)?;
        stream.runs += 1;
        stream.deliveries += outcome.counters.deliveries;
        if !outcome.verdict.is_pass() {
            stream.hit = Some(Hit { seed, rule: outcome.verdict.rule() });
        }
    }
    stream.core = begun.zip(core_clock::of_this_thread()).map(|(begun, now)| now - begun);
    Ok(stream)
}
