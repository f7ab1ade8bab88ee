//! Reads histories: logs as Jepsen prints them, maps in EDN, and JSON lines, of which [`write`](crate::write()) is one.
//!
//! An operation begins on one line and ends on another of the same process. It has no known end if its end is `info`, if
//! there is none, or if its process goes on with another operation. A failed comparison is `fail` with the two values; any
//! other write that is said to have failed has not taken place, and a read that failed says nothing.

mod datum;

use crate::operation::{Ask, History, Model, NEVER, Operation, Outcome, Symbol};
use datum::Datum;
use std::collections::BTreeMap;
use std::fmt;

pub(crate) use datum::quote;

/// A line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// Its number, from 1; 0 if it is about the whole file.
    pub line: u32,
    /// What is wrong, and what would be right.
    pub why: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "{}: ", self.line)?;
        }
        f.write_str(&self.why)
    }
}

impl std::error::Error for ReadError {}

/// What a line says of its operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Invoke,
    Ok,
    Fail,
    Info,
}

/// A line.
struct Line {
    process: u64,
    kind: Kind,
    function: String,
    key: Option<String>,
    value: Datum,
    place: Option<u64>,
}

/// Reads the history of objects that the model knows.
///
/// # Errors
/// The first line that cannot be read, or that asks for what the model does not know.
pub fn read(text: &str, model: Model) -> Result<History, ReadError> {
    let mut reader =
        Reader { model, history: History::default(), open: BTreeMap::new(), failed: Vec::new(), now: 0 };
    for (line, number) in text.lines().zip(1..) {
        let parsed =
            parse_line(line).and_then(|parsed| parsed.map_or(Ok(()), |parsed| reader.follow(parsed, number)));
        parsed.map_err(|why| ReadError { line: number, why })?;
    }
    let Reader { mut history, failed, .. } = reader;
    if history.operations.is_empty() {
        return Err(ReadError { line: 0, why: "there is no operation in it".to_owned() });
    }
    let mut number = 0;
    history.operations.retain(|_| {
        number += 1;
        failed.binary_search(&(number - 1)).is_err()
    });
    Ok(history)
}

/// Reads a line; nothing if it is empty or about something else.
fn parse_line(line: &str) -> Result<Option<Line>, String> {
    let line = line.trim();
    if line.is_empty() {
        return Ok(None);
    }
    if line.starts_with('{') {
        return parse_map(&datum::parse(line)?).map(Some);
    }
    match line.split_once("jepsen.util") {
        Some((_, rest)) => parse_jepsen(rest),
        None if line.contains(" - ") => Ok(None),
        None => Err("expected a line of Jepsen's log, or a map of EDN or JSON".to_owned()),
    }
}

/// `- PROCESS :TYPE :FUNCTION VALUE`, and other lines of that logger, which are about nodes or faults.
fn parse_jepsen(rest: &str) -> Result<Option<Line>, String> {
    let Some(rest) = rest.trim_start().strip_prefix('-') else { return Ok(None) };
    let (process, rest) = word(rest);
    let Ok(process) = process.parse::<u64>() else { return Ok(None) };
    let (kind, rest) = word(rest);
    let (function, value) = word(rest);
    let name = |text: &str, what: &str| {
        text.strip_prefix(':')
            .map(str::to_owned)
            .ok_or(format!("expected {what} behind a colon, found `{text}`"))
    };
    let kind = parse_kind(&name(kind, "invoke, ok, fail or info")?)?;
    let function = name(function, "read, write or cas")?;
    let value = if value.trim().is_empty() { Datum::Nil } else { datum::parse(value.trim())? };
    Ok(Some(Line { process, kind, function, key: None, value, place: None }))
}

fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()))
}

fn parse_kind(kind: &str) -> Result<Kind, String> {
    match kind {
        "invoke" => Ok(Kind::Invoke),
        "ok" => Ok(Kind::Ok),
        "fail" => Ok(Kind::Fail),
        "info" => Ok(Kind::Info),
        _ => Err(format!("expected invoke, ok, fail or info, found `{kind}`")),
    }
}

fn parse_map(map: &Datum) -> Result<Line, String> {
    let text = |key: &str| {
        map.get(key)
            .and_then(Datum::as_text)
            .ok_or_else(|| format!("expected a map with a name under `{key}`"))
    };
    let number = |key: &str, text: &str| {
        text.parse::<u64>().map_err(|_| format!("expected a whole number under `{key}`, found `{text}`"))
    };
    let place = match map.get("place") {
        None | Some(Datum::Nil) => None,
        Some(place) => Some(number("place", place.as_text().unwrap_or("a list"))?),
    };
    let key = match map.get("key") {
        None | Some(Datum::Nil) => None,
        Some(key) => Some(key.as_text().ok_or("expected a text under `key`")?.to_owned()),
    };
    Ok(Line {
        process: number("process", text("process")?)?,
        kind: parse_kind(text("type")?)?,
        function: text("f")?.to_owned(),
        key,
        value: map.get("value").cloned().unwrap_or(Datum::Nil),
        place,
    })
}

struct Reader {
    model: Model,
    history: History,
    /// By process the operation that has not ended, by its place.
    open: BTreeMap<u64, usize>,
    /// Operations that have not taken place and never will.
    failed: Vec<usize>,
    now: u64,
}

impl Reader {
    fn follow(&mut self, line: Line, number: u32) -> Result<(), String> {
        self.now += 1;
        match line.kind {
            Kind::Invoke => self.begin(&line, number),
            _ => self.end(&line, number),
        }
    }

    fn begin(&mut self, line: &Line, number: u32) -> Result<(), String> {
        let ask = self.ask(&line.function, &line.value)?;
        if !self.model.knows(ask) {
            let (model, function) = (self.model.name(), &line.function);
            return Err(format!("the model {model} knows no `{function}`"));
        }
        let key = line.key.as_ref().map_or(Symbol::NIL, |key| self.history.symbols.of(key));
        self.open.insert(line.process, self.history.operations.len());
        self.history.operations.push(Operation {
            process: line.process,
            key,
            ask,
            outcome: Outcome::Unknown,
            invoked: self.now,
            returned: NEVER,
            place: line.place,
            lines: [number, 0],
        });
        Ok(())
    }

    fn end(&mut self, line: &Line, number: u32) -> Result<(), String> {
        let Some(at) = self.open.remove(&line.process) else {
            return Err(format!("process {} ends an operation that it never began", line.process));
        };
        let ask = self.history.operations[at].ask;
        if !is_same(ask, &line.function) {
            let began = self.history.operations[at].lines[0];
            return Err(format!(
                "process {} ends `{}`, and began another one in line {began}",
                line.process, line.function
            ));
        }
        let outcome = match (line.kind, ask) {
            (Kind::Ok, Ask::Read) => self.answer(&line.value)?,
            (Kind::Ok, _) => Outcome::Done,
            (Kind::Fail, Ask::Swap(..)) if matches!(line.value, Datum::List(_)) => Outcome::Differs,
            (Kind::Fail, Ask::Write(_) | Ask::Append(_) | Ask::Push(_) | Ask::Add(_)) => {
                self.failed.push(at);
                self.failed.sort_unstable();
                Outcome::Unknown
            }
            _ => Outcome::Unknown,
        };
        let returned = if outcome == Outcome::Unknown { NEVER } else { self.now };
        let op = &mut self.history.operations[at];
        (op.outcome, op.returned, op.lines[1]) = (outcome, returned, number);
        op.place = line.place.or(op.place);
        Ok(())
    }

    /// A value of its own: what is not a text is taken as it is written.
    fn symbol(&mut self, value: &Datum) -> Result<Symbol, String> {
        match value {
            Datum::Nil => Ok(Symbol::NIL),
            Datum::Word(text) | Datum::Text(text) => Ok(self.history.symbols.of(text)),
            Datum::List(_) | Datum::Map(_) => {
                Err("expected a single value, found a list or a map".to_owned())
            }
        }
    }

    fn ask(&mut self, function: &str, value: &Datum) -> Result<Ask, String> {
        Ok(match function {
            "read" | "get" => Ask::Read,
            "write" | "put" => Ask::Write(self.symbol(value)?),
            "append" => Ask::Append(self.symbol(value)?),
            "push" => Ask::Push(self.symbol(value)?),
            "add" => Ask::Add(self.symbol(value)?),
            "cas" => match value {
                Datum::List(values) if values.len() == 2 => {
                    Ask::Swap(self.symbol(&values[0])?, self.symbol(&values[1])?)
                }
                _ => {
                    return Err("expected two values in brackets behind `cas`: the old one and the new one"
                        .to_owned());
                }
            },
            _ => {
                return Err(format!(
                    "there is no `{function}`; there are read, write, cas, get, put, append, push and add"
                ));
            }
        })
    }

    fn answer(&mut self, value: &Datum) -> Result<Outcome, String> {
        if self.model != Model::Set {
            return self.symbol(value).map(Outcome::Value);
        }
        let elements = match value {
            Datum::Nil => Vec::new(),
            Datum::List(elements) => {
                elements.iter().map(|element| self.symbol(element)).collect::<Result<_, _>>()?
            }
            _ => return Err("expected the elements of the set in brackets".to_owned()),
        };
        self.history.lists.push(elements);
        Ok(Outcome::Elements(self.history.lists.len() as u32 - 1))
    }
}

/// Whether a function is what the operation asks for.
fn is_same(ask: Ask, function: &str) -> bool {
    match ask {
        Ask::Read => matches!(function, "read" | "get"),
        Ask::Write(_) => matches!(function, "write" | "put"),
        Ask::Swap(..) => function == "cas",
        Ask::Append(_) => function == "append",
        Ask::Push(_) => function == "push",
        Ask::Add(_) => function == "add",
    }
}
