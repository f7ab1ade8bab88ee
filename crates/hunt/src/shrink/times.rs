//! Shorter runs: an end at the verdict, no settling, steps that come sooner and last shorter, rounder times.

use super::trials::{Held, Length, Trials, changed};
use whitewater_plan::Plan;
use whitewater_sim::{Span, Step, Time, Trigger};

const MILLI: u64 = 1_000_000;

/// Lets the run end where the verdict was found, if that was before settling.
pub(super) fn end_at_the_verdict(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    let end = Span::from_nanos(held.outcome.time.nanos());
    // A whole number of milliseconds reads better and changes nothing.
    let end = Span::from_nanos(end.nanos().div_ceil(MILLI) * MILLI);
    if end >= held.plan.script.horizon {
        return false;
    }
    let candidate = changed(&held.plan, |plan| plan.script.horizon = end);
    trials.first(held, [candidate]).is_some()
}

/// Leaves out settling, or the power cycle after it.
pub(super) fn no_settling(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    let settle = held.plan.script.settle;
    if settle.limit == Span::ZERO {
        return false;
    }
    let without = changed(&held.plan, |plan| {
        (plan.script.settle.limit, plan.script.settle.power_cycle) = (Span::ZERO, false);
    });
    let uncycled = changed(&held.plan, |plan| plan.script.settle.power_cycle = false);
    trials.first(held, [without, uncycled]).is_some()
}

/// Brings the horizon forward, for what is found only as the run settles.
pub(super) fn shorter_horizon(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    if held.plan.script.settle.limit == Span::ZERO {
        return false;
    }
    lower(
        trials,
        held,
        |plan| plan.script.horizon.nanos(),
        |plan, nanos| {
            plan.script.horizon = Span::from_nanos(nanos);
        },
    )
}

/// Lets steps come sooner and end sooner, together with all that come later and each by itself, as long as the run does
/// not grow.
pub(super) fn sooner(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    let mut helped = false;
    let mut before = 0;
    for moment in moments(&held.plan) {
        let gap = moment - before;
        let plan = held.plan.clone();
        // What was moved before has brought this one forward as well.
        let candidates =
            shifts(gap).into_iter().map(|shift| changed(&plan, |plan| bring_forward(plan, moment, shift)));
        helped |= trials.first_if(held, candidates, no_longer).is_some();
        before = moment;
    }
    for at in 0..held.plan.script.steps.len() {
        helped |= ends_sooner(trials, held, at);
    }
    helped
}

/// The moments that a plan names, in order.
fn moments(plan: &Plan) -> Vec<u64> {
    let mut moments: Vec<u64> = plan.script.steps.iter().flat_map(moments_of).collect();
    moments.push(plan.script.horizon.nanos());
    moments.sort_unstable();
    moments.dedup();
    moments
}

/// By how much what comes behind a gap may be brought forward, the most first. What a step needs comes and goes in a long
/// gap, such as a message under way, so that more places are tried there.
fn shifts(gap: u64) -> Vec<u64> {
    let parts = if gap < LONG_GAP { vec![8, 4, 2, 1] } else { (1..=PLACES).rev().collect() };
    let whole_gap = parts[0];
    let mut shifts: Vec<u64> =
        parts.into_iter().map(|part| whole(gap.saturating_mul(part) / whole_gap)).collect();
    shifts.retain(|&shift| shift > 0);
    shifts.dedup();
    shifts
}

/// A gap in which other things happen meanwhile.
const LONG_GAP: u64 = 100 * MILLI;

/// Places that are tried in such a gap.
const PLACES: u64 = 24;

/// The plan with one of its longest gaps closed or halved, the longest first. Short gaps are left alone.
pub(super) fn closer(plan: &Plan) -> Vec<Plan> {
    let moments = moments(plan);
    let before = std::iter::once(0).chain(moments.iter().copied());
    let mut gaps: Vec<(u64, u64)> = moments.iter().zip(before).map(|(&to, from)| (to - from, to)).collect();
    gaps.retain(|&(gap, _)| gap >= LONG_GAP / 5);
    gaps.sort_unstable_by(|a, b| b.cmp(a));
    gaps.truncate(GAPS);
    let shifts =
        gaps.iter().flat_map(|&(gap, moment)| [gap / 8 * 7, gap / 2].map(|shift| (moment, whole(shift))));
    shifts.map(|(moment, shift)| changed(plan, |plan| bring_forward(plan, moment, shift))).collect()
}

/// Gaps of which that is tried.
const GAPS: usize = 8;

/// Milliseconds, so that times stay readable; a rest below one is left alone.
fn whole(nanos: u64) -> u64 {
    if nanos < MILLI { nanos } else { nanos / MILLI * MILLI }
}

/// Whether a run has no more in it.
pub(super) fn no_longer(held: &Held, length: Length) -> bool {
    length <= Length::of(&held.outcome)
}

fn moments_of(step: &Step) -> Vec<u64> {
    let at = |trigger: &Trigger| match trigger {
        Trigger::At(time) => Some(time.nanos()),
        _ => None,
    };
    at(&step.when).into_iter().chain(step.until.as_ref().and_then(at)).collect()
}

/// Moves everything from `moment` on forward.
fn bring_forward(plan: &mut Plan, moment: u64, shift: u64) {
    let move_one = |trigger: &mut Trigger| {
        if let Trigger::At(time) = trigger
            && time.nanos() >= moment
        {
            *time = Time::from_nanos(time.nanos() - shift);
        }
    };
    for step in &mut plan.script.steps {
        move_one(&mut step.when);
        step.until.iter_mut().for_each(move_one);
    }
    let horizon = plan.script.horizon.nanos();
    if horizon >= moment {
        plan.script.horizon = Span::from_nanos(horizon - shift);
    }
}

/// Lets one step end sooner, or never.
fn ends_sooner(trials: &mut Trials<'_>, held: &mut Held, at: usize) -> bool {
    let step = &held.plan.script.steps[at];
    if matches!(step.until, Some(Trigger::When(..) | Trigger::At(_) | Trigger::After(_))) {
        let candidate = changed(&held.plan, |plan| plan.script.steps[at].until = None);
        if trials.first_if(held, [candidate], no_longer).is_some() {
            return true;
        }
    }
    let Some(Trigger::After(span)) = held.plan.script.steps[at].until else { return false };
    let shorter = [0, 1, 2, 3, 4, 5, 6, 7].map(|eighths| whole(span.nanos() / 8 * eighths));
    let plan = held.plan.clone();
    let candidates = shorter.into_iter().filter(|&nanos| nanos < span.nanos()).map(|nanos| {
        changed(&plan, |plan| {
            plan.script.steps[at].until = Some(Trigger::After(Span::from_nanos(nanos)));
        })
    });
    trials.first_if(held, candidates, no_longer).is_some()
}

/// Writes times as whole milliseconds, then as tens of them.
pub(super) fn rounder(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    let mut helped = false;
    let all = changed(&held.plan, |plan| {
        plan.script.steps.iter_mut().for_each(|step| round_step(step, MILLI));
    });
    helped |= trials.first_if(held, [all], no_longer).is_some();
    for at in 0..held.plan.script.steps.len() {
        let plan = held.plan.clone();
        let candidates =
            [10 * MILLI, MILLI].map(|unit| changed(&plan, |p| round_step(&mut p.script.steps[at], unit)));
        helped |= trials.first_if(held, candidates, no_longer).is_some();
    }
    let delay = held.plan.script.network.delay_low.nanos();
    let units = [MILLI, 1_000].into_iter().filter(|unit| !delay.is_multiple_of(*unit));
    let plan = held.plan.clone();
    let candidates = units.map(|unit| {
        changed(&plan, |plan| {
            let delay = Span::from_nanos(delay.div_ceil(unit) * unit);
            (plan.script.network.delay_low, plan.script.network.delay_high) = (delay, delay);
        })
    });
    helped |= trials.first_if(held, candidates, no_longer).is_some();
    helped
}

fn round_step(step: &mut Step, unit: u64) {
    let round = |trigger: &mut Trigger| match trigger {
        Trigger::At(time) => *time = Time::from_nanos(time.nanos() / unit * unit),
        Trigger::After(span) | Trigger::When(_, span) if span.nanos() >= unit => {
            *span = Span::from_nanos(span.nanos() / unit * unit);
        }
        _ => {}
    };
    round(&mut step.when);
    step.until.iter_mut().for_each(round);
}

/// Lowers a number as far as the failure allows, by halving what is left.
pub(super) fn lower(
    trials: &mut Trials<'_>,
    held: &mut Held,
    get: impl Fn(&Plan) -> u64,
    set: impl Fn(&mut Plan, u64),
) -> bool {
    let mut helped = false;
    let mut low = 0;
    loop {
        let high = get(&held.plan);
        let middle = whole(low + (high - low) / 2);
        if middle >= high || middle < low || trials.is_over() {
            return helped;
        }
        let candidate = changed(&held.plan, |plan| set(plan, middle));
        match trials.first(held, [candidate]) {
            Some(_) => helped = true,
            None => low = middle + MILLI,
        }
        if low >= get(&held.plan) {
            return helped;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_closed_before_it_is_made_shorter_and_a_long_one_is_tried_in_more_places() {
        assert_eq!(shifts(8 * MILLI), [8, 4, 2, 1].map(|millis| millis * MILLI));
        let long = shifts(240 * MILLI);
        assert_eq!(long.len(), 24);
        assert_eq!((long[0], long[1], long[23]), (240 * MILLI, 230 * MILLI, 10 * MILLI));
        assert_eq!(shifts(0), [0; 0]);
    }
}
