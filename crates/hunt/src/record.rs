//! Records: the lines of JSON a command prints for machines, one object per line.
//!
//! Seeds and hashes are strings of hexadecimal digits, since many readers of JSON round large numbers. Fields are only
//! ever added; `schema/records.json` describes them all.

use crate::campaign::Finished;
use crate::coverage::upper_bound;
use crate::failure::FailureRecord;
use crate::tally::{Progress, Spread, Summary};
use serde::Serialize;
use std::collections::BTreeMap;
use whitewater_plan::{Plan, seed_text};
use whitewater_sim::Outcome;

/// One line.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Record {
    /// A seed or file that was run alone.
    Run(RunLine),
    /// Where a campaign stands.
    Progress(ProgressLine),
    /// A run that failed.
    Failure(FailureLine),
    /// A failing run that was made small.
    Shrunk(ShrunkLine),
    /// What a campaign found.
    Summary(SummaryLine),
}

/// A run that was made alone.
#[derive(Clone, Debug, Serialize)]
pub struct RunLine {
    /// Its seed; none for a plan from a file.
    pub seed: Option<String>,
    /// The system that ran.
    pub system: String,
    /// The profile its plan was drawn from; none if no plan came about.
    pub profile: Option<String>,
    /// `pass`, the rule that was broken, or `panic`, `limit`, `nondeterministic` or `own-bug`.
    pub rule: String,
    /// What nodes saw and did; none for a run that gave no outcome.
    pub trace_hash: Option<String>,
    /// Messages that reached a node that was up.
    pub deliveries: u64,
    /// Simulated time in seconds.
    pub simulated_seconds: f64,
    /// Whether it was made twice.
    pub repeated: bool,
}

/// Where a campaign stands.
#[derive(Clone, Debug, Serialize)]
pub struct ProgressLine {
    /// Runs made.
    pub runs: u64,
    /// Messages that reached a node that was up.
    pub deliveries: u64,
    /// Simulated time of all runs in seconds.
    pub simulated_seconds: f64,
    /// Time since the campaign began in seconds.
    pub wall_seconds: f64,
    /// Runs that failed.
    pub failures: u64,
    /// Marks that some run met.
    pub marks_reached: u64,
    /// Marks there are.
    pub marks: u64,
    /// Runs made twice.
    pub repeated: u64,
}

/// A run that failed.
#[derive(Clone, Debug, Serialize)]
pub struct FailureLine {
    /// Its seed; none for a plan from a file.
    pub seed: Option<String>,
    /// The system that ran.
    pub system: String,
    /// The profile its plan was drawn from; none if no plan came about.
    pub profile: Option<String>,
    /// The rule that was broken, or `panic`, `limit`, `nondeterministic` or `own-bug`.
    pub rule: String,
    /// What is wrong, in one sentence.
    pub message: String,
    /// The first suspect event, with the time it has in the text trace.
    pub suspect: Option<String>,
    /// What stands for it among failures as they come; none for a run that gave no outcome.
    pub fingerprint: Option<String>,
    /// What nodes saw and did; none for a run that gave no outcome.
    pub trace_hash: Option<String>,
    /// The command that runs it again.
    pub command: String,
}

/// A failing run that was made small.
#[derive(Clone, Debug, Serialize)]
pub struct ShrunkLine {
    /// What stands for it among failures.
    pub fingerprint: String,
    /// The seed of the run it was made from; none for a plan from a file.
    pub seed: Option<String>,
    /// The system that ran.
    pub system: String,
    /// The rule that was broken, or `panic` or `limit`.
    pub rule: String,
    /// What is wrong, in one sentence.
    pub message: String,
    /// Servers and clients that are left.
    pub nodes: u64,
    /// Faults and operations that are left.
    pub steps: u64,
    /// Decisions that are pinned.
    pub pins: u64,
    /// Messages that reached a node that was up.
    pub deliveries: u64,
    /// Whether nothing can be taken away any more.
    pub minimal: bool,
    /// The file it was saved in.
    pub file: String,
    /// The command that runs it again.
    pub command: String,
}

/// What a campaign found.
#[derive(Clone, Debug, Serialize)]
pub struct SummaryLine {
    /// Runs made.
    pub runs: u64,
    /// Messages that reached a node that was up.
    pub deliveries: u64,
    /// Simulated time of all runs in seconds.
    pub simulated_seconds: f64,
    /// Time the campaign took in seconds.
    pub wall_seconds: f64,
    /// Runs that failed.
    pub failures: u64,
    /// Runs that failed, by rule.
    pub failures_by_rule: BTreeMap<String, u64>,
    /// Times a server became leader, per run.
    pub leader_changes: SpreadLine,
    /// Crashes per run.
    pub crashes: SpreadLine,
    /// Writes a client was told to be done, per run.
    pub acknowledged_writes: SpreadLine,
    /// Runs whose plan had a kind of fault.
    pub faults_on: BTreeMap<&'static str, u64>,
    /// Runs in which a kind of fault bit.
    pub fault_hits: BTreeMap<&'static str, u64>,
    /// Runs that met a mark.
    pub mark_hits: BTreeMap<&'static str, u64>,
    /// Marks that no run met.
    pub never_reached: Vec<&'static str>,
    /// Kinds of faults that some plan had and that never bit.
    pub never_bitten: Vec<&'static str>,
    /// The share of runs that each of these is in at most, with a confidence of 95 %.
    pub never_reached_bound: f64,
    /// Values that parameters and options were drawn with.
    pub parameters: BTreeMap<String, String>,
    /// Runs made twice.
    pub repeated: u64,
    /// Runs in which progress that was owed was excused.
    pub excused: u64,
    /// Runs in which progress was not owed under the plan.
    pub not_owed: u64,
    /// The same by reason.
    pub not_owed_because: BTreeMap<String, u64>,
    /// Runs without a failure of which nobody could say within the budget whether they are linearizable.
    pub undecided: u64,
    /// Whether the campaign was stopped before its end.
    pub interrupted: bool,
}

/// How a figure is spread over runs.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SpreadLine {
    /// Half of the runs had at most this.
    pub median: u64,
    /// Three quarters of the runs had at most this.
    pub upper_quartile: u64,
}

impl Record {
    /// The record as one line of JSON, without the end of the line.
    pub fn line(&self) -> String {
        serde_json::to_string(self).expect("records hold only what JSON can")
    }
}

impl RunLine {
    /// The line of a run of a campaign.
    pub fn of(run: &Finished) -> RunLine {
        RunLine {
            seed: Some(seed_text(run.seed)),
            system: run.system.clone(),
            profile: run.profile.map(|p| p.to_string()),
            rule: run.rule.to_owned(),
            trace_hash: run.hash.map(|h| h.to_string()),
            deliveries: run.deliveries,
            simulated_seconds: nanos_as_seconds(run.simulated.nanos()),
            repeated: run.repeated,
        }
    }

    /// The line of a plan that was run by itself.
    pub fn of_plan(plan: &Plan, outcome: &Outcome, seed: Option<u64>, repeated: bool) -> RunLine {
        RunLine {
            seed: seed.map(seed_text),
            system: plan.system.clone(),
            profile: Some(plan.profile.to_string()),
            rule: outcome.verdict.rule().to_owned(),
            trace_hash: Some(outcome.hash.to_string()),
            deliveries: outcome.counters.deliveries,
            simulated_seconds: nanos_as_seconds(outcome.time.nanos()),
            repeated,
        }
    }
}

fn nanos_as_seconds(nanos: u64) -> f64 {
    crate::tally::seconds(u128::from(nanos))
}

impl ProgressLine {
    /// The line of a campaign after so many seconds.
    pub fn of(progress: &Progress, wall_seconds: f64) -> ProgressLine {
        ProgressLine {
            runs: progress.runs,
            deliveries: progress.deliveries,
            simulated_seconds: progress.simulated_seconds,
            wall_seconds,
            failures: progress.failures,
            marks_reached: progress.marks_reached as u64,
            marks: progress.marks as u64,
            repeated: progress.repeated,
        }
    }
}

impl FailureLine {
    /// The line of a failing run of a campaign.
    pub fn of(record: &FailureRecord) -> FailureLine {
        FailureLine {
            seed: record.seed.map(seed_text),
            system: record.system.clone(),
            profile: record.profile.map(|p| p.to_string()),
            rule: record.rule.clone(),
            message: record.message.clone(),
            suspect: record.suspect.clone(),
            fingerprint: record.fingerprint.map(|fingerprint| fingerprint.to_string()),
            trace_hash: record.hash.map(|h| h.to_string()),
            command: record.command.clone(),
        }
    }
}

impl SummaryLine {
    /// The line of a campaign that took so many seconds; `interrupted` if it was stopped before its end.
    pub fn of(summary: &Summary, wall_seconds: f64, interrupted: bool) -> SummaryLine {
        SummaryLine {
            runs: summary.runs,
            deliveries: summary.deliveries,
            simulated_seconds: summary.simulated_seconds,
            wall_seconds,
            failures: summary.failing_runs,
            failures_by_rule: summary.failures_by_rule.clone(),
            leader_changes: summary.leader_changes.into(),
            crashes: summary.crashes.into(),
            acknowledged_writes: summary.acknowledged_writes.into(),
            faults_on: summary.coverage.faults.clone(),
            fault_hits: summary.fault_hits.clone(),
            mark_hits: summary.mark_hits.clone(),
            never_reached: summary.never_reached.clone(),
            never_bitten: summary.never_bitten(),
            never_reached_bound: upper_bound(summary.runs),
            parameters: summary.coverage.parameters.iter().map(|(k, v)| (k.clone(), v.to_string())).collect(),
            repeated: summary.repeated,
            excused: summary.excused,
            not_owed: summary.not_owed,
            not_owed_because: summary.not_owed_because.clone(),
            undecided: summary.undecided,
            interrupted,
        }
    }
}

impl From<Spread> for SpreadLine {
    fn from(spread: Spread) -> SpreadLine {
        SpreadLine { median: spread.median, upper_quartile: spread.upper_quartile }
    }
}
