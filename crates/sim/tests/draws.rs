//! No draw shifts another: what a change early in a run leaves as it was.

mod common;

use common::*;
use std::collections::BTreeMap;
use whitewater_sim::*;

/// For each send after the first millisecond: what it was and how long it took.
fn delays(outcome: &Outcome) -> BTreeMap<(Time, NodeId, NodeId, &'static str, u64), String> {
    let events = &outcome.trace.as_ref().unwrap().events;
    let later = events.iter().filter(|e| e.kind == EventKind::Send && e.time >= Time::from_millis(1));
    later
        .map(|e| {
            let s = e.subject.unwrap();
            ((e.time, s.from, s.to, s.name, s.key), e.notes[0].clone())
        })
        .collect()
}

fn long() -> Script {
    Script { horizon: Span::from_millis(3_000), ..short(vec![]) }
}

#[test]
fn one_extra_message_early_leaves_at_least_95_percent_of_the_later_draws_unchanged() {
    let before = delays(&run(&long()));
    let after = delays(&run_as(&long(), Manner { extra_ping: true, ..Manner::default() }));
    let same = before.iter().filter(|(name, delay)| after.get(name) == Some(delay)).count();
    assert!(before.len() > 3_000);
    assert!(same * 100 >= before.len() * 95, "{same} of {} draws are unchanged", before.len());
}

#[test]
fn a_new_draw_site_changes_no_other_draw() {
    let plain = run(&long());
    let extra = run_as(&long(), Manner { extra_draw: true, ..Manner::default() });
    assert_eq!(delays(&plain), delays(&extra));
    assert_eq!(plain.hash, extra.hash);
}

#[test]
fn draws_of_a_node_do_not_repeat() {
    let orders = (0..20).map(|i| order(at(10 + i), n(1), "draw")).collect();
    let outcome = run(&short(orders));
    let mut replies: Vec<_> = outcome
        .trace
        .as_ref()
        .unwrap()
        .events
        .iter()
        .filter(|e| e.kind == EventKind::Reply)
        .map(|e| e.text.clone())
        .collect();
    replies.iter_mut().for_each(|text| *text = text.split(' ').nth(1).unwrap().to_owned());
    replies.sort();
    replies.dedup();
    assert_eq!(replies.len(), 20);
}
