//! Worker processes: this program once more, which runs seeds on demand and may be killed.
//!
//! A worker reads questions from its standard input, a line each, and answers each with one line of JSON behind
//! [`MARK`], so that whatever a node prints is no answer. What becomes of a worker that does not answer is a [`Death`].

mod death;
mod question;

pub(crate) use death::Death;
pub(crate) use question::Question;

use anyhow::Context;
use serde::de::DeserializeOwned;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use whitewater_plan::Restrictions;

/// What stands before an answer.
pub(crate) const MARK: &str = "whitewater-answer ";

/// The name of the verb that answers; it is in no list of verbs.
pub(crate) const VERB: &str = "worker";

/// Bytes of what a worker says at last that are kept.
const LAST_WORDS_BYTES: usize = 8 * 1024;

/// A worker process.
pub(crate) struct Worker {
    child: Child,
    questions: ChildStdin,
    answers: Receiver<String>,
    last_words: Option<JoinHandle<Vec<u8>>>,
}

/// The command that starts a worker of this very program.
///
/// # Errors
/// The operating system does not say where this program lies.
pub(crate) fn of_this_program() -> anyhow::Result<Command> {
    let program = std::env::current_exe().context("this program cannot find itself to start workers")?;
    let mut command = Command::new(program);
    command.arg(VERB);
    Ok(command)
}

/// The words that restrict a worker as this program was restricted.
pub(crate) fn words(restrictions: &Restrictions) -> Vec<String> {
    let mut words = Vec::new();
    let mut add = |name: &str, value: String| words.extend([format!("--{name}"), value]);
    if let Some(system) = &restrictions.system {
        add("system", system.clone());
    }
    if let Some(profile) = restrictions.profile {
        add("profile", profile.to_string());
    }
    restrictions.set.iter().for_each(|(name, value)| add("set", format!("{name}={value}")));
    if let Some(bug) = &restrictions.bug {
        add("mutant", bug.clone());
    }
    words
}

impl Worker {
    /// Starts a worker.
    ///
    /// # Errors
    /// It cannot be started.
    pub(crate) fn start(mut command: Command) -> anyhow::Result<Worker> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().to_string_lossy()))?;
        let questions = child.stdin.take().expect("it was piped");
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let (sender, answers) = channel();
        thread::spawn(move || {
            let lines = BufReader::new(out.expect("it was piped")).lines().map_while(Result::ok);
            for line in lines {
                if let Some(answer) = line.strip_prefix(MARK)
                    && sender.send(answer.to_owned()).is_err()
                {
                    return;
                }
            }
        });
        let last_words = thread::spawn(move || last_of(err.expect("it was piped")));
        Ok(Worker { child, questions, answers, last_words: Some(last_words) })
    }

    /// Asks, and waits for the answer, not longer than `patience` if there is one.
    ///
    /// # Errors
    /// The worker has died of the question, or was killed because it took too long. It can be asked nothing more.
    pub(crate) fn ask<A: DeserializeOwned>(
        &mut self,
        question: &Question,
        patience: Option<Duration>,
    ) -> Result<A, Death> {
        // A worker that is gone already is found out when it does not answer.
        let _ = writeln!(self.questions, "{question}").and_then(|()| self.questions.flush());
        let answer = match patience {
            Some(patience) => self.answers.recv_timeout(patience),
            None => self.answers.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match answer {
            Ok(answer) => serde_json::from_str(&answer)
                .map_err(|error| Death::garbled(format!("the worker's answer cannot be read: {error}"))),
            Err(RecvTimeoutError::Timeout) => {
                self.kill();
                Err(Death::hung(patience.unwrap_or_default()))
            }
            Err(RecvTimeoutError::Disconnected) => Err(self.post_mortem()),
        }
    }

    fn kill(&mut self) {
        // It may have ended by itself in this moment.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// What it died of.
    fn post_mortem(&mut self) -> Death {
        let status = self.child.wait();
        let words = self.last_words.take().and_then(|words| words.join().ok()).unwrap_or_default();
        let words = String::from_utf8_lossy(&words).into_owned();
        match status {
            Ok(status) => Death::of(status, &words),
            Err(error) => Death::garbled(format!("nobody knows what became of the worker: {error}")),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Reads to the end, and keeps the last bytes.
fn last_of(mut from: impl Read) -> Vec<u8> {
    let (mut last, mut buffer) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        last.extend_from_slice(&buffer[..count]);
        let extra = last.len().saturating_sub(LAST_WORDS_BYTES);
        last.drain(..extra);
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_long_last_words_the_end_is_kept() {
        let said: Vec<u8> = (0..20_000u32).map(|at| at as u8).collect();
        assert_eq!(last_of(&said[..]), said[said.len() - LAST_WORDS_BYTES..]);
        assert_eq!(last_of(&said[..10]), said[..10]);
    }

    #[test]
    fn a_worker_is_restricted_as_this_program_is() {
        let restrictions = Restrictions {
            system: Some("kv".into()),
            set: vec![("pre-vote".into(), "on".into())],
            ..Restrictions::default()
        };
        assert_eq!(words(&restrictions), ["--system", "kv", "--set", "pre-vote=on"]);
    }
}
