//! A failing run with everything a report needs, and what a campaign keeps of it.

use crate::fingerprint::Fingerprint;
use crate::run::{run, same};
use crate::sights::{Place, Sight, sights};
use crate::signature::Signature;
use crate::story::Story;
use crate::suspect::suspect;
use crate::words::step_line;
use whitewater_plan::{Plan, Profile};
use whitewater_sim::{EventId, Outcome, System, Trace, TraceHash, Verdict};

/// A run that failed, recorded.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The seed its plan was made from; none for a plan from a file.
    pub seed: Option<u64>,
    /// What was run.
    pub plan: Plan,
    /// How the recorded run ended. The trace is there unless the recorded run could not be made.
    pub outcome: Outcome,
    /// The first suspect, if there is one.
    pub suspect: Option<EventId>,
    /// What other rules see of it, see [`Failure::examine`].
    pub sights: Vec<Sight>,
    /// The rules that were checked: name and claim.
    pub rules: Vec<(&'static str, &'static str)>,
    /// The command that runs it again.
    pub command: String,
    /// Runs of this plan that gave the same hash and verdict, the recorded one included.
    pub replays: u32,
    /// Runs of this plan that were made.
    pub attempts: u32,
    /// If the runs differed: the first difference between two recorded runs, or that none was seen.
    pub difference: Option<String>,
}

/// What kind of failure it is, and so with which code a command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// A rule was broken, a node panicked or a limit was hit.
    Found,
    /// The same plan gave two different runs.
    Nondeterministic,
    /// The framework itself failed.
    OwnBug,
}

/// The rule under which failures of the framework itself are reported.
pub const OWN_BUG: &str = "own-bug";

/// What a campaign keeps of a failing run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureRecord {
    /// Its seed; none for a plan from a file.
    pub seed: Option<u64>,
    /// The system that ran.
    pub system: String,
    /// The profile its plan was drawn from.
    pub profile: Option<Profile>,
    /// The rule that was broken, or `panic`, `limit`, `nondeterministic` or `own-bug`.
    pub rule: String,
    /// What is wrong, in one sentence.
    pub message: String,
    /// The first suspect in one line.
    pub suspect: Option<String>,
    /// What stands for it among failures as they come: its rule and site; none for a run that gave no outcome.
    pub fingerprint: Option<Fingerprint>,
    /// What nodes saw and did; none for a run that gave no outcome.
    pub hash: Option<TraceHash>,
    /// The command that runs it again.
    pub command: String,
}

impl FailureKind {
    /// The kind of failure that is reported under this rule.
    pub fn of_rule(rule: &str) -> FailureKind {
        match rule {
            OWN_BUG => FailureKind::OwnBug,
            _ if rule == Verdict::Nondeterministic.rule() => FailureKind::Nondeterministic,
            _ => FailureKind::Found,
        }
    }

    /// The exit code of a command that found it: 1 found, 3 not deterministic, 70 our own bug.
    pub const fn exit_code(self) -> u8 {
        match self {
            FailureKind::Found => 1,
            FailureKind::Nondeterministic => 3,
            FailureKind::OwnBug => 70,
        }
    }
}

impl Failure {
    /// Records a failing run. `first` is how it ended before; if the recorded run ends otherwise, the verdict becomes
    /// [`Verdict::Nondeterministic`].
    ///
    /// # Errors
    /// The plan cannot be run; the text says why.
    pub fn record(
        system: &dyn System,
        plan: Plan,
        first: &Outcome,
        seed: Option<u64>,
        command: String,
    ) -> Result<Failure, String> {
        let mut outcome = run(system, &plan, true)?;
        let settled = first.verdict != Verdict::Nondeterministic;
        let agree = settled && same(first, &outcome);
        let mut failure = Failure {
            seed,
            suspect: None,
            sights: Vec::new(),
            rules: system.rules(),
            command,
            replays: if agree { 2 } else { 1 },
            attempts: 2,
            difference: None,
            outcome: first.clone(),
            plan,
        };
        if agree {
            if let (Verdict::Violated(violation), Some(trace)) = (&outcome.verdict, &outcome.trace) {
                failure.suspect = suspect(trace, violation);
            }
        } else {
            let again = run(system, &failure.plan, true)?;
            failure.attempts = 3;
            failure.difference = Some(difference(&outcome, &again));
            outcome.verdict = Verdict::Nondeterministic;
        }
        failure.outcome = outcome;
        Ok(failure)
    }

    /// Looks at it again with each other rule watching alone, so that a report can tell whose cause came first and what comes
    /// of it. That takes as many runs as there are rules.
    pub fn examine(&mut self, system: &dyn System) {
        self.sights = sights(system, &self.plan, &self.outcome);
    }

    /// The sight with the earliest cause, if that came before the cause of what is reported.
    pub fn first_cause(&self) -> Option<&Sight> {
        self.sights.first().filter(|sight| sight.place == Place::Before)
    }

    /// The rule it is reported under.
    pub fn rule(&self) -> &'static str {
        self.outcome.verdict.rule()
    }

    /// What is wrong, in one sentence.
    pub fn message(&self) -> String {
        let verdict = &self.outcome.verdict;
        let claimed = self.outcome.claim.and_then(|step| self.plan.script.steps.get(step));
        match (verdict, claimed) {
            (Verdict::Crashed { location, .. }, _) => format!("{verdict} (at {location})"),
            // The world knows no text of steps, and a number alone tells nobody anything.
            (_, Some(step)) => format!("{verdict}: `{}`", step_line(step)),
            _ => verdict.to_string(),
        }
    }

    /// The first suspect in one line, with the time it has in the text trace.
    pub fn suspect_line(&self) -> Option<String> {
        Story::of(&self.plan, &self.outcome)?.sentence(self.suspect?)
    }

    /// What stands for it until it is shrunk: its rule and site.
    pub fn fingerprint(&self) -> Option<Fingerprint> {
        let signature = Signature::of(&self.outcome)?;
        Some(Fingerprint::coarse(&self.plan.system, &signature))
    }

    /// What a campaign keeps of it.
    pub fn keep(&self) -> FailureRecord {
        FailureRecord {
            seed: self.seed,
            system: self.plan.system.clone(),
            profile: Some(self.plan.profile),
            rule: self.rule().to_owned(),
            message: self.message(),
            suspect: self.suspect_line(),
            fingerprint: self.fingerprint(),
            hash: Some(self.outcome.hash),
            command: self.command.clone(),
        }
    }
}

/// Where two recorded runs of one plan part.
fn difference(one: &Outcome, other: &Outcome) -> String {
    let none = Trace::default();
    let (a, b) = (one.trace.as_ref().unwrap_or(&none), other.trace.as_ref().unwrap_or(&none));
    let line = |trace: &Trace, at: usize| match trace.events.get(at) {
        Some(event) => format!("`{} {}` at {}", event.kind.word(), event.text, event.time),
        None => String::from("the end of the run"),
    };
    let lines = a.events.len().max(b.events.len());
    match (0..lines).find(|&at| line(a, at) != line(b, at)) {
        Some(at) => format!("event {at} was once {} and once {}", line(a, at), line(b, at)),
        None if same(one, other) => String::from("two recorded runs agreed, so it does not show every time"),
        None => String::from("the traces agree, but figures of the runs do not"),
    }
}
