//! Other seeds: less of a plan often fails as well, only not by the same accidents.
//!
//! Taking a step away under one seed keeps whatever that seed happened to need. So less of the plan is also tried under
//! a few other seeds, as long as failing is no rare accident of the plan. What is found so is a smaller failure of the
//! same rule at the same site; its seed means nothing any more and is pinned later.

use super::reductions::KINDS;
use super::times::end_at_the_verdict;
use super::trials::{Held, Length, Trials, changed};
use whitewater_plan::Plan;
use whitewater_sim::draw::Draw;
use whitewater_sim::{Rest, Span};

/// Seeds tried with each smaller plan.
const SEEDS: u64 = 16;

/// Deliveries of a run that is small enough whatever it was before.
const ALWAYS_SMALL: u64 = 250;

/// Messages delivered at most: what is left when they are spent is small enough to be pinned, or other passes get further
/// with the time that is left.
const DELIVERIES: u64 = 20_000_000;

/// Makes a plan smaller under other seeds. Nothing happens unless other seeds fail the same way now and then.
///
/// What was tried in vain is not tried again before everything else was: going on behind the last gain takes one sweep for
/// what beginning anew after each gain takes as many sweeps for as there are gains.
pub(super) fn other_seeds(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    if held.plan.script.rest == Rest::Fixed || !fails_with_others(trials, held) {
        return false;
    }
    let end = trials.deliveries() + DELIVERIES;
    let mut helped = false;
    loop {
        let mut helped_now = false;
        for kind in KINDS {
            let (mut smaller, mut at) = (kind(&held.plan, trials.system()), 0);
            while at < smaller.len() && !trials.is_over() && trials.deliveries() < end {
                let seed = held.plan.script.seed;
                let candidates = (0..SEEDS).map(|number| with_seed(&smaller[at], seed, number));
                if trials.first_if(held, candidates, no_larger).is_some() {
                    end_at_the_verdict(trials, held);
                    // What is now in this place is what came behind, or as good.
                    smaller = kind(&held.plan, trials.system());
                    helped_now = true;
                } else {
                    at += 1;
                }
            }
        }
        helped |= helped_now;
        if !helped_now || trials.is_over() || trials.deliveries() >= end {
            return helped;
        }
    }
}

/// Looks for a seed under which the plan as it stands takes fewer messages to fail.
pub(super) fn luckier_seed(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    if held.plan.script.rest == Rest::Fixed {
        return false;
    }
    let base = held.plan.clone();
    let mut helped = false;
    for number in 1..=4 * SEEDS {
        let candidate = with_seed(&base, base.script.seed, number);
        let fewer = |held: &Held, length: Length| length.deliveries < held.outcome.counters.deliveries;
        if trials.first_if(held, [candidate], fewer).is_some() {
            helped = true;
        }
    }
    if helped {
        end_at_the_verdict(trials, held);
    }
    helped
}

/// The same plan under another seed under which it fails the same way, the `number`-th that is tried for.
pub(super) fn elsewhere(trials: &mut Trials<'_>, held: &Held, number: u64) -> Option<Held> {
    if held.plan.script.rest == Rest::Fixed {
        return None;
    }
    let first = 1 + number * ELSEWHERE;
    let seed = held.plan.script.seed;
    let candidates = (first..first + ELSEWHERE).map(|number| with_seed(&held.plan, seed, number));
    let mut other = held.clone();
    trials.first_of_any_length(&mut other, candidates).is_some().then_some(other)
}

/// What is left without a seed, left to a seed again: with the delays it has, or else with those that there were first, and
/// with time for what may come later then. A plan that is small by now fails under some seed with less still.
pub(super) fn loosened(trials: &mut Trials<'_>, held: &Held, first: &Plan, number: u64) -> Option<Held> {
    let seed = held.plan.script.seed ^ first.script.seed;
    let as_it_is = changed(&held.plan, |plan| {
        let script = &mut plan.script;
        (script.rest, script.pins) = (Rest::Drawn, Vec::new());
        script.horizon = Span::from_nanos(script.horizon.nanos().saturating_mul(2));
    });
    let network = &first.script.network;
    let as_it_was = changed(&as_it_is, |plan| {
        (plan.script.network.delay_low, plan.script.network.delay_high) =
            (network.delay_low, network.delay_high);
    });
    let first = 1 + number * ELSEWHERE;
    let numbered = (first..first + ELSEWHERE).map(|number| (number, seed));
    let candidates = [as_it_is, as_it_was];
    let candidates = candidates
        .iter()
        .flat_map(|plan| numbered.clone().map(|(number, seed)| with_seed(plan, seed, number)));
    let mut other = held.clone();
    trials.first_of_any_length(&mut other, candidates).is_some().then_some(other)
}

/// Seeds tried for another beginning.
const ELSEWHERE: u64 = 48;

fn fails_with_others(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    let base = held.plan.clone();
    let candidates = (1..=2 * SEEDS).map(|number| with_seed(&base, base.script.seed, number));
    trials.first_if(held, candidates, no_larger).is_some()
}

/// The plan with another seed; number 0 is its own.
pub(super) fn with_seed(plan: &Plan, seed: u64, number: u64) -> Plan {
    let other = match number {
        0 => seed,
        number => Draw::from_value(seed ^ number).bits(),
    };
    changed(plan, |plan| plan.script.seed = other)
}

/// A run under another seed may take longer, since what is left will be cut to what it needs; but not for ever.
fn no_larger(held: &Held, length: Length) -> bool {
    length.deliveries <= held.outcome.counters.deliveries.max(ALWAYS_SMALL) * 4
}
