//! Comparing expected and actual output, without the lines that are only chatter.

use crate::datadriven::Command;
use std::fmt;

/// The first place at which an output differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The line in the file, counted from 1; behind the output if lines are missing there.
    pub line: usize,
    /// The line of the command that gave the output.
    pub command_line: usize,
    /// The expected line, or `None` if the output should have ended.
    pub expected: Option<String>,
    /// The actual line, or `None` if the output has ended.
    pub actual: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |line: &Option<String>| line.clone().unwrap_or_else(|| "(nothing)".to_string());
        write!(
            f,
            "{}: output of the command in line {}\n        expected: {}\n        actual:   {}",
            self.line,
            self.command_line,
            show(&self.expected),
            show(&self.actual)
        )
    }
}

/// Where the output of a command differs from what is expected, if it does.
pub(crate) fn first_difference(command: &Command, actual: &str) -> Option<Difference> {
    let numbered = command.expected.iter().zip(command.expected_line..);
    let mut expected: Vec<(&str, usize)> = numbered
        .map(|(line, number)| (line.as_str(), number))
        .filter(|(line, _)| !is_chatter(line))
        .collect();
    let mut actual: Vec<&str> = actual.lines().filter(|line| !is_chatter(line)).collect();
    if expected.iter().map(|(line, _)| *line).eq(["ok"]) {
        expected.clear();
    }
    if actual == ["ok"] {
        actual.clear();
    }
    // What should be empty and is not differs at the `ok`.
    if let ([], [got, ..], [ok]) = (&expected[..], &actual[..], &command.expected[..])
        && !is_chatter(ok)
    {
        return Some(Difference {
            line: command.expected_line,
            command_line: command.line,
            expected: Some(ok.clone()),
            actual: Some((*got).to_owned()),
        });
    }
    let end = command.expected_line + command.expected.len();
    for at in 0..expected.len().max(actual.len()) {
        let (wanted, got) = (expected.get(at), actual.get(at));
        if wanted.map(|(line, _)| line) != got {
            return Some(Difference {
                line: wanted.map_or(end, |&(_, number)| number),
                command_line: command.line,
                expected: wanted.map(|(line, _)| line.to_string()),
                actual: got.map(|line| line.to_string()),
            });
        }
    }
    None
}

/// Whether a line is a log line.
fn is_chatter(line: &str) -> bool {
    let line = line.trim_start();
    ["DEBUG ", "INFO ", "WARN ", "ERROR ", "FATAL "].iter().any(|level| line.starts_with(level))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(expected: &[&str]) -> Command {
        let expected = expected.iter().map(|line| line.to_string()).collect();
        Command { line: 10, expected_line: 12, expected, ..Command::default() }
    }

    #[test]
    fn chatter_is_dropped_and_ok_equals_nothing() {
        let expected = command(&["INFO 1 became follower at term 1", "  DEBUG more"]);
        assert_eq!(first_difference(&expected, "ok"), None);
        assert_eq!(first_difference(&command(&["ok"]), ""), None);
        assert_eq!(first_difference(&command(&["ok"]), "WARN x\n"), None);
    }

    #[test]
    fn the_difference_is_reported_at_its_line_in_the_file() {
        let expected = command(&["INFO chatter", "Term:1", "Term:2"]);
        let difference = first_difference(&expected, "Term:1\nTerm:3").unwrap();
        assert_eq!((difference.line, difference.actual.as_deref()), (14, Some("Term:3")));
        let missing = first_difference(&expected, "Term:1").unwrap();
        assert_eq!((missing.line, missing.actual), (14, None));
        let not_empty = first_difference(&command(&["ok"]), "Term:1").unwrap();
        assert_eq!((not_empty.line, not_empty.expected.as_deref()), (12, Some("ok")));
        let more = first_difference(&expected, "Term:1\nTerm:2\nTerm:3").unwrap();
        assert_eq!((more.line, more.expected), (15, None));
    }
}
