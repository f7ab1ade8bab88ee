//! Writes a history as JSON lines: an event each, in the order of time.

use crate::operation::{Ask, History, NEVER, Operation, Outcome, Symbol};
use crate::read::quote;

/// The lines, which [`read`](crate::read()) reads. Operations whose end is unknown end with `info` if they have a line or a
/// moment for it, and not at all otherwise. `time` gives the time of a moment in nanoseconds, if it is known.
pub fn write(history: &History, time: impl Fn(u64) -> Option<u64>) -> String {
    let mut events: Vec<(u64, &Operation)> = Vec::with_capacity(history.operations.len() * 2);
    for op in &history.operations {
        events.push((op.invoked, op));
        if op.returned != NEVER {
            events.push((op.returned, op));
        }
    }
    events.sort_by_key(|&(moment, _)| moment);
    let mut text = String::new();
    for (moment, op) in events {
        let ends = moment == op.returned;
        let (function, value) = words(history, op, ends);
        let kind = match op.outcome {
            _ if !ends => "invoke",
            Outcome::Differs => "fail",
            _ => "ok",
        };
        text.push_str(&format!(r#"{{"process":{},"type":"{kind}","f":"{function}""#, op.process));
        if op.key != Symbol::NIL {
            text.push_str(&format!(r#","key":{}"#, quote(history.symbols.text(op.key))));
        }
        text.push_str(&format!(r#","value":{value}"#));
        if let Some(place) = op.place.filter(|_| ends || op.returned == NEVER) {
            text.push_str(&format!(r#","place":{place}"#));
        }
        if let Some(time) = time(moment) {
            text.push_str(&format!(r#","time":{time}"#));
        }
        text.push_str("}\n");
    }
    text
}

fn words(history: &History, op: &Operation, ends: bool) -> (&'static str, String) {
    let one = |symbol: Symbol| match symbol {
        Symbol::NIL => "null".to_owned(),
        symbol => quote(history.symbols.text(symbol)),
    };
    let several = |symbols: &[Symbol]| {
        let symbols: Vec<String> = symbols.iter().map(|&symbol| one(symbol)).collect();
        format!("[{}]", symbols.join(","))
    };
    match (op.ask, op.outcome) {
        (Ask::Read, Outcome::Value(value)) if ends => ("read", one(value)),
        (Ask::Read, Outcome::Elements(list)) if ends => ("read", several(&history.lists[list as usize])),
        (Ask::Read, _) => ("read", "null".to_owned()),
        (Ask::Write(value), _) => ("write", one(value)),
        (Ask::Swap(old, new), _) => ("cas", several(&[old, new])),
        (Ask::Append(text), _) => ("append", one(text)),
        (Ask::Push(text), _) => ("push", one(text)),
        (Ask::Add(element), _) => ("add", one(element)),
    }
}
