//! Accidents made common: what a failure takes by rare chance comes after a few messages where the chance of it is high.
//!
//! A plan from which nothing can go may still wait long for its accidents, since the steps and pins that are left are those of one
//! seed: a third election, since the second copy came in that one, and a partition for it. Left to a seed again, with the accidents
//! that its pins name for many messages, and some lost in the place of its faults, it fails in the first.

use super::reseed::with_seed;
use super::trials::{Held, Length, Trials, changed};
use whitewater_plan::Plan;
use whitewater_sim::{Action, Decision, Fate, Ratio, Rest, Span};

/// Seeds tried with each plan.
const SEEDS: u64 = 32;

/// What is left, failing sooner under a seed that makes its accidents common; none if no seed does.
pub(super) fn common(trials: &mut Trials<'_>, held: &Held, number: u64) -> Option<Held> {
    let sooner = |held: &Held, length: Length| {
        length.deliveries < held.outcome.counters.deliveries && length.deliveries > 0
    };
    let mut best: Option<Held> = None;
    for plan in with_fewer_steps(&with_common_accidents(&held.plan)) {
        for seed in number * SEEDS..(number + 1) * SEEDS {
            let mut other = best.clone().unwrap_or_else(|| held.clone());
            if trials
                .first_if(&mut other, [with_seed(&plan, plan.script.seed ^ 1, seed + 1)], sooner)
                .is_some()
            {
                best = Some(other);
            }
        }
    }
    best
}

/// The plan left to a seed, with accidents as its pins name them, and losses for its faults: whatever hinders a server or a link
/// comes to messages that do not arrive. Each is frequent, and there is time for them.
fn with_common_accidents(plan: &Plan) -> Plan {
    changed(plan, |plan| {
        let script = &mut plan.script;
        let pins = std::mem::take(&mut script.pins);
        script.rest = Rest::Drawn;
        script.horizon = Span::from_nanos(script.horizon.nanos().saturating_mul(2));
        let network = &mut script.network;
        if script.steps.iter().any(|step| !matches!(step.action, Action::Operate { .. })) {
            network.loss = Ratio::of(1, 4);
        }
        for pin in pins {
            match pin.decision {
                Decision::Message { fate: Fate::Lost, .. } => network.loss = Ratio::of(1, 4),
                Decision::Message { fate: Fate::Arrives { after, again, at }, .. } => {
                    network.delay_low = network.delay_low.min(after);
                    network.delay_high = network.delay_high.max(after);
                    if again.is_some() {
                        network.duplicate = Ratio::of(1, 2);
                    }
                    if at.is_some() {
                        network.misdeliver = Ratio::of(1, 4);
                    }
                }
                Decision::Timer { .. }
                | Decision::Draw { .. }
                | Decision::Disk { .. }
                | Decision::Crash { .. } => {}
            }
        }
        // Nothing overtakes anything where all take as long.
        if network.delay_low == network.delay_high {
            network.delay_low = Span::from_nanos(network.delay_high.nanos() / 2);
        }
    })
}

/// The plan without steps, with operations alone, with faults alone, and as it is.
fn with_fewer_steps(plan: &Plan) -> Vec<Plan> {
    let operates = |action: &Action| matches!(action, Action::Operate { .. });
    let keeping = |keeps: &dyn Fn(&Action) -> bool| {
        changed(plan, |plan| plan.script.steps.retain(|step| keeps(&step.action)))
    };
    let mut plans =
        vec![keeping(&|_| false), keeping(&operates), keeping(&|action| !operates(action)), plan.clone()];
    plans.dedup();
    plans
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traces::{n, plan};
    use whitewater_sim::Pin;

    /// The plan with these fates of messages pinned.
    fn with_fates(fates: &[Fate]) -> Plan {
        let (from, to, name) = (n(1), n(2), String::from("Vote"));
        let pin = |fate: &Fate| {
            let (name, fate) = (name.clone(), *fate);
            let decision = Decision::Message { from, to, name, key: 7, start: 1, number: 1, fate };
            Pin { decision, note: None }
        };
        changed(&plan(), |plan| {
            (plan.script.rest, plan.script.pins) = (Rest::Fixed, fates.iter().map(pin).collect());
        })
    }

    #[test]
    fn what_pins_say_of_a_message_happens_to_many_and_nothing_else_does() {
        let late = Span::from_nanos(70_000_000);
        let twice = Fate::Arrives { after: late, again: Some(late), at: None };
        let network = |fates: &[Fate]| with_common_accidents(&with_fates(fates)).script.network;
        let before = plan().script.network;
        assert_eq!((network(&[]).loss, network(&[]).duplicate), (before.loss, before.duplicate));
        let lossy = network(&[Fate::Lost]);
        assert!(lossy.loss > before.loss && lossy.duplicate == before.duplicate, "{lossy:?}");
        let copying = network(&[twice]);
        assert!(copying.duplicate > before.duplicate && copying.loss == before.loss, "{copying:?}");
        assert_eq!(copying.delay_high, late);
        assert!(copying.delay_low < late, "one message overtakes another");
        let left = with_common_accidents(&with_fates(&[twice]));
        assert!(left.script.pins.is_empty() && left.script.rest == Rest::Drawn);
    }

    #[test]
    fn a_plan_without_steps_is_tried_once() {
        assert_eq!(with_fewer_steps(&plan()).len(), if plan().script.steps.is_empty() { 1 } else { 2 });
    }
}
