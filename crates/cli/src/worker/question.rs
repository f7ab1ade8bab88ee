//! What a worker can be asked, as a line of text.

use std::fmt;
use std::str::FromStr;

/// A question; the answer is one line of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// What the run of a seed of a search comes to, made twice if so.
    Attempt {
        /// The seed.
        seed: u64,
        /// Whether it is made twice.
        twice: bool,
    },
    /// What the run of a seed says.
    Print(u64),
    /// The events of the run of a seed.
    Events(u64),
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Question::Attempt { seed, twice: false } => write!(f, "attempt {seed}"),
            Question::Attempt { seed, twice: true } => write!(f, "attempt-twice {seed}"),
            Question::Print(seed) => write!(f, "print {seed}"),
            Question::Events(seed) => write!(f, "events {seed}"),
        }
    }
}

impl FromStr for Question {
    type Err = String;

    fn from_str(line: &str) -> Result<Question, String> {
        let unknown =
            || format!("`{line}` is no question: attempt, attempt-twice, print or events, and a seed");
        let (word, seed) = line.trim().split_once(' ').ok_or_else(unknown)?;
        let seed = seed.parse().map_err(|_| unknown())?;
        match word {
            "attempt" => Ok(Question::Attempt { seed, twice: false }),
            "attempt-twice" => Ok(Question::Attempt { seed, twice: true }),
            "print" => Ok(Question::Print(seed)),
            "events" => Ok(Question::Events(seed)),
            _ => Err(unknown()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_is_read_as_it_was_written() {
        let seed = u64::MAX;
        for question in [
            Question::Attempt { seed, twice: false },
            Question::Attempt { seed: 0, twice: true },
            Question::Print(seed),
            Question::Events(7),
        ] {
            assert_eq!(question.to_string().parse(), Ok(question));
        }
        for line in ["", "print", "print x", "ask 1"] {
            assert!(line.parse::<Question>().unwrap_err().contains("no question"), "{line}");
        }
    }
}
