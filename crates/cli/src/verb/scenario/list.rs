//! `scenario list`: every scenario with its system, its variants and what is expected of each.

use super::{chosen, load, nothing};
use crate::{Exit, Screen, Systems};
use whitewater_plan::{Expect, Scenario};

/// Lists all scenarios.
#[derive(Debug, clap::Args)]
pub(crate) struct Typed {}

pub(crate) fn run(systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let files = chosen(&[])?;
    if files.is_empty() {
        return Ok(nothing(screen));
    }
    for file in files {
        screen.print(&entry(&load(&file, systems)?));
    }
    Ok(Exit::Clean)
}

fn entry(scenario: &Scenario) -> String {
    let mut lines = vec![format!("{}  ({})", scenario.name, scenario.system)];
    for variant in &scenario.variants {
        lines.push(format!("    @{:<12} {}", variant.name, expectation(&variant.expect)));
    }
    lines.join("\n")
}

/// What is expected, in words.
pub(super) fn expectation(expect: &Expect) -> String {
    match expect {
        Expect::Pass => "pass".to_owned(),
        Expect::Violates { rule, node: Some(node) } => format!("violates {rule} at {node}"),
        Expect::Violates { rule, node: None } => format!("violates {rule} at no node"),
    }
}
