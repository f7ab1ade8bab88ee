//! `shrink`: makes a failing plan small, from a saved failure, a fingerprint or a seed, and saves what is left.

use crate::amount::parse_jobs;
use crate::meant::{self, meant};
use crate::shrinking::{Shrinker, tell_slips};
use crate::telling::ReportForm;
use crate::verb::fuzz::Restricted;
use crate::{Exit, Screen, Systems, duration, store};
use anyhow::Context;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

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
    /// What the report of what is left looks like.
    #[arg(long, value_enum, default_value_t, value_name = "FORM")]
    report: ReportForm,
    /// Save what is left in this folder.
    #[arg(long, value_name = "DIR", env = "WHITEWATER_SAVE")]
    save: Option<PathBuf>,
}

impl Typed {
    /// The bugs that are planted, by a word or in the file.
    pub(crate) fn bugs(&self, systems: Systems) -> BTreeSet<String> {
        let named = self.restricted.bug().map(str::to_owned);
        meant::bugs_of([&self.what], systems).into_iter().chain(named).collect()
    }
}

pub(crate) fn run(typed: &Typed, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let found = meant(&typed.what, &typed.restricted.meaning()?, systems)?;
    let folder = typed.save.clone().unwrap_or_else(store::found);
    let shrinker = Shrinker { time: typed.time, jobs: typed.jobs, folder, systems, screen };
    let small = shrinker.shrink(&found.plan, found.seed).with_context(|| typed.what.clone())?;
    typed.report.print(&small.failure, &small.about(), screen);
    tell_slips(&small, screen);
    Ok(Exit::Found)
}
