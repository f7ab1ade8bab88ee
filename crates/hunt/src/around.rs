//! Runs a variant of a scenario many times, each time shaken in another way, and counts what comes of it.

use crate::run::{missed, run};
use crate::snapshot::meets;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use whitewater_plan::{Scenario, Variant, around};
use whitewater_sim::{Outcome, System};

/// The ending of a run of which nobody can say within the budget whether it is linearizable.
const UNDECIDED: &str = "undecided";

/// What came of all runs around a variant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Around {
    /// Runs.
    pub runs: u64,
    /// Runs that ended as expected.
    pub met: u64,
    /// Those of them in which a step never happened, so that the story was another one.
    pub untold: u64,
    /// Every other ending with how often it came and the first number it came for.
    pub others: BTreeMap<String, (u64, u64)>,
}

/// Runs a variant `count` times on `jobs` threads; the result does not depend on their number.
///
/// # Errors
/// The plan cannot be run; the text says why.
pub fn run_around(
    system: &dyn System,
    scenario: &Scenario,
    variant: &Variant,
    count: u64,
    jobs: usize,
) -> Result<Around, String> {
    let plan = scenario.plan(variant);
    let (next, all) = (AtomicU64::new(0), Mutex::new(Around::default()));
    let work = || -> Result<(), String> {
        let mut own = Around::default();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                break;
            }
            let outcome = run(system, &around(&plan, number), false)?;
            own.runs += 1;
            match meets(&variant.expect, &outcome) {
                Ok(()) => {
                    own.met += 1;
                    own.untold += u64::from(!missed(&plan, &outcome).is_empty());
                }
                Err(_) => own.note(ending(&outcome), 1, number),
            }
        }
        all.lock().expect("nobody panics with the counts in hand").add(own);
        Ok(())
    };
    let ends: Vec<Result<(), String>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().expect("a run does not panic")).collect()
    });
    ends.into_iter().collect::<Result<Vec<()>, String>>()?;
    Ok(all.into_inner().expect("nobody panics with the counts in hand"))
}

/// How a run ended, without figures.
fn ending(outcome: &Outcome) -> String {
    let verdict = &outcome.verdict;
    if verdict.is_pass() && outcome.figures.undecided > 0 {
        return UNDECIDED.to_owned();
    }
    let at = verdict.node().map_or(String::new(), |node| format!(" at {node}"));
    format!("{}{at}", verdict.rule())
}

impl Around {
    /// Whether every run that did not end as expected is one of which nobody can say how it ended.
    pub fn is_merely_undecided(&self) -> bool {
        !self.others.is_empty() && self.others.keys().all(|ending| ending == UNDECIDED)
    }

    fn note(&mut self, ending: String, count: u64, first: u64) {
        let (times, earliest) = self.others.entry(ending).or_insert((0, first));
        *times += count;
        *earliest = (*earliest).min(first);
    }

    fn add(&mut self, other: Around) {
        self.runs += other.runs;
        self.met += other.met;
        self.untold += other.untold;
        for (ending, (count, first)) in other.others {
            self.note(ending, count, first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_several_threads_add_up_and_the_earliest_run_is_kept() {
        let mut all = Around { runs: 2, met: 1, untold: 1, ..Around::default() };
        all.note("panic at n1".into(), 1, 9);
        let mut more = Around { runs: 3, met: 1, ..Around::default() };
        more.note("panic at n1".into(), 2, 4);
        all.add(more);
        assert_eq!((all.runs, all.met, all.untold), (5, 2, 1));
        assert_eq!(all.others["panic at n1"], (3, 4));
        assert!(!all.is_merely_undecided());
        let undecided = Around { others: [(UNDECIDED.to_owned(), (1, 0))].into(), ..Around::default() };
        assert!(undecided.is_merely_undecided() && !Around::default().is_merely_undecided());
    }
}
