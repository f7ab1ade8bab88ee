//! Something small in the place of much, taken only if there is less to read then.
//!
//! Operations given to a server itself, lower limits that fewer operations reach, and servers that are down from the
//! start in the place of servers that are hindered one message at a time.
//!
//! Other passes only take away.

use super::element::unusual_options;
use super::trials::{Held, Trials, changed};
use whitewater_plan::Plan;
use whitewater_sim::{
    Action, Condition, Losing, NodeId, OptionSpec, Role, Span, Step, Target, Time, Trigger, Values,
};

/// Gives operations to servers themselves: all of them, then each.
pub(super) fn at_servers(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    let plan = held.plan.clone();
    let mut helped = trials.lighter(held, all_at_servers(&plan));
    for at in 0..held.plan.script.steps.len() {
        let plan = held.plan.clone();
        if !is_asked_by_a_client(&plan.script.steps[at]) {
            continue;
        }
        let servers = (0..plan.script.servers).map(|server| Target::Node(NodeId::server(server)));
        let targets = [Target::Leader].into_iter().chain(servers);
        let at_its_time = targets.map(|target| changed(&plan, |plan| give(plan, at, target)));
        helped |= trials.lighter(held, at_its_time);
    }
    helped
}

/// The plan with all operations given to whoever leads, at their times or as soon as somebody does; none if no client asks.
pub(super) fn all_at_servers(plan: &Plan) -> Vec<Plan> {
    if !plan.script.steps.iter().any(is_asked_by_a_client) {
        return Vec::new();
    }
    let given = changed(plan, |plan| {
        for at in 0..plan.script.steps.len() {
            if is_asked_by_a_client(&plan.script.steps[at]) {
                give(plan, at, Target::Leader);
            }
        }
        plan.script.pins.retain(|pin| pin.nodes().iter().all(|node| node.is_server()));
        let only_servers = plan.script.steps.iter().all(|step| step.nodes().iter().all(|n| n.is_server()));
        if only_servers {
            plan.script.clients = 0;
        }
    });
    let once_led = changed(&given, |plan| {
        let operates = |step: &&mut Step| matches!(step.action, Action::Operate { .. });
        for step in plan.script.steps.iter_mut().filter(operates) {
            step.when = Trigger::When(Condition::Takes(Target::Any, Role::Leader), Span::ZERO);
        }
    });
    vec![given, once_led]
}

fn is_asked_by_a_client(step: &Step) -> bool {
    matches!(step.action, Action::Operate { target: Target::Node(node), .. } if !node.is_server())
}

fn give(plan: &mut Plan, at: usize, to: Target) {
    if let Action::Operate { target, .. } = &mut plan.script.steps[at].action {
        *target = to;
    }
}

/// Lowers limits, such as the entries between two snapshots, together with the operations that it took to reach them.
pub(super) fn lower_limits(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    let system = trials.system();
    let names = unusual_options(&held.plan, system);
    names.iter().fold(false, |helped, name| {
        let plan = held.plan.clone();
        trials.lighter(held, lowered(&plan, system.options(), name)) | helped
    })
}

/// The plan with a lower value of an option and fewer operations, the lowest and fewest first.
pub(super) fn lowered(plan: &Plan, specs: &'static [OptionSpec], name: &str) -> Vec<Plan> {
    let base = name.split('.').next().unwrap_or_default();
    let Some(Values::Number { low, .. }) = specs.iter().find(|s| s.name == base).map(|s| s.values) else {
        return Vec::new();
    };
    let value = plan.options.iter().find(|(of, _)| *of == name).map(|(_, value)| value);
    let Some(value) = value.and_then(|value| value.parse::<u64>().ok()) else { return Vec::new() };
    let mut values: Vec<u64> = [low, low + 1, value / 4, value / 2].into();
    values.retain(|&lower| low <= lower && lower < value);
    values.dedup();
    let operations = plan.script.steps.iter().filter(|step| operates(step)).count();
    let doubling = std::iter::successors(Some(1), |kept| Some(kept * 2));
    let mut counts: Vec<usize> = doubling.take_while(|&kept| kept < operations).collect();
    counts.push(operations);
    let each = values.iter().flat_map(|&value| counts.iter().map(move |&count| (value, count)));
    let each = each.flat_map(|(value, count)| [first, spread].map(|which| (value, count, which)));
    each.map(|(value, count, which)| {
        changed(plan, |plan| {
            // Values between the lowest and the present one are allowed.
            let _ = plan.options.set(specs, name, &value.to_string());
            keep_operations(plan, |at| which(at, count, operations));
        })
    })
    .collect()
}

fn operates(step: &Step) -> bool {
    matches!(step.action, Action::Operate { .. })
}

/// Whether the `at`-th of `all` operations is one of the first `count`.
fn first(at: usize, count: usize, _: usize) -> bool {
    at < count
}

/// Whether it is one of `count` that are spread evenly: what a limit was reached by once may be needed again later.
fn spread(at: usize, count: usize, all: usize) -> bool {
    at * count / all != (at + 1) * count / all
}

fn keep_operations(plan: &mut Plan, keeps: impl Fn(usize) -> bool) {
    let mut met = 0;
    plan.script.steps.retain(|step| {
        let kept = !operates(step) || keeps(met);
        met += usize::from(operates(step));
        kept
    });
}

/// Lets a server be down from the start in the place of all that is said about it.
pub(super) fn absent_servers(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    let mut helped = false;
    for server in (0..held.plan.script.servers).map(NodeId::server) {
        let untold = changed(&held.plan, |plan| {
            plan.script.steps.retain(|step| !step.nodes().contains(&server));
            plan.script.pins.retain(|pin| !pin.nodes().contains(&server));
        });
        // If it need not be hindered at all, that it is down is not needed either.
        if trials.fails(&untold) {
            continue;
        }
        let absent = changed(&untold, |plan| {
            let crash = Action::Crash { node: Target::Node(server), losing: Losing::default(), at_call: 0 };
            let step = Step { until: Some(Trigger::End), ..Step::new(Trigger::At(Time::ZERO), crash) };
            plan.script.steps.insert(0, step);
        });
        helped |= trials.lighter(held, [absent]);
    }
    helped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_operations_as_many_are_kept_as_were_asked_for() {
        let kept = |which: fn(usize, usize, usize) -> bool, count, all| -> Vec<usize> {
            (0..all).filter(|&at| which(at, count, all)).collect()
        };
        assert_eq!(kept(first, 2, 7), [0, 1]);
        assert_eq!(kept(spread, 2, 8), [3, 7]);
        for all in 1..20 {
            for count in 0..=all {
                assert_eq!(kept(spread, count, all).len(), count, "{count} of {all}");
            }
        }
    }
}
