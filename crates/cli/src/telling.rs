//! Tells one run: its plan, its trace if wanted, and the report if a rule was broken.

use crate::commit::{self, Commit};
use crate::{Exit, Screen, Systems};
use anyhow::anyhow;
use whitewater_hunt::report::{About, Report};
use whitewater_hunt::{Failure, report, run_twice, trace_text};
use whitewater_plan::{Plan, seed_text, text};
use whitewater_sim::{DiskFile, NodeId, Outcome, System, Verdict};

/// A run that was made and is to be told.
pub(crate) struct Telling {
    /// What was run.
    pub(crate) plan: Plan,
    /// The seed of the plan, if it was drawn.
    pub(crate) seed: Option<u64>,
    /// How it ended.
    pub(crate) outcome: Outcome,
    /// The run as a failure, recorded, if it is one.
    pub(crate) failure: Option<Failure>,
}

/// The system of that name.
///
/// # Errors
/// There is none; the text lists those there are.
pub(crate) fn system(name: &str, systems: Systems) -> anyhow::Result<&'static dyn System> {
    systems.iter().copied().find(|system| system.name() == name).ok_or_else(|| {
        let names: Vec<_> = systems.iter().map(|system| system.name()).collect();
        anyhow!("there is no system `{name}`; there are: {}", names.join(", "))
    })
}

/// The exit code that an outcome means.
pub(crate) fn exit_of(outcome: &Outcome) -> Exit {
    match outcome.verdict {
        // Whether some order explains what clients saw nobody could say.
        Verdict::Pass if outcome.figures.undecided > 0 => Exit::Unknown,
        Verdict::Pass => Exit::Clean,
        Verdict::Nondeterministic => Exit::Nondeterministic,
        _ => Exit::Found,
    }
}

/// What a report says of a failure that was not shrunk.
pub(crate) fn about() -> About {
    About { commit: commit::current().map(Commit::short), ..About::default() }
}

/// The report of a failure, as people get it.
pub(crate) fn report(failure: &Failure) -> String {
    report::text(failure, &about())
}

/// What reports look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ReportForm {
    /// For a terminal.
    #[default]
    Text,
    /// For a comment or the summary of a pipeline.
    Markdown,
    /// For programs: one object.
    Json,
}

impl ReportForm {
    /// Prints the report of a failure.
    pub(crate) fn print(self, failure: &Failure, about: &About, screen: &Screen) {
        match self {
            ReportForm::Text => screen.print(&report::text(failure, about)),
            ReportForm::Markdown => screen.print(&report::markdown(failure, about)),
            ReportForm::Json => screen.data(&Report::of(failure, about)),
        }
    }
}

impl Telling {
    /// Runs a plan twice, and once more with a recorder if it fails.
    ///
    /// # Errors
    /// The system does not exist, or the plan is not valid.
    pub(crate) fn of(
        plan: Plan,
        seed: Option<u64>,
        command: String,
        systems: Systems,
    ) -> anyhow::Result<Telling> {
        let system = system(&plan.system, systems)?;
        let mut outcome = run_twice(system, &plan).map_err(anyhow::Error::msg)?;
        let mut failure = None;
        if !outcome.verdict.is_pass() {
            let recorded = Failure::record(system, plan.clone(), &outcome, seed, command);
            let mut recorded = recorded.map_err(anyhow::Error::msg)?;
            recorded.examine(system);
            // A third run that differs from two equal ones counts as well.
            outcome.verdict = recorded.outcome.verdict.clone();
            failure = Some(recorded);
        }
        Ok(Telling { plan, seed, outcome, failure })
    }

    /// Prints the plan, one line of its script each.
    pub(crate) fn print_plan(&self, screen: &Screen) {
        let mut lines = vec![format!("plan: system {}, profile {}", self.plan.system, self.plan.profile)];
        lines.extend(self.plan.options.iter().map(|(name, value)| format!("  option {name} = {value}")));
        lines.extend(text::script_lines(&self.plan.script).iter().map(|line| format!("  {line}")));
        screen.print(&lines.join("\n"));
    }

    /// Prints what happened.
    ///
    /// # Errors
    /// The plan cannot be run.
    pub(crate) fn print_trace(&self, screen: &Screen, systems: Systems) -> anyhow::Result<()> {
        let system = system(&self.plan.system, systems)?;
        let recorded = whitewater_hunt::run(system, &self.plan, true).map_err(anyhow::Error::msg)?;
        let title = self.seed.map_or_else(|| self.plan.system.clone(), seed_text);
        screen.print(&trace_text::render(&self.plan, &recorded, &title));
        Ok(())
    }

    /// The files of every server's disk at the end.
    ///
    /// # Errors
    /// The plan cannot be run.
    pub(crate) fn disks(&self, systems: Systems) -> anyhow::Result<Vec<(NodeId, Vec<DiskFile>)>> {
        let system = system(&self.plan.system, systems)?;
        let recorded = whitewater_hunt::run(system, &self.plan, true).map_err(anyhow::Error::msg)?;
        Ok(recorded.disks)
    }

    /// What clients asked and were told, as lines, if the system follows them.
    ///
    /// # Errors
    /// The plan cannot be run.
    pub(crate) fn history(&self, systems: Systems) -> anyhow::Result<Option<String>> {
        let system = system(&self.plan.system, systems)?;
        let recorded = whitewater_hunt::run(system, &self.plan, true).map_err(anyhow::Error::msg)?;
        Ok(recorded.history)
    }

    /// Prints the report, or that nothing was found.
    pub(crate) fn print_verdict(&self, form: ReportForm, about: &About, screen: &Screen) {
        match &self.failure {
            Some(failure) => form.print(failure, about, screen),
            None => screen.print(&format!(
                "pass: no rule broken in {} of simulated time, {} messages delivered; two runs, trace hash {}",
                self.outcome.time, self.outcome.counters.deliveries, self.outcome.hash
            )),
        }
    }
}
