//! What verbs share of what was typed: the format of results, and whether a value was typed or comes from a variable.

use crate::Format;
use clap::ArgMatches;
use clap::parser::ValueSource;

/// Which of the results people and programs get, for verbs that have both.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct FormatTyped {
    /// What results look like; JSON is one object per line on standard output.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", env = "WHITEWATER_MESSAGE_FORMAT")]
    pub(crate) message_format: Format,
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
