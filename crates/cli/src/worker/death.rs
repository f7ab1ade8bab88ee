//! What a worker process died of, and under which rule a search reports it.

use std::process::ExitStatus;
use std::time::Duration;

/// A run that its process did not survive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Death {
    /// The rule it is reported under.
    pub(crate) rule: &'static str,
    /// What happened, in one sentence.
    pub(crate) message: String,
}

impl Death {
    /// It did not answer in time.
    pub(super) fn hung(patience: Duration) -> Death {
        let seconds = patience.as_secs_f64();
        Death { rule: "hang", message: format!("a node did not come back within {seconds} s and was killed") }
    }

    /// It said something that is no answer.
    pub(super) fn garbled(message: String) -> Death {
        Death { rule: "abort", message }
    }

    /// What a status and the last words on standard error mean. The words are those of the standard library.
    pub(super) fn of(status: ExitStatus, words: &str) -> Death {
        let line = |needle: &str| words.lines().rev().find(|line| line.contains(needle));
        if let Some(said) = line("has overflowed its stack") {
            return Death { rule: "stack-overflow", message: format!("the process died: {}", said.trim()) };
        }
        if let Some(said) = line("memory allocation of") {
            return Death { rule: "memory", message: format!("the process died: {}", said.trim()) };
        }
        let said = words.lines().rev().map(str::trim).find(|line| !line.is_empty());
        let said = said.map_or_else(String::new, |said| format!("; its last words: {said}"));
        Death { rule: "abort", message: format!("the process died with {status}{said}") }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    #[test]
    fn the_last_words_tell_what_a_process_died_of() {
        let rule = |words: &str| Death::of(ExitStatus::from_raw(6), words).rule;
        assert_eq!(
            rule("x\nthread 'main' (7) has overflowed its stack\nfatal runtime error\n"),
            "stack-overflow"
        );
        assert_eq!(rule("memory allocation of 64 bytes failed\n"), "memory");
        assert_eq!(rule("something else\n"), "abort");
    }

    #[test]
    fn a_death_without_words_is_told_by_its_signal() {
        let death = Death::of(ExitStatus::from_raw(6), "");
        assert!(death.message.contains("signal: 6"), "{}", death.message);
        assert!(
            Death::of(ExitStatus::from_raw(6), "so long\n\n").message.ends_with("its last words: so long")
        );
    }
}
