//! `scenario schema` and `scenario index`: what is made of systems and scenarios, written or compared with what is there.

use super::{chosen, load, nothing};
use crate::program::called;
use crate::{Exit, Screen, Systems, files};
use anyhow::{Context, anyhow};
use std::path::Path;
use whitewater_plan::{SCHEMA, Scenario, index, schema};

/// What to do with it.
#[derive(Debug, clap::Args)]
pub(crate) struct Typed {
    /// Changes nothing and ends with 1 if what is there is not what it should be.
    #[arg(long)]
    check: bool,
}

/// Where the index begins in its file.
fn begin() -> String {
    format!("<!-- The index: written by `{} scenario index`. -->\n", called())
}

/// Where it ends.
const END: &str = "<!-- The end of the index. -->\n";

/// Writes the schema of scenario files, made of the systems there are.
pub(crate) fn write_schema(typed: &Typed, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let file = files::folder("scenarios").join(SCHEMA);
    write(typed, &file, &schema(systems), "schema", screen)
}

/// Writes the index of scenarios into `scenarios/README.md`, between its two marks; into a new file if there is none.
pub(crate) fn write_index(typed: &Typed, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let all = chosen(&[])?;
    if all.is_empty() {
        return Ok(nothing(screen));
    }
    let scenarios = all.iter().map(|file| load(file, systems)).collect::<anyhow::Result<Vec<Scenario>>>()?;
    let file = files::folder("scenarios").join("README.md");
    let begin = begin();
    let text = if file.exists() { files::read(&file)? } else { format!("# Scenarios\n\n{begin}{END}") };
    let parts = text.split_once(&begin).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = parts.ok_or_else(|| {
        anyhow!("{}: write these lines where the index is to stand:\n{begin}{END}", file.display())
    })?;
    write(typed, &file, &format!("{before}{begin}\n{}{END}{after}", index(&scenarios)), "index", screen)
}

/// Brings the index up to date where there is one, behind a scenario that was added.
pub(crate) fn renew_index(systems: Systems, screen: &Screen) -> anyhow::Result<()> {
    let file = files::folder("scenarios").join("README.md");
    if file.exists() && files::read(&file)?.contains(&begin()) {
        write_index(&Typed { check: false }, systems, screen)?;
    }
    Ok(())
}

fn write(typed: &Typed, file: &Path, text: &str, verb: &str, screen: &Screen) -> anyhow::Result<Exit> {
    let there = if file.exists() { files::read(file)? } else { String::new() };
    if there == text {
        return Ok(Exit::Clean);
    }
    if typed.check {
        let called = called();
        screen.print(&format!("{}: not up to date; `{called} scenario {verb}` mends it", file.display()));
        return Ok(Exit::Found);
    }
    files::write_whole(file, text).context("it cannot be written")?;
    screen.print(&format!("{}: written", file.display()));
    Ok(Exit::Clean)
}
