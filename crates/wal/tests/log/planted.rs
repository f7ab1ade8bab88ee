//! Each bug that can be planted is found by trying every crash state.

use super::bench::Tried;
use super::{rot, searches};
use whitewater_wal::{Bug, Options};

/// What the search finds with a bug in the log, and after how many crash states.
fn found(bug: Bug) -> Option<(String, u64)> {
    let mut tried = Tried::default();
    let options = |segment_bytes| Options::new(segment_bytes).plant(bug);
    let found = searches::run(searches::eight_calls(false, options(1 << 20)), &mut tried)
        .and_then(|()| searches::run(searches::eight_calls(false, options(1)), &mut tried))
        .and_then(|()| searches::run(searches::failing_syncs(false, options(1 << 20)), &mut tried))
        .and_then(|()| searches::run(searches::eight_calls(true, options(200)), &mut tried))
        .and_then(|()| searches::run(searches::failing_syncs(true, options(200)), &mut tried));
    let found = found.and_then(|()| rot::every_bit(&options(1)).map(|_| ()));
    found.err().map(|wrong| (wrong, tried.crash_states))
}

#[test]
fn every_planted_bug_is_found() {
    let mut missed = Vec::new();
    for bug in Bug::ALL {
        match found(bug) {
            Some((wrong, states)) => {
                let first = wrong.lines().next().unwrap_or_default();
                println!("{bug:?} after {states} crash states: {first}");
            }
            None => missed.push(bug),
        }
    }
    assert_eq!(missed, []);
}
