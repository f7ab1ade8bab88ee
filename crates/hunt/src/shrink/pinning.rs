//! From a seed to pins: the same run with every decision that it made written down, and no seed.

use super::trials::{Held, Trials, changed, little_longer};
use whitewater_plan::Plan;
use whitewater_sim::{Outcome, Pin, Rest};

/// Does away with the seed: without any decision of it if the failure stays, or else with all of them as pins.
pub(super) fn without_seed(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    if held.plan.script.rest == Rest::Fixed {
        return false;
    }
    let Some(recorded) = trials.recorded(&held.plan) else { return false };
    let bare = seedless(&held.plan, Vec::new());
    let pinned = seedless(&held.plan, pins_of(&held.plan, &recorded));
    // Without any decision the failure may come as well, but late: what a run does by its own lowest draws takes its time.
    trials.first_if(held, [bare.clone()], little_longer).is_some()
        || trials.first(held, [pinned, bare]).is_some()
}

/// The pins that a run without a seed needs to be the same run: what was pinned already is among them.
fn pins_of(_: &Plan, recorded: &Outcome) -> Vec<Pin> {
    // Texts of messages explain a pin; of the many there are now, few will be left.
    recorded.decisions.clone()
}

/// A plan that leaves nothing to a seed: links are as fast as they can be, and what steps lose by chance is pinned.
fn seedless(plan: &Plan, pins: Vec<Pin>) -> Plan {
    changed(plan, |plan| {
        let script = &mut plan.script;
        (script.seed, script.rest, script.pins) = (0, Rest::Fixed, pins);
        script.steps.retain(|step| !step.action.is_by_chance());
        script.network = script.network.without_chance();
    })
}
