//! `replay`: runs one seed or saved failure again, twice, and tells it in full or whether it is still the same.

mod around;
mod step;

use crate::given::Given;
use crate::meant::{self, Meant, meant};
use crate::shrinking::about_saved;
use crate::telling::{ReportForm, Telling, about, exit_of, system};
use crate::verb::fuzz::Restricted;
use crate::{Exit, Screen, Systems, files};
use anyhow::{Context, bail};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use whitewater_hunt::{Again, Fate, again};
use whitewater_sim::Verdict;

/// Runs a seed or a saved failure again and tells it.
///
/// A saved failure that fails as it did, or in another way, ends with 1; one that passes ends with 5. What the code no
/// longer decides as it did is left to what a run does by itself, and counted.
#[derive(Debug, clap::Args)]
pub(crate) struct Typed {
    /// Seeds, saved failures by file or fingerprint, variants of scenarios as FILE@VARIANT, or folders of saved failures.
    #[arg(required = true, value_name = "SEED|FILE|FINGERPRINT")]
    what: Vec<String>,
    #[command(flatten)]
    restricted: Restricted,
    /// Writes the files of every server's disk at the end into a folder of its name in this folder; `wal show` reads them.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["step", "bisect", "around"])]
    disks: Option<PathBuf>,
    /// Prints the plan and the whole trace.
    #[arg(short, long)]
    verbose: bool,
    /// Runs so many plans that differ from it in a few decisions: what to try before saying that it is mended.
    #[arg(long, value_name = "N", conflicts_with_all = ["step", "bisect"])]
    around: Option<u64>,
    /// Walks through the run event by event; commands come from standard input, `help` lists them.
    #[arg(long, conflicts_with = "bisect")]
    step: bool,
    /// For `git bisect run`: 0 if the failure is gone, 1 if it is the same, 125 for anything else.
    #[arg(long)]
    bisect: bool,
    /// What the report of a failure looks like.
    #[arg(long, value_enum, default_value_t, value_name = "FORM", conflicts_with_all = ["around", "step", "bisect"])]
    report: ReportForm,
    /// Writes what clients asked and were told into this file, as JSON lines for `check-history`.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["around", "step", "bisect"])]
    history: Option<PathBuf>,
}

impl Typed {
    /// Whether `git bisect` asks.
    pub(crate) fn bisects(&self) -> bool {
        self.bisect
    }

    /// The bugs that are planted, by a word or in a file.
    pub(crate) fn bugs(&self, systems: Systems) -> BTreeSet<String> {
        let named = self.restricted.bug().map(str::to_owned);
        let words = words(&self.what).unwrap_or_default();
        meant::bugs_of(&words, systems).into_iter().chain(named).collect()
    }
}

pub(crate) fn run(
    typed: &Typed,
    given: &Given<'_>,
    systems: Systems,
    screen: &Screen,
) -> anyhow::Result<Exit> {
    if typed.bisect {
        return bisect(typed, systems, screen);
    }
    let words = words(&typed.what)?;
    if words.is_empty() {
        screen.remark("nothing ran: there is no saved failure in that folder");
        return Ok(Exit::NothingRan);
    }
    if typed.history.is_some() && words.len() > 1 {
        bail!("--history takes the operations of one run, and there are {} here", words.len());
    }
    let restrictions = typed.restricted.meaning()?;
    let restricted = typed.restricted.typed(given);
    let mut exit = Exit::Clean;
    for word in words {
        if let (Some(file), Some(flag)) = (meant::place_of(&word)?.0, restricted.first()) {
            let file = file.display();
            bail!("--{flag} restricts what a seed means, and {file} holds the whole plan: leave it out");
        }
        let found = meant(&word, &restrictions, systems)?;
        exit = exit.and(replay(&word, &found, typed, systems, screen)?);
    }
    Ok(exit)
}

/// The words, with the files of a folder in its place.
fn words(typed: &[String]) -> anyhow::Result<Vec<String>> {
    let mut words = Vec::new();
    for word in typed {
        match Path::new(word).is_dir() {
            true => {
                let files = files::json_files(Path::new(word))?;
                words.extend(files.iter().map(|file| file.display().to_string()));
            }
            false => words.push(word.clone()),
        }
    }
    Ok(words)
}

fn replay(
    word: &str,
    found: &Meant,
    typed: &Typed,
    systems: Systems,
    screen: &Screen,
) -> anyhow::Result<Exit> {
    if typed.step {
        return step::walk(found, systems, screen);
    }
    if let Some(count) = typed.around {
        return around::run(found, count, systems, screen);
    }
    if let Some(notice) = found.saved.as_ref().and_then(|saved| saved.notice.as_ref()) {
        screen.remark(&format!("{word}: {notice}"));
    }
    let telling = Telling::of(found.plan.clone(), found.seed, found.command.clone(), systems);
    let telling = telling.with_context(|| word.to_owned())?;
    if typed.verbose || found.file.is_none() {
        telling.print_plan(screen);
        telling.print_trace(screen, systems)?;
    }
    if let Some(file) = &typed.history {
        let Some(history) = telling.history(systems)? else {
            bail!("--history: the system {} has no clients that are followed", telling.plan.system)
        };
        files::write_whole(file, &history)?;
    }
    let about = match (&telling.failure, &found.saved, &found.file) {
        (Some(failure), Some(saved), Some(file)) => about_saved(failure, saved, file),
        _ => about(),
    };
    telling.print_verdict(typed.report, &about, screen);
    if let Some(folder) = &typed.disks {
        write_disks(folder, &telling, systems, screen)?;
    }
    let Some(saved) = &found.saved else { return Ok(exit_of(&telling.outcome)) };
    if telling.outcome.verdict == Verdict::Nondeterministic {
        screen.print(&format!("{word}: the same plan gave two different runs"));
        return Ok(Exit::Nondeterministic);
    }
    let system = system(&saved.plan.system, systems)?;
    let again = again(system, saved).map_err(anyhow::Error::msg)?;
    match typed.report {
        ReportForm::Text => tell_again(word, &again, screen),
        // Standard output is the report and nothing else.
        ReportForm::Markdown | ReportForm::Json => screen.remark(&format!("{word}: {again}")),
    }
    Ok(exit_of_fate(&again.fate))
}

/// Writes what was on the disks at the end.
fn write_disks(folder: &Path, telling: &Telling, systems: Systems, screen: &Screen) -> anyhow::Result<()> {
    let mut count = 0;
    for (node, disk) in telling.disks(systems)? {
        for (name, bytes) in disk {
            files::write_bytes(&folder.join(node.to_string()).join(name), &bytes)?;
            count += 1;
        }
    }
    screen.remark(&format!("{count} files of disks are in {}", folder.display()));
    Ok(())
}

/// Says what has become of a saved failure, and where the runs part.
pub(crate) fn tell_again(word: &str, again: &Again, screen: &Screen) {
    screen.print(&format!("{word}: {again}"));
    if let Some(parting) = &again.parting {
        screen.print(&format!("  {parting}"));
    }
}

fn exit_of_fate(fate: &Fate) -> Exit {
    match fate {
        Fate::Same | Fate::Another(_) => Exit::Found,
        Fate::Gone => Exit::Stale,
        Fate::Undecided => Exit::Unknown,
    }
}

fn bisect(typed: &Typed, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let [word] = &typed.what[..] else { bail!("--bisect asks about one saved failure") };
    let found = meant(word, &typed.restricted.meaning()?, systems)?;
    let Some(saved) = &found.saved else { bail!("--bisect is for saved failures, and {word} is none") };
    let again = again(system(&saved.plan.system, systems)?, saved).map_err(anyhow::Error::msg)?;
    tell_again(word, &again, screen);
    Ok(match again.fate {
        Fate::Gone => Exit::Clean,
        Fate::Same => Exit::Found,
        Fate::Another(_) | Fate::Undecided => Exit::Untold,
    })
}
