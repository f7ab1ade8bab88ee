//! Runs the data-driven tests of etcd's Raft on the core of this project, and compares line by line.
//!
//! A test file is a list of commands with the output etcd gave for each. There are three languages: interactions of
//! whole nodes, quorum arithmetic, and configuration changes; the commands of a file tell which one it speaks.
//!
//! Log lines of etcd, the ones that start with a level such as `INFO`, are dropped on both sides, and an output of `ok`
//! equals an empty one. Everything else has to be equal, character by character.

mod compare;
mod datadriven;
mod interaction;
mod membership;
mod quorum;

use std::fmt;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

pub use compare::Difference;
use datadriven::{Command, ParseError};

/// What became of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileOutcome {
    /// Every command gave the expected output.
    Equal {
        /// How many commands the file has.
        commands: usize,
    },
    /// A command gave another output; here is the first difference.
    Differs(Difference),
    /// The file could not be read, or is not a test file.
    Unreadable(String),
}

/// One file and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileReport {
    /// The file.
    pub path: PathBuf,
    /// What became of it.
    pub outcome: FileOutcome,
}

impl fmt::Display for FileReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.outcome {
            FileOutcome::Equal { commands } => write!(f, "ok    {path} ({commands} commands)"),
            FileOutcome::Differs(difference) => write!(f, "FAIL  {path}:{difference}"),
            FileOutcome::Unreadable(reason) => write!(f, "ERROR {path}: {reason}"),
        }
    }
}

/// Something that executes the commands of one file, in order.
trait Interpreter {
    /// The names of all commands of its language.
    fn commands(&self) -> &'static [&'static str];

    /// Executes a command and returns what it prints.
    fn execute(&mut self, command: &Command) -> String;
}

/// Runs every file, and every `.txt` file below every folder, in the order of their names.
pub fn run_paths(paths: &[PathBuf]) -> Vec<FileReport> {
    let mut reports = Vec::new();
    for path in paths {
        let mut files = Vec::new();
        match collect(path, &mut files) {
            Ok(()) if !files.is_empty() => {
                reports.extend(files.into_iter().map(|path| FileReport { outcome: run_file(&path), path }));
            }
            Ok(()) => reports.push(unreadable(path, "no test files here")),
            Err(error) => reports.push(unreadable(path, &error.to_string())),
        }
    }
    reports
}

/// Runs the paths and prints a line for each file and a summary.
///
/// The result is an exit code: 0 if all is equal, 1 if something differs, 2 if a file could not be read.
pub fn main_with(paths: &[PathBuf], out: &mut dyn Write) -> io::Result<u8> {
    if paths.is_empty() {
        writeln!(out, "usage: conformance PATH...")?;
        return Ok(2);
    }
    let reports = run_paths(paths);
    for report in &reports {
        writeln!(out, "{report}")?;
    }
    let count =
        |wanted: fn(&FileOutcome) -> bool| reports.iter().filter(|report| wanted(&report.outcome)).count();
    let equal = count(|outcome| matches!(outcome, FileOutcome::Equal { .. }));
    let unreadable = count(|outcome| matches!(outcome, FileOutcome::Unreadable(_)));
    writeln!(out, "{equal} of {} files equal", reports.len())?;
    Ok(if unreadable > 0 { 2 } else { u8::from(equal < reports.len()) })
}

/// Runs the text of a test file.
pub fn run_text(text: &str) -> FileOutcome {
    let commands = match datadriven::parse(text) {
        Ok(commands) => commands,
        Err(ParseError { line, reason }) => {
            return FileOutcome::Unreadable(format!("line {line}: {reason}"));
        }
    };
    let Some(first) = commands.first() else {
        return FileOutcome::Unreadable("no commands".to_string());
    };
    let mut interpreter: Box<dyn Interpreter> = match first.name.as_str() {
        "committed" | "vote" => Box::new(quorum::Suite),
        "simple" | "enter-joint" | "leave-joint" => Box::new(membership::Suite::default()),
        _ => Box::new(interaction::Suite::default()),
    };
    // Nothing runs of a file that cannot be understood to its end.
    let known = interpreter.commands();
    if let Some(Command { line, name, .. }) = commands.iter().find(|c| !known.contains(&c.name.as_str())) {
        let there = known.join(", ");
        return FileOutcome::Unreadable(format!(
            "line {line}: there is no command {name}; there are {there}"
        ));
    }
    for command in &commands {
        // A panic of the core on legal input is a difference like any other.
        let actual = catch_unwind(AssertUnwindSafe(|| interpreter.execute(command)))
            .unwrap_or_else(|_| "panic".to_string());
        if let Some(difference) = compare::first_difference(command, &actual) {
            return FileOutcome::Differs(difference);
        }
    }
    FileOutcome::Equal { commands: commands.len() }
}

fn run_file(path: &Path) -> FileOutcome {
    match std::fs::read_to_string(path) {
        Ok(text) => run_text(&text),
        Err(error) => FileOutcome::Unreadable(error.to_string()),
    }
}

fn unreadable(path: &Path, reason: &str) -> FileReport {
    FileReport { path: path.to_path_buf(), outcome: FileOutcome::Unreadable(reason.to_string()) }
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !path.is_dir() {
        std::fs::metadata(path)?;
        files.push(path.to_path_buf());
        return Ok(());
    }
    let mut children = std::fs::read_dir(path)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<_>>>()?;
    children.sort();
    for child in children {
        if child.is_dir() || child.extension().is_some_and(|extension| extension == "txt") {
            collect(&child, files)?;
        }
    }
    Ok(())
}
