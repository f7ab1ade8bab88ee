//! Every script of up to eight storage calls, every crash point in it, every legal state of the disk after it.

mod common;

use common::{Op, Search, Tried, timing};
use whitewater_sim::Key;
use whitewater_wal::Options;

/// What the log looks like when a script begins.
const BEGINNINGS: [&[Op]; 3] =
    [&[], &[Op::AppendTwo, Op::Append], &[Op::AppendTwo, Op::Save, Op::Append, Op::Overwrite]];

fn searches(tickets: bool, segment_bytes: usize) -> impl Iterator<Item = Search> {
    let settled: [&'static [Op]; 3] = [
        &[],
        &[Op::AppendTwo, Op::Settle, Op::Append, Op::Settle],
        &[Op::AppendTwo, Op::Save, Op::Settle, Op::Append, Op::Overwrite, Op::Settle],
    ];
    let beginnings = if tickets { settled } else { BEGINNINGS };
    beginnings.into_iter().map(move |before| Search {
        timing: timing(tickets, 64),
        key: Key::default(),
        options: Options::new(segment_bytes),
        before,
        calls: 8,
        ops: if tickets { 5 } else { 8 },
        cut_bytes: 32,
    })
}

fn try_all(tickets: bool, segment_bytes: usize) {
    let mut tried = Tried::default();
    for search in searches(tickets, segment_bytes) {
        if let Err(wrong) = search.run(&mut tried) {
            panic!("{wrong}");
        }
        println!(
            "{} so far, with tickets: {tickets}, segments of {segment_bytes} bytes: {tried:?}",
            search.before.len()
        );
    }
    assert!(tried.crash_states > 10_000, "{tried:?}");
}

#[test]
fn nothing_is_lost_in_one_long_segment() {
    try_all(false, 1 << 20);
}

#[test]
fn nothing_is_lost_when_every_write_begins_a_segment() {
    try_all(false, 1);
}

#[test]
fn nothing_is_lost_when_syncs_take_time() {
    try_all(true, 1 << 20);
}

#[test]
fn nothing_is_lost_when_syncs_take_time_and_segments_are_short() {
    try_all(true, 200);
}
