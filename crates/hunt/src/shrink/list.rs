//! Fewer steps and pins: whole chunks first, then smaller ones, then one by one.

use super::element::{elements, without};
use super::trials::{Held, Trials, little_longer, with_pins, with_steps};
use whitewater_plan::Plan;
use whitewater_sim::{Action, Decision, Pin, Trigger};

/// Takes steps away.
pub(super) fn fewer_steps(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    fewer(
        trials,
        held,
        |plan| plan.script.steps.len(),
        |plan, from, to| {
            let mut steps = plan.script.steps.clone();
            steps.drain(from..to);
            with_steps(plan, steps)
        },
    )
}

/// Takes pins away.
pub(super) fn fewer_pins(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    fewer(
        trials,
        held,
        |plan| plan.script.pins.len(),
        |plan, from, to| {
            let mut pins = plan.script.pins.clone();
            pins.drain(from..to);
            with_pins(plan, pins)
        },
    )
}

/// Takes all pins of a kind away at once, or all of them, as long as the run does not become much longer.
pub(super) fn no_pins(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    type Keeps = fn(&Pin) -> bool;
    let kinds: [Keeps; 5] = [
        |_| false,
        |pin| !matches!(pin.decision, Decision::Message { .. }),
        |pin| !matches!(pin.decision, Decision::Disk { .. }),
        |pin| !matches!(pin.decision, Decision::Timer { .. }),
        |pin| !matches!(pin.decision, Decision::Draw { .. } | Decision::Crash { .. }),
    ];
    let mut helped = false;
    for keeps in kinds {
        let pins = &held.plan.script.pins;
        let kept: Vec<Pin> = pins.iter().filter(|pin| keeps(pin)).cloned().collect();
        if kept.len() < pins.len() {
            let candidate = with_pins(&held.plan, kept);
            helped |= trials.first_if(held, [candidate], little_longer).is_some();
        }
    }
    helped
}

/// Takes chunks of a list away, each half as long as those before, from its end.
fn fewer(
    trials: &mut Trials<'_>,
    held: &mut Held,
    length: fn(&Plan) -> usize,
    without: fn(&Plan, usize, usize) -> Plan,
) -> bool {
    let mut helped = false;
    let mut chunk = length(&held.plan);
    while chunk > 0 {
        let mut end = length(&held.plan);
        while end > 0 {
            let plan = held.plan.clone();
            let ends: Vec<usize> = (1..=end).rev().step_by(chunk).collect();
            let candidates = ends.iter().map(|&end| without(&plan, end.saturating_sub(chunk), end));
            match trials.first(held, candidates) {
                Some(at) => {
                    helped = true;
                    end = ends[at].saturating_sub(chunk);
                }
                None => end = 0,
            }
        }
        chunk = if chunk == 1 { 0 } else { chunk.div_ceil(2).min(length(&held.plan)) };
    }
    helped
}

/// Takes any single element away, until none can go.
pub(super) fn one_by_one(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    let mut helped = false;
    loop {
        let plan = held.plan.clone();
        let system = trials.system();
        let candidates = elements(&plan, system).into_iter().rev();
        let candidates = candidates.filter_map(|element| without(&plan, system, &element));
        if trials.first(held, candidates).is_none() {
            return helped;
        }
        helped = true;
    }
}

/// Puts steps into the order of their times, if the failure stays.
pub(super) fn usual_order(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    let mut steps = held.plan.script.steps.clone();
    steps.sort_by_key(|step| match step.when {
        Trigger::At(time) => (0, time, matches!(step.action, Action::Operate { .. })),
        _ => (1, whitewater_sim::Time::ZERO, true),
    });
    let mut pins = held.plan.script.pins.clone();
    pins.sort_by(|a, b| a.decision.cmp(&b.decision));
    let candidate = with_pins(&with_steps(&held.plan, steps), pins);
    trials.first(held, [candidate]).is_some()
}
