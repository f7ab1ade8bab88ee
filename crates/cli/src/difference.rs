//! Where two recorded runs part: the lines of one message that tell them apart.

use whitewater_sim::{EventId, EventKind, Trace, TraceEvent};

/// Lines told of each run.
const LINES_MAX: usize = 6;

/// The lines by which two runs differ about the message of the first suspect: `-` for the one, `+` for the other.
/// Without a suspect, or if its message is not where they part, the first lines that differ.
pub(crate) fn parting(before: &Trace, after: &Trace, suspect: Option<EventId>) -> String {
    let first = before.events.iter().zip(&after.events).position(|(one, other)| !same(one, other));
    let first = first.unwrap_or_else(|| before.events.len().min(after.events.len()));
    let subject = suspect.and_then(|id| before.event(id)).and_then(|event| event.subject);
    let about = |event: &&TraceEvent| match subject {
        Some(subject) => event.subject.is_some_and(|other| {
            (other.from, other.to, other.name) == (subject.from, subject.to, subject.name)
        }),
        None => true,
    };
    let told = |trace: &Trace, sign: char| -> Vec<String> {
        let events = trace.events.get(first..).unwrap_or_default();
        events.iter().filter(about).take(LINES_MAX).map(|event| line(sign, event)).collect()
    };
    let mut lines = told(before, '-');
    lines.extend(told(after, '+'));
    lines.join("\n")
}

fn same(one: &TraceEvent, other: &TraceEvent) -> bool {
    (one.time, one.node, one.kind, &one.text) == (other.time, other.node, other.kind, &other.text)
}

fn line(sign: char, event: &TraceEvent) -> String {
    let node = event.node.map_or_else(String::new, |node| node.to_string());
    let notes = if event.notes.is_empty() { String::new() } else { format!("   {}", event.notes.join("; ")) };
    format!(
        "   {sign} {:>12}  {node:<3} {:<6} {}{notes}",
        event.time.to_string(),
        word(event.kind),
        event.text
    )
}

fn word(kind: EventKind) -> &'static str {
    kind.word()
}
