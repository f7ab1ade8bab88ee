//! `scenario`: named races in files; lists, runs, checks, shows, formats and begins them.

mod check;
mod fmt;
mod list;
mod new;
mod run;
mod show;
mod words;
mod written;

pub(crate) use new::{kebab, schema_in};
pub(crate) use written::renew_index;

use crate::{Exit, Screen, Systems, files, meant};
use anyhow::anyhow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use whitewater_plan::{Scenario, Variant};

/// Named races in files: a script, notes, and variants side by side.
#[derive(Debug, clap::Args)]
pub(crate) struct Typed {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    List(list::Typed),
    Run(run::Typed),
    Check(check::Typed),
    Show(show::Typed),
    Fmt(fmt::Typed),
    New(new::Typed),
    Words(words::Typed),
    /// Writes the schema of scenario files, made of the systems there are.
    Schema(written::Typed),
    /// Writes the index of scenarios into scenarios/README.md.
    Index(written::Typed),
}

impl Typed {
    /// The bugs that are planted in scenarios that are to be run; to read one takes no build that has them.
    pub(crate) fn bugs(&self, systems: Systems) -> BTreeSet<String> {
        let names = match &self.action {
            Action::Run(typed) => &typed.names,
            Action::Show(typed) => std::slice::from_ref(&typed.name),
            Action::List(_)
            | Action::Check(_)
            | Action::Fmt(_)
            | Action::New(_)
            | Action::Words(_)
            | Action::Schema(_)
            | Action::Index(_) => return BTreeSet::new(),
        };
        let files = chosen(names).unwrap_or_default();
        files.iter().flat_map(|file| meant::bugs_in(file, systems)).collect()
    }
}

/// Does what was typed.
pub(crate) fn run(typed: Typed, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    match typed.action {
        Action::List(_) => list::run(systems, screen),
        Action::Run(typed) => run::run(&typed, systems, screen),
        Action::Check(typed) => check::run(&typed, systems, screen),
        Action::Show(typed) => show::run(&typed, systems, screen),
        Action::Fmt(typed) => fmt::run(&typed, systems, screen),
        Action::New(typed) => new::run(&typed, systems, screen),
        Action::Words(typed) => words::run(&typed, systems, screen),
        Action::Schema(typed) => written::write_schema(&typed, systems, screen),
        Action::Index(typed) => written::write_index(&typed, systems, screen),
    }
}

/// The files meant by names of scenarios or files; all scenarios if none is named.
fn chosen(names: &[String]) -> anyhow::Result<Vec<PathBuf>> {
    let all = files::json_files(&files::folder("scenarios"))?;
    if names.is_empty() {
        return Ok(all);
    }
    names.iter().map(|name| find(name, &all)).collect()
}

fn find(name: &str, all: &[PathBuf]) -> anyhow::Result<PathBuf> {
    let path = Path::new(name);
    if path.is_file() {
        return Ok(path.to_path_buf());
    }
    if path.is_dir() {
        return Err(anyhow!("{name}: is a folder; name a file in it, or a scenario without `.json`"));
    }
    let stem = |path: &PathBuf| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    all.iter().find(|path| stem(path) == name).cloned().ok_or_else(|| {
        let names: Vec<_> = all.iter().map(stem).collect();
        match names.is_empty() {
            true => anyhow!("there is no scenario or file `{name}`; there are none in this project"),
            false => anyhow!("there is no scenario or file `{name}`; there are: {}", names.join(", ")),
        }
    })
}

/// Reads a scenario file.
fn load(path: &Path, systems: Systems) -> anyhow::Result<Scenario> {
    Ok(Scenario::parse(&path.display().to_string(), &files::read(path)?, systems)?)
}

/// The variants meant: one by its name, or all.
fn variants<'a>(scenario: &'a Scenario, only: Option<&str>) -> anyhow::Result<Vec<&'a Variant>> {
    let Some(only) = only else { return Ok(scenario.variants.iter().collect()) };
    let found = scenario.variants.iter().find(|variant| variant.name == only);
    found.map(|variant| vec![variant]).ok_or_else(|| {
        let names: Vec<_> = scenario.variants.iter().map(|variant| variant.name.as_str()).collect();
        anyhow!("{} has no variant `{only}`; there are: {}", scenario.name, names.join(", "))
    })
}

/// Says that there is no scenario, which must not look like success.
fn nothing(screen: &Screen) -> Exit {
    screen.remark("nothing ran: there are no scenarios in this project");
    Exit::NothingRan
}
