//! `bench`: how many messages a second, how much simulated time a second, and how much memory it takes.

mod workload;

use crate::core_clock;
use crate::given::FormatTyped;
use crate::telling::system;
use crate::{Exit, Format, Screen, Systems};
use anyhow::{anyhow, bail};
use serde::Serialize;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use whitewater_hunt::{Budget, Campaign, Unobserved, campaign};
use whitewater_plan::{Profile, Restrictions};
use whitewater_sim::{System, Time};

/// Measures speed on one thread; prints one JSON object per benchmark.
#[derive(Debug, clap::Args)]
pub(crate) struct Typed {
    /// Only this benchmark.
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Only those of this system.
    #[arg(long, value_name = "NAME")]
    system: Option<String>,
    /// Times each is measured; the median counts.
    #[arg(long, value_name = "N", default_value_t = ROUNDS, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    #[command(flatten)]
    pub(crate) format: FormatTyped,
}

/// Times a benchmark is measured unless it is said; a shared machine is noisy.
const ROUNDS: u32 = 5;

/// What a benchmark runs.
struct Bench {
    name: &'static str,
    about: &'static str,
    system: &'static str,
    work: Work,
}

/// How a benchmark runs it.
enum Work {
    /// So many runs of the profile swarm, as `fuzz` makes them, each once.
    Swarm(u64),
    /// One long run.
    Workload,
}

/// The one that needs most memory comes last, so that it does not stand in the figures of the others.
const BENCHES: &[Bench] = &[
    Bench {
        name: "relay-swarm",
        about: "swarm runs of the system relay, as `fuzz` makes them",
        system: "relay",
        work: Work::Swarm(400),
    },
    Bench {
        name: "S",
        about: "swarm runs of the system kv, as `fuzz` makes them",
        system: "kv",
        work: Work::Swarm(400),
    },
    Bench {
        name: "W-tikv",
        about: "the same as W, on the public crate raft",
        system: "tikv",
        work: Work::Workload,
    },
    Bench {
        name: "W",
        about: "5 servers, a write of 64 bytes every millisecond, loss and crashes, 300 simulated seconds",
        system: "kv",
        work: Work::Workload,
    },
];

/// What was measured.
#[derive(Debug, Serialize)]
struct Measured {
    v: u32,
    r#type: &'static str,
    name: &'static str,
    deliveries_per_second: u64,
    /// None for one long run.
    runs_per_second: Option<u64>,
    simulated_seconds_per_second: u64,
    peak_memory_bytes: Option<u64>,
    rounds: u32,
    runs: u64,
    deliveries: u64,
    wall_seconds: f64,
    /// Time on the core, which is less than that on the wall where others want it too.
    core_seconds: Option<f64>,
    deliveries_per_core_second: Option<u64>,
}

/// Does what was typed.
pub(crate) fn run(typed: &Typed, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let wanted = |bench: &&Bench| typed.system.as_ref().is_none_or(|name| name == bench.system);
    let is_there = |bench: &&Bench| systems.iter().any(|system| system.name() == bench.system);
    let there: Vec<_> = BENCHES.iter().filter(is_there).filter(wanted).collect();
    let chosen: Vec<_> = match &typed.only {
        None => there.clone(),
        Some(name) => there.iter().copied().filter(|bench| bench.name == name).collect(),
    };
    if let (Some(name), true) = (&typed.only, chosen.is_empty()) {
        let names: Vec<_> = there.iter().map(|bench| bench.name).collect();
        return Err(anyhow!("there is no benchmark `{name}`; there are: {}", names.join(", ")));
    }
    if chosen.is_empty() {
        screen.remark("nothing ran: there is no benchmark for these systems");
        return Ok(Exit::NothingRan);
    }
    for bench in chosen {
        let measured = measure(bench, typed.rounds, systems)?;
        screen.data(&measured);
        if screen.format() == Format::Human {
            screen.remark(&sentence(bench, &measured));
        }
    }
    Ok(Exit::Clean)
}

fn measure(bench: &Bench, count: u32, systems: Systems) -> anyhow::Result<Measured> {
    let mut rounds = Vec::new();
    for _ in 0..count {
        rounds.push(match bench.work {
            Work::Swarm(runs) => swarm(bench.system, runs, systems)?,
            Work::Workload => long_run(system(bench.system, systems)?)?,
        });
    }
    rounds.sort_by_key(|round| round.core.unwrap_or(round.wall));
    let median = &rounds[rounds.len() / 2];
    let wall = median.wall.as_secs_f64();
    let rate = |number: f64| (number / wall) as u64;
    Ok(Measured {
        v: 1,
        r#type: "bench",
        name: bench.name,
        deliveries_per_second: rate(median.deliveries as f64),
        runs_per_second: (median.runs > 1).then(|| rate(median.runs as f64)),
        simulated_seconds_per_second: rate(median.simulated_seconds),
        peak_memory_bytes: peak_memory_bytes(),
        rounds: count,
        runs: median.runs,
        deliveries: median.deliveries,
        wall_seconds: wall,
        core_seconds: median.core.map(|core| core.as_secs_f64()),
        deliveries_per_core_second: median
            .core
            .map(|core| (median.deliveries as f64 / core.as_secs_f64()) as u64),
    })
}

/// One measurement.
struct Round {
    wall: Duration,
    core: Option<Duration>,
    runs: u64,
    deliveries: u64,
    simulated_seconds: f64,
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

    fn end(&self) -> (Duration, Option<Duration>) {
        let core = self.core.zip(core_clock::of_this_process()).map(|(begun, now)| now - begun);
        (self.wall.elapsed(), core)
    }
}

/// Seeds from 0 on, on one thread, each once.
fn swarm(system: &str, runs: u64, systems: Systems) -> anyhow::Result<Round> {
    let restrictions = Restrictions {
        system: Some(system.to_owned()),
        profile: Some(Profile::Swarm),
        ..Restrictions::default()
    };
    let search = Campaign {
        systems,
        restrictions,
        start: 0,
        end: None,
        budget: Budget::Runs(runs),
        jobs: 1,
        keep_going: true,
        repeat_one_in: 0,
    };
    let clocks = Clocks::begin();
    let summary = campaign(&search, &Unobserved, &AtomicBool::new(false)).map_err(anyhow::Error::msg)?;
    let (wall, core) = clocks.end();
    Ok(Round {
        wall,
        core,
        runs: summary.runs,
        deliveries: summary.deliveries,
        simulated_seconds: summary.simulated_seconds,
    })
}

/// The workload, once, with every check.
fn long_run(system: &'static dyn System) -> anyhow::Result<Round> {
    let plan = workload::plan(system)?;
    let clocks = Clocks::begin();
    let outcome = whitewater_hunt::run(system, &plan, false).map_err(anyhow::Error::msg)?;
    let (wall, core) = clocks.end();
    if !outcome.verdict.is_pass() {
        bail!("the workload breaks a rule, {}: {}", outcome.verdict.rule(), outcome.verdict);
    }
    let simulated_seconds = outcome.time.since(Time::ZERO).nanos() as f64 / 1e9;
    Ok(Round { wall, core, runs: 1, deliveries: outcome.counters.deliveries, simulated_seconds })
}

/// The most memory this process ever had, where the operating system tells.
fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

fn sentence(bench: &Bench, measured: &Measured) -> String {
    let memory =
        measured.peak_memory_bytes.map_or_else(String::new, |bytes| format!(", {} MiB at most", bytes >> 20));
    let runs = measured.runs_per_second.map_or_else(String::new, |rate| format!(", {rate} runs/s"));
    let core = measured
        .deliveries_per_core_second
        .map_or_else(String::new, |rate| format!(", {rate} deliveries per second on the core"));
    format!(
        "{} ({}): {} deliveries/s{runs}, {} simulated seconds a second{core}{memory}; median of {}",
        bench.name,
        bench.about,
        measured.deliveries_per_second,
        measured.simulated_seconds_per_second,
        measured.rounds
    )
}
