//! What is said of a search: failures as they are found, and a summary at the end.

use super::Shrink;
use super::meaning::Meaning;
use super::resume::State;
use crate::pipeline::Pipeline;
use crate::program::called;
use crate::progress::{Progress, per_second};
use crate::shrinking::{Shrinker, Small, tell_slips};
use crate::telling::{ReportForm, Telling, about, exit_of, report, system};
use crate::{Exit, Screen, Systems, files, store};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use whitewater_hunt::{
    Failure, FailureLine, FailureRecord, Finished, Observer, ProgressLine, Record, RunLine, Signature,
    Spread, Summary, SummaryLine, print_command, upper_bound,
};
use whitewater_plan::{generate, seed_text};
use whitewater_sim::Verdict;

/// How often the state of a search is written down.
const NOTED_EVERY: Duration = Duration::from_secs(1);

/// Watches a search and tells what it finds.
pub(super) struct Watch<'a> {
    meaning: &'a Meaning,
    systems: Systems,
    screen: &'a Screen,
    progress: &'a Progress<'a>,
    stop: &'a AtomicBool,
    found: Mutex<Found>,
}

#[derive(Default)]
struct Found {
    /// Rules of which a report was printed.
    rules: BTreeSet<String>,
    /// The first failure of each kind, with its seed: what is shrunk in the end.
    firsts: Vec<(Signature, Failure)>,
    /// How far the search has come, if that is written down, and when it was.
    state: Option<State>,
    written: Option<Instant>,
    /// Why a failure could not be saved.
    unsaved: Option<anyhow::Error>,
}

impl<'a> Watch<'a> {
    /// Nothing found yet; `stop` is raised when there is no point in going on.
    pub(super) fn new(
        meaning: &'a Meaning,
        (systems, screen): (Systems, &'a Screen),
        progress: &'a Progress<'a>,
        stop: &'a AtomicBool,
    ) -> Watch<'a> {
        let found = Found { state: meaning.state.clone(), ..Found::default() };
        Watch { meaning, systems, screen, progress, stop, found: Mutex::new(found) }
    }

    /// Counts a run as done, and writes the state down now and then.
    fn note(&self, run: &Finished) {
        let mut found = self.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let Some(state) = &mut found.state else { return };
        state.deliveries += run.deliveries;
        if run.rule != "pass" {
            return; // it counts once it is saved
        }
        state.runs += 1;
        let due = found.written.is_none_or(|written| written.elapsed() >= NOTED_EVERY);
        if due {
            self.write_state(&mut found);
        }
    }

    fn note_failure(&self) {
        let mut found = self.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let Some(state) = &mut found.state else { return };
        state.runs += 1;
        state.failures += 1;
        self.write_state(&mut found);
    }

    fn write_state(&self, found: &mut Found) {
        found.written = Some(Instant::now());
        if let (Some(folder), Some(state)) = (&self.meaning.save, &found.state)
            && found.unsaved.is_none()
            && let Err(error) = state.write(folder)
        {
            found.unsaved = Some(error);
            self.stop.store(true, Ordering::SeqCst);
        }
    }

    /// Prints the summary.
    ///
    /// # Errors
    /// A failure could not be saved.
    pub(super) fn finish(
        self,
        summary: &Summary,
        wall: Duration,
        interrupted: bool,
        systems: Systems,
    ) -> anyhow::Result<()> {
        self.screen.message(&Record::Summary(SummaryLine::of(summary, wall.as_secs_f64(), interrupted)));
        self.screen.print(&summary_text(summary, wall, interrupted));
        {
            let mut found = self.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            self.write_state(&mut found);
        }
        let found = self.found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        if !interrupted {
            let mut pipeline = Pipeline::from_environment();
            for (at, (_, failure)) in found.firsts.iter().enumerate() {
                let small = match at < SHRUNK_MAX {
                    true => shrink(failure, self.meaning, systems, self.screen),
                    false => None,
                };
                show(pipeline.as_mut(), failure, small.as_ref(), self.screen);
            }
        }
        found.unsaved.map_or(Ok(()), Err)
    }
}

impl Observer for Watch<'_> {
    fn finished(&self, run: &Finished, now: &whitewater_hunt::Progress) {
        self.note(run);
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
        self.tell_failure(record, failure);
        // Only now, when it is saved, is its run done.
        self.note_failure();
    }
}

impl Watch<'_> {
    fn tell_failure(&self, record: &FailureRecord, failure: Option<&Failure>) {
        let mut found = self.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        self.screen.message(&Record::Failure(FailureLine::of(record)));
        match failure {
            // One report tells more than a hundred of the same rule.
            Some(failure) if found.rules.insert(record.rule.clone()) => {
                let mut failure = failure.clone();
                if let Ok(system) = system(&failure.plan.system, self.systems) {
                    failure.examine(system);
                }
                self.screen.print(&report(&failure));
            }
            _ => self.screen.print(&format!(
                "FAIL  seed={}  {}: {}",
                record.seed.map_or_else(|| "none".to_owned(), seed_text),
                record.rule,
                record.message
            )),
        }
        let signature = failure.and_then(|failure| Signature::of(&failure.outcome));
        if let (Some(failure), Some(signature)) = (failure, signature)
            && !found.firsts.iter().any(|(known, _)| *known == signature)
        {
            found.firsts.push((signature, failure.clone()));
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
    let command = print_command(called(), &meaning.restrictions, seed);
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
    telling.print_verdict(ReportForm::Text, &about(), screen);
    if let Some(failure) = &telling.failure {
        let small = shrink(failure, meaning, systems, screen);
        show(Pipeline::from_environment().as_mut(), failure, small.as_ref(), screen);
    }
    Ok(exit_of(&telling.outcome))
}

/// Failures of a search that are shrunk at most.
const SHRUNK_MAX: usize = 3;

/// How long one is shrunk at most.
const PATIENCE: Duration = Duration::from_secs(20);

/// Shows a pipeline a failure, as small as it is.
fn show(pipeline: Option<&mut Pipeline>, failure: &Failure, small: Option<&Small>, screen: &Screen) {
    let Some(pipeline) = pipeline else { return };
    match (small, failure.fingerprint()) {
        (Some(small), _) => pipeline.show(&small.failure, small.fingerprint, &small.about(), screen),
        (None, Some(fingerprint)) => pipeline.show(failure, fingerprint, &about(), screen),
        (None, None) => {}
    }
}

/// Shrinks a failure, saves what is left, and says how to go on from there. What cannot be shrunk stays as it is.
fn shrink(failure: &Failure, meaning: &Meaning, systems: Systems, screen: &Screen) -> Option<Small> {
    let differs = failure.outcome.verdict == Verdict::Nondeterministic;
    if meaning.shrink == Shrink::Off || differs || screen.is_closed() {
        return None;
    }
    let folder = meaning.save.clone().unwrap_or_else(store::found);
    let shrinker = Shrinker { time: PATIENCE, jobs: Some(meaning.jobs), folder, systems, screen };
    match shrinker.shrink(&failure.plan, failure.seed) {
        Ok(small) => {
            screen.message(&Record::Shrunk(small.line()));
            screen.print(&small.summary());
            tell_slips(&small, screen);
            Some(small)
        }
        Err(why) => {
            screen.remark(&format!("not shrunk: {why:#}"));
            None
        }
    }
}

/// Writes a failure into a file of its own, whole or not at all.
fn save(folder: &std::path::Path, failure: &Failure, screen: &Screen) -> anyhow::Result<()> {
    let saved = store::saved(failure, failure.fingerprint(), None);
    let seed = failure.seed.map_or_else(|| "no-seed".to_owned(), seed_text);
    let file = folder.join(format!("{}-{}-{seed}.json", failure.plan.system, failure.rule()));
    files::write_whole(&file, &saved.to_json())?;
    screen.remark(&format!("saved: {}", file.display()));
    Ok(())
}

/// What bit, what was met, and what that says about the rest.
fn coverage_lines(summary: &Summary) -> Vec<String> {
    let bitten: Vec<_> = summary.fault_hits.iter().filter(|(_, runs)| **runs > 0).collect();
    let told: Vec<_> = bitten.iter().map(|(name, runs)| format!("{name} {runs}")).collect();
    let kinds = summary.fault_hits.len();
    let mut lines = vec![format!("  faults    {} of {kinds} bit (runs): {}", bitten.len(), told.join(", "))];
    let reached = summary.mark_hits.len() - summary.never_reached.len();
    lines.push(format!("  marks     {reached} of {}", summary.mark_hits.len()));
    let idle = summary.never_bitten().into_iter().map(|fault| format!("fault {fault}"));
    let never: Vec<_> = idle.chain(summary.never_reached.iter().map(|&mark| mark.to_owned())).collect();
    if !never.is_empty() {
        let (never, bound) = (never.join(", "), 100.0 * upper_bound(summary.runs));
        lines.push(format!(
            "  never     {never} (each in less than {bound:.3} % of runs, with 95 % confidence)"
        ));
    }
    let space: Vec<_> =
        summary.coverage.parameters.iter().map(|(name, met)| format!("{name} {met}")).collect();
    lines.push(format!("  space     {}", space.join(", ")));
    lines
}

/// In how many runs some progress was not owed, and why.
fn not_owed(summary: &Summary) -> String {
    let reasons: Vec<_> =
        summary.not_owed_because.iter().map(|(because, runs)| format!("{because} {runs}")).collect();
    match reasons.is_empty() {
        true => summary.not_owed.to_string(),
        false => format!("{} ({})", summary.not_owed, reasons.join(", ")),
    }
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
            0 if summary.undecided > 0 => format!("nothing found, {} undecided", summary.undecided),
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
    lines.extend(coverage_lines(summary));
    lines.push(format!("  repeated  {} runs", summary.repeated));
    lines.push(format!("  progress  excused in {} runs, not owed in {}", summary.excused, not_owed(summary)));
    if summary.undecided > 0 {
        lines.push(format!(
            "  undecided {} runs: whether they are linearizable is not known",
            summary.undecided
        ));
    }
    lines.join("\n")
}
