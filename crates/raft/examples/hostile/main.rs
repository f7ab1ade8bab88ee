//! Steps arbitrary messages into nodes in arbitrary states, as often as asked for, and looks for a panic.
//!
//! `cargo run --profile fuzz -p whitewater-raft --example hostile -- --steps 10000000 --seed 1`

mod torment;

use std::process::ExitCode;
use torment::Torment;

/// Steps in one life of a node; a fresh one starts from another state.
const STEPS_PER_LIFE: u64 = 1_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |name: &str, default: u64| {
        let at = arguments.iter().position(|argument| argument == name);
        at.and_then(|at| arguments.get(at + 1)?.parse().ok()).unwrap_or(default)
    };
    let (steps, first_seed) = (number("--steps", 1_000_000), number("--seed", 1));
    let mut seen = torment::Seen::default();
    let mut seed = first_seed;
    let mut done = 0;
    while done < steps {
        let mut torment = Torment::new(seed);
        let life = STEPS_PER_LIFE.min(steps - done);
        // The seed of the life that panics is the one to run again.
        let lived = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            (0..life).for_each(|_| torment.step());
            torment.check();
        }));
        if lived.is_err() {
            println!("panic with --seed {seed}");
            return ExitCode::FAILURE;
        }
        seen.merge(&torment.seen);
        done += life;
        seed = seed.wrapping_add(1);
    }
    println!("{done} steps without a panic, seeds {first_seed}..{seed}");
    println!("roles reached: {:?}; refusals: {:?}", seen.roles, seen.refusals);
    ExitCode::SUCCESS
}
