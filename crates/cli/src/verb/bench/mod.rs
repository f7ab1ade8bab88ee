//! `bench`: how many messages a second, how much simulated time a second, what checks cost, and how much memory it takes.

mod against;
mod checks;
mod keep;
mod measure;
mod workload;

use crate::given::FormatTyped;
use crate::telling::system;
use crate::{Exit, Format, Screen, Systems};
use anyhow::anyhow;
use measure::{Measured, Round};
use std::path::PathBuf;
use workload::Shape;

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
    /// Measure this program, an earlier build, in turn with this one, and print by how much this one is faster.
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["checks", "keep"])]
    against: Option<PathBuf>,
    /// Measure what each check costs instead, in nanoseconds per event of W.
    #[arg(long, conflicts_with = "only")]
    checks: bool,
    /// Add the results to this file, a line each, with commit and machine.
    #[arg(long, value_name = "FILE")]
    keep: Option<PathBuf>,
    /// Write what each check costs into this page, behind the line `<!-- costs -->`.
    #[arg(long, value_name = "FILE", requires = "checks")]
    table: Option<PathBuf>,
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
    /// The same without any check.
    UncheckedSwarm(u64),
    /// One long run.
    Workload(Shape),
    /// The same short run so many times.
    Short(u64),
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
        name: "S-unchecked",
        about: "the same without checks",
        system: "kv",
        work: Work::UncheckedSwarm(400),
    },
    Bench {
        name: "short",
        about: "runs of 100 simulated milliseconds: what it takes to start",
        system: "kv",
        work: Work::Short(2_000),
    },
    Bench {
        name: "idle",
        about: "5 servers that nobody asks for anything, 2,000 simulated seconds",
        system: "kv",
        work: Work::Workload(Shape { seconds: 2_000, is_idle: true, ..Shape::W }),
    },
    Bench {
        name: "nodes-3",
        about: "W with 3 servers, 60 simulated seconds",
        system: "kv",
        work: Work::Workload(Shape { seconds: 60, servers: 3, ..Shape::W }),
    },
    Bench {
        name: "nodes-5",
        about: "W with 5 servers, 60 simulated seconds",
        system: "kv",
        work: Work::Workload(Shape { seconds: 60, ..Shape::W }),
    },
    Bench {
        name: "nodes-7",
        about: "W with 7 servers, 60 simulated seconds",
        system: "kv",
        work: Work::Workload(Shape { seconds: 60, servers: 7, ..Shape::W }),
    },
    Bench {
        name: "nodes-9",
        about: "W with 9 servers, 60 simulated seconds",
        system: "kv",
        work: Work::Workload(Shape { seconds: 60, servers: 9, ..Shape::W }),
    },
    Bench {
        name: "W-unchecked",
        about: "W without checks",
        system: "kv",
        work: Work::Workload(Shape { is_checked: false, ..Shape::W }),
    },
    Bench {
        name: "W-tikv",
        about: "the same as W, on the public crate raft",
        system: "tikv",
        work: Work::Workload(Shape::W),
    },
    Bench {
        name: "W",
        about: "5 servers, a write of 64 bytes every millisecond, loss and crashes, 300 simulated seconds",
        system: "kv",
        work: Work::Workload(Shape::W),
    },
    Bench {
        name: "long",
        about: "W for 1,200 simulated seconds, a log of more than a million entries",
        system: "kv",
        work: Work::Workload(Shape { seconds: 1_200, ..Shape::W }),
    },
];

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
    if typed.checks {
        let files = (typed.keep.as_deref(), typed.table.as_deref());
        checks::measure(typed.rounds, systems, files, screen)?;
        return Ok(Exit::Clean);
    }
    for bench in chosen {
        if let Some(earlier) = &typed.against {
            against::measure(bench.name, earlier, typed.rounds, screen)?;
            continue;
        }
        let measured = measure(bench, typed.rounds, systems)?;
        screen.data(&measured);
        if let Some(file) = &typed.keep {
            keep::add(file, &measured)?;
        }
        if screen.format() == Format::Human {
            screen.remark(&sentence(bench, &measured));
        }
    }
    Ok(Exit::Clean)
}

fn measure(bench: &Bench, count: u32, systems: Systems) -> anyhow::Result<Measured> {
    let rounds: anyhow::Result<Vec<Round>> = (0..count)
        .map(|_| match &bench.work {
            Work::Swarm(runs) => measure::swarm(bench.system, *runs, systems),
            Work::UncheckedSwarm(runs) => measure::unchecked_swarm(bench.system, *runs, systems),
            Work::Workload(shape) => measure::long_run(system(bench.system, systems)?, shape),
            Work::Short(runs) => measure::short_runs(system(bench.system, systems)?, *runs),
        })
        .collect();
    Ok(Measured::of(bench.name, rounds?))
}

fn sentence(bench: &Bench, measured: &Measured) -> String {
    let memory =
        measured.peak_memory_bytes.map_or_else(String::new, |bytes| format!(", {} MiB at most", bytes >> 20));
    let runs = measured.runs_per_second.map_or_else(String::new, |rate| format!(", {rate} runs/s"));
    let core = measured
        .deliveries_per_core_second
        .map_or_else(String::new, |rate| format!(", {rate} deliveries per second on the core"));
    let entries =
        measured.entries_per_second.map_or_else(String::new, |rate| format!(", {rate} entries committed/s"));
    format!(
        "{} ({}): {} deliveries/s{runs}{entries}, {} simulated seconds a second{core}{memory}; median of {}",
        bench.name,
        bench.about,
        measured.deliveries_per_second,
        measured.simulated_seconds_per_second,
        measured.rounds
    )
}
