//! `faults`: a table of every kind of fault - how often plans have it, how often it bites, and which scenario needs it.

use crate::{Exit, Screen, Systems, files};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use whitewater_hunt::{Budget, Campaign, Summary, Unobserved, campaign};
use whitewater_plan::{Expect, Profile, Restrictions, Scenario};
use whitewater_sim::Fault;

/// Prints a table of every kind of fault, measured in runs of the swarm.
///
/// A fault is on in a run if its plan has it, and bites if it took effect there: the count stands at the place of the effect
/// and has the fault's name in every summary. A scenario needs a fault if its script has it and a variant of it breaks a rule.
#[derive(Debug, clap::Args)]
pub(crate) struct Typed {
    /// Runs of each system, from seed 0 on.
    #[arg(long, value_name = "N", default_value_t = 400)]
    runs: u64,
}

/// Does what was typed.
pub(crate) fn run(typed: &Typed, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let scenarios = scenarios(&files::folder("scenarios"), systems)?;
    let mut measured = Vec::new();
    for system in systems {
        screen.remark(&format!("{} runs of {}", typed.runs, system.name()));
        measured.push((system.name(), measure(typed.runs, system.name(), systems)?));
    }
    screen.print(&table(typed.runs, &measured, &scenarios));
    Ok(Exit::Clean)
}

/// Every scenario of a folder.
fn scenarios(folder: &Path, systems: Systems) -> anyhow::Result<Vec<Scenario>> {
    let read = |path: std::path::PathBuf| {
        let text = files::read(&path)?;
        Ok(Scenario::parse(&path.display().to_string(), &text, systems)?)
    };
    files::json_files(folder)?.into_iter().map(read).collect()
}

/// What runs of the swarm with one system had and met.
fn measure(runs: u64, system: &str, systems: Systems) -> anyhow::Result<Summary> {
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
    campaign(&search, &Unobserved, &AtomicBool::new(false)).map_err(anyhow::Error::msg)
}

fn table(runs: u64, measured: &[(&str, Summary)], scenarios: &[Scenario]) -> String {
    let names: Vec<&str> = measured.iter().map(|(name, _)| *name).collect();
    let heads: String = names.iter().map(|name| format!(" {name}: on | bites |")).collect();
    let rules: String = names.iter().map(|_| " ---: | ---: |").collect();
    let mut lines = vec![
        "# Faults".to_owned(),
        String::new(),
        format!(
            "Every kind of fault that a world knows, and in which share of {runs} runs of the swarm, from seed 0 on, it is on \
             and bites."
        ),
        "`on`: the plan has it. `bites`: it took effect, which is counted where the effect is, under this name, in every"
            .to_owned(),
        "summary. What only follows from other faults is in no plan. Made by `cargo xtask faults > FAULTS.md`.".to_owned(),
        String::new(),
        format!("| Fault | What it does |{heads} Needed by |"),
        format!("| --- | --- |{rules} --- |"),
    ];
    for fault in Fault::ALL {
        let figures: String = measured
            .iter()
            .map(|(_, summary)| {
                let share = |hits: Option<&u64>| percent(hits.copied().unwrap_or_default(), summary.runs);
                let on = share(summary.coverage.faults.get(fault.name()));
                format!(" {on} | {} |", share(summary.fault_hits.get(fault.name())))
            })
            .collect();
        lines.push(format!(
            "| `{}` | {} |{figures} {} |",
            fault.name(),
            fault.about(),
            needed_by(fault, scenarios)
        ));
    }
    lines.join("\n")
}

fn percent(hits: u64, runs: u64) -> String {
    format!("{:.0} %", 100.0 * hits as f64 / runs.max(1) as f64)
}

/// The scenario with the fewest other faults that has this one and breaks a rule in some variant, or else one that has it.
fn needed_by(fault: Fault, scenarios: &[Scenario]) -> String {
    let with = |breaks: bool| {
        scenarios
            .iter()
            .filter(|scenario| scenario.script.faults().has(fault))
            .filter(|scenario| !breaks || breaking(scenario).is_some())
            .min_by_key(|scenario| scenario.script.faults().iter().count())
    };
    if let Some(scenario) = with(true) {
        return format!("{} @{}", scenario.name, breaking(scenario).expect("it was looked for"));
    }
    with(false).map_or_else(|| "open".to_owned(), |scenario| format!("{} (holds)", scenario.name))
}

/// The variant that breaks a rule, with the bug that is planted in it.
fn breaking(scenario: &Scenario) -> Option<String> {
    let variant =
        scenario.variants.iter().find(|variant| matches!(variant.expect, Expect::Violates { .. }))?;
    Some(match variant.options.planted() {
        Some(bug) => format!("{} ({bug})", variant.name),
        None => variant.name.clone(),
    })
}
