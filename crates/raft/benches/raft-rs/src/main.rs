//! Times the core beside raft-rs: `cargo run --release --bin pair`, in this folder.
//!
//! Both sides take turns in slices that are short enough to be seldom interrupted, so that whatever else the machine does
//! meets both. A round is the median of its slices, and the median of five rounds counts.

use std::time::Instant;
use whitewater_raft_bench::{Operation, Side, sides};

const ROUNDS: usize = 5;
const SLICES: usize = 41;
const COUNT: u64 = 250;

fn main() {
    println!("nanoseconds per operation, median of {ROUNDS} rounds of {SLICES} slices of {COUNT}, in turns");
    println!("{:34} {:>9} {:>9} {:>7}", "", "this core", "raft-rs", "ratio");
    for operation in Operation::ALL {
        let (mut ours, mut theirs) = sides(operation);
        // A round that does not count, for caches and branch predictors.
        round(&mut *ours, &mut *theirs);
        let rounds: Vec<(f64, f64)> = (0..ROUNDS).map(|_| round(&mut *ours, &mut *theirs)).collect();
        let ours = median(rounds.iter().map(|&(ours, _)| ours));
        let theirs = median(rounds.iter().map(|&(_, theirs)| theirs));
        println!("{:34} {ours:9.0} {theirs:9.0} {:6.2}x", operation.name(), theirs / ours);
    }
}

fn round(ours: &mut dyn Side, theirs: &mut dyn Side) -> (f64, f64) {
    let slices: Vec<(f64, f64)> = (0..SLICES).map(|_| (time(ours), time(theirs))).collect();
    (median(slices.iter().map(|&(ours, _)| ours)), median(slices.iter().map(|&(_, theirs)| theirs)))
}

fn time(side: &mut dyn Side) -> f64 {
    side.prepare(COUNT);
    let start = Instant::now();
    side.run();
    start.elapsed().as_nanos() as f64 / COUNT as f64
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
