//! `scenario words`: what scripts can say of a system - its commands, messages, timers, figures, options and rules.

use crate::rebuild::project_folder;
use crate::telling::system;
use crate::{Exit, Screen, Systems};
use std::fmt::Write as _;
use whitewater_mutants::named;
use whitewater_sim::{CLAIM_RULES, System};

/// Says which words scripts have for a system: commands, messages, timers, figures, options, rules.
#[derive(Debug, clap::Args)]
pub(crate) struct Typed {
    /// The system; all of them if none is named.
    #[arg(value_name = "SYSTEM")]
    name: Option<String>,
}

pub(crate) fn run(typed: &Typed, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    match &typed.name {
        Some(name) => screen.print(&words(system(name, systems)?)),
        None => systems.iter().for_each(|system| screen.print(&words(*system))),
    }
    Ok(Exit::Clean)
}

fn words(system: &dyn System) -> String {
    let (messages, timers) = system.names();
    let mut text = format!("{}: {}\n\n", system.name(), system.about());
    let mut list = |what: &str, names: &[&str]| {
        if !names.is_empty() {
            let _ = writeln!(text, "  {what:<9} {}", names.join(", "));
        }
    };
    list("messages", messages);
    list("timers", timers);
    list("figures", system.figures());
    list("bugs", system.bugs());
    let is_planted_elsewhere = system.bugs().is_empty()
        && named(&project_folder()).is_ok_and(|all| all.iter().any(|bug| bug.system == system.name()));
    if is_planted_elsewhere {
        list("bugs", &["a variant plants one by `\"bug\": \"ID\"`; crates/mutants/named.txt lists them"]);
    }
    // No system has an empty command, and what it says to one names those there are.
    if let Err(commands) = system.check_operation("") {
        let commands = commands.split_once(": ").map_or(commands.as_str(), |(_, forms)| forms);
        let _ = writeln!(text, "  {:<9} {commands}", "commands");
    }
    if !system.glossary().is_empty() {
        text.push_str("\n  Meanings\n");
    }
    for (word, meaning) in system.glossary() {
        let _ = writeln!(text, "    {word:<24} {meaning}");
    }
    text.push_str("\n  Options\n");
    for option in system.options() {
        let node = if option.per_node { ", for one node: `.n2` behind the name" } else { "" };
        let _ = writeln!(
            text,
            "    {:<24} {} ({}; {} unless given{node})",
            option.name, option.about, option.values, option.default
        );
    }
    text.push_str("\n  Rules\n");
    for (name, claim) in system.rules().into_iter().chain(CLAIM_RULES) {
        let _ = writeln!(text, "    {name:<24} {claim}");
    }
    text
}
