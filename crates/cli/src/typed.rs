//! What was typed: the grammar of the command line; each verb says elsewhere what it means.

use crate::Format;
use crate::verb::{bench, demo, fuzz, replay, scenario};
use clap::parser::ValueSource;
use clap::{ArgMatches, Parser, Subcommand};

/// Deterministic simulation testing for Raft: one seed decides everything that happens in a run.
#[derive(Debug, Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    version,
    arg_required_else_help = true,
    after_help = EXIT_CODES,
    max_term_width = 110
)]
pub(crate) struct Typed {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// A verb with what was typed behind it.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Demo(demo::Typed),
    Fuzz(fuzz::Typed),
    Replay(replay::Typed),
    Scenario(scenario::Typed),
    Bench(bench::Typed),
}

const EXIT_CODES: &str = "\
Exit codes: 0 clean, 1 found something, 2 wrong usage or input file, 3 not deterministic, 4 nothing ran, \
5 a saved failure is gone, 6 no verdict within the budget, 70 a bug of our own, 130 interrupted.";

/// Which of the results people and programs get, for verbs that have both.
#[derive(Debug, clap::Args)]
pub(crate) struct FormatTyped {
    /// What results look like; JSON is one object per line on standard output.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", env = "WHITEWATER_MESSAGE_FORMAT")]
    pub(crate) message_format: Format,
}

impl Verb {
    /// What its results look like.
    pub(crate) fn format(&self) -> Format {
        match self {
            Verb::Fuzz(typed) => typed.format.message_format,
            Verb::Bench(typed) => typed.format.message_format,
            Verb::Demo(_) | Verb::Replay(_) | Verb::Scenario(_) => Format::Human,
        }
    }
}

/// Where the values of a verb come from.
pub(crate) struct Given<'a>(pub(crate) &'a ArgMatches);

impl Given<'_> {
    /// Among values of which one is enough, the one to follow: what was typed goes before variables.
    ///
    /// # Errors
    /// Two of them were typed, or two come from variables.
    pub(crate) fn one_of(&self, names: &[&'static str]) -> Result<Option<&'static str>, clap::Error> {
        for source in [ValueSource::CommandLine, ValueSource::EnvVariable] {
            let given: Vec<_> =
                names.iter().copied().filter(|name| self.0.value_source(name) == Some(source)).collect();
            match given[..] {
                [] => {}
                [name] => return Ok(Some(name)),
                [one, other, ..] => {
                    let text = format!("--{one} and --{other} cannot be used together: give one of them\n");
                    return Err(clap::Error::raw(clap::error::ErrorKind::ArgumentConflict, text));
                }
            }
        }
        Ok(None)
    }

    /// Whether a value was typed, and does not just come from a variable.
    pub(crate) fn is_typed(&self, name: &str) -> bool {
        self.0.value_source(name) == Some(ValueSource::CommandLine)
    }

    /// Whether a value was given at all.
    pub(crate) fn is_given(&self, name: &str) -> bool {
        matches!(self.0.value_source(name), Some(ValueSource::CommandLine | ValueSource::EnvVariable))
    }

    /// In which words to say where a value comes from.
    pub(crate) fn origin(&self, name: &str) -> &'static str {
        match self.0.value_source(name) {
            Some(ValueSource::CommandLine) => "typed",
            Some(ValueSource::EnvVariable) => "from its variable",
            _ => "by default",
        }
    }
}
