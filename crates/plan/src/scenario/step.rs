//! Errors of a step that only a run shows, such as that it never happened: at its place in the file.

use super::Scenario;
use crate::InputError;
use crate::file::Source;
use crate::text::{Line, LineError, Read, parse_lines};
use serde::Deserialize;

#[derive(Deserialize)]
struct Lines {
    script: Vec<String>,
}

/// The lines that hold steps, in their order.
pub(super) fn step_lines(read: &[Read]) -> impl Iterator<Item = usize> + '_ {
    let steps = read.iter().enumerate().filter(|(_, read)| matches!(read.line, Line::Step(_)));
    steps.map(|(line, _)| line)
}

impl Scenario {
    /// What is wrong with a step of the script of a file that could be read; `step` counts steps alone, from 0.
    pub fn wrong_step(file_name: &str, json: &str, step: usize, message: String, mend: &str) -> InputError {
        let source = Source::new(file_name, json);
        let lines = source.parse().map_or_else(|_| Vec::new(), |Lines { script }| script);
        let is_step = |line: &String| {
            let read = parse_lines(std::slice::from_ref(line), None);
            read.is_ok_and(|read| matches!(read[0].line, Line::Step(_)))
        };
        let steps = lines.iter().enumerate().filter(|(_, line)| is_step(line));
        let line = steps.map(|(position, _)| position).nth(step).unwrap_or(lines.len());
        source.wrong_line(LineError { line, column: 1, message, mend: mend.to_owned() })
    }
}
