//! What the tests share: the project's folder, its files, and a way to run the command line.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The project's top folder.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the top folder")
}

/// Every file of the project relative to the top folder, without what is built or ignored.
pub(crate) fn tracked() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![root().to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the project can be read") {
            let path = entry.expect("an entry can be read").path();
            let relative = path.strip_prefix(root()).expect("we walk the project").to_path_buf();
            if relative == Path::new("target") || relative == Path::new(".git") {
                continue;
            }
            if path.is_dir() { open.push(path) } else { files.push(relative) }
        }
    }
    files.sort();
    files
}

/// Files with their text.
pub(crate) fn read(paths: impl IntoIterator<Item = PathBuf>) -> Vec<(PathBuf, String)> {
    let text = |path: PathBuf| {
        let text = fs::read_to_string(root().join(&path)).expect("a file of the project is text");
        (path, text)
    };
    paths.into_iter().map(text).collect()
}

/// Every Rust file of the project with its text.
pub(crate) fn sources() -> Vec<(PathBuf, String)> {
    let sources = read(tracked().into_iter().filter(|path| path.extension().is_some_and(|e| e == "rs")));
    assert!(sources.len() > 10, "the sources are found");
    sources
}

/// A command line that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Its exit code.
    pub(crate) code: i32,
    /// What it wrote to standard output.
    pub(crate) out: String,
    /// What it wrote to standard error.
    pub(crate) err: String,
}

impl Ended {
    /// Its standard output as one JSON object per line.
    pub(crate) fn lines(&self) -> Vec<serde_json::Value> {
        let line = |line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e} in `{line}`"));
        self.out.lines().map(line).collect()
    }

    /// Its JSON lines of one type.
    pub(crate) fn of_type(&self, name: &str) -> Vec<serde_json::Value> {
        self.lines().into_iter().filter(|line| line["type"] == name).collect()
    }

    /// Panics unless it ended with that code and standard error holds all these texts.
    pub(crate) fn refused(&self, code: i32, texts: &[&str]) {
        assert_eq!(self.code, code, "{self:#?}");
        for text in texts {
            assert!(self.err.contains(text), "`{text}` is missing in:\n{}", self.err);
        }
    }
}

/// The command line, in the top folder, with none of its variables set.
pub(crate) fn command(words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(words.split_whitespace()).current_dir(root()).stdin(Stdio::null());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("WHITEWATER_") {
            command.env_remove(name);
        }
    }
    // Whoever tests shrinking asks for it.
    command.env("WHITEWATER_SHRINK", "off");
    command
}

/// Runs a command to its end.
pub(crate) fn ended(command: &mut Command) -> Ended {
    let output = command.output().expect("the command line can be started");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it writes text");
    Ended { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
}

/// Runs the command line with these words, separated by spaces.
pub(crate) fn run(words: &str) -> Ended {
    ended(&mut command(words))
}

/// An empty folder for one test.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("an old folder of a test can be removed");
    }
    fs::create_dir_all(&folder).expect("a folder for a test can be made");
    folder
}
