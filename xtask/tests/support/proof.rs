//! Shrinks a failure and proves what is left: every element is taken away once, and nothing is left to a seed.

#![allow(dead_code, reason = "each test file uses a part of it")]

use super::families::{CRASHES, CUTS};
use std::fmt::Write;
use std::time::Instant;
use whitewater_hunt::{ShrinkBudget, Shrinking, Shrunk, Signature, elements, run, shrink, without};
use whitewater_plan::Plan;
use whitewater_sim::{Rest, System};

/// Tries of one shrink.
const TRIES: u64 = 16_000;

/// Shrinks a plan.
pub(crate) fn shrunk(system: &'static dyn System, plan: &Plan, jobs: usize) -> Shrunk {
    let shrinking = Shrinking { system, budget: ShrinkBudget::Tries(TRIES), jobs, watch: &|_| {} };
    shrink(&shrinking, plan).expect("the plan fails")
}

/// A failure that was shrunk, and what could go from what is left: nothing, if shrinking works.
pub(crate) struct Proven {
    /// What the failure is called.
    pub(crate) name: String,
    pub(crate) small: Shrunk,
    /// Seconds that shrinking took.
    pub(crate) seconds: f64,
    /// Seconds that it took of all cores together: what two cores need at most, if nobody else is at work on them.
    core_seconds: Option<f64>,
    /// Elements that were taken away, each by itself.
    tried: usize,
    /// Those without which the failure is the same.
    needless: Vec<String>,
}

impl Proven {
    /// Shrinks a plan and takes away every element of what is left.
    pub(crate) fn of(name: String, system: &'static dyn System, plan: &Plan) -> Proven {
        let (begun, core_begun) = (Instant::now(), core_seconds());
        let small = shrunk(system, plan, 2);
        let seconds = begun.elapsed().as_secs_f64();
        let core_seconds = core_begun.zip(core_seconds()).map(|(begun, ended)| ended - begun);
        let (mut tried, mut needless) = (0, Vec::new());
        for element in elements(&small.plan, system) {
            let Some(less) = without(&small.plan, system, &element) else { continue };
            tried += 1;
            let ends = run(system, &less, false).ok().and_then(|outcome| Signature::of(&outcome));
            if ends.as_ref() == Some(&small.signature) {
                needless.push(format!("{element:?}"));
            }
        }
        Proven { name, small, seconds, core_seconds, tried, needless }
    }

    /// What is wrong with it, if anything is.
    pub(crate) fn complaint(&self) -> Option<String> {
        let Proven { name, small, needless, .. } = self;
        let wrong = if small.plan.script.rest != Rest::Fixed {
            "something is left to a seed".to_owned()
        } else if !needless.is_empty() {
            format!("{} are not needed", needless.join(", "))
        } else if !small.minimal {
            format!("{} tries did not do", small.tries)
        } else {
            return None;
        };
        Some(format!("{name}: {wrong}: {}", small.sentence()))
    }

    /// The families of faults in what is left.
    fn taken(&self) -> String {
        let both = [("crash", &CRASHES), ("cut", &CUTS)].into_iter();
        let has = both.filter(|(_, families)| families.are_in(&self.small.plan));
        has.map(|(name, _)| name).collect::<Vec<_>>().join(", ")
    }

    /// Its row in a table.
    pub(crate) fn row(&self) -> String {
        let Proven { name, small, seconds, core_seconds, tried, needless } = self;
        let core_seconds = core_seconds.map_or_else(|| "-".to_owned(), |seconds| format!("{seconds:.1}"));
        let (before, after) = (small.before, small.after);
        format!(
            "| {name} | {} | {} | {} to {} | {} | {} | {} | {} of {tried} | {} | {seconds:.1} | {core_seconds} |",
            small.signature,
            self.taken(),
            before.deliveries,
            after.deliveries,
            after.nodes,
            after.steps,
            after.pins,
            tried - needless.len(),
            small.tries,
        )
    }
}

/// Rows as a table, with the median of their seconds.
pub(crate) fn table(rows: &[String]) -> String {
    let columns = [
        "failure",
        "rule and site",
        "faults of these",
        "deliveries",
        "nodes",
        "steps",
        "pins",
        "needed elements",
        "tries",
        "seconds",
        "core-seconds",
    ];
    let mut text = format!("| {} |\n|{}\n", columns.join(" | "), "---|".repeat(columns.len()));
    let mut seconds = Vec::new();
    for row in rows {
        writeln!(text, "{row}").expect("a text takes everything");
        let from_the_end = row.split(" | ").collect::<Vec<_>>();
        seconds.extend(from_the_end.iter().rev().nth(1).and_then(|seconds| seconds.parse::<f64>().ok()));
    }
    writeln!(text, "\n{} failures, median {:.1} seconds.", rows.len(), median(seconds))
        .expect("a text takes everything");
    text
}

/// What all threads of this process have had of the cores, where the kernel says so; nothing else may run beside it.
fn core_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // Behind the name of the program, which may be anything, the twelfth and thirteenth are hundredths of seconds.
    let behind = text.rsplit_once(')')?.1;
    let ticks: Vec<f64> = behind.split_whitespace().skip(11).take(2).filter_map(|t| t.parse().ok()).collect();
    Some(ticks.iter().sum::<f64>() / 100.0)
}

/// The one in the middle.
pub(crate) fn median_seconds(all: &[Proven]) -> f64 {
    median(all.iter().map(|one| one.seconds).collect())
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
