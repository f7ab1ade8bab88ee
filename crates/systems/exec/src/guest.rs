//! A guest: a process with two pipes, a line of JSON in and lines of JSON out, and what goes wrong with it.

use crate::group;
use serde_json::Value;
use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::time::{Duration, Instant};

/// Longest line a guest may write, in bytes.
const LINE_MAX_BYTES: usize = 1 << 20;
/// Lines from or for a guest that wait to be read.
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
    /// It does or makes happen more than it may.
    Floods(String),
}

impl Trouble {
    /// Name and claim of the rule it breaks.
    pub(crate) const fn rule(&self) -> (&'static str, &'static str) {
        match self {
            Trouble::Dies(_) => RULES[0],
            Trouble::Hangs(_) => RULES[1],
            Trouble::Babbles(_) => RULES[2],
            Trouble::Floods(_) => RULES[3],
        }
    }

    /// The same, with the input upon which it came up.
    pub(crate) fn upon(self, input: &Value) -> Trouble {
        let with = |text| format!("{text}, when it was given `{}`", clipped(&input.to_string()));
        match self {
            Trouble::Dies(text) => Trouble::Dies(with(text)),
            Trouble::Hangs(text) => Trouble::Hangs(with(text)),
            Trouble::Babbles(text) => Trouble::Babbles(with(text)),
            Trouble::Floods(text) => Trouble::Floods(with(text)),
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Dies(text) | Trouble::Hangs(text) | Trouble::Babbles(text) | Trouble::Floods(text) => {
                f.write_str(text)
            }
        }
    }
}

/// Rules over guests themselves, name and claim each.
pub(crate) const RULES: [(&str, &str); 4] = [
    ("guest-lives", "The process of a node runs until it is stopped."),
    ("guest-answers", "The process of a node answers every input in time."),
    ("guest-speaks-protocol", "The process of a node says only what the protocol has words for."),
    (
        "guest-keeps-measure",
        "The process of a node does no more upon one input, and at one instant, than it may.",
    ),
];

/// A running guest. Dropping it kills the process and whatever that has started.
pub(crate) struct Guest {
    child: Child,
    /// Whether its process group was ended.
    is_over: bool,
    /// For whom it reads lines from: a pipe that is full would make the host wait for ever.
    told: SyncSender<String>,
    lines: Receiver<Result<String, String>>,
    patience: Duration,
    /// Until when it has to have answered.
    deadline: Instant,
}

impl Guest {
    /// Starts a process: the words of the command, without a shell. It has to say something within `patience`.
    pub(crate) fn start(command: &str, patience: Duration) -> Result<Guest, Trouble> {
        let words = words(command).map_err(Trouble::Dies)?;
        let (program, arguments) =
            words.split_first().ok_or_else(|| Trouble::Dies("the command is empty".to_owned()))?;
        let mut command = Command::new(program);
        // A language that orders its tables by chance gets no chance.
        command.args(arguments).env("PYTHONHASHSEED", "0").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = group::start(&mut command)
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
        let (told, to_tell) = sync_channel(LINES_MAX);
        std::thread::spawn(move || tell(input, &to_tell));
        Ok(Guest { child, is_over: false, told, lines, patience, deadline: Instant::now() + patience })
    }

    /// Writes an input, which has to be answered in time; `patience` counts from here on.
    pub(crate) fn give(&mut self, input: &Value, patience: Duration) -> Result<(), Trouble> {
        match self.lines.try_recv() {
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => return Err(self.ended()),
            Ok(Err(wrong)) => return Err(Trouble::Babbles(wrong)),
            Ok(Ok(line)) => {
                let line = clipped(&line);
                return Err(Trouble::Babbles(format!("it speaks without being asked: `{line}`")));
            }
        }
        (self.patience, self.deadline) = (patience, Instant::now() + patience);
        self.say(input)
    }

    /// Writes a line.
    pub(crate) fn say(&mut self, value: &Value) -> Result<(), Trouble> {
        let mut line = format!("{value}\n");
        loop {
            line = match self.told.try_send(line) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Disconnected(_)) => return Err(self.ended()),
                Err(TrySendError::Full(_)) if Instant::now() >= self.deadline => {
                    return Err(Trouble::Hangs(format!(
                        "it does not read what it is told for {:?}",
                        self.patience
                    )));
                }
                Err(TrySendError::Full(line)) => line,
            };
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn ended(&mut self) -> Trouble {
        Trouble::Dies(format!("it has ended{}", self.status()))
    }

    /// Reads a line.
    pub(crate) fn hear(&mut self) -> Result<Value, Trouble> {
        let line = match self.lines.recv_timeout(self.deadline.saturating_duration_since(Instant::now())) {
            Ok(Ok(line)) => line,
            Ok(Err(wrong)) => return Err(Trouble::Babbles(wrong)),
            Err(RecvTimeoutError::Timeout) => {
                return Err(Trouble::Hangs(format!(
                    "it does not come to an answer within {:?}",
                    self.patience
                )));
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(self.ended());
            }
        };
        serde_json::from_str(&line).map_err(|error| {
            Trouble::Babbles(format!("it says what is no JSON, {error}: `{}`", clipped(&line)))
        })
    }

    fn status(&mut self) -> String {
        // Its pipe may be closed a moment before it is gone.
        let ended = (0..50).find_map(|_| match self.child.try_wait() {
            Ok(Some(status)) => {
                self.end_group();
                Some(format!(", {status}"))
            }
            _ => {
                std::thread::sleep(Duration::from_millis(2));
                None
            }
        });
        ended.unwrap_or_default()
    }

    fn end_group(&mut self) {
        if !std::mem::replace(&mut self.is_over, true) {
            group::end(&mut self.child);
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.end_group();
        let _ = self.child.wait();
    }
}

/// Writes what the guest is to be told, as fast as it reads.
fn tell(mut input: ChildStdin, lines: &Receiver<String>) {
    while let Ok(line) = lines.recv()
        && input.write_all(line.as_bytes()).and_then(|()| input.flush()).is_ok()
    {}
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
            return Some(Err(format!("it says a line of more than {LINE_MAX_BYTES} bytes")));
        }
        if end.is_some() {
            return Some(text_of(bytes));
        }
    }
}

fn text_of(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|_| "it says a line that is not UTF-8".to_owned())
}

/// The beginning of a long text.
pub(crate) fn clipped(text: &str) -> String {
    let short: String = text.chars().take(60).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}

/// The words of a command; quotes hold blanks together.
///
/// # Errors
/// A quote is not closed.
fn words(command: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for letter in command.chars() {
        match (letter, quote) {
            (_, Some(open)) if letter == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (blank, None) if blank.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    match quote {
        None => Ok(words),
        Some(open) => Err(format!("a quote is not closed: {open} in `{command}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_blanks_together() {
        assert_eq!(words("python3 guest.py --bug").unwrap(), ["python3", "guest.py", "--bug"]);
        assert_eq!(words("  sh -c\t'echo \"a  b\"' \"\"").unwrap(), ["sh", "-c", "echo \"a  b\"", ""]);
        assert!(words("").unwrap().is_empty());
        assert!(words("sh -c 'echo").unwrap_err().contains("not closed"));
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
        // Half a line, bytes that are no text, a line without end, a value nested without end.
        assert!(matches!(hear("sh -c 'printf {; sleep 9'"), Err(Trouble::Hangs(_))));
        assert!(matches!(hear(r"printf \377\n"), Err(Trouble::Babbles(text)) if text.contains("UTF-8")));
        let endless = "sh -c 'tr \"\\0\" [ < /dev/zero'";
        assert!(matches!(hear(endless), Err(Trouble::Babbles(text)) if text.contains("bytes")));
        assert!(
            matches!(hear("sh -c 'printf %0500d 0 | tr 0 [; echo'"), Err(Trouble::Babbles(text)) if text.contains("recursion"))
        );
    }

    #[test]
    fn a_guest_that_does_not_read_keeps_nobody_waiting() {
        let mut guest = Guest::start("sleep 9", Duration::from_millis(300)).unwrap();
        let input = serde_json::json!({ "input": "x".repeat(10_000) });
        let trouble = (0..10_000).find_map(|_| guest.say(&input).err()).unwrap();
        assert!(matches!(trouble, Trouble::Hangs(text) if text.contains("read")));
    }

    #[test]
    fn a_guest_that_answers_before_it_is_asked_is_refused() {
        let patience = Duration::from_secs(5);
        let mut guest = Guest::start("yes '{\"effects\": []}'", patience).unwrap();
        let input = serde_json::json!({ "input": "boot" });
        let trouble = (0..1_000).find_map(|_| guest.give(&input, patience).and_then(|()| guest.hear()).err());
        assert!(matches!(trouble, Some(Trouble::Babbles(text)) if text.contains("without being asked")));
    }

    #[test]
    fn one_input_takes_no_longer_than_it_may_however_much_a_guest_says() {
        let patience = Duration::from_millis(400);
        let mut guest = Guest::start("sh -c 'while true; do sleep 0.1; echo {}; done'", patience).unwrap();
        let begun = Instant::now();
        let trouble = (0..100).find_map(|_| guest.hear().err()).unwrap();
        assert!(matches!(trouble, Trouble::Hangs(_)), "{trouble}");
        assert!(begun.elapsed() < Duration::from_secs(5));
    }
}
