//! What several nodes say to several others, the same each time, is told in one line: nothing is learned from the rest.

use crate::fold::{Fold, Item};
use crate::words::{nameless, remarks};
use std::collections::{BTreeMap, BTreeSet};
use whitewater_sim::{EventKind, NodeId, Subject, TraceEvent};

/// Events that are a crowd.
const CROWD_MIN: usize = 4;

/// Nodes that say it, and nodes to whom they say it.
const ENDS_MIN: usize = 3;

/// What makes an event one of a crowd: kind, name, and text and remarks without names of nodes and numbers.
type Said = (&'static str, &'static str, String, String);

/// Folds every crowd among lines of a story that follow each other. `matters` says which events keep a line of their own
/// whatever they say.
pub(crate) fn fold_crowds(
    events: &[TraceEvent],
    items: Vec<Item>,
    matters: impl Fn(&TraceEvent) -> bool,
) -> Vec<Item> {
    let mut told = Vec::with_capacity(items.len());
    let mut row: Vec<(usize, Option<Said>)> = Vec::new();
    for item in items {
        let event = if let Item::Event(at) = item { Some((at, &events[at])) } else { None };
        match event.and_then(|(at, event)| Some((at, said(event)?, matters(event)))) {
            Some((at, said, false)) => row.push((at, Some(said))),
            // One that matters among others like it.
            Some((at, said, true)) if row.last().is_some_and(|(last, _)| name(&events[*last]) == said.1) => {
                row.push((at, None));
            }
            _ => {
                fold_row(events, std::mem::take(&mut row), &mut told);
                told.push(item);
            }
        }
    }
    fold_row(events, row, &mut told);
    told
}

/// Folds the crowds of a row of events, each where the last of it was.
fn fold_row(events: &[TraceEvent], row: Vec<(usize, Option<Said>)>, told: &mut Vec<Item>) {
    let mut alike: BTreeMap<&Said, Vec<usize>> = BTreeMap::new();
    for (at, said) in &row {
        if let Some(said) = said {
            alike.entry(said).or_default().push(*at);
        }
    }
    alike.retain(|_, crowd| is_crowd(events, crowd));
    for (at, said) in &row {
        match said.as_ref().and_then(|said| alike.get(said)) {
            None => told.push(Item::Event(*at)),
            Some(crowd) if crowd.last() == Some(at) => {
                let mut fold = Fold::default();
                crowd.iter().for_each(|at| fold.add(&events[*at]));
                told.push(Item::Fold(fold));
            }
            Some(_) => {}
        }
    }
}

/// The name of the message or timer it is about.
fn name(event: &TraceEvent) -> &'static str {
    event.subject.map_or("", |subject| subject.name)
}

/// What an event says that could be one of a crowd: a message that came, or a timer about a peer.
fn said(event: &TraceEvent) -> Option<Said> {
    let is_such = matches!(event.kind, EventKind::Recv | EventKind::Timer);
    let subject = event.subject.filter(|_| is_such)?;
    Some((event.kind.word(), subject.name, nameless(&event.text), nameless(&remarks(event))))
}

/// Whether so many are said by several to several: what one says to all, or all to one, is a broadcast or its answers, and two
/// that say the same compete.
fn is_crowd(events: &[TraceEvent], crowd: &[usize]) -> bool {
    let several = |end: fn(Subject) -> NodeId| {
        let ends = crowd.iter().filter_map(|at| events[*at].subject).map(end);
        ends.collect::<BTreeSet<NodeId>>().len() >= ENDS_MIN
    };
    crowd.len() >= CROWD_MIN && several(|subject| subject.from) && several(|subject| subject.to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traces::{Sketch, n};
    use whitewater_sim::{EventId, Trace};

    /// What becomes of messages that say something from one to another, those to n3 with a remark: lines and repeats.
    fn told(messages: &[(usize, usize, &'static str)]) -> (usize, Vec<String>) {
        let mut sketch = Sketch::new();
        for (from, to, name) in messages {
            let sent = sketch.send(EventId::NONE, n(*from), n(*to), name, 1);
            sketch.receive(sent, if *to == 3 { "news" } else { "" });
        }
        let Trace { events, .. } = sketch.trace();
        let came = events.iter().enumerate().filter(|(_, event)| event.kind == EventKind::Recv);
        let items = came.map(|(at, _)| Item::Event(at)).collect();
        let told = fold_crowds(&events, items, |event| !event.notes.is_empty());
        let folds =
            told.iter().filter_map(|item| if let Item::Fold(fold) = item { Some(fold.text()) } else { None });
        (told.len(), folds.collect())
    }

    #[test]
    fn what_all_say_to_all_is_one_line_and_what_is_remarked_on_another() {
        let hello = [(1, 2, "Hello"), (2, 1, "Hello"), (2, 3, "Hello"), (4, 1, "Hello"), (1, 4, "Hello")];
        let expected = "n1->n2 Hello, n2->n1 Hello, n4->n1 Hello, n1->n4 Hello";
        assert_eq!(told(&hello), (2, vec![expected.to_owned()]));
    }

    #[test]
    fn what_one_says_to_all_or_all_to_one_or_two_or_few_or_something_else_stays() {
        let to_all: Vec<_> = [2, 4, 5, 6].map(|to| (1, to, "Vote")).into();
        let to_one: Vec<_> = [2, 4, 5, 6].map(|from| (from, 1, "Granted")).into();
        let of_two = vec![(1, 2, "Vote"), (1, 4, "Vote"), (1, 5, "Vote"), (2, 1, "Vote"), (2, 4, "Vote")];
        let few = vec![(1, 2, "Hello"), (2, 1, "Hello"), (4, 1, "Hello")];
        let others = vec![(1, 2, "Hello"), (2, 1, "Hello"), (4, 1, "Vote"), (1, 4, "Vote")];
        for messages in [to_all, to_one, of_two, few, others] {
            assert_eq!(told(&messages), (messages.len(), vec![]));
        }
    }
}
