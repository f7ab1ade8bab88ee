//! `shrink`: makes a failing plan small, from a saved failure, a fingerprint or a seed, and saves what is left.

use crate::amount::parse_jobs;
use crate::shrinking::{Shrinker, tell_slips};
use crate::verb::fuzz::Restricted;
use crate::{Exit, Screen, Systems, duration, files, store};
use anyhow::{Context, anyhow};
use std::path::{Path, PathBuf};
use std::time::Duration;
use whitewater_plan::{Plan, Saved, generate, parse_seed};

/// Makes a failing plan small: takes away whatever the failure does not need, until nothing can go.
///
/// What is left is saved under its fingerprint, with nothing left to a seed. Ends with 1, as every command that shows a
/// failure does.
#[derive(Debug, clap::Args)]
pub(crate) struct Typed {
    /// A saved failure, its fingerprint, or a seed that fails.
    #[arg(value_name = "FILE|FINGERPRINT|SEED")]
    what: String,
    #[command(flatten)]
    restricted: Restricted,
    /// Stop after so much real time and keep the smallest plan so far.
    #[arg(long = "for", value_name = "TIME", value_parser = duration::parse, default_value = "60s")]
    time: Duration,
    /// Threads; as many as there are cores unless given. The result does not depend on it unless time runs out.
    #[arg(long, value_name = "N", value_parser = parse_jobs, env = "WHITEWATER_JOBS")]
    jobs: Option<usize>,
    /// Save what is left in this folder.
    #[arg(long, value_name = "DIR", env = "WHITEWATER_SAVE")]
    save: Option<PathBuf>,
}

impl Typed {
    /// Whether a bug is planted, by a word or in the file.
    pub(crate) fn needs_bugs(&self, systems: Systems) -> bool {
        let in_file = || {
            let json = files::read(&file_meant(&self.what).ok()??).ok()?;
            Some(Saved::parse("", &json, systems).ok()?.plan.options.planted().is_some())
        };
        self.restricted.needs_bugs() || in_file().unwrap_or_default()
    }

    /// What is to be shrunk, the seed it was drawn from and the command that shows it.
    fn meaning(&self, systems: Systems) -> anyhow::Result<(Plan, Option<u64>)> {
        if let Some(file) = file_meant(&self.what)? {
            let saved = store::load(&file, systems)?;
            return Ok((saved.plan, saved.seed));
        }
        let seed = parse_seed(&self.what).map_err(|why| anyhow!("{why}, or the name of a file"))?;
        let plan = generate(systems, seed, &self.restricted.meaning()?).map_err(anyhow::Error::msg)?;
        Ok((plan, Some(seed)))
    }
}

/// The file a word means; none if it can only be a seed.
///
/// # Errors
/// It is a fingerprint of none or several failures, or the name of no file.
pub(crate) fn file_meant(word: &str) -> anyhow::Result<Option<PathBuf>> {
    let path = Path::new(word);
    if path.is_file() {
        return Ok(Some(path.to_path_buf()));
    }
    if store::is_fingerprint(word) {
        return store::by_fingerprint(word).map(Some);
    }
    match word.contains(['/', '\\']) || word.ends_with(".json") {
        true => Err(anyhow!("{word}: there is no such file; `fuzz` says where it saves what it finds")),
        false => Ok(None),
    }
}

pub(crate) fn run(typed: &Typed, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let (plan, seed) = typed.meaning(systems)?;
    let folder = typed.save.clone().unwrap_or_else(store::found);
    let shrinker = Shrinker { time: typed.time, jobs: typed.jobs, folder, systems, screen };
    let small = shrinker.shrink(&plan, seed).with_context(|| typed.what.clone())?;
    screen.print(&small.report());
    tell_slips(&small, screen);
    Ok(Exit::Found)
}
