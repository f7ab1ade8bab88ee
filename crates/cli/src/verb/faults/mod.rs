//! `faults`: a table of every kind of fault - how often plans have it, how often it bites, and what needs it.

mod need;

use crate::amount::parse_count;
use crate::program::called;
use crate::rebuild::project_folder;
use crate::{Exit, Screen, Systems, files};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use whitewater_hunt::{Budget, Campaign, Summary, Unobserved, campaign};
use whitewater_mutants::{Found, NEEDS, Need, needs};
use whitewater_plan::{Profile, Restrictions, Scenario};
use whitewater_sim::Fault;

/// Prints a table of every kind of fault, measured in runs of the swarm.
///
/// A fault is on in a run if its plan has it, and bites if it took effect there: the count stands at the place of the effect
/// and has the fault's name in every summary. What needs a fault was measured before, with `--measure-needs`.
#[derive(Debug, clap::Args)]
pub(crate) struct Typed {
    /// Runs of each system, from seed 0 on.
    #[arg(long, value_name = "N", default_value_t = 400)]
    runs: u64,
    /// Measure instead which scenario or planted bug needs which kind of fault, and write that down where the table finds it.
    #[arg(long)]
    measure_needs: bool,
    /// A search for a bug with one kind of fault gives up once so many messages were delivered.
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "300000", requires = "measure_needs")]
    deliveries: u64,
    /// Only for these kinds of faults; what is known of others stays.
    #[arg(long, value_name = "FAULT", requires = "measure_needs", value_parser = parse_fault)]
    fault: Vec<Fault>,
}

fn parse_fault(text: &str) -> Result<Fault, String> {
    Fault::ALL.into_iter().find(|fault| fault.name() == text).ok_or_else(|| {
        format!("there is no fault `{text}`; there are {}", Fault::ALL.map(Fault::name).join(", "))
    })
}

impl Typed {
    /// Whether it plants bugs.
    pub(crate) fn needs_bugs(&self) -> bool {
        self.measure_needs
    }
}

/// Does what was typed.
pub(crate) fn run(typed: &Typed, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let scenarios = scenarios(&files::folder("scenarios"), systems)?;
    let root = project_folder();
    if typed.measure_needs {
        return need::measure(typed, systems, &scenarios, &root, screen);
    }
    let needs = needs(&root)?;
    let mut measured = Vec::new();
    for system in systems {
        screen.remark(&format!("{} runs of {}", typed.runs, system.name()));
        measured.push((system.name(), measure(typed.runs, system.name(), systems)?));
    }
    screen.print(&table(typed.runs, &measured, &needs));
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
        program: called(),
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

fn table(runs: u64, measured: &[(&str, Summary)], needs: &[Need]) -> String {
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
        format!(
            "summary. What only follows from other faults is in no plan. Made by `{} faults > FAULTS.md`.",
            called()
        ),
        String::new(),
        "A scenario needs a fault if it breaks no rule once its steps and settings of that kind are taken out. A planted bug"
            .to_owned(),
        "needs it if plans of the swarm find it out of which every other kind was taken, and not once this one is taken out"
            .to_owned(),
        format!(
            "as well. Measured by `{} faults --measure-needs`, which keeps what it finds in `{NEEDS}`.",
            called()
        ),
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
            needed_by(fault, needs)
        ));
    }
    lines.join("\n")
}

fn percent(hits: u64, runs: u64) -> String {
    format!("{:.0} %", 100.0 * hits as f64 / runs.max(1) as f64)
}

/// What was found to need the fault: a scenario, or else a planted bug.
fn needed_by(fault: Fault, needs: &[Need]) -> String {
    let of_fault = || needs.iter().filter(|need| need.fault == fault.name());
    let is_scenario = |need: &&Need| matches!(need.found, Found::Scenario { .. });
    let Some(need) = of_fault().find(is_scenario).or_else(|| of_fault().next()) else {
        return "open".to_owned();
    };
    match &need.found {
        Found::Scenario { scenario, variant, bug: None } => format!("{scenario} @{variant}"),
        Found::Scenario { scenario, variant, bug: Some(bug) } => format!("{scenario} @{variant} ({bug})"),
        Found::Search { bug, with, found_after, not_in } => {
            let with = if with.is_empty() { String::new() } else { format!(", with {}", with.join(" and ")) };
            format!(
                "{bug} in {}{with}: after {found_after} deliveries, without it not in {not_in}",
                need.system
            )
        }
    }
}
