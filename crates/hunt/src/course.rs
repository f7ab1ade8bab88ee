//! The course of a run in short: one line per event that says what a node did, without times and numbers of events.
//!
//! Two runs of one plan, before and after a change of the code, are compared by it: where their courses part, the
//! change has made itself felt.

use crate::words::{clock, numberless, remarks};
use whitewater_sim::{EventKind, Outcome, Trace, TraceEvent};

/// Lines a course has at most; a longer run has none, since nobody would read where it parts.
const LINES_MAX: usize = 400;

/// The course of a recorded run; empty if it is too long or was not recorded.
pub fn course(outcome: &Outcome) -> Vec<String> {
    let Some(trace) = &outcome.trace else { return Vec::new() };
    let lines = lines(trace);
    if lines.len() > LINES_MAX { Vec::new() } else { lines }
}

fn lines(trace: &Trace) -> Vec<String> {
    trace.events.iter().filter_map(line).collect()
}

fn line(event: &TraceEvent) -> Option<String> {
    let node = event.node.map_or_else(String::new, |node| format!("{node} "));
    let word = event.kind.word();
    Some(match (event.kind, event.subject) {
        // A sending is told by what becomes of it.
        (EventKind::Send | EventKind::Open | EventKind::Close | EventKind::Phase, _) => return None,
        (EventKind::Timer, Some(subject)) if subject.from == subject.to => {
            format!("{node}{word} {}", subject.name)
        }
        (_, Some(subject)) => {
            let term = subject.term.map_or_else(String::new, |term| format!(" term {term}"));
            format!("{node}{word} {}->{} {}{term}", subject.from, subject.to, subject.name)
        }
        (EventKind::Violation, None) => format!("{node}{word} {}", event.text),
        (EventKind::Boot | EventKind::Crash, None) => format!("{node}{word}"),
        (_, None) => format!("{node}{word} {}", numberless(&event.text)),
    })
}

/// Where another run parts from a course: the number of the line, from 1, with what was and what is there now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parting {
    /// Number of the first line that differs, from 1.
    pub line: usize,
    /// What the old run did there; none if it was over.
    pub before: Option<String>,
    /// What the new run does there; none if it is over.
    pub now: Option<String>,
    /// Lines of the old course that come again in the new one, in their order.
    pub kept: usize,
    /// Lines of the old course.
    pub lines: usize,
}

/// Compares a recorded run with an old course; none if they agree or there is no old course.
pub fn parting(old: &[String], outcome: &Outcome) -> Option<Parting> {
    let new = outcome.trace.as_ref().map(lines).unwrap_or_default();
    if old.is_empty() || old == new {
        return None;
    }
    let at = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    Some(Parting {
        line: at + 1,
        before: old.get(at).cloned(),
        now: new.get(at).cloned(),
        kept: in_common(old, &new),
        lines: old.len(),
    })
}

/// Events told of each run from where two part.
const PARTED_MAX: usize = 6;

/// Where two recorded runs part: a few lines both have, then `-` lines of the one and `+` lines of the other; none if
/// they are the same, event by event.
pub fn parting_lines(one: &Trace, other: &Trace) -> Option<Vec<String>> {
    let told = |trace: &Trace| -> Vec<String> {
        let told = trace.events.iter().filter_map(|event| {
            line(event).map(|line| format!("{:>10}  {line}  {}", clock(event.time), remarks(event)))
        });
        told.map(|line| line.trim_end().to_owned()).collect()
    };
    let (a, b) = (told(one), told(other));
    let at = (0..a.len().max(b.len())).find(|&at| a.get(at) != b.get(at))?;
    let mut lines: Vec<String> = a[at.saturating_sub(3)..at].iter().map(|line| format!("  {line}")).collect();
    for (sign, told) in [('-', &a), ('+', &b)] {
        let rest = told.get(at..).unwrap_or_default();
        lines.extend(rest.iter().take(PARTED_MAX).map(|line| format!("{sign} {line}")));
        if rest.is_empty() {
            lines.push(format!("{sign} the end of the run"));
        }
    }
    Some(lines)
}

/// Length of the longest common subsequence.
fn in_common(a: &[String], b: &[String]) -> usize {
    let mut row = vec![0_usize; b.len() + 1];
    for x in a {
        let mut corner = 0;
        for (at, y) in b.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if x == y { corner + 1 } else { above.max(row[at]) };
            corner = above;
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traces::{Sketch, n, outcome};
    use whitewater_sim::{EventId, Verdict};

    fn run_of(terms: &[u64]) -> Outcome {
        let mut sketch = Sketch::new();
        for term in terms {
            let sent = sketch.send(EventId::NONE, n(1), n(2), "State", *term);
            sketch.receive(sent, "");
        }
        outcome(sketch.trace(), Verdict::Pass)
    }

    #[test]
    fn a_course_tells_what_arrived_and_no_times() {
        assert_eq!(course(&run_of(&[3])), ["n2 recv n1->n2 State term 3"]);
    }

    #[test]
    fn two_runs_part_at_the_first_line_that_differs() {
        let old = course(&run_of(&[1, 2, 4]));
        assert_eq!(parting(&old, &run_of(&[1, 2, 4])), None);
        let parted = parting(&old, &run_of(&[1, 3, 4])).unwrap();
        assert_eq!((parted.line, parted.kept, parted.lines), (2, 2, 3));
        assert!(parted.now.unwrap().ends_with("term 3"));
        let shorter = parting(&old, &run_of(&[1, 2])).unwrap();
        assert_eq!((shorter.line, shorter.now), (3, None));
    }

    #[test]
    fn there_is_nothing_to_compare_with_an_empty_course() {
        assert_eq!(parting(&[], &run_of(&[1])), None);
    }
}
