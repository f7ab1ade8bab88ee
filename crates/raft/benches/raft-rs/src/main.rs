//! Times the core beside raft-rs: `cargo run --release --bin pair`, in this folder.
//!
//! Both sides take turns, so that whatever else the machine does meets both; the median of five rounds counts.

use std::time::Instant;
use whitewater_raft_bench::{Operation, Side, sides};

const ROUNDS: usize = 5;
const COUNT: u64 = 2_000;

fn main() {
    println!("nanoseconds per operation, median of {ROUNDS} rounds of {COUNT}, taken in turns");
    println!("{:34} {:>9} {:>9} {:>7}", "", "this core", "raft-rs", "ratio");
    for operation in Operation::ALL {
        let (mut ours, mut theirs) = sides(operation);
        // A round that does not count, for caches and branch predictors.
        (time(&mut *ours), time(&mut *theirs));
        let mut times: Vec<(f64, f64)> = Vec::new();
        for _ in 0..ROUNDS {
            times.push((time(&mut *ours), time(&mut *theirs)));
        }
        let ours = median(times.iter().map(|&(ours, _)| ours));
        let theirs = median(times.iter().map(|&(_, theirs)| theirs));
        println!("{:34} {ours:9.0} {theirs:9.0} {:6.2}x", operation.name(), theirs / ours);
    }
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
