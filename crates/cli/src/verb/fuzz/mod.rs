//! `fuzz`: searches seeds for runs that break a rule; with one seed alone, does that run twice and tells it.

pub(crate) mod meaning;
mod resume;
mod watch;

use crate::amount::{Amount, parse_count, parse_jobs};
use crate::given::{FormatTyped, Given};
use crate::isolation::Isolation;
use crate::program::called;
use crate::progress::Progress;
use crate::rebuild::NO_BUG;
use crate::{Exit, Screen, Systems, canary, duration, files, interrupt};
use anyhow::bail;
pub(crate) use meaning::fresh_seed;
use meaning::{Meaning, Seeds};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use watch::Watch;
use whitewater_hunt::{Budget, Campaign, REPEAT_ONE_IN, campaign, campaign_apart};
use whitewater_plan::{Profile, Restrictions, Tuning, parse_seed};

/// Searches seeds for runs that break a rule.
///
/// Without a budget it searches for 60 seconds from a fresh base seed, which it prints. Run i has seed base+i. One seed
/// without a budget is one run, done twice.
#[derive(Debug, clap::Args)]
pub(crate) struct Typed {
    /// The first seed: decimal, hexadecimal with 0x, or a commit id. Alone: the only one.
    #[arg(long, value_name = "S", value_parser = parse_seed, env = "WHITEWATER_SEED", help_heading = "Seeds")]
    seed: Option<u64>,
    /// The seeds from A up to but not including B.
    #[arg(long, value_name = "A..B", value_parser = meaning::parse_range, env = "WHITEWATER_SEEDS", help_heading = "Seeds")]
    seeds: Option<(u64, u64)>,
    /// Stop once so many messages were delivered: the budget that means the same on every machine.
    #[arg(long, value_name = "N", value_parser = parse_count, env = "WHITEWATER_DELIVERIES", help_heading = "Budget")]
    deliveries: Option<u64>,
    /// Stop after so many runs.
    #[arg(long, value_name = "N", value_parser = parse_count, env = "WHITEWATER_RUNS", help_heading = "Budget")]
    runs: Option<u64>,
    /// Stop after so much real time, such as 60s or 10m.
    #[arg(long = "for", id = "for", value_name = "TIME", value_parser = duration::parse, env = "WHITEWATER_FOR", help_heading = "Budget")]
    time: Option<Duration>,
    #[command(flatten)]
    pub(crate) restricted: Restricted,
    /// Threads; as many as there are cores unless given. The result does not depend on it.
    #[arg(long, value_name = "N", value_parser = parse_jobs, env = "WHITEWATER_JOBS")]
    jobs: Option<usize>,
    /// Go on after a failure.
    #[arg(long)]
    keep_going: bool,
    /// Make every run in a worker process that is killed if one takes longer than this; 10s unless given. For nodes that
    /// may hang, abort, overflow their stack or take all memory.
    #[arg(long, value_name = "TIME", value_parser = duration::parse, num_args = 0..=1, require_equals = true, default_missing_value = "10s")]
    isolate: Option<Duration>,
    /// Write every failure into a file in this folder, for `replay`.
    #[arg(long, value_name = "DIR", env = "WHITEWATER_SAVE")]
    save: Option<PathBuf>,
    /// Go on where the search stopped whose failures were saved in that folder.
    #[arg(long, requires = "save")]
    resume: bool,
    /// Whether what is found is made small and saved under its fingerprint, the first of each kind, 20 s at most each.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN", env = "WHITEWATER_SHRINK")]
    shrink: Shrink,
    #[command(flatten)]
    pub(crate) format: FormatTyped,
    /// Say where each value comes from; with one seed, print its plan.
    #[arg(short, long)]
    verbose: bool,
}

/// Whether failures are shrunk as they are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Shrink {
    /// The first of each kind.
    #[default]
    Auto,
    /// None.
    Off,
}

/// What a draw may be restricted to.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Restrictions")]
pub(crate) struct Restricted {
    /// Only this system.
    #[arg(long, value_name = "NAME", env = "WHITEWATER_SYSTEM")]
    system: Option<String>,
    /// Only this profile: calm, swarm, network, disk, clock, membership, honest, lossy, lying, rotten, unlimited; or one of
    /// your own, a file with shares and ranges.
    #[arg(long, value_name = "PROFILE|FILE", env = "WHITEWATER_PROFILE")]
    profile: Option<String>,
    /// Give an option of the system a value, or the cluster a number of `nodes` or `clients`; may be repeated.
    #[arg(long, value_name = "KEY=VALUE", value_parser = meaning::parse_setting)]
    set: Vec<(String, String)>,
    /// Plant a bug and search in a build that has it; `none` searches in that build without a bug.
    #[arg(long, value_name = "ID", env = "WHITEWATER_MUTANT")]
    mutant: Option<String>,
}

impl Restricted {
    /// What it means for the draw.
    ///
    /// # Errors
    /// An option is given two values, or there is no such profile.
    pub(crate) fn meaning(&self) -> anyhow::Result<Restrictions> {
        for (at, (name, value)) in self.set.iter().enumerate() {
            if let Some((_, other)) = self.set[..at].iter().find(|(earlier, _)| earlier == name) {
                bail!("`{name}` is given twice, as {other} and as {value}: keep one of the two");
            }
        }
        let (profile, tuning) = match self.profile.as_deref() {
            None => (None, Tuning::default()),
            // No profile has a dot or a slash in its name.
            Some(path) if path.contains(['.', '/']) => {
                let (base, tuning) = Tuning::parse(path, &files::read(Path::new(path))?)?;
                (Some(base), tuning)
            }
            Some(name) => (Some(name.parse::<Profile>().map_err(anyhow::Error::msg)?), Tuning::default()),
        };
        Ok(Restrictions {
            system: self.system.clone(),
            profile,
            tuning,
            set: self.set.clone(),
            bug: self.mutant.clone().filter(|id| id != NO_BUG),
        })
    }

    /// The words of it that were typed.
    pub(crate) fn typed(&self, given: &Given<'_>) -> Vec<&'static str> {
        ["system", "profile", "set", "mutant"].into_iter().filter(|name| given.is_typed(name)).collect()
    }

    /// The bug to plant, or `none` for a build with bugs and none of them planted.
    pub(crate) fn bug(&self) -> Option<&str> {
        self.mutant.as_deref()
    }
}

/// Does what was typed.
pub(crate) fn run(
    typed: &Typed,
    given: &Given<'_>,
    systems: Systems,
    screen: &Screen,
) -> anyhow::Result<Exit> {
    let meaning = Meaning::of(typed, given)?;
    // Wrong names are refused before anything is printed.
    whitewater_plan::generate(systems, meaning.start(), &meaning.restrictions).map_err(anyhow::Error::msg)?;
    if let (Seeds::One(seed), None) = (meaning.seeds, meaning.isolate) {
        return watch::one(seed, &meaning, systems, screen);
    }
    search(&meaning, systems, screen)
}

fn search(meaning: &Meaning, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    // Before anything is said: who sees the first line may press Ctrl-C.
    let interrupted = interrupt::flag();
    // One run says nothing about the rest, whatever the canary does.
    let claims_much = !matches!(meaning.amount, Amount::Runs(0 | 1));
    if claims_much && let Some(silent) = canary::listen(systems, &meaning.restrictions)? {
        screen.remark(&format!("error: {silent}"));
        return Ok(Exit::Bug);
    }
    meaning.announce(screen);
    let begun = Instant::now();
    let progress = Progress::begin(screen, meaning.amount);
    let watch = Watch::new(meaning, (systems, screen), &progress, &interrupted);
    let over = || matches!(meaning.amount, Amount::Time(time) if begun.elapsed() >= time);
    let budget = match meaning.amount {
        Amount::Deliveries(deliveries) => Budget::Deliveries(deliveries),
        Amount::Runs(runs) => Budget::Runs(runs),
        Amount::Time(_) => Budget::Until(&over),
    };
    let search = Campaign {
        systems,
        program: called(),
        restrictions: meaning.restrictions.clone(),
        start: meaning.start(),
        end: meaning.end(),
        budget,
        jobs: meaning.jobs,
        keep_going: meaning.keep_going,
        repeat_one_in: REPEAT_ONE_IN,
    };
    let isolation = meaning.isolate.map(|patience| Isolation::new(&meaning.restrictions, patience));
    let summary = match &isolation {
        None => campaign(&search, &watch, &interrupted),
        Some(isolation) => campaign_apart(&search, isolation, &watch, &interrupted),
    };
    let summary = summary.map_err(anyhow::Error::msg)?;
    progress.end();
    // A reader that went away also stops the search; that is no Ctrl-C.
    let interrupted = interrupted.load(Ordering::SeqCst) && !screen.is_closed();
    watch.finish(&summary, begun.elapsed(), interrupted, systems)?;
    Ok(match interrupted {
        true => Exit::Interrupted,
        false => Exit::of_code(summary.exit_code()),
    })
}
