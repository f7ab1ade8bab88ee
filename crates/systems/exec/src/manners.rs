//! What a guest says of itself when it is asked, before anything runs.

use crate::guest::{Guest, Trouble};
use serde_json::{Value, json};
use std::time::Duration;
use whitewater_sim::Span;

/// How long a guest may take for an answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a guest says of itself.
#[derive(Debug)]
pub struct Manners {
    pub(crate) command: String,
    pub(crate) patience: Duration,
    pub(crate) messages: &'static [&'static str],
    pub(crate) timers: &'static [&'static str],
    pub(crate) marks: &'static [&'static str],
    /// The verbs it knows, of put, append, get and cas.
    pub(crate) verbs: Vec<String>,
    /// Whether operations are for whoever leads.
    pub(crate) led: bool,
    pub(crate) timeout: Span,
}

/// Starts a command once to ask it for its manners.
pub(crate) fn ask(command: &str) -> Result<Manners, Trouble> {
    let mut guest = Guest::start(command, PATIENCE)?;
    guest.say(&json!({ "input": "hello", "protocol": 1 }))?;
    let hello = guest.hear()?;
    let names = |field: &str| names(&hello, field);
    let verbs = names("operations")?.iter().map(|verb| (*verb).to_owned()).collect();
    Ok(Manners {
        command: command.to_owned(),
        patience: PATIENCE,
        messages: names("messages")?,
        timers: names("timers")?,
        marks: names("marks")?,
        verbs,
        led: hello["led"].as_bool().unwrap_or(false),
        timeout: Span::from_millis(hello["timeout_ms"].as_u64().unwrap_or(200).clamp(1, 60_000)),
    })
}

/// A list of names in what a guest says; none if it is left out.
fn names(hello: &Value, field: &str) -> Result<&'static [&'static str], Trouble> {
    let wrong = || Trouble::Babbles(format!("`{field}` is no list of names in its answer to `hello`"));
    let Some(list) = hello.get(field) else { return Ok(&[]) };
    let name = |name: &Value| name.as_str().map(|name| &*Box::leak(Box::<str>::from(name))).ok_or_else(wrong);
    let names: Vec<&'static str> =
        list.as_array().ok_or_else(wrong)?.iter().map(name).collect::<Result<_, _>>()?;
    Ok(names.leak())
}
