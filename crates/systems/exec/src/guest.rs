//! A guest: a process with two pipes, a line of JSON in and lines of JSON out, and what goes wrong with it.

use serde_json::Value;
use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

/// Longest line a guest may write, in bytes.
const LINE_MAX_BYTES: usize = 1 << 20;
/// Lines of a guest that wait to be read.
const LINES_MAX: usize = 64;

/// What is wrong with a guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It cannot be started, or is gone.
    Dies(String),
    /// It does not answer in time.
    Hangs(String),
    /// It says what is not in the protocol.
    Babbles(String),
}

impl Trouble {
    /// Name and claim of the rule it breaks.
    pub(crate) const fn rule(&self) -> (&'static str, &'static str) {
        match self {
            Trouble::Dies(_) => RULES[0],
            Trouble::Hangs(_) => RULES[1],
            Trouble::Babbles(_) => RULES[2],
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Dies(text) | Trouble::Hangs(text) | Trouble::Babbles(text) => f.write_str(text),
        }
    }
}

/// Rules over guests themselves, name and claim each.
pub(crate) const RULES: [(&str, &str); 3] = [
    ("guest-lives", "The process of a node runs until it is stopped."),
    ("guest-answers", "The process of a node answers every input in time."),
    ("guest-speaks-protocol", "The process of a node says only what the protocol has words for."),
];

/// A running guest. Dropping it kills the process.
pub(crate) struct Guest {
    child: Child,
    input: ChildStdin,
    lines: Receiver<Result<String, String>>,
    patience: Duration,
}

impl Guest {
    /// Starts a process: the words of the command, without a shell.
    pub(crate) fn start(command: &str, patience: Duration) -> Result<Guest, Trouble> {
        let words = words(command);
        let (program, arguments) =
            words.split_first().ok_or_else(|| Trouble::Dies("the command is empty".to_owned()))?;
        let mut child = Command::new(program)
            .args(arguments)
            // A language that orders its tables by chance gets no chance.
            .env("PYTHONHASHSEED", "0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| Trouble::Dies(format!("`{program}` cannot be started: {error}")))?;
        let input = child.stdin.take().expect("it is piped");
        let output = child.stdout.take().expect("it is piped");
        let (sender, lines) = sync_channel(LINES_MAX);
        std::thread::spawn(move || {
            let mut reader = BufReader::new(output);
            while let Some(line) = next_line(&mut reader)
                && sender.send(line).is_ok()
            {}
        });
        Ok(Guest { child, input, lines, patience })
    }

    /// Writes a line.
    pub(crate) fn say(&mut self, value: &Value) -> Result<(), Trouble> {
        let written = writeln!(self.input, "{value}").and_then(|()| self.input.flush());
        written.map_err(|_| Trouble::Dies(format!("it is gone{}", self.status())))
    }

    /// Reads a line.
    pub(crate) fn hear(&mut self) -> Result<Value, Trouble> {
        let line = match self.lines.recv_timeout(self.patience) {
            Ok(Ok(line)) => line,
            Ok(Err(wrong)) => return Err(Trouble::Babbles(wrong)),
            Err(RecvTimeoutError::Timeout) => {
                return Err(Trouble::Hangs(format!("it says nothing for {:?}", self.patience)));
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Trouble::Dies(format!("it has ended{}", self.status())));
            }
        };
        serde_json::from_str(&line)
            .map_err(|error| Trouble::Babbles(format!("`{}`: {error}", clipped(&line))))
    }

    fn status(&mut self) -> String {
        // Its pipe may be closed a moment before it is gone.
        let ended = (0..50).find_map(|_| match self.child.try_wait() {
            Ok(Some(status)) => Some(format!(", {status}")),
            _ => {
                std::thread::sleep(Duration::from_millis(2));
                None
            }
        });
        ended.unwrap_or_default()
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The next line, or what is wrong with it; `None` at the end.
fn next_line(reader: &mut impl BufRead) -> Option<Result<String, String>> {
    let mut bytes = Vec::new();
    loop {
        let chunk = reader.fill_buf().ok()?;
        if chunk.is_empty() {
            return (!bytes.is_empty()).then(|| text_of(bytes));
        }
        let end = chunk.iter().position(|&byte| byte == b'\n');
        let used = end.map_or(chunk.len(), |end| end + 1);
        bytes.extend_from_slice(&chunk[..end.unwrap_or(chunk.len())]);
        reader.consume(used);
        if bytes.len() > LINE_MAX_BYTES {
            return Some(Err(format!("a line has more than {LINE_MAX_BYTES} bytes")));
        }
        if end.is_some() {
            return Some(text_of(bytes));
        }
    }
}

fn text_of(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|_| "a line is not UTF-8".to_owned())
}

/// The beginning of a long text.
pub(crate) fn clipped(text: &str) -> String {
    let short: String = text.chars().take(60).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}

/// The words of a command; quotes hold blanks together.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for letter in command.chars() {
        match (letter, quote) {
            (_, Some(open)) if letter == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (' ', None) => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_blanks_together() {
        assert_eq!(words("python3 guest.py --bug"), ["python3", "guest.py", "--bug"]);
        assert_eq!(words("  sh -c 'echo \"a  b\"' \"\""), ["sh", "-c", "echo \"a  b\"", ""]);
        assert!(words("").is_empty());
    }

    #[test]
    fn a_guest_that_ends_hangs_or_babbles_is_told_apart() {
        let hear = |command: &str| {
            Guest::start(command, Duration::from_millis(300)).and_then(|mut guest| guest.hear())
        };
        assert!(matches!(hear("sh -c 'exit 3'"), Err(Trouble::Dies(text)) if text.contains('3')));
        assert!(matches!(hear("sh -c 'sleep 9'"), Err(Trouble::Hangs(_))));
        assert!(matches!(hear("echo hello"), Err(Trouble::Babbles(_))));
        assert!(matches!(hear("no-such-program-at-all"), Err(Trouble::Dies(_))));
        assert_eq!(hear("echo '{\"effects\": []}'").unwrap()["effects"], serde_json::json!([]));
    }
}
