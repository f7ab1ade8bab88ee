//! What each check costs: the workload with all of them and with all but one, in turn.

use super::keep;
use super::measure::watched;
use super::workload::Shape;
use crate::Screen;
use crate::Systems;
use crate::telling::system;
use serde::Serialize;
use std::path::Path;
use whitewater_sim::Watch;

/// The system whose checks are measured.
const SYSTEM: &str = "kv";

/// What a check costs.
#[derive(Debug, Serialize)]
struct Cost {
    v: u32,
    r#type: &'static str,
    /// The rule, or `all` for all of them together.
    name: String,
    /// By how much an event takes longer with it; below what can be measured it may be less than nothing.
    nanoseconds_per_event: f64,
    rounds: u32,
}

/// Measures every check of the system that can be switched off, and all together.
pub(super) fn measure(
    rounds: u32,
    systems: Systems,
    keep: Option<&Path>,
    screen: &Screen,
) -> anyhow::Result<()> {
    let system = system(SYSTEM, systems)?;
    let shape = Shape { seconds: 20, ..Shape::W };
    let names = system.rules().into_iter().map(|(name, _)| Some(name));
    for name in std::iter::once(None).chain(names) {
        let without = name.map_or(Watch::None, Watch::AllBut);
        let mut costs = Vec::new();
        for _ in 0..rounds {
            let Ok(fewer) = watched(system, &shape, without, 1) else { break };
            let all = watched(system, &shape, Watch::All, 1)?;
            let more = all.time().as_secs_f64() - fewer.time().as_secs_f64();
            costs.push(more * 1e9 / all.events as f64);
        }
        if costs.is_empty() {
            continue; // what is owed at the end is no check of events
        }
        costs.sort_by(f64::total_cmp);
        let nanoseconds_per_event = costs[costs.len() / 2];
        let name = name.unwrap_or("all").to_owned();
        let cost = Cost { v: 1, r#type: "check", name, nanoseconds_per_event, rounds };
        screen.data(&cost);
        if let Some(file) = keep {
            keep::add(file, &cost)?;
        }
    }
    Ok(())
}
