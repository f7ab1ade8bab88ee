//! `scenario run`: runs every variant and compares what it does with what is expected of it.

use super::list::expectation;
use super::{chosen, load, nothing};
use crate::amount::{parse_count, parse_jobs};
use crate::telling::system;
use crate::{Exit, Screen, Systems, files};
use std::path::Path;
use whitewater_hunt::{Around, meets, missed, run_around, run_twice};
use whitewater_plan::{Expect, Scenario, Variant, text};
use whitewater_sim::{Outcome, Verdict};

/// Runs scenarios, all of them if none is named.
#[derive(Debug, clap::Args)]
pub(crate) struct Typed {
    /// Names of scenarios, or files.
    #[arg(value_name = "NAME|FILE")]
    pub(super) names: Vec<String>,
    /// Only this variant.
    #[arg(long, value_name = "VARIANT")]
    pub(super) variant: Option<String>,
    /// Runs each variant so often, shaken in another way each time: what is to pass must always pass, and of what is to
    /// fail the share that does is told.
    #[arg(long, value_name = "N", value_parser = parse_count)]
    around: Option<u64>,
    /// Threads for runs around; as many as there are cores unless given. The result does not depend on it.
    #[arg(long, value_name = "N", value_parser = parse_jobs, env = "WHITEWATER_JOBS")]
    jobs: Option<usize>,
}

pub(crate) fn run(typed: &Typed, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let files = chosen(&typed.names)?;
    if files.is_empty() {
        return Ok(nothing(screen));
    }
    let mut exit = Exit::Clean;
    let mut neighbourhood = Neighbourhood::default();
    for file in files {
        let scenario = load(&file, systems)?;
        for variant in super::variants(&scenario, typed.variant.as_deref())? {
            exit = exit.and(match typed.around {
                None => judge(&file, &scenario, variant, systems, screen)?,
                Some(count) => {
                    let what = (&scenario, variant, &mut neighbourhood);
                    look_around(typed, count, what, systems, screen)?
                }
            });
        }
    }
    if typed.around.is_some() {
        screen.print(&neighbourhood.summary());
    }
    Ok(exit)
}

/// What came of all variants, each shaken many times.
#[derive(Default)]
struct Neighbourhood {
    /// Variants that are to pass, and those of them that always did.
    passing: (usize, usize),
    /// Variants that are to fail, and those of them that did at least once.
    failing: (usize, usize),
    /// The smallest share of the latter, in thousandths, with the variant.
    least: Option<(u64, String)>,
}

impl Neighbourhood {
    fn add(&mut self, scenario: &Scenario, variant: &Variant, around: &Around) {
        if variant.expect == Expect::Pass {
            self.passing.0 += 1;
            self.passing.1 += usize::from(around.met == around.runs);
            return;
        }
        self.failing.0 += 1;
        self.failing.1 += usize::from(around.met > 0);
        let share = around.met * 1_000 / around.runs.max(1);
        let is_less = self.least.as_ref().is_none_or(|(least, _)| share < *least);
        if is_less {
            self.least = Some((share, format!("{} @{}", scenario.name, variant.name)));
        }
    }

    fn summary(&self) -> String {
        let (passing, failing) = (self.passing, self.failing);
        let least = self.least.as_ref().map_or(String::new(), |(share, name)| {
            format!(", the least often {name} with {}.{} %", share / 10, share % 10)
        });
        format!(
            "{} of {} variants pass always, {} of {} violate what they are to{least}",
            passing.1, passing.0, failing.1, failing.0
        )
    }
}

/// Runs a variant many times, shaken, and says how often it did what is expected.
fn look_around(
    typed: &Typed,
    count: u64,
    (scenario, variant, neighbourhood): (&Scenario, &Variant, &mut Neighbourhood),
    systems: Systems,
    screen: &Screen,
) -> anyhow::Result<Exit> {
    let system = system(&scenario.system, systems)?;
    let jobs = typed.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let around = run_around(system, scenario, variant, count, jobs).map_err(anyhow::Error::msg)?;
    screen.print(&around_line(scenario, variant, &around));
    neighbourhood.add(scenario, variant, &around);
    let holds = match &variant.expect {
        Expect::Pass => around.met == around.runs,
        Expect::Violates { .. } => around.met > 0,
    };
    let is_unknown = variant.expect == Expect::Pass && around.is_merely_undecided();
    Ok(match (holds, is_unknown) {
        (true, _) => Exit::Clean,
        (false, true) => Exit::Unknown,
        (false, false) => Exit::Found,
    })
}

fn around_line(scenario: &Scenario, variant: &Variant, around: &Around) -> String {
    let Around { runs, met, untold, others } = around;
    let what = match &variant.expect {
        Expect::Pass if met == runs => format!("pass in all {runs} runs around it"),
        Expect::Pass => format!("FAIL: passes in {met} of {runs} runs around it"),
        expect => {
            let fails = if *met == 0 { "FAIL: " } else { "" };
            format!("{fails}{} in {met} of {runs} runs around it", expectation(expect))
        }
    };
    let others: Vec<String> =
        others.iter().map(|(ending, (times, first))| format!("{ending} {times} (first {first})")).collect();
    let others = if others.is_empty() { String::new() } else { format!("; {}", others.join(", ")) };
    let untold = match untold {
        0 => String::new(),
        untold => format!("; in {untold} of these a step never happened"),
    };
    format!("{} @{}  {what}{untold}{others}", scenario.name, variant.name)
}

/// Runs a variant and says whether it did what is expected, and which steps never happened.
fn judge(
    file: &Path,
    scenario: &Scenario,
    variant: &Variant,
    systems: Systems,
    screen: &Screen,
) -> anyhow::Result<Exit> {
    let plan = scenario.plan(variant);
    let outcome = run_variant(scenario, variant, systems)?;
    let judged = meets(&variant.expect, &outcome);
    screen.print(&line(scenario, variant, &outcome, &judged));
    let missed = missed(&plan, &outcome);
    if !missed.is_empty() {
        let (name, json) = (file.display().to_string(), files::read(file)?);
        for (&step, what) in outcome.unfired.iter().zip(missed) {
            let message = format!("@{}: {what}", variant.name);
            let wrong = Scenario::wrong_step(
                &name,
                &json,
                step,
                message,
                "give the step a moment that comes, or take it out",
            );
            screen.remark(&format!("error: {wrong}"));
        }
        return Ok(Exit::Usage);
    }
    Ok(match (judged, &outcome.verdict) {
        (_, Verdict::Nondeterministic) => Exit::Nondeterministic,
        (Ok(()), _) => Exit::Clean,
        (Err(_), Verdict::Pass) if outcome.figures.undecided > 0 && variant.expect == Expect::Pass => {
            Exit::Unknown
        }
        (Err(_), _) => Exit::Found,
    })
}

/// Runs a variant, twice.
fn run_variant(scenario: &Scenario, variant: &Variant, systems: Systems) -> anyhow::Result<Outcome> {
    let system = system(&scenario.system, systems)?;
    run_twice(system, &scenario.plan(variant)).map_err(anyhow::Error::msg)
}

fn line(scenario: &Scenario, variant: &Variant, outcome: &Outcome, judged: &Result<(), String>) -> String {
    let did = match (&outcome.verdict, judged) {
        (Verdict::Pass, Ok(())) => "pass".to_owned(),
        (verdict, Ok(())) => format!("{}: {verdict} (expected)", verdict.rule()),
        (_, Err(why)) => format!("FAIL: {why}"),
    };
    let claim = outcome.claim.map(|step| text::print_step(&scenario.script.steps[step]));
    let step = claim.map_or(String::new(), |step| format!("; it is `{step}`"));
    format!("{} @{}  {did}{step}", scenario.name, variant.name)
}
