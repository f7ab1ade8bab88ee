//! Runs of a campaign that are made apart from its process, so that a node which takes its process with it does not take
//! the campaign.

use crate::caught::caught;
use crate::failure::OWN_BUG;
use crate::run::{compared, run};
use crate::tally::RunFigures;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use whitewater_plan::{Profile, Restrictions, generate};
use whitewater_sim::{Counters, Outcome, Span, System, TraceHash};

/// Makes the runs of a campaign apart from this process.
pub trait Apart: Sync {
    /// Makes the run of a seed, twice if `twice`, and says what came of it.
    ///
    /// # Errors
    /// The run did not come to an end by itself.
    fn attempt(&self, seed: u64, twice: bool) -> Result<Report, Fatality>;
}

/// A run that took its process with it, or never came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fatality {
    /// The rule it is reported under.
    pub rule: &'static str,
    /// What happened, in one sentence.
    pub message: String,
}

impl Fatality {
    /// Not the run failed but what was to make it.
    pub fn ours(message: String) -> Fatality {
        Fatality { rule: OWN_BUG, message }
    }
}

/// What came of a run, in a form that passes between processes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Report {
    /// It passed.
    Passed(Figures),
    /// It failed, and whoever made it survived: it can be made again anywhere.
    Failed,
}

/// The figures of a run that passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figures {
    system: String,
    profile: String,
    /// Upper and lower half of the trace hash.
    hash: (u64, u64),
    deliveries: u64,
    simulated_nanos: u64,
    leader_changes: u64,
    crashes: u64,
    acknowledged_writes: u64,
    faults: Vec<u64>,
    marks: Vec<String>,
    excused: u64,
    undecided: u64,
    not_owed: u64,
    not_owed_because: Vec<String>,
}

/// Makes a run here, twice if `twice`, and says what came of it.
pub fn report(
    systems: &[&'static dyn System],
    restrictions: &Restrictions,
    seed: u64,
    twice: bool,
) -> Report {
    let made = caught(|| {
        let plan = generate(systems, seed, restrictions)?;
        let system = systems.iter().find(|system| system.name() == plan.system);
        let system = system.ok_or_else(|| format!("there is no system `{}`", plan.system))?;
        let outcome = run(*system, &plan, false)?;
        let outcome = if twice { compared(outcome, &run(*system, &plan, false)?) } else { outcome };
        Ok((plan.system, plan.profile, outcome))
    });
    match made {
        Ok((system, profile, outcome)) if outcome.verdict.is_pass() => {
            Report::Passed(Figures::of(system, profile, &outcome))
        }
        _ => Report::Failed,
    }
}

impl Figures {
    fn of(system: String, profile: Profile, outcome: &Outcome) -> Figures {
        let figures = RunFigures::of(outcome, false);
        Figures {
            system,
            profile: profile.to_string(),
            hash: ((outcome.hash.0 >> 64) as u64, outcome.hash.0 as u64),
            deliveries: figures.deliveries,
            simulated_nanos: figures.simulated.nanos(),
            leader_changes: figures.leader_changes,
            crashes: figures.crashes,
            acknowledged_writes: figures.acknowledged_writes,
            faults: figures.faults.iter().map(|(_, bites)| *bites).collect(),
            marks: figures.marks.iter().map(|&mark| mark.to_owned()).collect(),
            excused: figures.excused,
            undecided: figures.undecided,
            not_owed: figures.not_owed,
            not_owed_because: figures.not_owed_because.into_iter().map(Cow::into_owned).collect(),
        }
    }

    /// The system that ran, the profile of its plan, and what nodes saw and did.
    pub(crate) fn identity(&self) -> (&str, Option<Profile>, TraceHash) {
        let (upper, lower) = self.hash;
        let hash = TraceHash(u128::from(upper) << 64 | u128::from(lower));
        (&self.system, self.profile.parse().ok(), hash)
    }

    /// The figures as a tally takes them; `marks` are those of the system.
    pub(crate) fn for_tally(&self, marks: &[&'static str], repeated: bool) -> RunFigures {
        let mut faults = Counters::default().faults();
        for ((_, bites), &told) in faults.iter_mut().zip(&self.faults) {
            *bites = told;
        }
        let met = |mark: &String| marks.iter().copied().find(|known| known == mark);
        RunFigures {
            deliveries: self.deliveries,
            simulated: Span::from_nanos(self.simulated_nanos),
            leader_changes: self.leader_changes,
            crashes: self.crashes,
            acknowledged_writes: self.acknowledged_writes,
            faults,
            marks: self.marks.iter().filter_map(met).collect(),
            repeated,
            excused: self.excused,
            undecided: self.undecided,
            not_owed: self.not_owed,
            not_owed_because: self.not_owed_because.iter().cloned().map(Cow::Owned).collect(),
        }
    }
}
