//! Systems that are there only when somebody asks for one of them: built by a package of their own, or made of their name.

use crate::{Exit, Screen, System, Systems, files, interrupt, meant};
use anyhow::{Context, bail};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Systems in a package that is no part of the default build, and whose `main` is [`crate::main`] over them.
#[derive(Clone, Copy, Debug)]
pub struct Abroad {
    /// Their names.
    pub systems: &'static [&'static str],
    /// The manifest of the package.
    pub manifest: &'static str,
}

/// The variable that stands for `--system`.
const SYSTEM: &str = "WHITEWATER_SYSTEM";

/// Systems that are made of their names, such as `exec:COMMAND`.
#[derive(Clone, Copy)]
pub struct Made {
    /// What their names begin with.
    pub prefix: &'static str,
    /// Makes the system of that name.
    pub make: fn(&str) -> Result<&'static dyn System, String>,
}

impl Abroad {
    /// Whether what was typed names one of them.
    fn is_asked_for(&self, words: &[OsString]) -> bool {
        named(words).iter().any(|name| self.systems.contains(&name.as_str()))
    }
}

/// Everything in what was typed that may be the name of a system: as the system, as one of two to compare, or in a file.
fn named(words: &[OsString]) -> Vec<String> {
    let mut names: Vec<String> = std::env::var(SYSTEM).into_iter().collect();
    for word in words.iter().filter_map(|word| word.to_str()) {
        names.push(word.strip_prefix("--system=").unwrap_or(word).to_owned());
    }
    names.extend(files_meant(words).iter().filter_map(|file| system_in(file)));
    names
}

/// The files that words name: by path, as a fingerprint, as a variant of one, or as the folder they are in.
fn files_meant(words: &[OsString]) -> Vec<PathBuf> {
    let [verb, words @ ..] = words else { return Vec::new() };
    let takes_folders = ["seeds", "replay"].iter().any(|name| verb == name);
    let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    let mut files: Vec<PathBuf> =
        words.iter().filter_map(|word| meant::place_of(word).ok().and_then(|(file, _)| file)).collect();
    let folders = words.iter().map(Path::new).filter(|path| takes_folders && path.is_dir());
    let mut folders: Vec<PathBuf> = folders.map(Path::to_path_buf).collect();
    if verb == "seeds" && files.is_empty() && folders.is_empty() {
        folders.push(files::folder("seeds"));
    }
    files.extend(folders.iter().filter_map(|folder| files::json_files(folder).ok()).flatten());
    files
}

/// The system that a file is for.
fn system_in(file: &Path) -> Option<String> {
    file.extension().filter(|extension| *extension == "json")?;
    let value: serde_json::Value = serde_json::from_str(&files::read(file).ok()?).ok()?;
    value["system"].as_str().map(str::to_owned)
}

/// The systems there are, and those that are made because they are asked for.
///
/// # Errors
/// One of them cannot be made; the text says why.
pub(crate) fn with_made(systems: Systems, made: &[Made]) -> anyhow::Result<Systems> {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let mut names = named(&words);
    names.sort();
    names.dedup();
    let mut all = systems.to_vec();
    for name in &names {
        if let Some(made) = made.iter().find(|made| name.starts_with(made.prefix)) {
            all.push((made.make)(name).map_err(anyhow::Error::msg)?);
        }
    }
    Ok(if all.len() == systems.len() { systems } else { all.leak() })
}

/// Runs the same command line where the system it asks for is, and gives how that ended; `None` if that is here.
///
/// # Errors
/// Cargo cannot be started, or the build fails.
pub(crate) fn run_there(abroad: &[Abroad], screen: &Screen) -> anyhow::Result<Option<Exit>> {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let Some(place) = abroad.iter().find(|place| place.is_asked_for(&words)) else { return Ok(None) };
    let folder = target_folder(place);
    if !folder.exists() {
        screen.remark(&format!(
            "Builds {} and those beside it, into {}; the first time takes a while.",
            place.systems[0],
            folder.display()
        ));
    }
    // The second process gets Ctrl-C as well; this one has to outlive it to pass on how it ended.
    let _outlive = interrupt::flag();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(&cargo)
        .args(["run", "--quiet", "--profile", "fuzz", "--manifest-path", place.manifest])
        .arg("--target-dir")
        .arg(&folder)
        .arg("--")
        .args(words)
        .status()
        .with_context(|| format!("`{}` cannot be started", PathBuf::from(&cargo).display()))?;
    match status.code().and_then(Exit::with_code) {
        Some(exit) => Ok(Some(exit)),
        None => bail!("the build with {} did not come to an end: {status}", place.systems[0]),
    }
}

/// Where that build lies: in the target folder of the project, or whatever is used instead, under the name of its package.
fn target_folder(place: &Abroad) -> PathBuf {
    let package = Path::new(place.manifest).parent().unwrap_or(Path::new(""));
    let name = package.file_name().unwrap_or_default();
    let own = || package.ancestors().nth(2).unwrap_or(package).join("target");
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(own, PathBuf::from).join(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_asked_for_by_its_name_and_not_by_words_that_hold_it() {
        let place = Abroad { systems: &["elsewhere"], manifest: "crates/foreign/Cargo.toml" };
        let asked =
            |words: &[&str]| place.is_asked_for(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert!(asked(&["fuzz", "--system", "elsewhere"]));
        assert!(asked(&["fuzz", "--system=elsewhere", "--runs", "3"]));
        assert!(!asked(&["fuzz", "--set", "where=elsewhere.json"]));
        assert!(!asked(&["fuzz", "--system", "elsewhere-else"]));
    }

    #[test]
    fn a_system_is_asked_for_by_a_file_that_is_for_it_and_by_the_folder_of_that_file() {
        let folder = std::env::temp_dir().join(format!("whitewater-abroad-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("it can be made");
        let file = folder.join("F-0123456789.json");
        std::fs::write(&file, r#"{ "system": "elsewhere" }"#).expect("it can be written");
        std::fs::write(folder.join("damaged.json"), "{").expect("it can be written");
        let asked = |verb: &[&str], path: &Path| {
            let words = verb.iter().map(OsString::from).chain([path.as_os_str().to_owned()]);
            named(&words.collect::<Vec<_>>()).contains(&"elsewhere".to_owned())
        };
        assert!(asked(&["replay"], &file) && asked(&["trace", "why"], &file));
        assert!(asked(&["seeds", "verify"], &folder) && asked(&["replay"], &folder));
        assert!(!asked(&["fuzz", "--save"], &folder), "it is where something is written");
        std::fs::remove_dir_all(&folder).expect("it is ours");
    }
}
