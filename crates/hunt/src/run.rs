//! Runs a plan, once or twice, and compares two runs of the same plan.

use crate::words::{clock, step_line};
use whitewater_plan::Plan;
use whitewater_sim::{Outcome, System, Time, Verdict};

/// Runs a plan; records a trace if `record`.
///
/// # Errors
/// The plan is for another system, has clients where the system has none, has a bug planted that this build does not have, or
/// its script or options are not valid; the text says why.
pub fn run(system: &dyn System, plan: &Plan, record: bool) -> Result<Outcome, String> {
    if plan.system != system.name() {
        return Err(format!("the plan is for `{}` and was given to `{}`", plan.system, system.name()));
    }
    if plan.script.clients > 0 && system.clients() == (0, 0) {
        return Err(format!("`{}` has no clients, and the plan has {}", system.name(), plan.script.clients));
    }
    // A system that does not know the bug would run without it and pass.
    if let Some(bug) = plan.options.planted() {
        plan.options
            .clone()
            .plant(system.bugs(), bug)
            .map_err(|wrong| format!("{}: {wrong}", system.name()))?;
    }
    system.run(&plan.script, &plan.options, record)
}

/// Runs a plan twice and compares the runs. If they differ, the verdict is [`Verdict::Nondeterministic`] and the
/// rest of the outcome is that of the first run.
///
/// # Errors
/// As [`run`].
pub fn run_twice(system: &dyn System, plan: &Plan) -> Result<Outcome, String> {
    let first = run(system, plan, false)?;
    let second = run(system, plan, false)?;
    Ok(compared(first, &second))
}

/// The first outcome, with the verdict [`Verdict::Nondeterministic`] if the second differs from it.
pub(crate) fn compared(first: Outcome, second: &Outcome) -> Outcome {
    if same(&first, second) { first } else { Outcome { verdict: Verdict::Nondeterministic, ..first } }
}

/// Whether two outcomes can be those of one plan: what nodes saw and did, the verdict and every figure agree. Traces
/// are not compared, since one of the runs may not have been recorded.
pub fn same(a: &Outcome, b: &Outcome) -> bool {
    a.hash == b.hash
        && a.verdict == b.verdict
        && a.counters == b.counters
        && a.figures == b.figures
        && a.marks == b.marks
        && a.unfired == b.unfired
        && a.time == b.time
}

/// As [`never_happened`], but a violation during the faults excuses what had its turn later: it ends the run.
pub fn missed(plan: &Plan, outcome: &Outcome) -> Vec<String> {
    let cut_short = !outcome.verdict.is_pass() && outcome.time.since(Time::ZERO) < plan.script.horizon;
    if cut_short { Vec::new() } else { never_happened(plan, outcome) }
}

/// The steps of the plan that never began, never ended or never met what they are about, one sentence each; empty if
/// all did.
pub fn never_happened(plan: &Plan, outcome: &Outcome) -> Vec<String> {
    let line = |at: usize| match plan.script.steps.get(at) {
        Some(step) => step_line(step),
        None => String::from("(a step the script does not have)"),
    };
    outcome
        .unfired
        .iter()
        .map(|&at| {
            let end = clock(outcome.time);
            format!("step {}, `{}`, never happened; the run ended at {end} ms", at + 1, line(at))
        })
        .collect()
}
