//! The neighbourhood of a failure: plans that differ from its plan in a few decisions.
//!
//! A failure that is gone may have moved by a millisecond. Whoever says that it is mended tries what lies around it:
//! other delays of the messages, other lengths of the timers, steps that come a little sooner or later or not at all.

use whitewater_plan::Plan;
use whitewater_sim::draw::Draw;
use whitewater_sim::{Rest, Script, Span, Step, Time, Trigger};

/// A neighbour of a plan; the same number gives the same one, and 0 the plan itself.
pub fn neighbour(plan: &Plan, number: u64) -> Plan {
    let mut neighbour = plan.clone();
    if number == 0 {
        return neighbour;
    }
    let mut draw = Draw::from_value(number);
    let script = &mut neighbour.script;
    if draw.chance(3, 4) {
        leave_to_a_seed(script, &mut draw);
    }
    if draw.chance(1, 2) && !script.pins.is_empty() {
        let gone = draw.below(script.pins.len() as u64) as usize;
        script.pins.remove(gone);
    }
    if draw.chance(1, 4) && script.steps.len() > 1 {
        let gone = draw.below(script.steps.len() as u64) as usize;
        script.steps.remove(gone);
    }
    let reach = Span::from_nanos(script.network.delay_high.nanos().saturating_mul(4)).nanos();
    for step in &mut script.steps {
        if draw.chance(1, 2) {
            shift(step, reach, &mut draw);
        }
    }
    neighbour
}

/// What is not pinned is drawn, with delays up to a few times as long as they were.
fn leave_to_a_seed(script: &mut Script, draw: &mut Draw) {
    (script.seed, script.rest) = (draw.bits(), Rest::Drawn);
    let low = script.network.delay_low.nanos();
    let high = script.network.delay_high.nanos().max(low).saturating_mul(draw.within(1, 4));
    script.network.delay_high = Span::from_nanos(high.max(low));
}

/// Moves a step by at most so much; its length stays what it was.
fn shift(step: &mut Step, reach: u64, draw: &mut Draw) {
    let by = draw.within(0, reach);
    let later = draw.chance(1, 2);
    let moved = |time: &Time| {
        let nanos = time.nanos();
        Time::from_nanos(if later { nanos.saturating_add(by) } else { nanos.saturating_sub(by) })
    };
    let triggers = [Some(&mut step.when), step.until.as_mut()];
    for trigger in triggers.into_iter().flatten() {
        if let Trigger::At(time) = trigger {
            *time = moved(time);
        }
    }
}
