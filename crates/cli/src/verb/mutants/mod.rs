//! `mutants`: plants each bug by itself and measures how much search it takes to find it.

mod stream;
mod tell;

use crate::amount::{parse_count, parse_jobs};
use crate::given::FormatTyped;
use crate::{Exit, Screen, Systems, interrupt};
use anyhow::bail;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use stream::Stream;
use whitewater_plan::parse_seed;

/// Plants each bug by itself and measures how much search finds it; ends with 1 if one is not found.
///
/// A stream is a search of its own that ends with the first run that breaks a rule. Of several streams the median counts.
#[derive(Debug, clap::Args)]
pub(crate) struct Typed {
    /// Only these bugs; if none is named, all that break a rule.
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// A stream gives up once so many messages were delivered.
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "100000000")]
    deliveries: u64,
    /// Streams per bug, from seeds far apart.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    streams: u32,
    /// The first seed of the first stream.
    #[arg(long, value_name = "S", value_parser = parse_seed, default_value = "0")]
    seed: u64,
    /// Streams at once; as many as there are cores unless given. The result does not depend on it.
    #[arg(long, value_name = "N", value_parser = parse_jobs, env = "WHITEWATER_JOBS")]
    jobs: Option<usize>,
    #[command(flatten)]
    pub(crate) format: FormatTyped,
}

/// Does what was typed, in a build that has bugs.
pub(crate) fn run(typed: &Typed, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let there: BTreeSet<&str> = systems.iter().flat_map(|system| system.bugs()).copied().collect();
    if let Some(wrong) = typed.ids.iter().find(|id| !there.contains(id.as_str())) {
        let there: Vec<_> = there.into_iter().collect();
        bail!("there is no bug `{wrong}`; there are {}", there.join(", "));
    }
    let named: BTreeSet<&str> = typed.ids.iter().map(String::as_str).collect();
    let interrupted = interrupt::flag();
    let mut exit = Exit::Clean;
    let quiet: BTreeSet<&str> = systems.iter().flat_map(|system| system.quiet_bugs()).copied().collect();
    for bug in if named.is_empty() { &there - &quiet } else { named } {
        let streams = search(bug, typed, systems, &interrupted)?;
        if interrupted.load(Ordering::SeqCst) {
            return Ok(Exit::Interrupted);
        }
        if streams.iter().any(|stream| stream.hit.is_none()) {
            exit = Exit::Found;
        }
        tell::tell(bug, &streams, screen);
    }
    Ok(exit)
}

/// Every stream of one bug, in their order.
fn search(
    bug: &str,
    typed: &Typed,
    systems: Systems,
    interrupted: &AtomicBool,
) -> anyhow::Result<Vec<Stream>> {
    let jobs = typed.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let next = AtomicU32::new(0);
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::SeqCst);
                    if number >= typed.streams {
                        break;
                    }
                    let start = stream::start(typed.seed, number);
                    let stream = stream::run(bug, start, typed.deliveries, systems, interrupted);
                    done.lock().expect("nobody panics with the list in hand").push((number, stream));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("nobody panics with the list in hand");
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, stream)| stream).collect()
}
