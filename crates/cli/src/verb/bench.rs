//! `bench`: how many messages a second, how much simulated time a second, and how much memory it takes.

use crate::given::FormatTyped;
use crate::{Exit, Format, Screen, Systems};
use anyhow::anyhow;
use serde::Serialize;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use whitewater_hunt::{Budget, Campaign, Summary, Unobserved, campaign};
use whitewater_plan::{Profile, Restrictions};

/// Measures speed on one thread; prints one JSON object per benchmark.
#[derive(Debug, clap::Args)]
pub(crate) struct Typed {
    /// Only this benchmark.
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    #[command(flatten)]
    pub(crate) format: FormatTyped,
}

/// Times a benchmark is measured; the median counts, since a shared machine is noisy.
const ROUNDS: usize = 5;

/// What a benchmark runs.
struct Bench {
    name: &'static str,
    about: &'static str,
    system: &'static str,
    profile: Profile,
    runs: u64,
}

const BENCHES: &[Bench] = &[Bench {
    name: "relay-swarm",
    about: "swarm runs of the system relay, as `fuzz` makes them",
    system: "relay",
    profile: Profile::Swarm,
    runs: 400,
}];

/// What was measured.
#[derive(Debug, Serialize)]
struct Measured {
    v: u32,
    r#type: &'static str,
    name: &'static str,
    deliveries_per_second: u64,
    runs_per_second: u64,
    simulated_seconds_per_wall_second: u64,
    peak_memory_bytes: Option<u64>,
    rounds: usize,
    runs: u64,
    deliveries: u64,
    wall_seconds: f64,
}

/// Does what was typed.
pub(crate) fn run(typed: &Typed, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let there: Vec<_> =
        BENCHES.iter().filter(|bench| systems.iter().any(|system| system.name() == bench.system)).collect();
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
        let measured = measure(bench, systems)?;
        screen.data(&measured);
        if screen.format() == Format::Human {
            screen.remark(&sentence(bench, &measured));
        }
    }
    Ok(Exit::Clean)
}

fn measure(bench: &Bench, systems: Systems) -> anyhow::Result<Measured> {
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        rounds.push(round(bench, systems)?);
    }
    rounds.sort_by_key(|(wall, _)| *wall);
    let (wall, summary) = &rounds[ROUNDS / 2];
    let wall = wall.as_secs_f64();
    let rate = |count: f64| (count / wall) as u64;
    Ok(Measured {
        v: 1,
        r#type: "bench",
        name: bench.name,
        deliveries_per_second: rate(summary.deliveries as f64),
        runs_per_second: rate(summary.runs as f64),
        simulated_seconds_per_wall_second: rate(summary.simulated_seconds),
        peak_memory_bytes: peak_memory_bytes(),
        rounds: ROUNDS,
        runs: summary.runs,
        deliveries: summary.deliveries,
        wall_seconds: wall,
    })
}

/// One measurement: seeds from 0 on, on one thread, each once.
fn round(bench: &Bench, systems: Systems) -> anyhow::Result<(Duration, Summary)> {
    let restrictions = Restrictions {
        system: Some(bench.system.to_owned()),
        profile: Some(bench.profile),
        ..Restrictions::default()
    };
    let search = Campaign {
        systems,
        restrictions,
        start: 0,
        end: None,
        budget: Budget::Runs(bench.runs),
        jobs: 1,
        keep_going: true,
        repeat_one_in: 0,
    };
    let begun = Instant::now();
    let summary = campaign(&search, &Unobserved, &AtomicBool::new(false)).map_err(anyhow::Error::msg)?;
    Ok((begun.elapsed(), summary))
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
    format!(
        "{} ({}): {} deliveries/s, {} runs/s, {} simulated seconds a second{memory}; median of {ROUNDS}",
        bench.name,
        bench.about,
        measured.deliveries_per_second,
        measured.runs_per_second,
        measured.simulated_seconds_per_wall_second
    )
}
