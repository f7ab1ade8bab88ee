//! What generated plans do to processes: crashes at any moment, stops, slowness, other options, other disks.

use super::faults::interval;
use super::moments::{Fault, Stage};
use super::options;
use super::weights as w;
use crate::profile::Scope;
use whitewater_sim::{
    Action, Countable, DiskContract, FaultBudget, Losing, NodeId, Script, Step, Target, Trouble,
};

/// Crashes servers: one, whoever leads, or whoever follows; at once, or in the middle of a step.
pub(super) fn add_crashes(steps: &mut Vec<Step>, stage: &Stage<'_>) {
    let crash = |fault: &Fault<'_>, node: Target| {
        let losing = match stage.decisions.is_on("lose-unsynced") && fault.draw("losing").chance(1, 2) {
            true => Losing::Unsynced,
            false => Losing::Some,
        };
        let at_call = match stage.decisions.is_on("crash-at-call") && fault.draw("at call").chance(1, 2) {
            true => fault.draw("call").log_uniform(w::CRASH_CALLS.0, w::CRASH_CALLS.1) as u32,
            false => 0,
        };
        interval(fault, Action::Crash { node, losing, at_call })
    };
    steps.extend(stage.faults("crash").map(|fault| crash(&fault, Target::Node(fault.node("node")))));
    steps.extend(stage.faults("crash-leader").map(|fault| crash(&fault, Target::Leader)));
    if stage.servers > 1 {
        steps.extend(stage.faults("crash-follower").map(|fault| crash(&fault, fault.follower())));
    }
    for (family, effect) in [("crash-at-send", Countable::Sends), ("crash-at-reply", Countable::Replies)] {
        steps.extend(stage.faults(family).map(|fault| {
            let number = fault.draw("effect").log_uniform(w::CRASH_EFFECTS.0, w::CRASH_EFFECTS.1) as u32;
            let node = fault.victim();
            interval(&fault, Action::CrashAfter { node, losing: Losing::Some, effect, number })
        }));
    }
}

/// Stops processes and slows them down.
pub(super) fn add_delays(steps: &mut Vec<Step>, stage: &Stage<'_>) {
    steps.extend(stage.faults("pause").map(|fault| interval(&fault, Action::Pause(fault.victim()))));
    steps.extend(stage.faults("slow-node").map(|fault| {
        let high = fault.short(w::SLOWNESS_PART);
        interval(&fault, Action::Slow { node: fault.victim(), low: high.part(4), high })
    }));
}

/// Restarts servers one by one with other values for options that may differ between them. What was demanded stays.
pub(super) fn add_rolls(steps: &mut Vec<Step>, stage: &Stage<'_>, demanded: &[(String, String)]) {
    let names = stage.system.rolls();
    if names.is_empty() {
        return;
    }
    steps.extend(stage.faults("roll").filter_map(|fault| {
        let name = *fault.draw("option").pick(names);
        if demanded.iter().any(|(given, _)| given == name) {
            return None;
        }
        let spec = stage.system.options().iter().find(|spec| spec.name == name);
        let spec = spec.expect("a system rolls its own options");
        let value = options::value(&spec.values, &mut fault.draw("value"));
        let node = Target::Node(fault.node("node"));
        Some(interval(&fault, Action::Roll { node, option: name.to_owned(), value }))
    }));
}

/// Gives servers empty or older disks, where that is within the contract: only those whose disks may lie anyway.
pub(super) fn add_exchanges(script: &mut Script, stage: &Stage<'_>, scope: Scope) {
    if !scope.crashes || script.disk.contract() < DiskContract::Lying {
        return;
    }
    // A file that gives such a family a share wants it.
    let is_wanted = ["wiped-disk", "older-disk"].iter().any(|family| stage.decisions.has_share(family));
    if !is_wanted && !stage.decisions.draw("exchanges", 0).chance(1, w::EXCHANGES_ONE_IN) {
        return;
    }
    let budget = script.fault_budget();
    let Some(struck) = servers_of(&budget, stage.servers) else { return };
    let victim = |fault: &Fault<'_>| Target::Node(*fault.draw("struck").pick(&struck));
    if stage.system.survives(Trouble::WipedDisks) {
        script.steps.extend(stage.faults("wiped-disk").map(|fault| {
            let action = Action::Crash { node: victim(&fault), losing: Losing::Everything, at_call: 0 };
            interval(&fault, action)
        }));
    }
    if stage.system.survives(Trouble::OlderDisks) {
        script
            .steps
            .extend(stage.faults("older-disk").map(|fault| interval(&fault, Action::Rewind(victim(&fault)))));
    }
}

fn servers_of(budget: &FaultBudget, servers: usize) -> Option<Vec<NodeId>> {
    let struck: Vec<NodeId> = (0..servers).map(NodeId::server).filter(|&node| budget.strikes(node)).collect();
    (!struck.is_empty()).then_some(struck)
}
