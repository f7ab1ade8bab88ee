//! Any file that holds something to run, told apart by its fields.

use crate::file::Source;
use crate::{InputError, Plan, Saved, Scenario};
use whitewater_sim::System;

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputFile {
    /// A scenario: it has variants.
    Scenario(Scenario),
    /// A saved failure: it names the rule that was broken.
    Saved(Saved),
    /// A plan and nothing else.
    Plan(Plan),
}

impl InputFile {
    /// Reads a file of any kind.
    ///
    /// # Errors
    /// What is wrong, where, and how to mend it.
    pub fn parse(
        file_name: &str,
        json: &str,
        systems: &[&'static dyn System],
    ) -> Result<InputFile, InputError> {
        let source = Source::new(file_name, json);
        if source.has(&["variants"]) || source.has(&["name"]) {
            Scenario::parse(file_name, json, systems).map(InputFile::Scenario)
        } else if source.has(&["rule"]) || source.has(&["trace-hash"]) {
            Saved::parse(file_name, json, systems).map(InputFile::Saved)
        } else {
            Plan::parse(file_name, json, systems).map(InputFile::Plan)
        }
    }
}
