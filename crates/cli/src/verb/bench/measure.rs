//! One measurement after the other, on this thread, and what their median says.

use super::workload::{self, Shape};
use crate::core_clock;
use crate::program::called;
use anyhow::bail;
use serde::Serialize;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use whitewater_hunt::{Budget, Campaign, Unobserved, campaign};
use whitewater_plan::{Profile, Restrictions, generate};
use whitewater_sim::{Outcome, System, Time, Watch};

/// What was measured.
#[derive(Debug, Serialize)]
pub(super) struct Measured {
    v: u32,
    r#type: &'static str,
    name: &'static str,
    pub(super) deliveries_per_second: u64,
    /// None for one long run.
    pub(super) runs_per_second: Option<u64>,
    pub(super) simulated_seconds_per_second: u64,
    /// Writes that were acknowledged; none where that is not counted.
    pub(super) entries_per_second: Option<u64>,
    pub(super) peak_memory_bytes: Option<u64>,
    pub(super) rounds: u32,
    runs: u64,
    deliveries: u64,
    wall_seconds: f64,
    /// Time on the core, which is less than that on the wall where others want it too.
    core_seconds: Option<f64>,
    pub(super) deliveries_per_core_second: Option<u64>,
}

impl Measured {
    /// The median of some rounds, by the time they took.
    pub(super) fn of(name: &'static str, mut rounds: Vec<Round>) -> Measured {
        rounds.sort_by_key(Round::time);
        let median = &rounds[rounds.len() / 2];
        let wall = median.wall.as_secs_f64();
        let rate = |number: f64| (number / wall) as u64;
        Measured {
            v: 1,
            r#type: "bench",
            name,
            deliveries_per_second: rate(median.deliveries as f64),
            runs_per_second: (median.runs > 1).then(|| rate(median.runs as f64)),
            simulated_seconds_per_second: rate(median.simulated_seconds),
            entries_per_second: median.entries.map(|entries| rate(entries as f64)),
            peak_memory_bytes: peak_memory_bytes(),
            rounds: rounds.len() as u32,
            runs: median.runs,
            deliveries: median.deliveries,
            wall_seconds: wall,
            core_seconds: median.core.map(|core| core.as_secs_f64()),
            deliveries_per_core_second: median
                .core
                .map(|core| (median.deliveries as f64 / core.as_secs_f64()) as u64),
        }
    }
}

/// One measurement.
pub(super) struct Round {
    wall: Duration,
    core: Option<Duration>,
    runs: u64,
    deliveries: u64,
    /// Everything that happened in it.
    pub(super) events: u64,
    simulated_seconds: f64,
    entries: Option<u64>,
}

impl Round {
    /// What it took: on the core, where that is known.
    pub(super) fn time(&self) -> Duration {
        self.core.unwrap_or(self.wall)
    }
}

/// The time on the wall and on the core.
struct Clocks {
    wall: Instant,
    core: Option<Duration>,
}

impl Clocks {
    fn begin() -> Clocks {
        Clocks { core: core_clock::of_this_process(), wall: Instant::now() }
    }

    /// What these runs took.
    fn end(&self, outcomes: &Sum) -> Round {
        let core = self.core.zip(core_clock::of_this_process()).map(|(begun, now)| now - begun);
        Round {
            wall: self.wall.elapsed(),
            core,
            runs: outcomes.runs,
            deliveries: outcomes.deliveries,
            events: outcomes.events,
            simulated_seconds: outcomes.simulated_seconds,
            entries: (outcomes.entries > 0).then_some(outcomes.entries),
        }
    }
}

/// What some runs have come to.
#[derive(Default)]
struct Sum {
    runs: u64,
    deliveries: u64,
    events: u64,
    simulated_seconds: f64,
    entries: u64,
}

impl Sum {
    fn add(&mut self, outcome: &Outcome) {
        self.runs += 1;
        self.deliveries += outcome.counters.deliveries;
        self.events += outcome.counters.events;
        self.simulated_seconds += outcome.time.since(Time::ZERO).nanos() as f64 / 1e9;
        self.entries += outcome.figures.acknowledged_writes;
    }
}

/// What the swarm is restricted to.
fn swarm_of(system: &str) -> Restrictions {
    let (system, profile) = (Some(system.to_owned()), Some(Profile::Swarm));
    Restrictions { system, profile, ..Restrictions::default() }
}

/// Seeds from 0 on, on one thread, each once.
pub(super) fn swarm(
    system: &str,
    runs: u64,
    systems: &'static [&'static dyn System],
) -> anyhow::Result<Round> {
    let search = Campaign {
        systems,
        program: called(),
        restrictions: swarm_of(system),
        start: 0,
        end: None,
        budget: Budget::Runs(runs),
        jobs: 1,
        keep_going: true,
        repeat_one_in: 0,
    };
    let clocks = Clocks::begin();
    let summary = campaign(&search, &Unobserved, &AtomicBool::new(false)).map_err(anyhow::Error::msg)?;
    let (runs, deliveries, simulated_seconds) = (summary.runs, summary.deliveries, summary.simulated_seconds);
    Ok(clocks.end(&Sum { runs, deliveries, simulated_seconds, ..Sum::default() }))
}

/// The same seeds without checks.
pub(super) fn unchecked_swarm(
    system: &str,
    runs: u64,
    systems: &'static [&'static dyn System],
) -> anyhow::Result<Round> {
    let (restrictions, mut sum) = (swarm_of(system), Sum::default());
    let system = crate::telling::system(system, systems)?;
    let clocks = Clocks::begin();
    for seed in 0..runs {
        let plan = generate(systems, seed, &restrictions).map_err(anyhow::Error::msg)?;
        let outcome = system.run_watched(&plan.script, &plan.options, Watch::None, false);
        sum.add(&outcome.map_err(anyhow::Error::msg)?);
    }
    Ok(clocks.end(&sum))
}

/// A workload, once.
pub(super) fn long_run(system: &'static dyn System, shape: &Shape) -> anyhow::Result<Round> {
    let watch = if shape.is_checked { Watch::All } else { Watch::None };
    watched(system, shape, watch, 1)
}

/// The same short run many times.
pub(super) fn short_runs(system: &'static dyn System, runs: u64) -> anyhow::Result<Round> {
    watched(system, &Shape { seconds: 0, servers: 3, ..Shape::W }, Watch::All, runs)
}

/// A workload with some checks, so many times.
pub(super) fn watched(
    system: &'static dyn System,
    shape: &Shape,
    watch: Watch<'_>,
    runs: u64,
) -> anyhow::Result<Round> {
    let plan = workload::plan(system, shape)?;
    let mut sum = Sum::default();
    let clocks = Clocks::begin();
    for _ in 0..runs {
        let outcome = system.run_watched(&plan.script, &plan.options, watch, false);
        let outcome = outcome.map_err(anyhow::Error::msg)?;
        if !outcome.verdict.is_pass() {
            bail!("the workload breaks a rule, {}: {}", outcome.verdict.rule(), outcome.verdict);
        }
        sum.add(&outcome);
    }
    Ok(clocks.end(&sum))
}

/// The most memory this process ever had, where the operating system tells.
fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
