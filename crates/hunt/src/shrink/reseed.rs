//! Other seeds: less of a plan often fails as well, only not by the same accidents.
//!
//! Taking a step away under one seed keeps whatever that seed happened to need. So less of the plan is also tried under
//! a few other seeds, as long as failing is no rare accident of the plan. What is found so is a smaller failure of the
//! same rule at the same site; its seed means nothing any more and is pinned later.

use super::cluster::{without_client, without_server};
use super::element::{calm_disk, disk_troubles, set_option, unusual_options};
use super::exchange::{all_at_servers, lowered};
use super::times::end_at_the_verdict;
use super::trials::{Held, Length, Trials, changed, with_steps};
use whitewater_plan::Plan;
use whitewater_sim::draw::Draw;
use whitewater_sim::{Action, Network, NodeId, Rest, Step, System};

/// Seeds tried with each smaller plan.
const SEEDS: u64 = 16;

/// Random halves of the steps that are tried.
const HALVES: u64 = 6;

/// Deliveries of a run that is small enough whatever it was before.
const ALWAYS_SMALL: u64 = 250;

/// Rounds of reductions at most.
const ROUNDS: usize = 40;

/// Makes a plan smaller under other seeds. Nothing happens unless other seeds fail the same way now and then.
pub(super) fn other_seeds(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    if held.plan.script.rest == Rest::Fixed || !fails_with_others(trials, held) {
        return false;
    }
    let mut helped = false;
    for _ in 0..ROUNDS {
        let system = trials.system();
        let smaller = reductions(&held.plan, system);
        let mut helped_now = false;
        for base in smaller {
            let seed = held.plan.script.seed;
            let candidates = (0..SEEDS).map(|number| with_seed(&base, seed, number));
            if trials.first_if(held, candidates, no_larger).is_some() {
                end_at_the_verdict(trials, held);
                helped_now = true;
                break;
            }
        }
        if !helped_now || trials.is_over() {
            break;
        }
        helped = true;
    }
    helped
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

/// The same plan under another seed under which it fails the same way, the `number`-th that is tried for; the plan
/// itself if there is none.
pub(super) fn elsewhere(trials: &mut Trials<'_>, held: &mut Held, number: u64) -> bool {
    if held.plan.script.rest == Rest::Fixed {
        return false;
    }
    let base = held.plan.clone();
    let first = 1 + number * ELSEWHERE;
    let candidates = (first..first + ELSEWHERE).map(|number| with_seed(&base, base.script.seed, number));
    trials.first(held, candidates).is_some()
}

/// Seeds tried for another beginning.
const ELSEWHERE: u64 = 48;

fn fails_with_others(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    let base = held.plan.clone();
    let candidates = (1..=2 * SEEDS).map(|number| with_seed(&base, base.script.seed, number));
    trials.first_if(held, candidates, no_larger).is_some()
}

/// The plan with another seed; number 0 is its own.
fn with_seed(plan: &Plan, seed: u64, number: u64) -> Plan {
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

/// Smaller plans, the smallest first.
fn reductions(plan: &Plan, system: &dyn System) -> Vec<Plan> {
    let script = &plan.script;
    let mut smaller = Vec::new();
    let mut keeping = |keeps: &dyn Fn(usize, &Step) -> bool| {
        let steps = script.steps.iter().enumerate().filter(|(at, step)| keeps(*at, step));
        let kept: Vec<Step> = steps.map(|(_, step)| step.clone()).collect();
        if kept.len() < script.steps.len() {
            smaller.push(with_steps(plan, kept));
        }
    };
    let operates = |step: &Step| matches!(step.action, Action::Operate { .. });
    keeping(&|_, _| false);
    keeping(&|_, step| !operates(step));
    keeping(&|_, step| operates(step));
    for half in 0..HALVES {
        let mut draw = Draw::from_value(script.seed ^ half ^ (script.steps.len() as u64) << 32);
        let bits: Vec<bool> = script.steps.iter().map(|_| draw.chance(1, 2)).collect();
        keeping(&|at, _| bits[at]);
    }
    let servers = (0..script.servers).rev().map(NodeId::server);
    if script.servers > 1 {
        smaller.extend(servers.map(|server| without_server(plan, server)));
    }
    if script.clients > 0 {
        smaller.push(without_client(plan, NodeId::client(script.clients - 1)));
    }
    let network = &script.network;
    let calm = Network { delay_high: network.delay_high, ..network.without_chance() };
    if calm != *network {
        smaller.push(changed(plan, |plan| plan.script.network = calm));
    }
    smaller.extend(
        disk_troubles(plan).into_iter().map(|trouble| changed(plan, |plan| calm_disk(plan, trouble))),
    );
    smaller.extend(
        unusual_options(plan, system)
            .into_iter()
            .map(|name| changed(plan, |plan| set_option(plan, system, &name))),
    );
    smaller.extend(all_at_servers(plan));
    for name in unusual_options(plan, system) {
        let fewer = lowered(plan, system.options(), &name);
        smaller.extend(fewer.into_iter().filter(|fewer| fewer.script.steps.len() < script.steps.len()));
    }
    for at in (0..script.steps.len()).rev() {
        let mut steps = script.steps.clone();
        steps.remove(at);
        smaller.push(with_steps(plan, steps));
    }
    smaller
}
