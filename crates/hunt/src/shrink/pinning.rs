//! From a seed to pins: the same run with every decision that it made written down, and no seed.

use super::trials::{Held, Trials, changed, little_longer};
use super::values::mean;
use whitewater_plan::Plan;
use whitewater_sim::{Network, Outcome, Pin, Rest, Span};

/// Does away with the seed: without any decision of it if the failure stays, or else with all of them as pins.
pub(super) fn without_seed(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    if held.plan.script.rest == Rest::Fixed {
        return false;
    }
    let Some(recorded) = trials.recorded(&held.plan) else { return false };
    let plan = held.plan.clone();
    let delays = delays(&plan);
    // Without any decision the failure may come as well, but late: what a run does by its own lowest draws takes its time.
    let bare = delays.clone().map(|delay| seedless(&plan, Vec::new(), delay));
    if trials.first_if(held, bare, little_longer).is_some() {
        return true;
    }
    let pinned = delays.clone().map(|delay| seedless(&plan, pins_of(&plan, &recorded), delay));
    let bare = delays.map(|delay| seedless(&plan, Vec::new(), delay));
    trials.first_of_any_length(held, pinned.chain(bare)).is_some()
}

/// Delays that all messages without a pin could have. A cluster that was made for the mean of them gets out of step with its
/// script if all are the shortest, and needs its pins to be slow.
fn delays(plan: &Plan) -> impl Iterator<Item = Span> + Clone {
    let Network { delay_low, delay_high, .. } = plan.script.network;
    let mut delays = vec![mean(delay_low, delay_high), delay_low, delay_high];
    delays.dedup();
    delays.into_iter()
}

/// The pins that a run without a seed needs to be the same run: what was pinned already is among them.
fn pins_of(_: &Plan, recorded: &Outcome) -> Vec<Pin> {
    // Texts of messages explain a pin; of the many there are now, few will be left.
    recorded.decisions.clone()
}

/// A plan that leaves nothing to a seed: all links take as long, and what steps lose by chance is pinned.
fn seedless(plan: &Plan, pins: Vec<Pin>, delay: Span) -> Plan {
    changed(plan, |plan| {
        let script = &mut plan.script;
        (script.seed, script.rest, script.pins) = (0, Rest::Fixed, pins);
        script.steps.retain(|step| !step.action.is_by_chance());
        script.network = Network { delay_low: delay, delay_high: delay, ..script.network.without_chance() };
    })
}
