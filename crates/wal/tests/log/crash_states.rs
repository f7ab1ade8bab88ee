//! Every script of up to eight storage calls, every crash point in it, every legal state of the disk after it.

use super::bench::{Search, Tried};
use super::searches;
use whitewater_wal::Options;

fn try_all(what: &str, searches: impl Iterator<Item = Search>) {
    let mut tried = Tried::default();
    if let Err(wrong) = searches::run(searches, &mut tried) {
        panic!("{wrong}");
    }
    let Tried { scripts, crash_points, crash_states } = tried;
    println!("{what}: {scripts} scripts, {crash_points} crash points, {crash_states} crash states");
    assert!(crash_states > 5_000, "{tried:?}");
}

#[test]
fn nothing_is_lost_in_one_long_segment() {
    try_all("one segment", searches::eight_calls(false, Options::new(1 << 20)));
}

#[test]
fn nothing_is_lost_when_every_write_begins_a_segment() {
    try_all("many segments", searches::eight_calls(false, Options::new(1)));
}

#[test]
fn nothing_is_lost_when_syncs_take_time() {
    try_all("one segment, slow syncs", searches::eight_calls(true, Options::new(1 << 20)));
}

#[test]
fn nothing_is_lost_when_syncs_take_time_and_segments_are_short() {
    try_all("short segments, slow syncs", searches::eight_calls(true, Options::new(200)));
}

#[test]
fn what_is_only_noted_never_takes_anything_else_with_it() {
    try_all("notes", searches::notes(Options::new(1 << 20)));
    try_all("notes, many segments", searches::notes(Options::new(1)));
}

#[test]
fn nothing_that_was_promised_is_lost_when_syncs_fail() {
    try_all("failing syncs", searches::failing_syncs(false, Options::new(1 << 20)));
    try_all("failing slow syncs", searches::failing_syncs(true, Options::new(200)));
}
