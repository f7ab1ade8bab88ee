//! `scenario show`: the notes, the script and the trace of each variant, to be read as a story.

use super::list::expectation;
use super::{chosen, load};
use crate::telling::system;
use crate::{Exit, Screen, Systems};
use anyhow::anyhow;
use whitewater_hunt::trace_text;
use whitewater_plan::{Scenario, Variant, text};

/// Shows a scenario: its notes, its script, and the trace of each variant.
#[derive(Debug, clap::Args)]
pub(crate) struct Typed {
    /// Name of a scenario, or a file.
    #[arg(value_name = "NAME|FILE")]
    pub(super) name: String,
    /// Only this variant.
    #[arg(long, value_name = "VARIANT")]
    variant: Option<String>,
}

pub(crate) fn run(typed: &Typed, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let file = chosen(std::slice::from_ref(&typed.name))?.remove(0);
    let scenario = load(&file, systems)?;
    let variants = variants(&scenario, typed.variant.as_deref())?;
    screen.print(&head(&scenario));
    for variant in variants {
        screen.print(&trace(&scenario, variant, systems)?);
    }
    Ok(Exit::Clean)
}

fn variants<'a>(scenario: &'a Scenario, only: Option<&str>) -> anyhow::Result<Vec<&'a Variant>> {
    let Some(only) = only else { return Ok(scenario.variants.iter().collect()) };
    let found = scenario.variants.iter().find(|variant| variant.name == only);
    found.map(|variant| vec![variant]).ok_or_else(|| {
        let names: Vec<_> = scenario.variants.iter().map(|variant| variant.name.as_str()).collect();
        anyhow!("{} has no variant `{only}`; there are: {}", scenario.name, names.join(", "))
    })
}

fn head(scenario: &Scenario) -> String {
    let mut lines = vec![scenario.name.clone(), String::new()];
    lines.extend(scenario.notes.iter().map(|note| format!("  {note}")));
    lines.extend(scenario.source.iter().map(|source| format!("  Source: {source}")));
    lines.push(String::new());
    lines.extend(text::script_lines(&scenario.script).iter().map(|line| format!("  {line}")));
    lines.push(String::new());
    for variant in &scenario.variants {
        lines.push(format!("  @{:<12} {}", variant.name, expectation(&variant.expect)));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn trace(scenario: &Scenario, variant: &Variant, systems: Systems) -> anyhow::Result<String> {
    let system = system(&scenario.system, systems)?;
    let plan = scenario.plan(variant);
    let outcome = whitewater_hunt::run(system, &plan, true).map_err(anyhow::Error::msg)?;
    Ok(trace_text::render(&plan, &outcome, &format!("{} @{}", scenario.name, variant.name)))
}
