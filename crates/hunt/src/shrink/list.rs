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

/// Does without steps that never had their turn and pins that decided nothing, in one try, and even if the budget is spent.
/// Who stops early gets a plan in which everything happens all the same: a scenario has to be one.
pub(super) fn only_what_happens(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    let mut helped = false;
    loop {
        let (steps, pins) = (held.outcome.unfired.clone(), held.outcome.unmet.clone());
        if steps.is_empty() && pins.is_empty() {
            return helped;
        }
        if !trials.replaces(held, without_all(&held.plan, &steps, &pins)) {
            break;
        }
        helped = true;
    }
    // Some of them began and did not end: they count. With a budget left other passes find out which.
    if trials.is_over() {
        for at in held.outcome.unfired.clone().into_iter().rev() {
            helped |= trials.replaces(held, without_all(&held.plan, &[at], &[]));
        }
    }
    helped
}

fn without_all(plan: &Plan, steps: &[usize], pins: &[usize]) -> Plan {
    let left = plan.script.steps.iter().enumerate().filter(|(at, _)| !steps.contains(at));
    let decided = plan.script.pins.iter().enumerate().filter(|(at, _)| !pins.contains(at));
    let decided = decided.map(|(_, pin)| pin.clone()).collect();
    with_pins(&with_steps(plan, left.map(|(_, step)| step.clone()).collect()), decided)
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
        if trials.first_of_any_length(held, candidates).is_none() {
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
