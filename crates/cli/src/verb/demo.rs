//! `demo`: finds the race of the relays by itself, explains it, runs it again and shows what mends it.

use crate::difference;
use crate::program::called;
use crate::telling::{ReportForm, Telling, about, system};
use crate::verb::fuzz::fresh_seed;
use crate::{Exit, Screen, Systems};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use whitewater_hunt::{Budget, Campaign, REPEAT_ONE_IN, Unobserved, campaign, print_command};
use whitewater_plan::{Plan, Restrictions, generate, parse_seed, seed_text};
use whitewater_sim::Outcome;

/// Finds the race of the Tarantool relays, explains it, runs it again, and shows what the mended system does.
///
/// Ends with 0 if it showed the race, and with 6 if it did not meet it within two minutes.
#[derive(Debug, clap::Args)]
pub(crate) struct Typed {
    /// Search from this seed instead of a fresh one.
    #[arg(long, value_name = "S", value_parser = parse_seed)]
    seed: Option<u64>,
}

/// Real time after which the search is given up.
const PATIENCE: Duration = Duration::from_secs(120);

/// Real time for which the search goes on for the run that tells the story best, once it has met the race at all.
const CHOICE: Duration = Duration::from_secs(10);
/// The rule that the race is named after; it also shows in elections that nobody needs.
const STRANDED: &str = "follower-catches-up";

/// The system that is shown.
pub(crate) const SYSTEM: &str = "relay";
const OPTION: &str = "relay-not-ready";
/// How the system behaved before the patch.
const BROKEN: &str = "drop";
/// How it behaves today.
const MENDED: &str = "mailbox";
/// The race as a story.
const SCENARIO: &str = "leader-announce-before-relay-ready";

/// Does what was typed.
pub(crate) fn run(typed: &Typed, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    system(SYSTEM, systems)?;
    let base = typed.seed.unwrap_or_else(fresh_seed);
    screen.print(&format!(
        "1. Search. The system `{SYSTEM}` as it was before it was mended ({OPTION}={BROKEN}), from base seed {}.\n",
        seed_text(base)
    ));
    let begun = Instant::now();
    let Some(found) = search(base, systems, begun)? else {
        screen.print(&format!(
            "   Nothing in {} s. Try again: every search begins elsewhere.",
            begun.elapsed().as_secs()
        ));
        return Ok(Exit::Unknown);
    };
    screen.print(&format!("   Found in run {} after {:.1} s.\n", found.runs, begun.elapsed().as_secs_f64()));
    found.telling.print_verdict(ReportForm::Text, &about(), screen);

    let again = Telling::of(
        plan(found.seed, BROKEN, systems)?,
        Some(found.seed),
        print_command(called(), &restricted(BROKEN), found.seed),
        systems,
    )?;
    let same = again.outcome.hash == found.telling.outcome.hash
        && again.outcome.verdict.rule() == found.telling.outcome.verdict.rule();
    if !same {
        screen.print("2. Again. The same seed gave ANOTHER run; that must never be.");
        return Ok(Exit::Nondeterministic);
    }
    screen.print(&format!(
        "2. Again, from the seed alone. The same rule, `{}`, and the same run to the last bit: trace hash {}.\n",
        again.outcome.verdict.rule(),
        again.outcome.hash
    ));
    screen.print(&format!(
        "3. Mended. The same run with {OPTION}={MENDED} passes. Where the two part (- before, + mended):\n"
    ));
    screen.print(&parting(&found, systems)?);
    screen.print(&format!(
        "\nThe same race in a dozen lines, written by hand:  {called} scenario show {SCENARIO}\n\
         Search on your own:                               {called} fuzz",
        called = called()
    ));
    Ok(Exit::Clean)
}

/// A run that fails before the patch and passes after it.
struct Found {
    seed: u64,
    runs: u64,
    telling: Telling,
}

/// Searches from `base` on until a run fails that the mended system passes, preferably by a stranded follower.
fn search(base: u64, systems: Systems, begun: Instant) -> anyhow::Result<Option<Found>> {
    let mut found: Option<Found> = None;
    let mut start = base;
    loop {
        let patience = if found.is_some() { CHOICE } else { PATIENCE };
        let over = || begun.elapsed() >= patience;
        let search = Campaign {
            systems,
            program: called(),
            restrictions: restricted(BROKEN),
            start,
            end: None,
            budget: Budget::Until(&over),
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            keep_going: false,
            repeat_one_in: REPEAT_ONE_IN,
        };
        let summary = campaign(&search, &Unobserved, &AtomicBool::new(false)).map_err(anyhow::Error::msg)?;
        let Some(seed) = summary.failures.first().and_then(|failure| failure.seed) else { return Ok(found) };
        let stranded = summary.failures.first().is_some_and(|failure| failure.rule == STRANDED);
        if (found.is_none() || stranded)
            && recorded(&plan(seed, MENDED, systems)?, systems)?.verdict.is_pass()
        {
            let command = print_command(called(), &restricted(BROKEN), seed);
            let telling = Telling::of(plan(seed, BROKEN, systems)?, Some(seed), command, systems)?;
            found = Some(Found { seed, runs: seed.wrapping_sub(base) + 1, telling });
            if stranded {
                return Ok(found);
            }
        }
        start = seed.wrapping_add(1);
    }
}

fn plan(seed: u64, value: &str, systems: Systems) -> anyhow::Result<Plan> {
    generate(systems, seed, &restricted(value)).map_err(anyhow::Error::msg)
}

fn restricted(value: &str) -> Restrictions {
    Restrictions {
        system: Some(SYSTEM.to_owned()),
        set: vec![(OPTION.to_owned(), value.to_owned())],
        ..Restrictions::default()
    }
}

fn recorded(plan: &Plan, systems: Systems) -> anyhow::Result<Outcome> {
    whitewater_hunt::run(system(&plan.system, systems)?, plan, true).map_err(anyhow::Error::msg)
}

/// The lines by which the mended run differs in what it says about the first suspect.
fn parting(found: &Found, systems: Systems) -> anyhow::Result<String> {
    let mended = recorded(&plan(found.seed, MENDED, systems)?, systems)?;
    let failure = found.telling.failure.as_ref().expect("a run that fails has its failure");
    let (Some(before), Some(after)) = (&failure.outcome.trace, &mended.trace) else {
        return Ok("   (no trace was recorded)".to_owned());
    };
    Ok(difference::parting(before, after, failure.suspect))
}
