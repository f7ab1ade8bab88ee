//! `new-system NAME DIR`: a package of its own, outside of this repository, with a small protocol that is under test.

use anyhow::{Context, bail};
use std::ffi::OsString;
use std::path::Path;
use whitewater_cli::{Exit, Screen, quoted};

/// What its help says.
pub(crate) const ABOUT: &str = "\
Writes a package with a small protocol under test into a folder: NAME, then DIR

It is a package of its own, to begin your own system with: a primary with backups and a lease (src/lib.rs), what must be \
true of it and what plans need to know (src/rules.rs), a command line (src/main.rs), a test that searches and a bug to find \
(tests), a scenario with its snapshots (scenarios), and a guide (README.md), which says what to replace by what.

NAME is what the package and the system are called: at most 64 lower-case letters, digits and dashes, beginning with a \
letter, and no keyword of Rust. DIR must not be there yet, or be empty; it should lie outside of this repository. The package \
depends on this one by its path.

    new-system my-system ../my-system
    cd ../my-system && cargo test --release";

/// The name that the template has for its package and its system.
const TEMPLATE: &str = "primary-backup";

/// Names that no package to build can have: keywords of Rust; crates that are there already; folders of cargo.
const TAKEN: &str = "\
    abstract as async await become box break const continue crate do dyn else enum extern false final fn for gen if impl in let \
    loop macro match mod move mut override priv pub ref return self static struct super trait true try type typeof unsafe \
    unsized use virtual where while yield \
    alloc core proc-macro std test \
    build deps examples incremental";
/// What the packages of this project begin with: two of one name cannot be told apart where versions are written down.
const OURS: &str = "whitewater";

macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../crates/whitewater/template/", $name)))),+]
    };
}

/// The files of the template.
const FILES: &[(&str, &str)] = files![
    "Cargo.toml.in",
    "README.md",
    "src/lib.rs",
    "src/main.rs",
    "src/rules.rs",
    "tests/survives.rs",
    "scenarios/late-lease.json",
    "scenarios/snapshots/late-lease@from-arrival.snap",
    "scenarios/snapshots/late-lease@from-asking.snap",
];

/// Writes the template into a folder that is not there yet, or is empty.
///
/// # Errors
/// The name is none that a package can have, something is in the folder, or a file cannot be written.
pub(crate) fn run(screen: &Screen, operands: &[OsString]) -> anyhow::Result<Exit> {
    let [name, folder] = operands else { bail!("write `cargo xtask new-system NAME DIR`") };
    let name = name.to_str().filter(|name| is_name(name));
    let name = name.context(
        "NAME is lower-case letters, digits and dashes, 64 of them at most, and begins with a letter, such as `my-system`",
    )?;
    if is_taken(name) {
        bail!(
            "no package can be called `{name}`, which Rust, cargo or this project needs for itself: add a word, such as `my-{name}`"
        );
    }
    if folder.is_empty() {
        bail!("DIR is empty: name a folder, such as ../{name}; `.` is the one you are in");
    }
    let folder = Path::new(folder);
    if folder.symlink_metadata().is_ok() && !is_empty_folder(folder) {
        bail!("{} is there already: name a folder that is not, or that is empty", folder.display());
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in the top folder")?;
    // A backslash would begin an escape in the manifest.
    let root = root.display().to_string().replace('\\', "/");
    for (file, text) in FILES {
        let path = folder.join(file.trim_end_matches(".in"));
        let parent = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent).with_context(|| format!("{} cannot be made", parent.display()))?;
        let text = text
            .replace("@WHITEWATER@", &root)
            .replace(TEMPLATE, name)
            .replace(&TEMPLATE.replace('-', "_"), &name.replace('-', "_"));
        std::fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    let place = folder.display();
    screen.print(&format!(
        "{place} holds the system `{name}`. Its guide is {place}/README.md: read it while this compiles,"
    ));
    screen.print("which takes a minute or two the first time:");
    screen.print(&format!("    cd {} && cargo test --release", quoted(&place.to_string())));
    Ok(Exit::Clean)
}

fn is_name(name: &str) -> bool {
    let right = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(right) && name.len() <= 64
}

fn is_taken(name: &str) -> bool {
    TAKEN.split_whitespace().any(|taken| taken == name) || name.split('-').next() == Some(OURS)
}

fn is_empty_folder(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut files| files.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_that_a_package_can_have() {
        assert!(is_name("my-system2"));
        assert!(["", "2fast", "My", "my_system", "a b", "größe", "../up"].iter().all(|name| !is_name(name)));
        assert!(is_name(&"a".repeat(64)) && !is_name(&"a".repeat(65)));
    }

    #[test]
    fn a_name_that_no_crate_can_have_is_taken() {
        assert!(
            ["match", "gen", "core", "test", "deps", "whitewater", "whitewater-sim"]
                .into_iter()
                .all(is_taken)
        );
        assert!(
            ["matcher", "my-match", "server", "whitewaters", "x"].into_iter().all(|name| !is_taken(name))
        );
    }

    #[test]
    fn nothing_that_is_there_is_written_over() {
        let folder = std::env::temp_dir().join(format!("whitewater-new-system-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        assert!(is_empty_folder(&folder));
        std::fs::write(folder.join("README.md"), "mine").unwrap();
        let made = |folder: &Path| {
            let screen = Screen::new(whitewater_cli::Format::Human);
            run(&screen, &["my-system".into(), folder.into()]).map(drop).map_err(|error| error.to_string())
        };
        assert!(made(&folder).unwrap_err().contains("is there already"));
        assert!(made(&folder.join("README.md")).unwrap_err().contains("is there already"));
        assert!(made(Path::new("")).unwrap_err().contains("DIR is empty"));
        assert_eq!(std::fs::read_to_string(folder.join("README.md")).unwrap(), "mine");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
