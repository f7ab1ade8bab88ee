//! What a guest says of itself when it is asked, before anything runs.

use crate::guest::{Guest, Trouble};
use serde_json::{Value, json};
use std::time::Duration;
use whitewater_sim::{Limits, Span};

/// How long a guest may take for an answer, if it does not say how long.
const PATIENCE_MS: u64 = 5_000;
/// Events a run may take, if it does not say how many: each of them is a round through two pipes.
const EVENTS: u64 = 50_000;
/// How long it may take to start, and to answer the first time.
pub(crate) const STARTING: Duration = Duration::from_secs(30);
/// Names of one kind that it may have.
const NAMES_MAX: usize = 200;
/// Operations there are.
const VERBS: [&str; 4] = ["put", "append", "get", "cas"];
/// What it may say of itself.
const FIELDS: [&str; 8] =
    ["messages", "timers", "marks", "operations", "led", "timeout_ms", "patience_ms", "events"];

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
    /// Events a run may take.
    pub(crate) events: u64,
}

/// Starts a command once to ask it for its manners.
pub(crate) fn ask(command: &str) -> Result<Manners, Trouble> {
    let mut guest = Guest::start(command, STARTING)?;
    guest.give(&json!({ "input": "hello", "protocol": 1 }), STARTING)?;
    let hello = guest.hear()?;
    let wrong = |what: String| Trouble::Babbles(format!("{what} in its answer to `hello`"));
    let fields = hello.as_object().ok_or_else(|| wrong(format!("`{hello}` is no object")))?;
    if let Some(field) = fields.keys().find(|field| !FIELDS.contains(&field.as_str())) {
        return Err(wrong(format!("there is no field `{field}`, there are {},", FIELDS.join(", "))));
    }
    let names = |field: &str| names(&hello, field);
    let verbs: Vec<String> = names("operations")?.iter().map(|verb| (*verb).to_owned()).collect();
    if let Some(verb) = verbs.iter().find(|verb| !VERBS.contains(&verb.as_str())) {
        return Err(wrong(format!("`{verb}` is none of the operations {},", VERBS.join(", "))));
    }
    let number = |field: &str, what: &str, most: u64, usual| match hello.get(field) {
        None => Ok(usual),
        Some(value) => {
            let number = value.as_u64().filter(|number| (1..=most).contains(number));
            number.ok_or_else(|| wrong(format!("`{field}` is no number of {what} from 1 to {most}")))
        }
    };
    let millis = |field: &str, usual| number(field, "milliseconds", 600_000, usual);
    let led = match hello.get("led") {
        None => false,
        Some(led) => led.as_bool().ok_or_else(|| wrong("`led` is neither true nor false".to_owned()))?,
    };
    Ok(Manners {
        command: command.to_owned(),
        patience: Duration::from_millis(millis("patience_ms", PATIENCE_MS)?),
        messages: names("messages")?,
        timers: names("timers")?,
        marks: names("marks")?,
        verbs,
        led,
        timeout: Span::from_millis(millis("timeout_ms", 200)?),
        events: number("events", "events", Limits::default().events, EVENTS)?,
    })
}

/// A list of names in what a guest says; none if it is left out.
fn names(hello: &Value, field: &str) -> Result<&'static [&'static str], Trouble> {
    let wrong = || {
        Trouble::Babbles(format!(
            "`{field}` is no list of at most {NAMES_MAX} different names, of letters, digits, - and _, in its answer to `hello`"
        ))
    };
    let Some(list) = hello.get(field) else { return Ok(&[]) };
    let name = |name: &Value| {
        let name = name.as_str().filter(|name| is_word(name)).ok_or_else(wrong)?;
        Ok(&*Box::leak(Box::<str>::from(name)))
    };
    let list = list.as_array().filter(|list| list.len() <= NAMES_MAX).ok_or_else(wrong)?;
    let names: Vec<&'static str> = list.iter().map(name).collect::<Result<_, _>>()?;
    let is_double = |(at, name): (usize, &&str)| names[..at].contains(name);
    if names.iter().enumerate().any(is_double) { Err(wrong()) } else { Ok(names.leak()) }
}

/// Whether scripts can write it.
fn is_word(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(hello: &str) -> String {
        match ask(&format!("sh -c 'read line; echo {}; sleep 9'", hello.replace('"', "\\\""))) {
            Ok(manners) => panic!("{manners:?}"),
            Err(trouble) => trouble.to_string(),
        }
    }

    #[test]
    fn what_a_guest_says_of_itself_is_right_or_refused_with_what_would_be() {
        for (hello, piece) in [
            ("5", "is no object"),
            (r#"{"mesages":[]}"#, "there is no field `mesages`, there are messages, timers"),
            (r#"{"messages":["a","a"]}"#, "different names"),
            (r#"{"messages":["a b"]}"#, "of letters"),
            (r#"{"timers":"retry"}"#, "`timers` is no list"),
            (r#"{"operations":["delete"]}"#, "`delete` is none of the operations put, append, get, cas"),
            (r#"{"led":1}"#, "neither true nor false"),
            (r#"{"timeout_ms":0}"#, "from 1 to 600000"),
            (r#"{"patience_ms":-1}"#, "from 1 to 600000"),
            (r#"{"events":3000000}"#, "no number of events from 1 to 2000000"),
            (r#"{"messages":"#, "EOF"),
        ] {
            let refused = refusal(hello);
            assert!(refused.contains(piece), "{hello}: {refused}");
        }
    }
}
