//! Small groups under every fault a network and a crash can bring: what is committed stays, and nobody refuses a peer.
//!
//! The real campaigns run elsewhere, in a whole simulator; this is what the core can show on its own. A longer run:
//! `cargo test --release -p whitewater-raft --test swarm -- --ignored`.

mod world;

use world::World;

fn run(seeds: std::ops::Range<u64>) {
    let (mut committed, mut snapshots, mut changes) = (0, 0, 0);
    for seed in seeds.clone() {
        let mut world = World::new(seed);
        for _ in 0..4_000 {
            world.step();
        }
        world.settle();
        committed += world.committed();
        snapshots += world.snapshots;
        changes += world.changes;
    }
    // A run in which nothing happens shows nothing.
    let runs = seeds.end - seeds.start;
    assert!(committed > 20 * runs, "{committed} entries committed in {runs} runs");
    assert!(snapshots > runs / 2, "{snapshots} snapshots installed in {runs} runs");
    assert!(changes > runs / 2, "{changes} configuration changes applied in {runs} runs");
}

#[test]
fn what_is_committed_stays_and_a_healed_group_makes_progress() {
    run(0..100);
}

#[test]
#[ignore = "takes half a minute in release"]
fn what_is_committed_stays_in_many_more_runs() {
    run(1_000..21_000);
}

/// A planted bug proves that the net holds fish.
///
/// Bugs that only cost time or messages are missed by a test that looks at results; their scenarios are in `seeds.rs`.
#[cfg(feature = "mutants")]
#[test]
fn planted_bugs_are_found() {
    use whitewater_raft::Bug::{E04, R06, R14, SeedE1, SeedE3, SeedE4, SeedE5, SeedE7, SeedE9, SeedE12};
    const RUNS_MAX: u64 = 1_500;
    for bug in [SeedE1, SeedE3, SeedE4, SeedE5, SeedE7, SeedE9, SeedE12, E04, R06, R14] {
        let found = (0..RUNS_MAX).any(|seed| {
            let config = whitewater_raft::Config { bug: Some(bug), ..whitewater_raft::Config::new(1) };
            let run = || {
                let mut world = World::with(seed, config);
                (0..4_000).for_each(|_| world.step());
                world.settle();
            };
            std::panic::catch_unwind(run).is_err()
        });
        assert!(found, "{} goes unnoticed in {RUNS_MAX} runs", bug.id());
    }
}
