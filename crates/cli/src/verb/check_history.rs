//! `check-history`: whether what clients saw can be explained by some order of their operations.

use crate::{Exit, Screen, files};
use std::path::{Path, PathBuf};
use whitewater_history::{Budget, Model, Options, Verdict, check, read};

/// Checks histories of clients for linearizability.
///
/// A file is a log as Jepsen prints it, maps of EDN, or JSON lines, one event each: {"process":1,"type":"invoke",
/// "f":"put","key":"a","value":"x"}. An operation without an end, or with `info` for one, may have taken place or not.
/// Exit codes: 0 some order explains every file, 1 none explains one of them, 2 a file cannot be read, 6 the search in one
/// of them was given up; of several files the worst, in the order 2, 1, 6.
#[derive(Debug, clap::Args)]
pub(crate) struct Typed {
    /// What the clients believe the objects to be.
    #[arg(long, value_name = "MODEL", value_parser = model)]
    model: Model,
    /// Searches all keys together as one object, instead of each by itself.
    #[arg(long)]
    no_split: bool,
    /// Gives a search up after so many configurations.
    #[arg(long, value_name = "N", default_value_t = Budget::default().configurations)]
    configurations: u64,
    /// Histories.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

fn model(name: &str) -> Result<Model, String> {
    let names = || Model::ALL.map(Model::name).join(", ");
    Model::ALL
        .into_iter()
        .find(|model| model.name() == name)
        .ok_or_else(|| format!("there is no model `{name}`; there are {}", names()))
}

pub(crate) fn run(typed: &Typed, screen: &Screen) -> Exit {
    let exits = typed.files.iter().map(|file| check_file(file, typed, screen));
    exits.max_by_key(|&exit| severity(exit)).unwrap_or(Exit::NothingRan)
}

/// How bad an exit is among those of several files.
fn severity(exit: Exit) -> u8 {
    match exit {
        Exit::Clean => 0,
        Exit::Unknown => 1,
        Exit::Found => 2,
        _ => 3,
    }
}

fn check_file(file: &Path, typed: &Typed, screen: &Screen) -> Exit {
    let name = file.display();
    let text = match files::read(file) {
        Ok(text) => text,
        Err(why) => {
            screen.remark(&format!("{why:#}"));
            return Exit::Usage;
        }
    };
    let history = match read(&text, typed.model) {
        Ok(history) => history,
        Err(why) => {
            screen.remark(&format!("{name}:{why}"));
            return Exit::Usage;
        }
    };
    let budget = Budget { configurations: typed.configurations, ..Budget::default() };
    let options = Options { model: typed.model, split: !typed.no_split, budget };
    match check(&history, options) {
        Verdict::Linearizable => {
            screen.print(&format!("{name}: linearizable, {} operations", history.operations.len()));
            Exit::Clean
        }
        Verdict::Violation(counter_example) => {
            screen.print(&format!("{name}: not linearizable: {}", counter_example.to_string().trim_end()));
            Exit::Found
        }
        Verdict::Unknown => {
            let given = typed.configurations;
            screen.print(&format!("{name}: unknown: the search was given up after {given} configurations"));
            Exit::Unknown
        }
    }
}
