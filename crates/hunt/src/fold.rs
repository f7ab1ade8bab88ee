//! Repeats that are told in one line: what there was, how often, and until when.

use crate::causes::is_refusal;
use whitewater_sim::{EventKind, NodeId, Time, TraceEvent};

/// Labels a line holds; with more, links are left out and then the rest is counted.
const LABELS_MAX: usize = 6;

/// A line of a story.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    /// An event, by position in the trace.
    Event(usize),
    /// Repeats.
    Fold(Fold),
}

/// Repeats between two lines.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fold {
    repeats: Vec<(Label, usize)>,
    first: Time,
    last: Time,
}

/// What repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Label {
    word: &'static str,
    link: Option<(NodeId, NodeId)>,
    name: String,
}

impl Fold {
    /// Counts a repeat.
    pub(crate) fn add(&mut self, event: &TraceEvent) {
        if self.repeats.is_empty() {
            self.first = event.time;
        }
        self.last = event.time;
        let label = Label::of(event);
        match self.repeats.iter_mut().find(|(known, _)| *known == label) {
            Some((_, count)) => *count += 1,
            None => self.repeats.push((label, 1)),
        }
    }

    /// Repeats in it.
    pub(crate) fn len(&self) -> usize {
        self.repeats.iter().map(|(_, count)| count).sum()
    }

    /// When the first and the last of them were.
    pub(crate) fn times(&self) -> (Time, Time) {
        (self.first, self.last)
    }

    /// What they were, such as `3 × (n1->n2 Heartbeat, n2->n1 Ack), 2 × DROP n1->n3 Rows`.
    pub(crate) fn text(&self) -> String {
        let mut repeats = self.repeats.clone();
        if repeats.len() > LABELS_MAX {
            repeats = merged(&repeats);
        }
        let rest: usize = repeats.iter().skip(LABELS_MAX).map(|(_, count)| count).sum();
        repeats.truncate(LABELS_MAX);
        let mut parts: Vec<(usize, Vec<String>)> = Vec::new();
        for (label, count) in &repeats {
            match parts.iter_mut().find(|(n, _)| n == count) {
                Some((_, labels)) => labels.push(label.text()),
                None => parts.push((*count, vec![label.text()])),
            }
        }
        let mut parts: Vec<String> = parts
            .into_iter()
            .map(|(count, labels)| match (count, labels.len()) {
                (1, _) => labels.join(", "),
                (_, 1) => format!("{count} × {}", labels[0]),
                _ => format!("{count} × ({})", labels.join(", ")),
            })
            .collect();
        if rest > 0 {
            parts.push(format!("{rest} more"));
        }
        parts.join(", ")
    }
}

/// The same without links.
fn merged(repeats: &[(Label, usize)]) -> Vec<(Label, usize)> {
    let mut merged: Vec<(Label, usize)> = Vec::new();
    for (label, count) in repeats {
        let label = Label { link: None, ..label.clone() };
        match merged.iter_mut().find(|(known, _)| *known == label) {
            Some((_, sum)) => *sum += count,
            None => merged.push((label, *count)),
        }
    }
    merged
}

impl Label {
    fn of(event: &TraceEvent) -> Label {
        let word = match event.kind {
            EventKind::Recv if is_refusal(event) => "refused",
            EventKind::Recv => "",
            kind => kind.word(),
        };
        match event.subject {
            Some(s) => {
                let link = (s.from != s.to).then_some((s.from, s.to));
                Label { word, link, name: s.name.to_owned() }
            }
            None => Label { word, link: None, name: String::new() },
        }
    }

    fn text(&self) -> String {
        let link = self.link.map(|(from, to)| format!("{from}->{to}")).unwrap_or_default();
        let words = [self.word, link.as_str(), self.name.as_str()];
        words.into_iter().filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traces::{Sketch, n};
    use whitewater_sim::EventId;

    fn fold(links: &[(usize, usize, &'static str)]) -> Fold {
        let mut sketch = Sketch::new();
        for (from, to, name) in links {
            let sent = sketch.send(EventId::NONE, n(*from), n(*to), name, 1);
            sketch.receive(sent, "");
        }
        let mut fold = Fold::default();
        sketch.trace().events.iter().filter(|e| e.kind == EventKind::Recv).for_each(|e| fold.add(e));
        fold
    }

    #[test]
    fn what_comes_equally_often_is_told_together() {
        let round = [(1, 2, "Heartbeat"), (2, 1, "Ack")];
        let fold = fold(&[&round[..], &round[..], &round[..], &[(1, 3, "Rows")]].concat());
        assert_eq!(fold.len(), 7);
        assert_eq!(fold.text(), "3 × (n1->n2 Heartbeat, n2->n1 Ack), n1->n3 Rows");
    }

    #[test]
    fn many_links_are_told_by_name_only() {
        let links: Vec<(usize, usize, &'static str)> = (2..9).map(|to| (1, to, "Heartbeat")).collect();
        assert_eq!(fold(&links).text(), "7 × Heartbeat");
    }
}
