//! Where two recorded runs part: the lines of one message that tell them apart.

use whitewater_sim::{EventId, Time, Trace, TraceEvent};

/// Lines told of each run.
const LINES_MAX: usize = 6;

/// The lines by which two runs differ about the message of the first suspect: `-` for the one, `+` for the other.
/// Without a suspect, the first lines that differ.
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
    let time = clock(event.time);
    format!("   {sign} {time:>9} ms  {node:<3} {:<6} {}{notes}", event.kind.word(), event.text)
}

/// A time in milliseconds with two digits behind the point, as in traces.
fn clock(time: Time) -> String {
    let hundredths = time.nanos() / 10_000;
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

#[cfg(test)]
mod tests {
    use super::*;
    use whitewater_sim::{EventKind, NodeId, Subject};

    fn event(id: u32, kind: EventKind, to: usize, text: &str) -> TraceEvent {
        let subject =
            Subject { from: NodeId::server(0), to: NodeId::server(to), name: "Announce", key: 0, term: None };
        TraceEvent {
            id: EventId(id),
            cause: EventId::NONE,
            time: Time::from_millis(u64::from(id)),
            node: Some(NodeId::server(0)),
            role: None,
            kind,
            subject: Some(subject),
            step: None,
            text: text.to_owned(),
            notes: Vec::new(),
        }
    }

    fn trace(events: Vec<TraceEvent>) -> Trace {
        Trace { events, ..Trace::default() }
    }

    #[test]
    fn only_the_message_of_the_suspect_is_told_and_only_from_where_the_runs_part() {
        let sent = || event(1, EventKind::Send, 1, "n1->n2 Announce");
        let other = || event(3, EventKind::Send, 2, "n1->n3 Announce");
        let before = trace(vec![sent(), event(2, EventKind::Discard, 1, "lost"), other()]);
        let after = trace(vec![sent(), other(), event(4, EventKind::Recv, 1, "got it")]);
        let lines = parting(&before, &after, Some(EventId(2)));
        assert_eq!(lines, "   -      2.00 ms  n1  LOST   lost\n   +      4.00 ms  n1  recv   got it");
    }

    #[test]
    fn without_a_suspect_the_first_lines_that_differ_are_told() {
        let before = trace(vec![event(1, EventKind::Send, 1, "a"), event(2, EventKind::Send, 1, "b")]);
        let after = trace(vec![event(1, EventKind::Send, 1, "a")]);
        assert_eq!(parting(&before, &after, None).lines().count(), 1);
    }
}
