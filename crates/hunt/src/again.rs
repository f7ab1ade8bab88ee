//! A saved failure run again on changed code: whether it is the same failure, and where the runs part.

use crate::course::{Parting, parting};
use crate::reading::Reading;
use crate::run::run;
use crate::signature::Signature;
use std::fmt;
use whitewater_plan::{PLAN_VERSION, Saved};
use whitewater_sim::{Outcome, System};

/// What has become of a saved failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The same rule is broken at the same site.
    Same,
    /// Another rule, or the rule at another site.
    Another(Signature),
    /// The run passes.
    Gone,
    /// The run breaks no rule that anybody could decide: whether some order explains what clients saw was not found out.
    Undecided,
}

/// A saved failure that was run again.
#[derive(Clone, Debug)]
pub struct Again {
    /// What has become of it.
    pub fate: Fate,
    /// How its plan was read for that.
    pub reading: Reading,
    /// How the run ended, recorded.
    pub outcome: Outcome,
    /// Whether it is the same run to the last bit; none if hashes cannot be compared.
    pub same_run: Option<bool>,
    /// Steps and pins of the plan that took effect.
    pub matched: usize,
    /// Steps and pins of the plan, with what of it the code no longer has.
    pub decisions: usize,
    /// Where the run parts from the one that was saved.
    pub parting: Option<Parting>,
}

/// Runs a saved failure again.
///
/// Whatever the code no longer decides is left to what a run does by itself, and counted. If the run passes, the plan is
/// read with more time and with other times, too: only what fails in no reading is gone.
///
/// # Errors
/// The plan cannot be run; the text says why.
pub fn again(system: &dyn System, saved: &Saved) -> Result<Again, String> {
    let mut first = read_again(system, saved, Reading::AS_SAVED)?;
    if matches!(first.fate, Fate::Gone | Fate::Undecided) {
        for reading in Reading::OTHERS {
            let other = read_again(system, saved, reading)?;
            if other.fate == Fate::Same {
                return Ok(other);
            }
            if other.fate == Fate::Undecided && first.fate == Fate::Gone {
                first = other;
            }
        }
    }
    Ok(first)
}

fn read_again(system: &dyn System, saved: &Saved, reading: Reading) -> Result<Again, String> {
    let outcome = run(system, &reading.of(&saved.plan), true)?;
    let script = &saved.plan.script;
    let fate = match Signature::of(&outcome) {
        None if outcome.figures.undecided > 0 => Fate::Undecided,
        None => Fate::Gone,
        // Files from before sites were written down go by their rule.
        Some(now) if now.rule == saved.rule && (saved.site.is_empty() || now.site == saved.site) => {
            Fate::Same
        }
        Some(now) => Fate::Another(now),
    };
    let taken = script.steps.len() + script.pins.len();
    // A violation during the faults ends the run before later steps have their turn; they matter to nobody then.
    let unfired = if matches!(fate, Fate::Gone | Fate::Undecided) { outcome.unfired.len() } else { 0 };
    Ok(Again {
        same_run: (saved.plan.version == PLAN_VERSION).then_some(outcome.hash == saved.trace_hash),
        matched: taken - outcome.unmet.len() - unfired,
        decisions: taken + saved.gone.len(),
        parting: parting(&saved.course, &outcome),
        reading,
        fate,
        outcome,
    })
}

impl Again {
    /// Share of what was decided in the saved run that still took effect, in percent, rounded down: steps and pins, and
    /// events of the run if they were saved.
    pub fn percent(&self) -> usize {
        let (mut matched, mut all) = (self.matched, self.decisions);
        if let Some(parting) = &self.parting {
            (matched, all) = (matched + parting.kept, all + parting.lines);
        }
        (matched * 100).checked_div(all).unwrap_or(100)
    }
}

impl fmt::Display for Again {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.fate {
            Fate::Same if self.same_run == Some(true) => write!(f, "the same failure, in the same run"),
            Fate::Same if self.reading == Reading::AS_SAVED => {
                write!(f, "the same failure, in another run")
            }
            Fate::Same => write!(f, "the same failure, in another run {}", self.reading),
            Fate::Another(now) => write!(f, "another failure: {now}"),
            Fate::Gone => write!(f, "gone: the run passes"),
            Fate::Undecided => {
                write!(
                    f,
                    "undecided: whether some order explains what clients saw is not known within the budget"
                )
            }
        }?;
        let Again { matched, decisions, .. } = self;
        write!(f, "; {matched} of {decisions} steps and pins matched, {} % of all there was", self.percent())
    }
}

impl fmt::Display for Parting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or_end = |line: &Option<String>| line.clone().unwrap_or_else(|| "the end of the run".to_owned());
        let (before, now) = (or_end(&self.before), or_end(&self.now));
        write!(f, "first divergence at event {} of {}: `{before}` then, `{now}` now", self.line, self.lines)
    }
}
