//! Calmer settings: no trouble with links and disks, options as usual, pins with round values.

use super::element::{calm_disk, calm_links, disk_troubles, set_option, unusual_options};
use super::times::no_longer;
use super::trials::{Held, Trials, changed};
use whitewater_plan::Plan;
use whitewater_sim::{Decision, Fate, Network, Ratio, Shape, Span};

/// Takes loss, copies and overtaking away.
pub(super) fn calmer_links(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    let mut helped = false;
    type Calm = fn(&mut Network);
    let all: Calm = |network| *network = calm_links(network);
    let each: [Calm; 7] = [
        all,
        |network| network.shape = Shape::Uniform,
        |network| network.corrupt = Ratio::NEVER,
        |network| network.misdeliver = Ratio::NEVER,
        |network| network.loss = Ratio::NEVER,
        |network| network.duplicate = Ratio::NEVER,
        |network| (network.reorder, network.reorder_window) = (Ratio::NEVER, Span::ZERO),
    ];
    for calm in each {
        let candidate = changed(&held.plan, |plan| calm(&mut plan.script.network));
        helped |= trials.first(held, [candidate]).is_some();
    }
    helped
}

/// Gives all messages the same delay.
pub(super) fn same_delays(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    let candidates = steady_delays(&held.plan);
    trials.first(held, candidates).is_some()
}

/// The plan with one delay for all messages: the mean, the longest, the shortest; none if it has one already.
pub(super) fn steady_delays(plan: &Plan) -> Vec<Plan> {
    let Network { delay_low, delay_high, .. } = plan.script.network;
    if delay_low == delay_high {
        return Vec::new();
    }
    let same = |delay| {
        changed(plan, |plan| {
            let network = &mut plan.script.network;
            (network.delay_low, network.delay_high, network.shape) = (delay, delay, Shape::Uniform);
        })
    };
    [mean(delay_low, delay_high), delay_high, delay_low].map(same).into()
}

/// Half way between two spans, in whole microseconds where it is that long.
pub(super) fn mean(low: Span, high: Span) -> Span {
    const MICRO: u64 = 1_000;
    let nanos = low.nanos() + (high.nanos() - low.nanos()) / 2;
    Span::from_nanos(if nanos < MICRO { nanos } else { nanos / MICRO * MICRO })
}

/// Gives all syncs the same time.
pub(super) fn same_syncs(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    let candidates = steady_syncs(&held.plan);
    trials.first(held, candidates).is_some()
}

/// The plan with syncs that all take as long: the mean or the longest; none if they do already.
pub(super) fn steady_syncs(plan: &Plan) -> Vec<Plan> {
    let (low, high) = (plan.script.disk.low, plan.script.disk.high);
    if low == high {
        return Vec::new();
    }
    let same = |time| changed(plan, |plan| (plan.script.disk.low, plan.script.disk.high) = (time, time));
    [mean(low, high), high].map(same).into()
}

/// Takes trouble with disks away, all at once and each by itself.
pub(super) fn calmer_disks(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    let all = changed(&held.plan, |plan| {
        for trouble in disk_troubles(plan) {
            calm_disk(plan, trouble);
        }
    });
    let mut helped = trials.first(held, [all]).is_some();
    // Syncs that all take as long are told in one line.
    let steady = changed(&held.plan, |plan| {
        plan.script.disk.low = plan.script.disk.high;
        plan.script.pins.retain(|pin| match &pin.decision {
            Decision::Disk { what, .. } => what != "sync-time",
            _ => true,
        });
    });
    helped |= trials.lighter(held, [steady]);
    for trouble in disk_troubles(&held.plan) {
        let candidate = changed(&held.plan, |plan| calm_disk(plan, trouble));
        helped |= trials.first(held, [candidate]).is_some();
    }
    helped
}

/// Gives options their usual values, all at once and each by itself.
pub(super) fn usual_options(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    let system = trials.system();
    let unusual = unusual_options(&held.plan, system);
    if unusual.is_empty() {
        return false;
    }
    let all = changed(&held.plan, |plan| {
        for name in &unusual {
            set_option(plan, system, name);
        }
    });
    let mut helped = trials.first(held, [all]).is_some();
    for name in unusual_options(&held.plan, system) {
        let candidate = changed(&held.plan, |plan| set_option(plan, system, &name));
        helped |= trials.first(held, [candidate]).is_some();
    }
    helped
}

/// Gives pins simpler values: lost rather than late, no copy, rounder times.
pub(super) fn rounder_pins(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    let mut helped = false;
    for at in 0..held.plan.script.pins.len() {
        let plan = held.plan.clone();
        let simpler = simpler(&plan.script.pins[at].decision);
        let candidates = simpler
            .into_iter()
            .map(|decision| changed(&plan, |plan| plan.script.pins[at].decision = decision));
        helped |= trials.first(held, candidates).is_some();
    }
    helped
}

/// Lets pins decide sooner: the first sync rather than the twentieth, as long as the run does not grow.
pub(super) fn earlier_pins(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    let mut helped = false;
    for at in 0..held.plan.script.pins.len() {
        let plan = held.plan.clone();
        let Some(number) = number_of(&plan.script.pins[at].decision) else { continue };
        let sooner = [1, number / 4, number / 2, number.saturating_sub(1)]
            .into_iter()
            .filter(|&n| (1..number).contains(&n));
        let candidates = sooner
            .map(|number| changed(&plan, |plan| set_number(&mut plan.script.pins[at].decision, number)));
        helped |= trials.first_if(held, candidates, no_longer).is_some();
    }
    helped
}

/// Which of several alike a decision is about, if they are counted from the start of a node and not from its term.
fn number_of(decision: &Decision) -> Option<u64> {
    match decision {
        Decision::Timer { number, .. } | Decision::Draw { number, .. } => Some(u64::from(*number)),
        Decision::Disk { number, .. } => Some(*number),
        Decision::Message { .. } | Decision::Crash { .. } => None,
    }
}

/// Gives it a lower one.
fn set_number(decision: &mut Decision, lower: u64) {
    match decision {
        Decision::Timer { number, .. } | Decision::Draw { number, .. } => *number = lower as u32,
        Decision::Disk { number, .. } => *number = lower,
        Decision::Message { .. } | Decision::Crash { .. } => {}
    }
}

fn simpler(decision: &Decision) -> Vec<Decision> {
    let round = |span: Span| {
        // One digit that counts, or two.
        let digit = 10_u64.pow(span.nanos().max(1).ilog10());
        let units = [digit, (digit / 10).max(1)].into_iter();
        let up = units.clone().map(move |unit| span.nanos().div_ceil(unit) * unit);
        let down = units.map(move |unit| span.nanos() / unit * unit).filter(|&nanos| nanos > 0);
        up.chain(down).map(Span::from_nanos).filter(move |other| digits(*other) < digits(span))
    };
    match decision {
        Decision::Message { fate: Fate::Arrives { after, again, at }, .. } => {
            let with = |after, again| {
                let mut simpler = decision.clone();
                if let Decision::Message { fate, .. } = &mut simpler {
                    *fate = Fate::Arrives { after, again, at: *at };
                }
                simpler
            };
            let mut lost = decision.clone();
            if let Decision::Message { fate, .. } = &mut lost {
                *fate = Fate::Lost;
            }
            let once = again.map(|_| with(*after, None));
            let copies = again.iter().copied().flat_map(round).map(|again| with(*after, Some(again)));
            let rounds = round(*after).map(|after| with(after, *again));
            [lost].into_iter().chain(once).chain(copies).chain(rounds).collect()
        }
        Decision::Timer { span, .. } => {
            let with = |span| {
                let mut simpler = decision.clone();
                if let Decision::Timer { span: of, .. } = &mut simpler {
                    *of = span;
                }
                simpler
            };
            round(*span).map(with).collect()
        }
        _ => Vec::new(),
    }
}

/// Digits of a time before the zeros at its end.
fn digits(span: Span) -> usize {
    span.nanos().to_string().trim_end_matches('0').len()
}
