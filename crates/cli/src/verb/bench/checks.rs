//! What each check costs: the workload with many copies of it that look and that do not, in turn.

use super::keep;
use super::measure::watched;
use super::workload::Shape;
use crate::Screen;
use crate::Systems;
use crate::files::write_behind;
use crate::telling::system;
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;
use whitewater_sim::{System, Watch};

/// Where in a page the table of costs begins.
const BEGIN: &str = "<!-- costs -->\n";

/// So many copies of a check look, lest what it costs drowns in noise.
const COPIES: u32 = 32;

/// The system whose checks are measured.
const SYSTEM: &str = "kv";

/// All checks together.
const ALL: &str = "all";

/// What a check costs.
#[derive(Debug, Serialize)]
struct Cost {
    v: u32,
    r#type: &'static str,
    /// The rule, or [`ALL`] for all of them together.
    name: String,
    /// By how much an event takes longer with it; below what can be measured it may be less than nothing.
    nanoseconds_per_event: f64,
    rounds: u32,
}

/// Measures every check of the system that can be switched off, and all together.
pub(super) fn measure(
    rounds: u32,
    systems: Systems,
    (keep, table): (Option<&Path>, Option<&Path>),
    screen: &Screen,
) -> anyhow::Result<()> {
    let mut all_costs = Vec::new();
    let system = system(SYSTEM, systems)?;
    let shape = Shape { seconds: 20, ..Shape::W };
    let names = system.rules().into_iter().map(|(name, _)| Some(name));
    for name in std::iter::once(None).chain(names) {
        let mut costs = Vec::new();
        for _ in 0..rounds {
            let Some(cost) = cost(system, &shape, name)? else { break };
            costs.push(cost);
        }
        if costs.is_empty() {
            continue; // what is owed at the end is no check of events
        }
        costs.sort_by(f64::total_cmp);
        let nanoseconds_per_event = costs[costs.len() / 2];
        let name = name.unwrap_or(ALL).to_owned();
        let cost = Cost { v: 1, r#type: "check", name, nanoseconds_per_event, rounds };
        screen.data(&cost);
        if let Some(file) = keep {
            keep::add(file, &cost)?;
        }
        all_costs.push(cost);
    }
    match table {
        Some(file) => write_behind(file, BEGIN, &text(&all_costs, &keep::circumstances())),
        None => Ok(()),
    }
}

/// What a check, or all of them, costs for an event of the workload, in nanoseconds; none if it is no check of events.
fn cost(system: &'static dyn System, shape: &Shape, name: Option<&str>) -> anyhow::Result<Option<f64>> {
    let Some(rule) = name else { return between(system, shape, (Watch::None, Watch::All), 1).map(Some) };
    let copies = |look| Watch::Copies { rule, count: COPIES, look };
    let of_copies = between(system, shape, (copies(false), copies(true)), COPIES);
    // Of some there are no copies, and some cannot be left out.
    Ok(of_copies.or_else(|_| between(system, shape, (Watch::AllBut(rule), Watch::All), 1)).ok())
}

/// By how many nanoseconds an event takes longer with some checks than with others, divided by `count`.
fn between(
    system: &'static dyn System,
    shape: &Shape,
    (without, with): (Watch<'_>, Watch<'_>),
    count: u32,
) -> anyhow::Result<f64> {
    let fewer = watched(system, shape, without, 1)?;
    let all = watched(system, shape, with, 1)?;
    let more = all.time().as_secs_f64() - fewer.time().as_secs_f64();
    Ok(more * 1e9 / all.events as f64 / f64::from(count))
}

/// The costs as a table, all together first and then the dearest first.
fn text(costs: &[Cost], circumstances: &str) -> String {
    let rounds = costs.first().map_or(0, |cost| cost.rounds);
    let mut costs: Vec<&Cost> = costs.iter().collect();
    costs.sort_by(|a, b| {
        let of = |cost: &Cost| (cost.name != ALL, -cost.nanoseconds_per_event);
        of(a).partial_cmp(&of(b)).expect("what was measured is a number")
    });
    let mut text =
        format!("\n{circumstances}; median of {rounds}.\n\n| Rule | Nanoseconds per event |\n|---|---:|\n");
    for Cost { name, nanoseconds_per_event: cost, .. } in costs {
        let cost = if *cost < 0.05 { "not measurable".to_owned() } else { format!("{cost:.1}") };
        writeln!(text, "| {name} | {cost} |").expect("a text takes everything");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dearest_check_stands_first_behind_all_of_them_together_and_noise_is_called_so() {
        let cost = |name: &str, nanoseconds_per_event| Cost {
            v: 1,
            r#type: "check",
            name: name.to_owned(),
            nanoseconds_per_event,
            rounds: 9,
        };
        let costs = [cost("cheap", -0.3), cost("dear", 4.26), cost("all", 21.0), cost("fair", 0.5)];
        let text = text(&costs, "On a machine, commit abc");
        assert!(text.starts_with("\nOn a machine, commit abc; median of 9.\n"), "{text}");
        let rows = "| all | 21.0 |\n| dear | 4.3 |\n| fair | 0.5 |\n| cheap | not measurable |\n";
        assert!(text.ends_with(rows), "{text}");
    }
}
