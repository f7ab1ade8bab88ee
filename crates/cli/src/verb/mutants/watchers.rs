//! Which rules see a failure: each of them watches the same run alone.

use serde::{Deserialize, Serialize};
use whitewater_plan::Plan;
use whitewater_sim::{System, Verdict, Watch};

/// A rule that is broken in a run, whoever else sees something there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Fired {
    pub(super) rule: String,
    /// How many events the run had by then.
    pub(super) event: u64,
}

/// Every rule that is broken in this run. A panic or a limit, which need no rule, count as one.
///
/// # Errors
/// The plan cannot be run, or the rules of the system cannot watch alone.
pub(super) fn of(system: &dyn System, plan: &Plan) -> anyhow::Result<Vec<Fired>> {
    let mut fired: Vec<Fired> = Vec::new();
    for (rule, _) in system.rules() {
        let outcome = system.run_watched(&plan.script, &plan.options, Watch::Only(rule), false);
        let outcome = outcome.map_err(anyhow::Error::msg)?;
        let broken = outcome.verdict.rule();
        let counts = match outcome.verdict {
            Verdict::Pass => false,
            // Another rule about progress may end the run, too.
            Verdict::Violated(_) => broken == rule,
            _ => !fired.iter().any(|other| other.rule == broken),
        };
        if counts {
            fired.push(Fired { rule: broken.to_owned(), event: outcome.counters.events });
        }
    }
    fired.sort_by(|a, b| (a.event, &a.rule).cmp(&(b.event, &b.rule)));
    Ok(fired)
}
