//! `scenario new`: begins a scenario file that runs as it is and waits for its race.

use crate::program::called;
use crate::{Exit, Screen, Systems, files};
use anyhow::{anyhow, bail};
use std::path::Path;
use whitewater_plan::{SCHEMA, Scenario};

/// Begins a scenario: writes a file that runs as it is.
#[derive(Debug, clap::Args)]
pub(crate) struct Typed {
    /// Its name in kebab-case, which is that of the file without `.json`.
    #[arg(value_name = "NAME")]
    name: String,
    /// The system it is for; the first of the project if none is named.
    #[arg(long, value_name = "NAME", env = "WHITEWATER_SYSTEM")]
    system: Option<String>,
}

pub(crate) fn run(typed: &Typed, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let name = kebab(&typed.name)?;
    let names: Vec<_> = systems.iter().map(|system| system.name()).collect();
    let wanted = typed.system.as_deref().or(names.first().copied()).unwrap_or_default();
    if !names.contains(&wanted) {
        return Err(anyhow!("there is no system `{wanted}`; there are: {}", names.join(", ")));
    }
    let folder = files::folder("scenarios");
    let file = folder.join(format!("{name}.json"));
    if file.exists() {
        bail!("{}: there is one already; choose another name", file.display());
    }
    let notes = vec!["What happens, and why it matters.".to_owned()];
    let scenario = Scenario {
        notes,
        schema: schema_in(&folder),
        theme: Some("what it is about".to_owned()),
        moral: Some("What is to be learned from it, in one sentence.".to_owned()),
        source: Some("who has had it, or where it is written of".to_owned()),
        ..Scenario::begin(name, wanted)
    };
    files::write_whole(&file, &scenario.format())?;
    let called = called();
    screen
        .print(&format!("{}: written; add steps to it, then `{called} scenario run {name}`", file.display()));
    Ok(Exit::Clean)
}

/// What a scenario in a folder says of its schema: where it is, if there is one.
pub(crate) fn schema_in(folder: &Path) -> Option<String> {
    folder.join(SCHEMA).is_file().then(|| SCHEMA.to_owned())
}

/// The name, if it can be that of a scenario.
///
/// # Errors
/// It cannot; says how names are written.
pub(crate) fn kebab(name: &str) -> anyhow::Result<&str> {
    let word =
        |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    match name.split('-').all(word) {
        true => Ok(name),
        false => Err(anyhow!(
            "`{name}` is no name for a scenario: write small words with hyphens between, as in leader-announce-before-relay-ready"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_small_words_with_hyphens_between() {
        assert!(kebab("two-leaders-1").is_ok());
        for name in ["", "Two", "two_leaders", "-two", "two--leaders", "../two", "two.json"] {
            assert!(kebab(name).is_err(), "{name}");
        }
    }
}
