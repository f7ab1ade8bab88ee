//! `determinism`: makes runs again in other surroundings and compares what they say.

mod process;

use super::fuzz::{Restricted, fresh_seed};
use crate::amount::parse_count;
use crate::{Exit, Screen, Systems, interrupt};
use process::{AnotherBuild, FreshProcess};
use std::sync::atomic::Ordering;
use whitewater_hunt::determinism::{Again, AnotherThread, Here, Place, Proof, Reversed, prove};
use whitewater_plan::{parse_seed, seed_text};

/// Makes runs again elsewhere and compares trace hash, verdict and counters; ends with 3 if any differs.
///
/// A difference is shown up to the event with which it begins, from both sides.
#[derive(Debug, clap::Args)]
pub(crate) struct Typed {
    /// The first seed; a fresh one unless given.
    #[arg(long, value_name = "S", value_parser = parse_seed, env = "WHITEWATER_SEED")]
    seed: Option<u64>,
    /// Compare so many runs.
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "200", conflicts_with = "deliveries")]
    runs: u64,
    /// Compare runs until so many messages were delivered.
    #[arg(long, value_name = "N", value_parser = parse_count)]
    deliveries: Option<u64>,
    /// Where the runs are made again; everywhere unless given. In a build of another kind only one run in 20 is.
    #[arg(long = "in", value_name = "PLACES", value_enum, value_delimiter = ',')]
    places: Vec<Where>,
    #[command(flatten)]
    pub(crate) restricted: Restricted,
}

/// A place by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Where {
    /// Once more in the same thread.
    Again,
    /// In a thread of its own.
    Thread,
    /// In reverse order.
    Reversed,
    /// In a process of its own.
    Process,
    /// In a debug build, or in an optimised one if this is a debug build.
    Build,
}

/// Does what was typed.
pub(crate) fn run(typed: &Typed, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let restrictions = typed.restricted.meaning()?;
    let start = typed.seed.unwrap_or_else(fresh_seed);
    // Wrong names are refused before anything is printed.
    whitewater_plan::generate(systems, start, &restrictions).map_err(anyhow::Error::msg)?;
    let interrupted = interrupt::flag();
    screen.remark(&format!("determinism, base seed {}", seed_text(start)));
    let here = Here { systems, restrictions: &restrictions };
    let everywhere = [Where::Again, Where::Thread, Where::Reversed, Where::Process, Where::Build];
    let wanted = if typed.places.is_empty() { &everywhere[..] } else { &typed.places };
    if wanted.contains(&Where::Build) {
        screen.remark("builds this program once more, optimised otherwise; the first time takes minutes, and `--in` leaves it out");
    }
    let place = |place: &Where| -> Box<dyn Place + '_> {
        match place {
            Where::Again => Box::new(Again(here)),
            Where::Thread => Box::new(AnotherThread(here)),
            Where::Reversed => Box::new(Reversed(here)),
            Where::Process => Box::new(FreshProcess::new(&restrictions)),
            Where::Build => Box::new(AnotherBuild::new(&restrictions)),
        }
    };
    let mut places: Vec<_> = wanted.iter().map(place).collect();
    let runs = typed.deliveries.map_or(typed.runs, |_| u64::MAX);
    let enough = |_, deliveries| {
        interrupted.load(Ordering::SeqCst) || typed.deliveries.is_some_and(|wanted| deliveries >= wanted)
    };
    let proof = prove(&here, &mut places, start..start.saturating_add(runs), &enough);
    let proof = proof.map_err(anyhow::Error::msg)?;
    tell(&proof, screen);
    Ok(match () {
        () if !proof.differences.is_empty() => Exit::Nondeterministic,
        () if interrupted.load(Ordering::SeqCst) => Exit::Interrupted,
        () if proof.runs == 0 => Exit::NothingRan,
        () => Exit::Clean,
    })
}

fn tell(proof: &Proof, screen: &Screen) {
    proof.differences.iter().for_each(|difference| screen.print(&format!("DIFFERS  {difference}")));
    let compared = proof.compared.iter().map(|(place, runs)| format!("{runs} {place}"));
    screen.print(&format!(
        "{} runs, {} deliveries; made again: {}: {}",
        proof.runs,
        proof.deliveries,
        compared.collect::<Vec<_>>().join(", "),
        match proof.differences.len() {
            0 => "no difference".to_owned(),
            places => format!("different in {places} of {} places", proof.compared.len()),
        }
    ));
}
