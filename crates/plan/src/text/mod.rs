//! The one text grammar: every setting and step of a script is one line.
//!
//! The same lines stand in scenario files, saved failures, traces and reports. Printing and reading are inverse to each
//! other: [`parse_script`] of [`script_lines`] is the same script.
//!
//! ```text
//! seed 0x5445                                         delay 1ms..10ms
//! crash n3 at 200ms until end losing unsynced         hold relay-ready n1->n2 until n1 leads
//! partition n1 | n2 n3 from 1s until 2s               propose x=1 at leader when n1 leads | a note
//! ```

mod disk;
mod pin;
mod print;
mod read;
mod setting;
mod step;
mod words;

pub use pin::print_pin;
pub use print::{print_action, print_condition, print_pattern, print_ratio, print_step, print_target};
pub(crate) use setting::Setting;

use read::Reader;
use thiserror::Error;
use whitewater_sim::{NodeId, Pin, Script, Step, System};

/// What is wrong with one line of a script.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {}, column {column}: {message}\n  mend: {mend}", line + 1)]
pub struct LineError {
    /// Position of the line, from 0.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What would be right.
    pub mend: String,
}

/// One line of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// Cluster, network, disks, horizon, settling, limits.
    Setting(Setting),
    /// A fault or an operation.
    Step(Step),
    /// A decision that is not left to the seed.
    Pin(Pin),
}

/// A script as lines, complete: [`parse_script`] reads them back as the same script.
pub fn script_lines(script: &Script) -> Vec<String> {
    let settings = Setting::all_of(script).into_iter().map(|setting| setting.to_string());
    settings.chain(script.steps.iter().map(print_step)).chain(script.pins.iter().map(print_pin)).collect()
}

/// Reads a script. What its lines leave open is as in [`Script::default`]; settings and steps may come in any order.
///
/// With a system, names of message kinds and timers and the texts of operations are checked as well.
///
/// # Errors
/// The first line that is wrong, with a mend.
pub fn parse_script(lines: &[String], system: Option<&dyn System>) -> Result<Script, LineError> {
    script_of(&parse_lines(lines, system)?, lines.len())
}

/// Reads one step.
///
/// # Errors
/// What is wrong with it; the line is 0.
pub fn parse_step(line: &str, system: Option<&dyn System>) -> Result<Step, LineError> {
    Reader::new(line, system).step()
}

/// The first words of settings and steps, in words.
pub(crate) fn words_of_scripts() -> String {
    [&read::STEPS[..], &read::SETTINGS[..]].concat().join(", ")
}

/// A line as it was read, with the nodes it names and their columns.
pub(crate) struct Read {
    pub(crate) line: Line,
    nodes: Vec<(usize, NodeId)>,
}

/// Reads lines one by one, without a look at the whole.
pub(crate) fn parse_lines(lines: &[String], system: Option<&dyn System>) -> Result<Vec<Read>, LineError> {
    let read = |(position, text): (usize, &String)| {
        let mut reader = Reader::new(text, system);
        let line = reader.line().map_err(|wrong| LineError { line: position, ..wrong })?;
        Ok(Read { line, nodes: reader.nodes })
    };
    lines.iter().enumerate().map(read).collect()
}

/// Makes a script of its lines.
pub(crate) fn script_of(lines: &[Read], count: usize) -> Result<Script, LineError> {
    let mut script = Script::default();
    let mut given: Vec<&'static str> = Vec::new();
    for (position, read) in lines.iter().enumerate() {
        match &read.line {
            Line::Step(step) => script.steps.push(step.clone()),
            Line::Pin(pin) => script.pins.push(pin.clone()),
            Line::Setting(setting) => {
                if given.contains(&setting.name()) {
                    return Err(LineError {
                        line: position,
                        column: 1,
                        message: format!("`{}` is given twice", setting.name()),
                        mend: "keep one of the two lines".to_owned(),
                    });
                }
                given.push(setting.name());
                setting.apply(&mut script);
            }
        }
    }
    check_nodes(lines, &script)?;
    script.validate().map_err(|message| LineError {
        line: count.saturating_sub(1),
        column: 1,
        message,
        mend: "change one of the lines that say so".to_owned(),
    })?;
    Ok(script)
}

fn check_nodes(lines: &[Read], script: &Script) -> Result<(), LineError> {
    for (position, read) in lines.iter().enumerate() {
        for &(column, node) in &read.nodes {
            if !script.has(node) {
                let clients = match script.clients {
                    0 => "no clients".to_owned(),
                    1 => "the client c1".to_owned(),
                    n => format!("the clients c1 to c{n}"),
                };
                let more = if node.is_server() { "servers" } else { "clients" };
                return Err(LineError {
                    line: position,
                    column,
                    message: format!(
                        "{node} is not in the cluster, which has n1 to n{} and {clients}",
                        script.servers
                    ),
                    mend: format!("name another node, or add the line `{more} {}`", node.position() + 1),
                });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
