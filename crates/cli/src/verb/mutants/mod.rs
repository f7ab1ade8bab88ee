//! `mutants`: plants each bug by itself and measures how much search it takes to find it.

mod apart;
mod bug;
mod kept;
mod machine;
mod matrix;
mod search;
mod table;
mod tell;
mod watchers;

use crate::amount::{parse_count, parse_jobs};
use crate::given::FormatTyped;
use crate::verb::fuzz::meaning::parse_setting;
use crate::{Exit, Screen, Systems, interrupt, rebuild};
use anyhow::bail;
use bug::Bug;
use kept::Kept;
use search::Budget;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use tell::Result as Found;
use whitewater_plan::parse_seed;

/// In so many failures of a bug all rules are asked whether they see it, if a matrix is wanted.
const WATCHERS: u32 = 5;

/// Plants each bug by itself and measures how much search finds it; ends with 1 if one is not found.
///
/// Each bug is searched for until so many runs have broken a rule, or until the budget is spent. The median search counts.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Typed {
    /// Only these bugs; all there are if none is named.
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// A search gives up once so many messages were delivered.
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "100000000")]
    deliveries: u64,
    /// A search gives up once it has spent so much time on a core.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    core_seconds: u64,
    /// A search ends once so many runs have found the bug.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    hits: u32,
    /// The first seed.
    #[arg(long, value_name = "S", value_parser = parse_seed, default_value = "0")]
    seed: u64,
    /// Let only what clients see count, and none of the rules about the inside of a node.
    #[arg(long)]
    clients_only: bool,
    /// After that search once more for each bug of safety, for so long on a core, with nothing but what clients see.
    #[arg(long, value_name = "SECONDS", conflicts_with_all = ["clients_only", "machine", "apart"])]
    clients_too: Option<u64>,
    /// Give an option a value instead of a drawn one, such as `nodes=5`.
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_setting)]
    set: Vec<(String, String)>,
    /// One in so many of the bugs, chosen by the first seed; those that are named stay.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    one_in: u64,
    /// Only the bugs that are patches of the sources, each of which takes a build of its own.
    #[arg(long, conflicts_with = "named")]
    patches: bool,
    /// Only the bugs that are branches in the code.
    #[arg(long)]
    named: bool,
    /// None of those that are known to survive, with the reason.
    #[arg(long)]
    not_explained: bool,
    /// So many of the bugs that `cargo mutants` makes up, drawn by the first seed, instead of those that people planted.
    #[arg(long, value_name = "N", conflicts_with_all = ["ids", "patches", "named", "clients_only", "set"])]
    machine: Option<usize>,
    /// Compile what takes a build of its own, and search for nothing.
    #[arg(long)]
    build_only: bool,
    /// Shrink so many failures of each bug, and tell how well their fingerprints tell the bugs apart.
    #[arg(long, value_name = "N", conflicts_with_all = ["build_only", "resume", "table", "clients_only"])]
    apart: Option<usize>,
    /// Go on where a search with the same words was interrupted.
    #[arg(long)]
    resume: bool,
    /// Write the results of this and earlier searches into this file as a table.
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// In so many failures of each bug let every rule watch alone, and keep which of them see it.
    #[arg(long, value_name = "N", conflicts_with = "clients_only")]
    watchers: Option<u32>,
    /// Write which rules see which bug into this file, from this and earlier searches; `--watchers` is 5 unless given.
    #[arg(long, value_name = "FILE", conflicts_with = "clients_only")]
    matrix: Option<PathBuf>,
    /// Bugs at once; as many as there are cores unless given. The result does not depend on it.
    #[arg(long, value_name = "N", value_parser = parse_jobs, env = "WHITEWATER_JOBS")]
    jobs: Option<usize>,
    #[command(flatten)]
    pub(crate) format: FormatTyped,
}

impl Typed {
    /// Whether it takes a build with the named bugs: each patch gets a build of its own.
    pub(crate) fn needs_bugs(&self) -> bool {
        !self.patches && self.machine.is_none()
    }

    /// The same search with the eyes of clients, if that is wanted as well.
    fn of_clients(&self) -> Option<Typed> {
        let core_seconds = self.clients_too?;
        let (watchers, matrix, table) = (None, None, None);
        Some(Typed {
            clients_only: true,
            clients_too: None,
            core_seconds,
            watchers,
            matrix,
            table,
            ..self.clone()
        })
    }

    fn budget(&self) -> Budget {
        let watchers = self.watchers.unwrap_or(if self.matrix.is_some() { WATCHERS } else { 0 });
        Budget {
            deliveries: self.deliveries,
            core_seconds: self.core_seconds,
            hits: self.hits,
            watched: watchers,
        }
    }
}

/// Does what was typed.
pub(crate) fn run(typed: &Typed, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    if let Some(count) = typed.machine {
        return machine::run(count, typed, screen);
    }
    let root = rebuild::project_folder();
    let bugs = chosen(typed, bug::all(&root, systems)?)?;
    if let Some(count) = typed.apart {
        return apart::run(&bugs, count, typed, &root, systems, screen);
    }
    let Some(found) = search_all(&bugs, typed, &root, systems, screen)? else { return Ok(Exit::Interrupted) };
    if let Some(of_clients) = typed.of_clients() {
        let of_safety: Vec<Bug> = bugs.iter().filter(|bug| bug.is_of_safety()).cloned().collect();
        screen.print("\nWith nothing but the eyes of clients:");
        // It counts for the table, and not for whether a bug is found.
        if search_all(&of_safety, &of_clients, &root, systems, screen)?.is_none() {
            return Ok(Exit::Interrupted);
        }
    }
    let kept = Kept::open(typed, &rebuild::target())?;
    if !typed.build_only {
        tell::tell_all(&found, screen);
    }
    if let Some(file) = &typed.table {
        table::write(file, &bug::all(&root, systems)?, &kept)?;
    }
    if let Some(file) = &typed.matrix {
        matrix::write(file, &bug::all(&root, systems)?, systems, &kept)?;
    }
    let unexplained = |found: &Found| found.hits == 0 && found.survives.is_none();
    Ok(if found.iter().any(unexplained) { Exit::Found } else { Exit::Clean })
}

/// Searches for each of these bugs, several at once; in the order of their ids. None if that was interrupted.
fn search_all(
    bugs: &[Bug],
    typed: &Typed,
    root: &std::path::Path,
    systems: Systems,
    screen: &Screen,
) -> anyhow::Result<Option<Vec<Found>>> {
    let mut kept = Kept::open(typed, &rebuild::target())?;
    let done: Vec<Found> = bugs.iter().filter_map(|bug| kept.get(&bug.id)).collect();
    done.iter().for_each(|found| tell::tell(found, screen));
    let todo: VecDeque<Bug> = bugs.iter().filter(|bug| kept.get(&bug.id).is_none()).cloned().collect();
    let interrupted = interrupt::flag();
    let jobs = typed.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let (todo, results) = (Mutex::new(todo), Mutex::new((&mut kept, Vec::new())));
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                while !interrupted.load(Ordering::SeqCst) {
                    let Some(bug) = todo.lock().expect("nobody panics with it in hand").pop_front() else {
                        break;
                    };
                    let found = measure(&bug, typed, root, systems, screen, &interrupted);
                    if interrupted.load(Ordering::SeqCst) {
                        break;
                    }
                    let mut results = results.lock().expect("nobody panics with it in hand");
                    if let Ok(Some(found)) = &found {
                        results.0.keep(found);
                        tell::tell(found, screen);
                    }
                    results.1.push(found);
                }
            });
        }
    });
    if interrupted.load(Ordering::SeqCst) {
        return Ok(None);
    }
    let (_, results) = results.into_inner().expect("nobody panics with it in hand");
    let mut found = results.into_iter().collect::<anyhow::Result<Vec<_>>>()?;
    found.extend(done.into_iter().map(Some));
    let mut found: Vec<Found> = found.into_iter().flatten().collect();
    found.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(Some(found))
}

/// The bugs that were asked for.
fn chosen(typed: &Typed, all: Vec<Bug>) -> anyhow::Result<Vec<Bug>> {
    if let Some(wrong) = typed.ids.iter().find(|id| !all.iter().any(|bug| bug.id == **id)) {
        let there: Vec<_> = all.iter().map(|bug| bug.id.as_str()).collect();
        bail!("there is no bug `{wrong}`; there are {}", there.join(", "));
    }
    let named = |bug: &Bug| typed.ids.contains(&bug.id);
    let drawn = |at: usize| (typed.seed.wrapping_add(at as u64)).is_multiple_of(typed.one_in);
    let all = all.into_iter().filter(|bug| match &bug.patch {
        Some(_) => !typed.named,
        None => !typed.patches,
    });
    let all = all.enumerate();
    let wanted = |bug: &Bug| typed.ids.is_empty() && !(typed.not_explained && bug.survives.is_some());
    let asked = all.filter(|(at, bug)| named(bug) || wanted(bug) && drawn(*at));
    Ok(asked.map(|(_, bug)| bug).collect())
}

/// Searches for one bug, here or in a build of its own. None if that was only to be built.
fn measure(
    bug: &Bug,
    typed: &Typed,
    root: &std::path::Path,
    systems: Systems,
    screen: &Screen,
    interrupted: &std::sync::atomic::AtomicBool,
) -> anyhow::Result<Option<Found>> {
    let budget = typed.budget();
    let foreign = bug.patch.as_ref().filter(|_| !bug.is_here(systems));
    let Some(patch) = foreign else {
        if typed.build_only {
            return Ok(None);
        }
        let restrictions = search::restrictions(&bug.id, typed.clients_only, &typed.set);
        let stream = search::run(typed, &restrictions, &budget, systems, interrupted)?;
        return Ok(Some(Found::of(bug, &stream, &restrictions, typed.clients_only)));
    };
    let begun = std::time::Instant::now();
    let program = rebuild::build(patch, root, screen)?;
    let took = begun.elapsed().as_secs_f64();
    if typed.build_only {
        screen.print(&format!("{:<9} builds, in {took:.1} s", bug.id));
        return Ok(None);
    }
    let mut found = search::elsewhere(&program, bug, typed, &budget)?;
    found.build_seconds = Some(took);
    Ok(Some(found))
}
