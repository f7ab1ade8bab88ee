//! `replay`: runs one seed or saved failure again, twice, and tells it in full or whether it is still the same.

use crate::given::Given;
use crate::telling::{Telling, exit_of};
use crate::verb::fuzz::Restricted;
use crate::{Exit, Screen, Systems, files};
use anyhow::{Context, anyhow, bail};
use std::path::{Path, PathBuf};
use whitewater_hunt::print_command;
use whitewater_plan::{PLAN_VERSION, Saved, generate, parse_seed};
use whitewater_sim::Outcome;

/// Runs a seed or a saved failure again and tells it in full.
///
/// A saved failure that fails as it did, or in another way, ends with 1; one that passes ends with 5.
#[derive(Debug, clap::Args)]
pub(crate) struct Typed {
    /// Seeds, files of saved failures, or folders of them.
    #[arg(required = true, value_name = "SEED|FILE")]
    what: Vec<String>,
    #[command(flatten)]
    restricted: Restricted,
    /// Ends with 0 if each file still breaks its rule, and with 1 otherwise; prints one line per file.
    #[arg(long)]
    check: bool,
    /// Prints the plan and the whole trace.
    #[arg(short, long)]
    verbose: bool,
    /// Writes what clients asked and were told into this file, as JSON lines for `check-history`.
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    history: Option<PathBuf>,
}

/// What a word on the command line means.
enum What {
    Seed(u64),
    File(PathBuf),
}

impl Typed {
    /// Whether a bug is planted, by a word or in a file.
    pub(crate) fn needs_bugs(&self, systems: Systems) -> bool {
        let in_file = |file: &Path| {
            let saved = files::read(file).map(|json| Saved::parse("", &json, systems));
            matches!(saved, Ok(Ok(saved)) if saved.plan.options.planted().is_some())
        };
        let in_word = |word: &String| {
            let what = meaning(word).unwrap_or_default();
            what.iter().any(|what| matches!(what, What::File(file) if in_file(file)))
        };
        self.restricted.needs_bugs() || self.what.iter().any(in_word)
    }
}

pub(crate) fn run(
    typed: &Typed,
    given: &Given<'_>,
    systems: Systems,
    screen: &Screen,
) -> anyhow::Result<Exit> {
    let mut exit = Exit::Clean;
    let mut ran = false;
    let restricted = typed.restricted.typed(given);
    if typed.history.is_some() && (typed.what.len() > 1 || Path::new(&typed.what[0]).is_dir()) {
        bail!("--history takes the operations of one run: name one seed or one file")
    }
    for word in &typed.what {
        for what in meaning(word)? {
            ran = true;
            exit = exit.and(match what {
                What::Seed(_) if typed.check => {
                    bail!("--check is for files, and `{word}` is a seed: a seed breaks no rule that is written down")
                }
                What::File(file) if !restricted.is_empty() => {
                    let (file, flag) = (file.display(), restricted[0]);
                    bail!("--{flag} restricts what a seed means, and {file} holds the whole plan: leave it out")
                }
                What::Seed(seed) => replay_seed(seed, typed, systems, screen)?,
                What::File(file) if typed.check => check_file(&file, systems, screen)?,
                What::File(file) => replay_file(&file, typed, systems, screen)?,
            });
        }
    }
    if ran {
        return Ok(exit);
    }
    screen.remark("nothing ran: there is no saved failure in that folder");
    Ok(Exit::NothingRan)
}

fn meaning(word: &str) -> anyhow::Result<Vec<What>> {
    let path = Path::new(word);
    if path.is_dir() {
        return Ok(files::json_files(path)?.into_iter().map(What::File).collect());
    }
    if path.is_file() {
        return Ok(vec![What::File(path.to_path_buf())]);
    }
    let looks_like_a_file = word.contains(['/', '\\']) || word.ends_with(".json");
    if looks_like_a_file {
        return Err(anyhow!("{word}: there is no such file; `--save DIR` of `fuzz` writes them"));
    }
    parse_seed(word).map(|seed| vec![What::Seed(seed)]).map_err(|why| anyhow!("{why}, or the name of a file"))
}

fn replay_seed(seed: u64, typed: &Typed, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let restrictions = typed.restricted.meaning()?;
    let plan = generate(systems, seed, &restrictions).map_err(anyhow::Error::msg)?;
    let telling = Telling::of(plan, Some(seed), print_command(&restrictions, seed), systems)?;
    telling.print_plan(screen);
    telling.print_trace(screen, systems)?;
    write_history(typed, &telling, systems)?;
    telling.print_verdict(screen);
    Ok(exit_of(&telling.outcome))
}

fn replay_file(file: &Path, typed: &Typed, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let (saved, telling) = run_file(file, systems, screen)?;
    if typed.verbose {
        telling.print_plan(screen);
        telling.print_trace(screen, systems)?;
    }
    write_history(typed, &telling, systems)?;
    telling.print_verdict(screen);
    let (exit, sentence) = compare(&saved, &telling.outcome);
    screen.print(&format!("{}: {sentence}", file.display()));
    Ok(exit)
}

fn write_history(typed: &Typed, telling: &Telling, systems: Systems) -> anyhow::Result<()> {
    let Some(file) = &typed.history else { return Ok(()) };
    let Some(history) = telling.history(systems)? else {
        bail!("--history: the system {} has no clients whose operations are followed", telling.plan.system)
    };
    files::write_whole(file, &history)
}

fn check_file(file: &Path, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let (saved, telling) = run_file(file, systems, screen)?;
    let (exit, sentence) = compare(&saved, &telling.outcome);
    screen.print(&format!("{}: {sentence}", file.display()));
    Ok(match exit {
        Exit::Found if telling.outcome.verdict.rule() == saved.rule => Exit::Clean,
        Exit::Stale => Exit::Found,
        other => other,
    })
}

fn run_file(file: &Path, systems: Systems, screen: &Screen) -> anyhow::Result<(Saved, Telling)> {
    let saved = Saved::parse(&file.display().to_string(), &files::read(file)?, systems)?;
    if let Some(notice) = &saved.notice {
        screen.remark(&format!("{}: {notice}", file.display()));
    }
    let command = format!("cargo xtask replay {}", file.display());
    let telling = Telling::of(saved.plan.clone(), saved.seed, command, systems);
    Ok((saved, telling.with_context(|| file.display().to_string())?))
}

/// What a saved failure does now, against what it did, in one sentence.
fn compare(saved: &Saved, outcome: &Outcome) -> (Exit, String) {
    let rule = outcome.verdict.rule();
    let exit = match exit_of(outcome) {
        Exit::Clean => Exit::Stale,
        other => other,
    };
    let same_version = saved.plan.version == PLAN_VERSION;
    let sentence = match exit {
        Exit::Stale => format!("gone: `{}` is not broken any more, the run passes", saved.rule),
        Exit::Nondeterministic => "the same plan gave two different runs".to_owned(),
        _ if rule != saved.rule => format!("another failure: `{rule}` instead of `{}`", saved.rule),
        _ if !same_version => {
            format!("the same rule `{rule}`; hashes of plan version {} are not compared", saved.plan.version)
        }
        _ if outcome.hash == saved.trace_hash => {
            format!("the same failure: rule `{rule}`, trace hash {}", outcome.hash)
        }
        _ => format!(
            "the same rule `{rule}` in another run: trace hash {} instead of {}; the code has changed since it was saved",
            outcome.hash, saved.trace_hash
        ),
    };
    (exit, sentence)
}
