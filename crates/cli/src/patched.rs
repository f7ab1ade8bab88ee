//! Builds a copy of the sources with one bug patched in, in a folder of its own, once for each state of the sources.

use crate::rebuild;
use anyhow::{Context, bail};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use whitewater_mutants::Patch;
use whitewater_sim::Digester;

/// The profile of cargo for a program that is thrown away soon, and so not worth the time to make it fast.
const PROFILE: &str = "planted";

/// What a build needs of the project; everything else stays where it is.
const NEEDED: &[&str] =
    &["Cargo.toml", "Cargo.lock", "README.md", ".cargo", "crates", "xtask", "scenarios", "seeds"];
/// Folders within it that no build needs.
const NEEDLESS: &[&str] = &["target", "patches"];

/// The program with this bug in it, built if there is none yet for the sources as they are.
///
/// # Errors
/// The patch does not apply, a file cannot be read or written, or the build fails.
pub(crate) fn program(root: &Path, target: &Path, package: &str, patch: &Patch) -> anyhow::Result<PathBuf> {
    let home = target.join("patched");
    fs::create_dir_all(&home).with_context(|| format!("{} cannot be made", home.display()))?;
    let _lock = Lock::take(&home)?;
    let mut tree = Tree::of(root)?;
    for (path, text) in patch.apply(root)? {
        tree.files.retain(|(other, _)| *other != path);
        tree.files.push((path, text.into_bytes()));
    }
    tree.files.sort();
    let folder = home.join("programs").join(format!("{}-{:016x}", patch.id, tree.hash(package)));
    let program = folder.join(package).with_extension(std::env::consts::EXE_EXTENSION);
    if program.is_file() {
        return Ok(program);
    }
    let source = home.join("source");
    tree.write(&source)?;
    build(&source, &home.join("build"), package, patch)?;
    let built =
        home.join("build").join(PROFILE).join(package).with_extension(std::env::consts::EXE_EXTENSION);
    forget_older(&home.join("programs"), &patch.id);
    fs::create_dir_all(&folder)?;
    // Under another name first: a copy that was interrupted must not be taken for a program.
    let half = folder.join("half");
    fs::copy(&built, &half).with_context(|| format!("{} cannot be copied", built.display()))?;
    fs::rename(&half, &program)?;
    Ok(program)
}

/// Makes a folder hold the sources as they are and nothing else; what is the same there stays untouched.
///
/// # Errors
/// A file cannot be read or written.
pub(crate) fn copy(root: &Path, folder: &Path) -> anyhow::Result<()> {
    Tree::of(root)?.write(folder)
}

fn build(source: &Path, target: &Path, package: &str, patch: &Patch) -> anyhow::Result<()> {
    let mut cargo = rebuild::cargo();
    cargo
        .args(["build", "--quiet", "--profile", PROFILE, "--package", package, "--target-dir"])
        .arg(target)
        .current_dir(source)
        // The system that shows the bug lists it as its own.
        .env(format!("WHITEWATER_PATCH_{}", patch.system.to_uppercase()), &patch.id);
    let output = cargo.output().with_context(|| rebuild::not_started(&cargo))?;
    if !output.status.success() {
        bail!(
            "the sources do not compile with the bug `{}` patched in:\n{}",
            patch.id,
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(())
}

/// Programs with this bug in sources as they were.
fn forget_older(programs: &Path, id: &str) {
    let Ok(entries) = fs::read_dir(programs) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.rsplit_once('-').is_some_and(|(other, _)| other == id) {
            // What cannot be removed wastes space and nothing else.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The files of a project, in memory.
struct Tree {
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl Tree {
    fn of(root: &Path) -> anyhow::Result<Tree> {
        let mut tree = Tree { files: Vec::new() };
        for name in NEEDED {
            if root.join(name).exists() {
                tree.read(root, Path::new(name))?;
            }
        }
        Ok(tree)
    }

    fn read(&mut self, root: &Path, path: &Path) -> anyhow::Result<()> {
        let full = root.join(path);
        let failed = || format!("{} cannot be read", full.display());
        if !full.is_dir() {
            self.files.push((path.to_path_buf(), fs::read(&full).with_context(failed)?));
            return Ok(());
        }
        for entry in fs::read_dir(&full).with_context(failed)? {
            let name = entry.with_context(failed)?.file_name();
            if !NEEDLESS.iter().any(|needless| name == *needless) {
                self.read(root, &path.join(name))?;
            }
        }
        Ok(())
    }

    /// Tells states of the sources apart.
    fn hash(&self, package: &str) -> u64 {
        let mut digester = Digester::default();
        let mut take = |bytes: &[u8]| {
            digester.word(bytes.len() as u64);
            digester.bytes(bytes);
        };
        take(package.as_bytes());
        for (path, text) in &self.files {
            take(path.to_string_lossy().as_bytes());
            take(text);
        }
        digester.short()
    }

    /// Makes a folder hold these files and no others. What is there already stays untouched, so that cargo need not build it
    /// again.
    fn write(&self, folder: &Path) -> anyhow::Result<()> {
        let wanted: BTreeSet<&Path> = self.files.iter().map(|(path, _)| path.as_path()).collect();
        if folder.is_dir() {
            for (path, _) in &Tree::of(folder)?.files {
                if !wanted.contains(path.as_path()) {
                    fs::remove_file(folder.join(path))?;
                }
            }
        }
        for (path, text) in &self.files {
            let full = folder.join(path);
            if fs::read(&full).is_ok_and(|there| there == *text) {
                continue;
            }
            let parent = full.parent().context("a file lies in a folder")?;
            fs::create_dir_all(parent)?;
            fs::write(&full, text).with_context(|| format!("{} cannot be written", full.display()))?;
        }
        Ok(())
    }
}

/// One build at a time: all share the copy of the sources.
struct Lock {
    #[cfg(unix)]
    _file: fs::File,
}

impl Lock {
    #[cfg(unix)]
    fn take(home: &Path) -> anyhow::Result<Lock> {
        let file = fs::File::create(home.join("lock"))?;
        rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive)?;
        Ok(Lock { _file: file })
    }

    #[cfg(not(unix))]
    fn take(_home: &Path) -> anyhow::Result<Lock> {
        Ok(Lock {})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_the_sources_holds_what_they_hold_and_nothing_that_is_gone() {
        let home = std::env::temp_dir().join(format!("whitewater-patched-{}", std::process::id()));
        let (root, copy) = (home.join("root"), home.join("copy"));
        fs::create_dir_all(root.join("crates/a/target")).unwrap();
        fs::write(root.join("Cargo.toml"), "one").unwrap();
        fs::write(root.join("crates/a/old.rs"), "old").unwrap();
        fs::write(root.join("crates/a/target/x"), "needless").unwrap();
        let first = Tree::of(&root).unwrap();
        first.write(&copy).unwrap();
        assert!(copy.join("crates/a/old.rs").is_file() && !copy.join("crates/a/target").exists());
        fs::rename(root.join("crates/a/old.rs"), root.join("crates/a/new.rs")).unwrap();
        let second = Tree::of(&root).unwrap();
        second.write(&copy).unwrap();
        assert!(!copy.join("crates/a/old.rs").exists() && copy.join("crates/a/new.rs").is_file());
        assert_ne!(first.hash("p"), second.hash("p"));
        fs::remove_dir_all(home).unwrap();
    }
}
