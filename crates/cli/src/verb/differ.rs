//! `differ`: one plan on two systems that know the same commands, and the first answer that differs.

use crate::program::called;
use crate::telling::system;
use crate::{Exit, Screen, Systems};
use anyhow::anyhow;
use whitewater_hunt::differ;
use whitewater_plan::{Profile, Restrictions, generate, parse_seed, seed_text};

/// Runs the plans of one system on another that knows its commands, and tells the first answer that differs.
///
/// A difference need not be a bug: under faults clients may be told different things and all of it be right. In the profile
/// calm, which is the default, with one client, they are told the same.
#[derive(Debug, clap::Args)]
pub(crate) struct Typed {
    /// The system that plans are drawn for.
    #[arg(value_name = "SYSTEM")]
    one: String,
    /// The system they are run on as well.
    #[arg(value_name = "OTHER")]
    other: String,
    /// The first seed.
    #[arg(long, value_name = "SEED", default_value = "0")]
    seed: String,
    /// Seeds from there on; a difference ends it.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// What may go wrong.
    #[arg(long, value_name = "PROFILE", default_value = "calm")]
    profile: Profile,
    /// Clients of the first system that a plan keeps; operations of the others are left out.
    #[arg(long, value_name = "N", default_value_t = 1)]
    clients: usize,
}

pub(crate) fn run(typed: &Typed, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let (one, other) = (system(&typed.one, systems)?, system(&typed.other, systems)?);
    let first = parse_seed(&typed.seed).map_err(|wrong| anyhow!("--seed: {wrong}"))?;
    let restrictions = Restrictions {
        system: Some(typed.one.clone()),
        profile: Some(typed.profile),
        ..Restrictions::default()
    };
    let (mut answers, mut left_out) = (0, 0);
    for seed in (0..typed.runs).map(|run| first.wrapping_add(run)) {
        let mut plan = generate(&[one], seed, &restrictions).map_err(anyhow::Error::msg)?;
        plan.script.clients = plan.script.clients.min(typed.clients);
        let script = plan.script.clone();
        plan.script.steps.retain(|step| step.nodes().into_iter().all(|node| script.has(node)));
        let compared = differ(one, other, &plan).map_err(anyhow::Error::msg)?;
        answers += compared.answers;
        left_out += compared.left_out.len();
        if let Some(difference) = compared.difference {
            screen.print(&format!("seed {}: {difference}", seed_text(seed)));
            if !compared.left_out.is_empty() {
                screen.print(&format!("left out for both: {}", compared.left_out.join("; ")));
            }
            let (runs, clients) = (format!("--profile {}", typed.profile), typed.clients);
            screen.print(&format!(
                "again: {} differ {} {} --seed {} {runs} --clients {clients}",
                called(),
                typed.one,
                typed.other,
                seed_text(seed)
            ));
            return Ok(Exit::Found);
        }
    }
    screen.print(&format!(
        "{} and {} answer alike: {answers} answers of {} runs; {left_out} steps left out, which one of them has no words for",
        typed.one, typed.other, typed.runs
    ));
    Ok(if answers == 0 { Exit::NothingRan } else { Exit::Clean })
}
