//! Counts memory allocations for each replicated entry: `cargo run --release --bin allocations`, in this folder.
//!
//! A program of its own, because counting would slow down what is timed.

use whitewater_raft_bench::{Operation, Side, sides};

const COUNT: u64 = 10_000;

fn main() {
    println!("allocations per replicated entry (propose, replicate, commit and apply on every node)");
    println!("{:34} {:>9} {:>9}", "", "this core", "raft-rs");
    for nodes in [3, 5] {
        let operation = Operation::ProposeToCommit(nodes);
        let (mut ours, mut theirs) = sides(operation);
        let (ours, theirs) = (count(&mut *ours), count(&mut *theirs));
        println!("{:34} {ours:9.2} {theirs:9.2}", operation.name());
    }
}

fn count(side: &mut dyn Side) -> f64 {
    // Buffers grow to their size in a round that does not count.
    side.prepare(COUNT);
    side.run();
    side.prepare(COUNT);
    let info = allocation_counter::measure(|| side.run());
    info.count_total as f64 / COUNT as f64
}
