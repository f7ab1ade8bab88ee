//! `scenario run`: runs every variant and compares what it does with what is expected of it.

use super::{chosen, load, nothing};
use crate::telling::system;
use crate::{Exit, Screen, Systems};
use std::path::Path;
use whitewater_hunt::{meets, missed, run_twice};
use whitewater_plan::{Scenario, Variant};
use whitewater_sim::{Outcome, Verdict};

/// Runs scenarios, all of them if none is named.
#[derive(Debug, clap::Args)]
pub(crate) struct Typed {
    /// Names of scenarios, or files.
    #[arg(value_name = "NAME|FILE")]
    pub(super) names: Vec<String>,
}

pub(crate) fn run(typed: &Typed, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let files = chosen(&typed.names)?;
    if files.is_empty() {
        return Ok(nothing(screen));
    }
    let mut exit = Exit::Clean;
    for file in files {
        let scenario = load(&file, systems)?;
        for variant in &scenario.variants {
            exit = exit.and(judge(&file, &scenario, variant, systems, screen)?);
        }
    }
    Ok(exit)
}

/// Runs a variant and says whether it did what is expected, and which steps never happened.
fn judge(
    file: &Path,
    scenario: &Scenario,
    variant: &Variant,
    systems: Systems,
    screen: &Screen,
) -> anyhow::Result<Exit> {
    let plan = scenario.plan(variant);
    let outcome = run_variant(scenario, variant, systems)?;
    let judged = meets(&variant.expect, &outcome.verdict);
    screen.print(&line(scenario, variant, &outcome, &judged));
    let missed = missed(&plan, &outcome);
    if !missed.is_empty() {
        let missed = missed.join("\n  ");
        screen.remark(&format!(
            "error: {}: @{}: {missed}\n  mend: give the step a moment that comes, or take it out",
            file.display(),
            variant.name
        ));
        return Ok(Exit::Usage);
    }
    Ok(match (judged, &outcome.verdict) {
        (_, Verdict::Nondeterministic) => Exit::Nondeterministic,
        (Ok(()), _) => Exit::Clean,
        (Err(_), _) => Exit::Found,
    })
}

/// Runs a variant, twice.
fn run_variant(scenario: &Scenario, variant: &Variant, systems: Systems) -> anyhow::Result<Outcome> {
    let system = system(&scenario.system, systems)?;
    run_twice(system, &scenario.plan(variant)).map_err(anyhow::Error::msg)
}

fn line(scenario: &Scenario, variant: &Variant, outcome: &Outcome, judged: &Result<(), String>) -> String {
    let did = match (&outcome.verdict, judged) {
        (Verdict::Pass, Ok(())) => "pass".to_owned(),
        (verdict, Ok(())) => format!("{}: {verdict} (expected)", verdict.rule()),
        (_, Err(why)) => format!("FAIL: {why}"),
    };
    format!("{} @{}  {did}", scenario.name, variant.name)
}
