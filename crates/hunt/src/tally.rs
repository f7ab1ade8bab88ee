//! What a campaign keeps of its runs: sums, distributions and hits, never the runs themselves.

use crate::coverage::{Coverage, PlanFacts};
use crate::failure::{FailureKind, FailureRecord};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use whitewater_sim::{Counters, Outcome, Span, System};

/// Failures a summary keeps in full, the lowest runs first. Further ones are only counted, so that memory stays flat.
pub const FAILURES_KEPT: usize = 1_000;

/// How a figure is spread over runs, by the nearest rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    /// Half of the runs had at most this.
    pub median: u64,
    /// Three quarters of the runs had at most this.
    pub upper_quartile: u64,
}

/// What a campaign found, in figures. The runs themselves are not kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Runs that were made, each counted once.
    pub runs: u64,
    /// Messages that reached a node that was up, over all runs.
    pub deliveries: u64,
    /// Simulated time of all runs in seconds.
    pub simulated_seconds: f64,
    /// Runs that failed.
    pub failing_runs: u64,
    /// Runs that failed, by rule.
    pub failures_by_rule: BTreeMap<String, u64>,
    /// The failing runs of lowest number, at most [`FAILURES_KEPT`].
    pub failures: Vec<FailureRecord>,
    /// Times a server became leader, per run.
    pub leader_changes: Spread,
    /// Crashes per run.
    pub crashes: Spread,
    /// Writes a client was told to be done, per run.
    pub acknowledged_writes: Spread,
    /// Runs in which a fault family bit, by family.
    pub fault_hits: BTreeMap<&'static str, u64>,
    /// Runs that met a mark, by mark; marks that no run met are in it with zero.
    pub mark_hits: BTreeMap<&'static str, u64>,
    /// Marks that no run met.
    pub never_reached: Vec<&'static str>,
    /// What the plans had.
    pub coverage: Coverage,
    /// Runs that were made twice to see that they are deterministic.
    pub repeated: u64,
    /// Runs in which some progress that was owed was excused.
    pub excused: u64,
    /// Runs in which some progress was not owed under the plan.
    pub not_owed: u64,
    /// The same by reason. A run may have one reason before its power cycle and another one after it.
    pub not_owed_because: BTreeMap<String, u64>,
    /// Runs that broke no rule as far as anybody could say: whether some order explains what clients saw of a key was not
    /// found out within the budget.
    pub undecided: u64,
}

impl Summary {
    /// Kinds of faults that some plan had and that never bit, and marks that no run met: each is in fewer than
    /// [`upper_bound`](crate::upper_bound) of all runs, with a confidence of 95 %.
    pub fn never_bitten(&self) -> Vec<&'static str> {
        let on = self.coverage.faults.iter().filter(|(_, runs)| **runs > 0);
        let idle = on.filter(|(name, _)| self.fault_hits.get(*name).is_none_or(|hits| *hits == 0));
        idle.map(|(name, _)| *name).collect()
    }

    /// What the campaign means as an exit code: 4 nothing ran, 70 our own bug, 3 not deterministic, 1 found, 6 nothing found
    /// and something undecided, 0 clean.
    pub fn exit_code(&self) -> u8 {
        if self.runs == 0 {
            return 4;
        }
        let codes = self.failures_by_rule.keys().map(|rule| FailureKind::of_rule(rule).exit_code());
        codes.max_by_key(|code| [1, 3, 70].iter().position(|c| c == code)).unwrap_or(if self.undecided > 0 {
            6
        } else {
            0
        })
    }
}

/// Collects runs into a summary.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    runs: u64,
    deliveries: u64,
    simulated_nanos: u128,
    failing_runs: u64,
    failures_by_rule: BTreeMap<String, u64>,
    failures: Vec<FailureRecord>,
    leader_changes: Histogram,
    crashes: Histogram,
    acknowledged_writes: Histogram,
    fault_hits: BTreeMap<&'static str, u64>,
    mark_hits: BTreeMap<&'static str, u64>,
    coverage: Coverage,
    repeated: u64,
    excused: u64,
    not_owed: u64,
    not_owed_because: BTreeMap<String, u64>,
    undecided: u64,
}

impl Tally {
    /// Nothing counted yet; knows the marks of the systems that may run.
    pub(crate) fn new<'a>(systems: impl Iterator<Item = &'a dyn System>) -> Tally {
        let marks: BTreeSet<&'static str> = systems.flat_map(|s| s.marks().iter().copied()).collect();
        Tally { mark_hits: marks.into_iter().map(|m| (m, 0)).collect(), ..Tally::default() }
    }

    /// Counts a finished run.
    pub(crate) fn add(&mut self, run: &RunFigures) {
        self.runs += 1;
        self.deliveries += run.deliveries;
        self.simulated_nanos += u128::from(run.simulated.nanos());
        self.leader_changes.add(run.leader_changes);
        self.crashes.add(run.crashes);
        self.acknowledged_writes.add(run.acknowledged_writes);
        for (family, bites) in run.faults {
            *self.fault_hits.entry(family).or_default() += u64::from(bites > 0);
        }
        for mark in &run.marks {
            *self.mark_hits.entry(mark).or_default() += 1;
        }
        self.repeated += u64::from(run.repeated);
        self.excused += u64::from(run.excused > 0);
        self.not_owed += u64::from(run.not_owed > 0);
        for because in &run.not_owed_because {
            match self.not_owed_because.get_mut(&**because) {
                Some(runs) => *runs += 1,
                None => drop(self.not_owed_because.insert(because.to_string(), 1)),
            }
        }
        self.undecided += u64::from(run.undecided > 0);
    }

    /// Counts what the plan of a run had.
    pub(crate) fn cover(&mut self, facts: &PlanFacts) {
        self.coverage.add(facts);
    }

    /// Counts a run that gave no outcome.
    pub(crate) fn add_broken(&mut self) {
        self.runs += 1;
    }

    /// Counts a failure of a run counted before.
    pub(crate) fn fail(&mut self, failure: FailureRecord) {
        self.failing_runs += 1;
        *self.failures_by_rule.entry(failure.rule.clone()).or_default() += 1;
        if self.failures.len() < FAILURES_KEPT {
            self.failures.push(failure);
        }
    }

    /// Where the campaign stands.
    pub(crate) fn progress(&self) -> Progress {
        Progress {
            runs: self.runs,
            deliveries: self.deliveries,
            simulated_seconds: seconds(self.simulated_nanos),
            failures: self.failing_runs,
            marks_reached: self.mark_hits.values().filter(|&&n| n > 0).count(),
            marks: self.mark_hits.len(),
            repeated: self.repeated,
        }
    }

    /// Messages delivered so far.
    pub(crate) fn deliveries(&self) -> u64 {
        self.deliveries
    }

    /// Everything counted.
    pub(crate) fn summary(self) -> Summary {
        let never = self.mark_hits.iter().filter(|(_, n)| **n == 0).map(|(m, _)| *m).collect();
        Summary {
            runs: self.runs,
            deliveries: self.deliveries,
            simulated_seconds: seconds(self.simulated_nanos),
            failing_runs: self.failing_runs,
            failures_by_rule: self.failures_by_rule,
            failures: self.failures,
            leader_changes: self.leader_changes.spread(),
            crashes: self.crashes.spread(),
            acknowledged_writes: self.acknowledged_writes.spread(),
            fault_hits: self.fault_hits,
            mark_hits: self.mark_hits,
            never_reached: never,
            coverage: self.coverage,
            repeated: self.repeated,
            excused: self.excused,
            not_owed: self.not_owed,
            not_owed_because: self.not_owed_because,
            undecided: self.undecided,
        }
    }
}

/// Where a campaign stands after the runs shown so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Runs made.
    pub runs: u64,
    /// Messages delivered.
    pub deliveries: u64,
    /// Simulated seconds.
    pub simulated_seconds: f64,
    /// Runs that failed.
    pub failures: u64,
    /// Marks that some run met.
    pub marks_reached: usize,
    /// Marks there are.
    pub marks: usize,
    /// Runs made twice.
    pub repeated: u64,
}

/// What a tally takes from one outcome.
#[derive(Clone, Debug)]
pub(crate) struct RunFigures {
    pub(crate) deliveries: u64,
    pub(crate) simulated: Span,
    pub(crate) leader_changes: u64,
    pub(crate) crashes: u64,
    pub(crate) acknowledged_writes: u64,
    pub(crate) faults: [(&'static str, u64); Counters::FAULTS],
    pub(crate) marks: Vec<&'static str>,
    pub(crate) repeated: bool,
    pub(crate) excused: u64,
    pub(crate) not_owed: u64,
    pub(crate) not_owed_because: Vec<Cow<'static, str>>,
    pub(crate) undecided: u64,
}

impl RunFigures {
    /// The figures of an outcome.
    pub(crate) fn of(outcome: &Outcome, repeated: bool) -> RunFigures {
        RunFigures {
            deliveries: outcome.counters.deliveries,
            simulated: Span::from_nanos(outcome.time.nanos()),
            leader_changes: outcome.counters.leader_changes,
            crashes: outcome.counters.crashes,
            acknowledged_writes: outcome.figures.acknowledged_writes,
            faults: outcome.counters.faults(),
            marks: outcome.marks.clone(),
            repeated,
            excused: outcome.figures.excused,
            not_owed: outcome.figures.not_owed,
            not_owed_because: outcome.figures.reasons().map(Cow::Borrowed).collect(),
            undecided: outcome.figures.undecided,
        }
    }
}

/// Nanoseconds as seconds, for people and records.
pub(crate) fn seconds(nanos: u128) -> f64 {
    nanos as f64 / 1e9
}

/// How often each value occurred. Values of one run are small, so there are few of them.
#[derive(Debug, Default)]
struct Histogram {
    counts: BTreeMap<u64, u64>,
    total: u64,
}

impl Histogram {
    fn add(&mut self, value: u64) {
        *self.counts.entry(value).or_default() += 1;
        self.total += 1;
    }

    /// The lowest value that `numerator` of `denominator` parts of the values do not exceed; 0 without values.
    fn quantile(&self, numerator: u64, denominator: u64) -> u64 {
        let rank = (self.total * numerator).div_ceil(denominator).max(1);
        let mut below = 0;
        for (value, count) in &self.counts {
            below += count;
            if below >= rank {
                return *value;
            }
        }
        0
    }

    fn spread(&self) -> Spread {
        Spread { median: self.quantile(1, 2), upper_quartile: self.quantile(3, 4) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whitewater_sim::Figures;

    fn figures(leader_changes: u64, marks: &[&'static str]) -> RunFigures {
        RunFigures {
            deliveries: 10,
            simulated: Span::from_millis(1_500),
            leader_changes,
            crashes: 0,
            acknowledged_writes: 0,
            faults: [("drop", leader_changes); Counters::FAULTS],
            marks: marks.to_vec(),
            repeated: leader_changes == 3,
            excused: 2,
            not_owed: 0,
            not_owed_because: Vec::new(),
            undecided: leader_changes,
        }
    }

    #[test]
    fn quartiles_are_values_that_occurred() {
        let spread = |values: &[u64]| {
            let mut histogram = Histogram::default();
            values.iter().for_each(|v| histogram.add(*v));
            (histogram.spread().median, histogram.spread().upper_quartile)
        };
        assert_eq!(spread(&[]), (0, 0));
        assert_eq!(spread(&[7]), (7, 7));
        assert_eq!(spread(&[4, 1, 3, 2]), (2, 3));
        assert_eq!(spread(&[0, 0, 0, 0, 9]), (0, 0));
        assert_eq!(spread(&[5, 1, 9, 1, 9, 9, 9, 9]), (9, 9));
    }

    #[test]
    fn hits_count_runs_and_marks_that_no_run_met_are_named() {
        let mark_hits = [("deposed", 0), ("rejoined", 0), ("truncated", 0)].into();
        let mut tally = Tally { mark_hits, ..Tally::default() };
        tally.add(&figures(3, &["deposed"]));
        tally.add(&figures(0, &["deposed", "truncated"]));
        let summary = tally.summary();
        assert_eq!(summary.mark_hits, [("deposed", 2), ("rejoined", 0), ("truncated", 1)].into());
        assert_eq!(summary.never_reached, ["rejoined"]);
        assert_eq!(summary.fault_hits["drop"], Counters::FAULTS as u64, "equal names, each hit by one run");
        assert_eq!((summary.runs, summary.deliveries, summary.repeated), (2, 20, 1));
        assert_eq!((summary.excused, summary.not_owed, summary.undecided), (2, 0, 1));
        assert_eq!(summary.simulated_seconds, 3.0);
    }

    #[test]
    fn runs_that_owe_nothing_are_counted_by_reason() {
        let mut tally = Tally::default();
        let mut figures = Figures::default();
        figures.owe_nothing("disturbed");
        figures.owe_nothing("no-majority");
        for reasons in
            [figures.reasons().map(Cow::Borrowed).collect(), vec![Cow::Owned("disturbed".to_owned())]]
        {
            tally.add(&RunFigures { not_owed: 1, not_owed_because: reasons, ..self::figures(0, &[]) });
        }
        let summary = tally.summary();
        assert_eq!(summary.not_owed, 2);
        assert_eq!(
            summary.not_owed_because,
            [("disturbed".to_owned(), 2), ("no-majority".to_owned(), 1)].into()
        );
        let mut twice = Figures::default();
        twice.owe_nothing("disturbed");
        twice.owe_nothing("disturbed");
        assert_eq!((twice.not_owed, twice.reasons().count()), (2, 1), "one reason for both phases");
    }

    #[test]
    fn the_exit_code_is_that_of_the_worst_failure() {
        let code = |rules: &[&str]| {
            let failures_by_rule = rules.iter().map(|r| ((*r).to_owned(), 1)).collect();
            Summary { runs: 5, failures_by_rule, ..Summary::default() }.exit_code()
        };
        assert_eq!(Summary::default().exit_code(), 4);
        assert_eq!(code(&[]), 0);
        assert_eq!(code(&["election-safety"]), 1);
        assert_eq!(code(&["nondeterministic", "panic"]), 3);
        assert_eq!(code(&["election-safety", "own-bug", "nondeterministic"]), 70);
    }

    #[test]
    fn a_campaign_that_found_nothing_and_could_not_tell_of_every_run_did_not_pass() {
        let code = |undecided, rules: &[&str]| {
            let failures_by_rule = rules.iter().map(|r| ((*r).to_owned(), 1)).collect();
            Summary { runs: 5, undecided, failures_by_rule, ..Summary::default() }.exit_code()
        };
        assert_eq!((code(1, &[]), code(0, &[]), code(1, &["election-safety"])), (6, 0, 1));
    }
}
