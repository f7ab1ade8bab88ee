//! `new-system NAME DIR`: a package of its own, outside of this repository, with a small protocol that is under test.

use anyhow::{Context, bail};
use std::ffi::OsString;
use std::path::Path;
use whitewater_cli::{Exit, Screen};

/// What its help says.
pub(crate) const ABOUT: &str = "\
Writes a package with a small protocol under test into a folder: NAME, then DIR

It is a package of its own, to begin your own system with: a primary with backups and a lease (src/lib.rs), what must be \
true of it and what plans need to know (src/rules.rs), a command line (src/main.rs), a test that searches and a bug to find \
(tests), a scenario with its snapshots (scenarios), and a guide (README.md), which says what to replace by what.

NAME is what the package and the system are called: lower-case letters, digits and dashes, beginning with a letter. \
DIR must not be there yet; it should lie outside of this repository. The package depends on this one by its path.

    new-system my-system ../my-system
    cd ../my-system && cargo test --release";

/// The name that the template has for its package and its system.
const TEMPLATE: &str = "primary-backup";

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

/// Writes the template into a folder that is not there yet.
///
/// # Errors
/// The name is none that a package can have, the folder is there, or a file cannot be written.
pub(crate) fn run(screen: &Screen, operands: &[OsString]) -> anyhow::Result<Exit> {
    let [name, folder] = operands else { bail!("write `cargo xtask new-system NAME DIR`") };
    let name = name.to_str().filter(|name| is_name(name));
    let name = name.context("NAME is lower-case letters, digits and dashes, and begins with a letter")?;
    let folder = Path::new(folder);
    if folder.exists() {
        bail!("{} is there already: name a folder that is not", folder.display());
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in the top folder")?;
    for (file, text) in FILES {
        let path = folder.join(file.trim_end_matches(".in"));
        let parent = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent).with_context(|| format!("{} cannot be made", parent.display()))?;
        let text = text
            .replace("@WHITEWATER@", &root.display().to_string())
            .replace(TEMPLATE, name)
            .replace(&TEMPLATE.replace('-', "_"), &name.replace('-', "_"));
        std::fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    let place = folder.display();
    screen.print(&format!(
        "{place} holds the system `{name}`. Its guide is {place}/README.md: read it while this compiles,"
    ));
    screen.print("which takes a minute or two the first time:");
    screen.print(&format!("    cd {place} && cargo test --release"));
    Ok(Exit::Clean)
}

fn is_name(name: &str) -> bool {
    let right = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_that_a_package_can_have() {
        assert!(is_name("my-system2"));
        assert!(["", "2fast", "My", "my_system", "a b"].iter().all(|name| !is_name(name)));
    }
}
