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
