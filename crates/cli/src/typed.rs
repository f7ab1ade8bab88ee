//! What was typed: the grammar of the command line; each verb says elsewhere what it means.

use crate::program::called;
use crate::rebuild::NO_BUG;
use crate::verb::{
    bench, check_history, demo, determinism, differ, faults, fuzz, keep, mutants, replay, scenario, seeds,
    shrink, trace, wal, worker,
};
use crate::{Format, Systems};
use clap::{Parser, Subcommand};
use std::collections::BTreeSet;

/// Deterministic simulation testing for Raft: one seed decides everything that happens in a run.
#[derive(Debug, Parser)]
#[command(
    name = called(),
    bin_name = called(),
    version,
    arg_required_else_help = true,
    after_help = EXIT_CODES,
    max_term_width = 110
)]
pub(crate) struct Typed {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// A verb with what was typed behind it.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Demo(demo::Typed),
    Fuzz(fuzz::Typed),
    Faults(faults::Typed),
    Replay(replay::Typed),
    Shrink(shrink::Typed),
    Keep(keep::Typed),
    Seeds(seeds::Typed),
    Trace(trace::Typed),
    Scenario(scenario::Typed),
    Mutants(mutants::Typed),
    CheckHistory(check_history::Typed),
    Bench(bench::Typed),
    Wal(wal::Typed),
    Differ(differ::Typed),
    Determinism(determinism::Typed),
    Worker(worker::Typed),
}

const EXIT_CODES: &str = "\
Exit codes: 0 clean, 1 found something, 2 wrong usage or input file, 3 not deterministic, 4 nothing ran, \
5 a saved failure is gone, 6 no verdict within the budget, 70 a bug of our own, 130 interrupted.";

impl Verb {
    /// The bugs that have to be in the build that does it; [`NO_BUG`] stands for those of the code, with none planted. A
    /// file that cannot be read names none: whoever runs it tells what is wrong.
    pub(crate) fn bugs(&self, systems: Systems) -> BTreeSet<String> {
        let typed = |bug: Option<&str>| bug.map(str::to_owned).into_iter().collect();
        match self {
            Verb::Fuzz(fuzz) => typed(fuzz.restricted.bug()),
            Verb::Determinism(determinism) => typed(determinism.restricted.bug()),
            Verb::Worker(worker) => typed(worker.restricted.bug()),
            Verb::Faults(faults) => typed(faults.needs_bugs().then_some(NO_BUG)),
            Verb::Mutants(mutants) => typed(mutants.needs_bugs().then_some(NO_BUG)),
            Verb::Replay(typed) => typed.bugs(systems),
            Verb::Shrink(typed) => typed.bugs(systems),
            Verb::Keep(typed) => typed.bugs(systems),
            Verb::Trace(typed) => typed.bugs(systems),
            Verb::Scenario(typed) => typed.bugs(systems),
            // Each of the files may take a build of its own: the verb sees to it.
            Verb::Seeds(_) => BTreeSet::new(),
            Verb::Demo(_) | Verb::CheckHistory(_) | Verb::Bench(_) | Verb::Wal(_) | Verb::Differ(_) => {
                BTreeSet::new()
            }
        }
    }

    /// Whether `git bisect` asks.
    pub(crate) fn bisects(&self) -> bool {
        matches!(self, Verb::Replay(typed) if typed.bisects())
    }

    /// What its results look like.
    pub(crate) fn format(&self) -> Format {
        match self {
            Verb::Fuzz(typed) => typed.format.message_format,
            Verb::Mutants(typed) => typed.format.message_format,
            Verb::Bench(typed) => typed.format.message_format,
            Verb::Demo(_)
            | Verb::Faults(_)
            | Verb::Replay(_)
            | Verb::Shrink(_)
            | Verb::Keep(_)
            | Verb::Seeds(_)
            | Verb::Trace(_)
            | Verb::Scenario(_)
            | Verb::CheckHistory(_)
            | Verb::Wal(_)
            | Verb::Determinism(_)
            | Verb::Worker(_)
            | Verb::Differ(_) => Format::Human,
        }
    }
}
