//! A plan with other names for its nodes; what names a node that is gone goes with it.

use whitewater_plan::Plan;
use whitewater_sim::{
    Action, Condition, Decision, Fate, NodeId, Options, Pattern, Pin, Step, Target, Trigger,
};

/// The plan with every node called as `map` says; steps and pins that name a node without a name are left out.
pub(crate) fn renamed(plan: &Plan, map: &dyn Fn(NodeId) -> Option<NodeId>) -> Plan {
    let mut renamed = plan.clone();
    renamed.script.steps = plan.script.steps.iter().filter_map(|step| rename_step(step, map)).collect();
    renamed.script.pins = plan.script.pins.iter().filter_map(|pin| rename_pin(pin, map)).collect();
    renamed.options = rename_options(&plan.options, map);
    renamed
}

/// The plan with two nodes in each other's place.
pub(crate) fn swapped(plan: &Plan, one: NodeId, other: NodeId) -> Plan {
    renamed(plan, &|node| {
        Some(match node {
            _ if node == one => other,
            _ if node == other => one,
            _ => node,
        })
    })
}

fn rename_options(options: &Options, map: &dyn Fn(NodeId) -> Option<NodeId>) -> Options {
    options.renamed(|name| {
        let Some((base, node)) = name.split_once('.') else { return Some(name.to_owned()) };
        let node: NodeId = node.parse().ok()?;
        map(node).map(|node| format!("{base}.{node}"))
    })
}

type Map<'a> = &'a dyn Fn(NodeId) -> Option<NodeId>;

fn rename_target(target: Target, map: Map<'_>) -> Option<Target> {
    match target {
        Target::Node(node) => map(node).map(Target::Node),
        other => Some(other),
    }
}

fn rename_end(end: Option<Target>, map: Map<'_>) -> Option<Option<Target>> {
    match end {
        Some(target) => rename_target(target, map).map(Some),
        None => Some(None),
    }
}

fn rename_pattern(pattern: &Pattern, map: Map<'_>) -> Option<Pattern> {
    let (from, to) = (rename_end(pattern.from, map)?, rename_end(pattern.to, map)?);
    Some(Pattern { from, to, ..pattern.clone() })
}

fn rename_condition(condition: &Condition, map: Map<'_>) -> Option<Condition> {
    Some(match condition {
        Condition::Takes(target, role) => Condition::Takes(rename_target(*target, map)?, *role),
        Condition::Reaches(target, figure, least) => {
            Condition::Reaches(rename_target(*target, map)?, figure.clone(), *least)
        }
        Condition::Fires(pattern) => Condition::Fires(rename_pattern(pattern, map)?),
        Condition::Arrives(pattern) => Condition::Arrives(rename_pattern(pattern, map)?),
        Condition::Leaves(pattern) => Condition::Leaves(rename_pattern(pattern, map)?),
    })
}

fn rename_trigger(trigger: &Trigger, map: Map<'_>) -> Option<Trigger> {
    match trigger {
        Trigger::When(condition, after) => Some(Trigger::When(rename_condition(condition, map)?, *after)),
        other => Some(other.clone()),
    }
}

fn rename_step(step: &Step, map: Map<'_>) -> Option<Step> {
    let when = rename_trigger(&step.when, map)?;
    let until = match &step.until {
        Some(until) => Some(rename_trigger(until, map)?),
        None => None,
    };
    Some(Step { when, action: rename_action(&step.action, map)?, until, note: step.note.clone() })
}

fn rename_action(action: &Action, map: Map<'_>) -> Option<Action> {
    Some(match action {
        Action::Crash { node, losing, at_call } => {
            Action::Crash { node: rename_target(*node, map)?, losing: *losing, at_call: *at_call }
        }
        Action::Partition(groups) => {
            let groups = groups.iter().map(|group| {
                group.iter().filter_map(|&target| rename_target(target, map)).collect::<Vec<_>>()
            });
            let groups: Vec<Vec<Target>> = groups.filter(|group| !group.is_empty()).collect();
            if groups.len() < 2 {
                return None;
            }
            Action::Partition(groups)
        }
        Action::Topology { topology, groups, flapping } => {
            let groups = groups.iter().map(|group| {
                group.iter().filter_map(|&target| rename_target(target, map)).collect::<Vec<_>>()
            });
            let groups: Vec<Vec<Target>> = groups.filter(|group| !group.is_empty()).collect();
            if groups.is_empty() || (groups.len() < 2 && !topology.is_row()) {
                return None;
            }
            Action::Topology { topology: *topology, groups, flapping: *flapping }
        }
        Action::CrashAfter { node, losing, effect, number } => Action::CrashAfter {
            node: rename_target(*node, map)?,
            losing: *losing,
            effect: *effect,
            number: *number,
        },
        Action::Roll { node, option, value } => {
            Action::Roll { node: rename_target(*node, map)?, option: option.clone(), value: value.clone() }
        }
        Action::Rewind(node) => Action::Rewind(rename_target(*node, map)?),
        Action::Pause(node) => Action::Pause(rename_target(*node, map)?),
        Action::FailSyncs(node) => Action::FailSyncs(rename_target(*node, map)?),
        Action::Slow { node, low, high } => {
            Action::Slow { node: rename_target(*node, map)?, low: *low, high: *high }
        }
        Action::Clock { node, change } => Action::Clock { node: rename_target(*node, map)?, change: *change },
        Action::Clog { from, to } => {
            Action::Clog { from: rename_target(*from, map)?, to: rename_target(*to, map)? }
        }
        Action::Cut { from, to } => {
            Action::Cut { from: rename_target(*from, map)?, to: rename_target(*to, map)? }
        }
        Action::Hold(pattern) => Action::Hold(rename_pattern(pattern, map)?),
        Action::Drop(pattern) => Action::Drop(rename_pattern(pattern, map)?),
        Action::Delay(pattern, by) => Action::Delay(rename_pattern(pattern, map)?, *by),
        Action::Duplicate(pattern, after) => Action::Duplicate(rename_pattern(pattern, map)?, *after),
        Action::Lossy(pattern, share) => Action::Lossy(rename_pattern(pattern, map)?, *share),
        Action::Jitter { pattern, low, high, shape } => {
            Action::Jitter { pattern: rename_pattern(pattern, map)?, low: *low, high: *high, shape: *shape }
        }
        Action::Reorder { pattern, share, window } => {
            Action::Reorder { pattern: rename_pattern(pattern, map)?, share: *share, window: *window }
        }
        Action::DuplicateSome { pattern, share, after } => {
            Action::DuplicateSome { pattern: rename_pattern(pattern, map)?, share: *share, after: *after }
        }
        Action::MisdeliverSome(pattern, share) => {
            Action::MisdeliverSome(rename_pattern(pattern, map)?, *share)
        }
        Action::Replay(pattern, elections) => Action::Replay(rename_pattern(pattern, map)?, *elections),
        Action::Choke(pattern, bytes) => Action::Choke(rename_pattern(pattern, map)?, *bytes),
        Action::Corrupt(pattern, share) => Action::Corrupt(rename_pattern(pattern, map)?, *share),
        Action::Misdeliver(pattern, to) => Action::Misdeliver(rename_pattern(pattern, map)?, map(*to)?),
        Action::Operate { target, text, every } => Action::Operate {
            target: rename_target(*target, map)?,
            text: rename_text(text, map)?,
            every: *every,
        },
        Action::Expect(condition, within) => Action::Expect(rename_condition(condition, map)?, *within),
        Action::Never(condition) => Action::Never(rename_condition(condition, map)?),
    })
}

/// The text of an operation: words that are names of nodes are.
fn rename_text(text: &str, map: Map<'_>) -> Option<String> {
    let words = text.split(' ').map(|word| match word.parse::<NodeId>() {
        Ok(node) => map(node).map(|node| node.to_string()),
        Err(_) => Some(word.to_owned()),
    });
    Some(words.collect::<Option<Vec<String>>>()?.join(" "))
}

fn rename_pin(pin: &Pin, map: Map<'_>) -> Option<Pin> {
    let mut pin = pin.clone();
    match &mut pin.decision {
        Decision::Message { from, to, fate, .. } => {
            (*from, *to) = (map(*from)?, map(*to)?);
            if let Fate::Arrives { at: Some(at), .. } = fate {
                *at = map(*at)?;
            }
        }
        Decision::Timer { node, peer, .. } => {
            *node = map(*node)?;
            *peer = match *peer {
                Some(node) => Some(map(node)?),
                None => None,
            };
        }
        Decision::Draw { node, .. } | Decision::Crash { node, .. } | Decision::Disk { node, .. } => {
            *node = map(*node)?;
        }
    }
    Some(pin)
}
