//! Weaker faults: fewer nodes on the sides of a partition, and a fault of a milder kind in the place of a harsher one.

use super::trials::{Held, Trials, changed};
use whitewater_plan::Plan;
use whitewater_sim::{Action, Losing, NodeId, Pattern, Span, Step, Target, Time, Trigger};

/// Takes nodes out of partitions; one that is named by no group keeps its links.
pub(super) fn fewer_members(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    let mut helped = false;
    loop {
        let plan = held.plan.clone();
        let candidates = members(&plan).into_iter().filter_map(|place| without_member(&plan, place));
        if trials.first(held, candidates).is_none() {
            return helped;
        }
        helped = true;
    }
}

/// Every node in a partition: step, group and place.
pub(super) fn members(plan: &Plan) -> Vec<(usize, usize, usize)> {
    let mut members = Vec::new();
    for (step, is) in plan.script.steps.iter().enumerate() {
        let Action::Partition(groups) = &is.action else { continue };
        for (group, nodes) in groups.iter().enumerate() {
            members.extend((0..nodes.len()).map(|place| (step, group, place)));
        }
    }
    members
}

/// The plan with one node less in a partition; none if a side would be empty then.
pub(super) fn without_member(plan: &Plan, (step, group, place): (usize, usize, usize)) -> Option<Plan> {
    let Action::Partition(groups) = &plan.script.steps[step].action else { return None };
    if groups[group].len() < 2 && groups.len() < 3 {
        return None;
    }
    Some(changed(plan, |plan| {
        if let Action::Partition(groups) = &mut plan.script.steps[step].action {
            groups[group].remove(place);
            groups.retain(|group| !group.is_empty());
        }
    }))
}

/// Puts a milder fault in the place of a harsher one: a crash at once for one at a storage call, a partition for a crash,
/// a cut for a partition, one lost message for a cut.
pub(super) fn weaker_kinds(trials: &mut Trials<'_>, held: &mut Held) -> bool {
    let mut helped = false;
    let mut at = 0;
    while at < held.plan.script.steps.len() {
        let plan = held.plan.clone();
        let milder = milder(&plan, at);
        let candidates = milder.into_iter().map(|action| {
            changed(&plan, |plan| {
                let step = &mut plan.script.steps[at];
                step.action = action;
                // A fault that is over at once in its new kind would be none.
                if step.until == Some(Trigger::End) && !matches!(step.action, Action::Crash { .. }) {
                    step.until = None;
                }
            })
        });
        match trials.replaced(held, candidates) {
            true => helped = true,
            false => at += 1,
        }
    }
    helped
}

/// Whether a server is down in the whole run. It does nothing and loses nothing, so that no fault is milder.
fn is_absence(step: &Step) -> bool {
    step.when == Trigger::At(Time::ZERO) && step.until == Some(Trigger::End)
}

fn milder(plan: &Plan, at: usize) -> Vec<Action> {
    let servers = || (0..plan.script.servers).map(NodeId::server);
    let step = &plan.script.steps[at];
    match &step.action {
        Action::Crash { .. } if is_absence(step) => Vec::new(),
        Action::Crash { node, losing, at_call } => {
            let others: Vec<Target> = servers().map(Target::Node).filter(|other| other != node).collect();
            let is_named = matches!(node, Target::Node(_));
            let apart =
                (is_named && !others.is_empty()).then(|| Action::Partition(vec![vec![*node], others]));
            let at_once =
                (*at_call > 0).then_some(Action::Crash { node: *node, losing: *losing, at_call: 0 });
            let drawn = (*losing == Losing::Unsynced).then_some(Action::Crash {
                node: *node,
                losing: Losing::Some,
                at_call: *at_call,
            });
            [apart, at_once, drawn].into_iter().flatten().collect()
        }
        Action::Partition(groups) if groups.len() == 2 => match (&groups[0][..], &groups[1][..]) {
            ([a], [b]) => {
                vec![Action::Cut { from: *a, to: *b }, Action::Cut { from: *b, to: *a }]
            }
            _ => Vec::new(),
        },
        Action::Hold(pattern) => vec![Action::Drop(pattern.clone())],
        Action::Duplicate(pattern, _) => vec![Action::Delay(pattern.clone(), Span::ZERO)],
        Action::Drop(pattern) if pattern.number.is_none() && pattern.name.is_some() => {
            vec![Action::Drop(Pattern { number: Some(1), ..pattern.clone() })]
        }
        _ => Vec::new(),
    }
}
