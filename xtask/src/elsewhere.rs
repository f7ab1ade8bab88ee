//! The template as another repository has it: written, built and tested outside of the workspace, and every line that its
//! program prints is one that works there.

use anyhow::Context;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What stands before a verb there.
const CALLED: &str = "cargo run --release -- ";

/// What ends with 0 there, whatever was found before.
const ALWAYS: [&str; 5] =
    ["scenario fmt --check", "scenario index", "scenario index --check", "scenario check", "faults --runs 5"];

/// The package of the template, and where it is built.
pub(crate) struct Elsewhere {
    folder: PathBuf,
    target: PathBuf,
}

impl Elsewhere {
    /// Inside of the folder where everything is built. What an earlier run left there is taken away.
    ///
    /// # Errors
    /// It cannot be.
    pub(crate) fn new(built: &Path) -> anyhow::Result<Elsewhere> {
        let folder = built.join("new-system");
        if folder.exists() {
            std::fs::remove_dir_all(&folder)
                .with_context(|| format!("{} cannot be removed", folder.display()))?;
        }
        Ok(Elsewhere { folder, target: built.join("new-system-target") })
    }

    /// What this program does to write it.
    pub(crate) fn writing(&self) -> String {
        format!("new-system lease-keeper {}", self.folder.display())
    }

    /// What cargo does to test it.
    pub(crate) fn tests(&self) -> String {
        let (folder, target) = (self.folder.display(), self.target.display());
        format!("test --release --manifest-path {folder}/Cargo.toml --target-dir {target}")
    }

    /// Has the bug of the template found there, and does what every line says that its program prints. Gives what is wrong.
    ///
    /// # Errors
    /// The program cannot be started.
    pub(crate) fn ways_on(&self) -> anyhow::Result<Option<String>> {
        let (code, found) = self.run("fuzz --seed 0 --for 60s --set lease-from=arrival")?;
        let behind = |line: &str| line.split_once(CALLED).map(|(_, words)| words.to_owned());
        let plain = |words: &String| !words.contains(['`', '\'', '[', '<']);
        let ways_on: Vec<String> = found.lines().filter_map(behind).filter(plain).collect();
        if code != Some(1) || !ways_on.iter().any(|words| words.contains(" --as ")) {
            return Ok(Some(format!("FAILED: exit {code:?}, no ways on: {found}")));
        }
        let ways_on = ways_on.into_iter().chain(ALWAYS.map(str::to_owned));
        for words in ways_on {
            let (code, text) = self.run(&words)?;
            // A failure that is shown is found once more; what is kept is kept.
            let right = if words.starts_with("replay") || words.starts_with("fuzz") { 1 } else { 0 };
            if code.is_none_or(|code| code != right && code != 0) || text.contains("xtask") {
                return Ok(Some(format!("FAILED: `{words}`: exit {code:?}: {text}")));
            }
        }
        Ok(found.contains("xtask").then(|| format!("FAILED: it names this project: {found}")))
    }

    fn run(&self, words: &str) -> anyhow::Result<(Option<i32>, String)> {
        let program =
            self.target.join("release/lease-keeper").with_extension(std::env::consts::EXE_EXTENSION);
        let mut command = Command::new(&program);
        command
            .args(words.split_whitespace())
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", &self.target);
        let output = command.output().with_context(|| format!("{} cannot be started", program.display()))?;
        let text = [output.stdout, output.stderr].concat();
        Ok((output.status.code(), String::from_utf8_lossy(&text).into_owned()))
    }
}
