//! What is said of a search: failures as they are found, and a summary at the end.

use super::meaning::Meaning;
use crate::progress::{Progress, per_second};
use crate::telling::{Telling, exit_of, report};
use crate::{Exit, Screen, Systems, files, store};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use whitewater_hunt::{
    Failure, FailureLine, FailureRecord, Fingerprint, Finished, Observer, ProgressLine, Record, RunLine,
    Signature, Spread, Summary, SummaryLine, print_command,
};
use whitewater_plan::{generate, seed_text};

/// Watches a search and tells what it finds.
pub(super) struct Watch<'a> {
    meaning: &'a Meaning,
    screen: &'a Screen,
    progress: &'a Progress<'a>,
    stop: &'a AtomicBool,
    found: Mutex<Found>,
}

#[derive(Default)]
struct Found {
    /// Rules of which a report was printed.
    rules: BTreeSet<String>,
    /// Why a failure could not be saved.
    unsaved: Option<anyhow::Error>,
}

impl<'a> Watch<'a> {
    /// Nothing found yet; `stop` is raised when there is no point in going on.
    pub(super) fn new(
        meaning: &'a Meaning,
        screen: &'a Screen,
        progress: &'a Progress<'a>,
        stop: &'a AtomicBool,
    ) -> Watch<'a> {
        Watch { meaning, screen, progress, stop, found: Mutex::new(Found::default()) }
    }

    /// Prints the summary.
    ///
    /// # Errors
    /// A failure could not be saved.
    pub(super) fn finish(self, summary: &Summary, wall: Duration, interrupted: bool) -> anyhow::Result<()> {
        self.screen.message(&Record::Summary(SummaryLine::of(summary, wall.as_secs_f64(), interrupted)));
        self.screen.print(&summary_text(summary, wall, interrupted));
        let found = self.found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        found.unsaved.map_or(Ok(()), Err)
    }
}

impl Observer for Watch<'_> {
    fn finished(&self, _: &Finished, now: &whitewater_hunt::Progress) {
        if self.screen.is_closed() {
            self.stop.store(true, Ordering::SeqCst);
        }
        self.progress.show(now);
        if self.progress.is_record_due() {
            let wall = self.progress.elapsed().as_secs_f64();
            self.screen.message(&Record::Progress(ProgressLine::of(now, wall)));
        }
    }

    fn failed(&self, record: &FailureRecord, failure: Option<&Failure>) {
        let mut found = self.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        self.screen.message(&Record::Failure(FailureLine::of(record)));
        match failure {
            // One report tells more than a hundred of the same rule.
            Some(failure) if found.rules.insert(record.rule.clone()) => {
                self.screen.print(&report(failure));
            }
            _ => self.screen.print(&format!(
                "FAIL  seed={}  {}: {}",
                record.seed.map_or_else(|| "none".to_owned(), seed_text),
                record.rule,
                record.message
            )),
        }
        if let (Some(folder), Some(failure)) = (&self.meaning.save, failure)
            && found.unsaved.is_none()
            && let Err(error) = save(folder, failure, self.screen)
        {
            found.unsaved = Some(error);
            self.stop.store(true, Ordering::SeqCst);
        }
    }
}

/// Does one run, twice, and tells it.
pub(super) fn one(seed: u64, meaning: &Meaning, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let plan = generate(systems, seed, &meaning.restrictions).map_err(anyhow::Error::msg)?;
    let command = print_command(&meaning.restrictions, seed);
    let telling = Telling::of(plan, Some(seed), command, systems)?;
    if meaning.verbose {
        telling.print_plan(screen);
    }
    screen.message(&Record::Run(RunLine::of_plan(&telling.plan, &telling.outcome, Some(seed), true)));
    if let Some(failure) = &telling.failure {
        screen.message(&Record::Failure(FailureLine::of(&failure.keep())));
        if let Some(folder) = &meaning.save {
            save(folder, failure, screen)?;
        }
    }
    telling.print_verdict(screen);
    Ok(exit_of(&telling.outcome))
}

/// Writes a failure into a file of its own, whole or not at all.
fn save(folder: &std::path::Path, failure: &Failure, screen: &Screen) -> anyhow::Result<()> {
    let signature = Signature::of(&failure.outcome);
    let fingerprint = signature.map(|signature| Fingerprint::coarse(&failure.plan.system, &signature));
    let saved = store::saved(failure, fingerprint, None);
    let seed = failure.seed.map_or_else(|| "no-seed".to_owned(), seed_text);
    let file = folder.join(format!("{}-{}-{seed}.json", failure.plan.system, failure.rule()));
    files::write_whole(&file, &saved.to_json())?;
    screen.remark(&format!("saved: {}", file.display()));
    Ok(())
}

fn summary_text(summary: &Summary, wall: Duration, interrupted: bool) -> String {
    if summary.runs == 0 && summary.failing_runs == 0 {
        return "nothing ran".to_owned();
    }
    let share = 100.0 * summary.failing_runs as f64 / summary.runs.max(1) as f64;
    let mut lines = vec![format!(
        "{}{} runs, {} deliveries, {:.0} simulated seconds in {:.1} s ({} runs/s): {}",
        if interrupted { "interrupted after " } else { "" },
        summary.runs,
        summary.deliveries,
        summary.simulated_seconds,
        wall.as_secs_f64(),
        per_second(summary.runs, wall),
        match summary.failing_runs {
            0 => "nothing found".to_owned(),
            runs => format!("{runs} failed ({share:.1} %)"),
        }
    )];
    lines.extend(summary.failures_by_rule.iter().map(|(rule, runs)| format!("  failed    {rule}: {runs}")));
    let spread = |spread: &Spread| format!("{} (upper quartile {})", spread.median, spread.upper_quartile);
    lines.push(format!(
        "  per run   leader changes {}, crashes {}, acknowledged writes {}",
        spread(&summary.leader_changes),
        spread(&summary.crashes),
        spread(&summary.acknowledged_writes)
    ));
    let faults: Vec<_> = summary.fault_hits.iter().map(|(family, runs)| format!("{family} {runs}")).collect();
    lines.push(format!("  faults    {} (runs in which one bit)", faults.join(", ")));
    let reached = summary.mark_hits.len() - summary.never_reached.len();
    lines.push(format!("  marks     {reached} of {}", summary.mark_hits.len()));
    if !summary.never_reached.is_empty() {
        lines.push(format!("  never     {}", summary.never_reached.join(", ")));
    }
    lines.push(format!(
        "  repeated  {} runs; progress excused in {}, not owed in {}",
        summary.repeated, summary.excused, summary.not_owed
    ));
    lines.join("\n")
}
