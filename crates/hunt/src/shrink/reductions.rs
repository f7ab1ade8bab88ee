//! Smaller plans that are tried under several seeds, kind by kind: what takes most away comes first.

use super::cluster::{without_client, without_server};
use super::element::{calm_disk, calm_links, disk_troubles, set_option, unusual_options};
use super::exchange::{all_at_servers, lowered};
use super::times::closer;
use super::trials::{changed, with_steps};
use super::values::{steady_delays, steady_syncs};
use whitewater_plan::Plan;
use whitewater_sim::draw::Draw;
use whitewater_sim::{Action, NodeId, Step, System};

/// The plans of a kind that are smaller than one. Each has less in it, so that taking one after another comes to an end.
pub(super) type Kind = fn(&Plan, &dyn System) -> Vec<Plan>;

/// All kinds, in the order in which they are tried.
pub(super) const KINDS: [Kind; 9] = [
    few_steps,
    fewer_nodes,
    calmer_links,
    calmer_disks,
    usual_options,
    given_to_servers,
    lower_limits,
    without_a_part,
    // With time to spare more seeds fail: it goes last.
    sooner,
];

/// Random halves of the steps that are tried.
const HALVES: u64 = 6;

fn few_steps(plan: &Plan, _: &dyn System) -> Vec<Plan> {
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
    smaller
}

fn fewer_nodes(plan: &Plan, _: &dyn System) -> Vec<Plan> {
    let script = &plan.script;
    let mut smaller = Vec::new();
    if script.servers > 1 {
        let servers = (0..script.servers).rev().map(NodeId::server);
        smaller.extend(servers.map(|server| without_server(plan, server)));
    }
    if script.clients > 0 {
        smaller.push(without_client(plan, NodeId::client(script.clients - 1)));
    }
    smaller
}

fn sooner(plan: &Plan, _: &dyn System) -> Vec<Plan> {
    closer(plan)
}

fn calmer_links(plan: &Plan, _: &dyn System) -> Vec<Plan> {
    let network = &plan.script.network;
    let calm = calm_links(network);
    let calm = (calm != *network).then(|| changed(plan, |plan| plan.script.network = calm));
    calm.into_iter().chain(steady_delays(plan)).collect()
}

fn calmer_disks(plan: &Plan, _: &dyn System) -> Vec<Plan> {
    let troubles = disk_troubles(plan).into_iter();
    let calm = troubles.map(|trouble| changed(plan, |plan| calm_disk(plan, trouble)));
    calm.chain(steady_syncs(plan)).collect()
}

fn usual_options(plan: &Plan, system: &dyn System) -> Vec<Plan> {
    let unusual = unusual_options(plan, system).into_iter();
    unusual.map(|name| changed(plan, |plan| set_option(plan, system, &name))).collect()
}

fn given_to_servers(plan: &Plan, _: &dyn System) -> Vec<Plan> {
    all_at_servers(plan)
}

fn lower_limits(plan: &Plan, system: &dyn System) -> Vec<Plan> {
    let unusual = unusual_options(plan, system);
    unusual.iter().flat_map(|name| lowered(plan, system.options(), name)).collect()
}

/// Without the half of the steps, a quarter, an eighth and so on to single ones, from the end.
fn without_a_part(plan: &Plan, _: &dyn System) -> Vec<Plan> {
    let steps = &plan.script.steps;
    let mut smaller = Vec::new();
    let mut chunk = steps.len() / 2;
    while chunk > 0 {
        for end in (1..=steps.len()).rev().step_by(chunk) {
            let mut kept = steps.clone();
            kept.drain(end.saturating_sub(chunk)..end);
            smaller.push(with_steps(plan, kept));
        }
        chunk /= 2;
    }
    smaller
}
