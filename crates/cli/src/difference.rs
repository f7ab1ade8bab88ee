//! Where two recorded runs part: the lines of one message that tell them apart.

use std::collections::BTreeSet;
use whitewater_sim::{EventId, EventKind, Subject, Time, Trace, TraceEvent};

/// Lines told of each run.
const LINES_MAX: usize = 3;

/// The lines by which two runs differ about the message of the first suspect, from then on: `-` for the one, `+` for the
/// other. Without a suspect, the first lines that differ.
pub(crate) fn parting(before: &Trace, after: &Trace, suspect: Option<EventId>) -> String {
    let suspect = suspect.and_then(|id| before.event(id));
    let since = suspect.map_or(Time::ZERO, |event| event.time);
    let lines = differing(before, after, suspect.and_then(|event| event.subject), since);
    // A run that took another course long before has nothing to say about that moment.
    let lines = if lines.is_empty() { differing(before, after, None, Time::ZERO) } else { lines };
    lines.join("\n")
}

fn differing(before: &Trace, after: &Trace, subject: Option<Subject>, since: Time) -> Vec<String> {
    let about = |event: &&TraceEvent| match subject {
        Some(subject) => event.subject.is_some_and(|other| {
            (other.from, other.to, other.name) == (subject.from, subject.to, subject.name)
        }),
        None => true,
    };
    let told = |trace: &Trace| -> Vec<String> {
        trace.events.iter().filter(|event| event.time >= since).filter(about).map(line).collect()
    };
    let (before, after) = (told(before), told(after));
    let only = |sign: char, own: &[String], others: &[String]| -> Vec<String> {
        let others: BTreeSet<_> = others.iter().collect();
        let own = own.iter().filter(|line| !others.contains(line));
        own.take(LINES_MAX).map(|line| format!("   {sign} {line}")).collect()
    };
    let mut lines = only('-', &before, &after);
    lines.extend(only('+', &after, &before));
    lines
}

/// An event in one line, with the last of its notes: what it led to.
fn line(event: &TraceEvent) -> String {
    let node = event.node.map_or_else(String::new, |node| node.to_string());
    let led_to = event.notes.last().filter(|_| event.kind != EventKind::Send);
    let note = led_to.map_or_else(String::new, |note| format!("   {note}"));
    format!("{:>9} ms  {node:<3} {:<6} {}{note}", clock(event.time), event.kind.word(), event.text)
}

/// A time in milliseconds with two digits behind the point, as in traces.
fn clock(time: Time) -> String {
    let hundredths = time.nanos() / 10_000;
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

#[cfg(test)]
mod tests {
    use super::*;
    use whitewater_sim::NodeId;

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
            state: None,
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
