//! Faults of a generated plan: families that are on or off as a whole.

use super::cluster::permille;
use super::decide::Decisions;
use super::moments::{Fault, Stage, pick};
use super::weights::{self as w, Lasting};
use crate::profile::Scope;
use whitewater_sim::{Action, Losing, NodeId, Pattern, Script, Step, Target, Timing, Trigger};

/// Adds the faults of every family that is on and within the scope of the profile.
pub(super) fn add(
    script: &mut Script,
    timing: Timing,
    names: (&'static [&'static str], &'static [&'static str]),
    scope: Scope,
    decisions: &Decisions,
) {
    let stage = Stage::new(script, timing, names, decisions);
    let steps = &mut script.steps;
    if stage.servers < 2 {
        // A lone server has no links and follows nobody.
        if scope.crashes {
            add_crashes(steps, &stage);
        }
        return;
    }
    if scope.links {
        add_cuts(steps, &stage);
    }
    if scope.crashes {
        add_crashes(steps, &stage);
    }
    if scope.links {
        add_bad_links(steps, &stage);
    }
    add_holds(steps, &stage, scope);
    if scope.links {
        add_single_messages(steps, &stage);
    }
    add_lasting(steps, &stage, scope);
}

/// Cuts links, both ways or one way.
fn add_cuts(steps: &mut Vec<Step>, stage: &Stage<'_>) {
    steps.extend(stage.faults("isolate").map(|fault| interval(&fault, isolate(stage, fault.victim()))));
    steps.extend(stage.faults("split").map(|fault| interval(&fault, split(stage, &fault))));
    steps.extend(stage.faults("cut").map(|fault| interval(&fault, cut(&fault))));
}

/// Makes single links lossy or slow.
fn add_bad_links(steps: &mut Vec<Step>, stage: &Stage<'_>) {
    steps.extend(stage.faults("lossy").map(|fault| {
        let ratio = permille(&mut fault.draw("ratio"), w::LOSSY_PERMILLE);
        interval(&fault, Action::Lossy(traffic(&fault), ratio))
    }));
    steps.extend(stage.faults("slow").map(|fault| {
        let action = Action::Delay(traffic(&fault), fault.shift());
        interval(&fault, action)
    }));
}

fn interval(fault: &Fault<'_>, action: Action) -> Step {
    Step { until: Some(fault.end(None)), ..Step::new(fault.begin(), action) }
}

/// Cuts one node off both ways.
fn isolate(stage: &Stage<'_>, victim: Target) -> Action {
    // A node that stands in two groups belongs to the first, so whoever leads may be named beside everybody.
    let rest = (0..stage.servers).map(|position| Target::Node(NodeId::server(position)));
    Action::Partition(vec![vec![victim], rest.filter(|&node| node != victim).collect()])
}

/// Cuts the cluster into two random parts.
fn split(stage: &Stage<'_>, fault: &Fault<'_>) -> Action {
    let mut nodes: Vec<NodeId> = (0..stage.servers).map(NodeId::server).collect();
    fault.draw("members").shuffle(&mut nodes);
    let mut second = nodes.split_off(fault.draw("size").within(1, stage.servers as u64 - 1) as usize);
    nodes.sort_unstable();
    second.sort_unstable();
    let group = |nodes: Vec<NodeId>| nodes.into_iter().map(Target::Node).collect();
    Action::Partition(vec![group(nodes), group(second)])
}

/// Cuts one direction of one link.
fn cut(fault: &Fault<'_>) -> Action {
    let (one, other) = match fault.victim() {
        Target::Leader => (Target::Leader, fault.follower()),
        Target::Follower(count) => (Target::Follower(count), Target::Leader),
        _ => {
            let (one, other) = fault.pair("link");
            (Target::Node(one), Target::Node(other))
        }
    };
    match fault.draw("direction").chance(1, 2) {
        true => Action::Cut { from: one, to: other },
        false => Action::Cut { from: other, to: one },
    }
}

fn add_crashes(steps: &mut Vec<Step>, stage: &Stage<'_>) {
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
}

/// All messages of a link, or those of one kind.
fn traffic(fault: &Fault<'_>) -> Pattern {
    match fault.draw("all kinds").chance(1, 2) {
        true => fault.link("link"),
        false => fault.message("link"),
    }
}

fn add_holds(steps: &mut Vec<Step>, stage: &Stage<'_>, scope: Scope) {
    let hold = |fault: &Fault<'_>, pattern: Pattern| {
        let node = pattern.from.expect("generated patterns name a sender");
        Step { until: Some(fault.end(Some(node))), ..Step::new(fault.begin(), Action::Hold(pattern)) }
    };
    if scope.links {
        steps.extend(stage.faults("hold-message").map(|fault| hold(&fault, fault.message("pattern"))));
    }
    if scope.timers && stage.has_timers() {
        steps.extend(stage.faults("hold-timer").map(|fault| hold(&fault, fault.timer("pattern"))));
    }
}

/// Loses or repeats one message each.
fn add_single_messages(steps: &mut Vec<Step>, stage: &Stage<'_>) {
    let single = |fault: &Fault<'_>| fault.one_of(fault.message("pattern"));
    steps
        .extend(stage.faults("drop-one").map(|fault| Step::new(fault.begin(), Action::Drop(single(&fault)))));
    steps.extend(stage.faults("repeat-one").map(|fault| {
        let action = Action::Duplicate(single(&fault), fault.shift());
        Step::new(fault.begin(), action)
    }));
}

/// Faults that outlast settling. They touch a minority of the servers only, and all links between the others stay
/// whole, so that a connected majority owes progress with the rest frozen broken.
fn add_lasting(steps: &mut Vec<Step>, stage: &Stage<'_>, scope: Scope) {
    let minority = (stage.servers - 1) / 2;
    if minority == 0 || !stage.decisions.is_on("lasting") {
        return;
    }
    let mut nodes: Vec<NodeId> = (0..stage.servers).map(NodeId::server).collect();
    stage.decisions.draw("lasting nodes", 0).shuffle(&mut nodes);
    let count = stage.decisions.draw("lasting count", 0).within(1, minority as u64);
    for (number, &node) in nodes[..count as usize].iter().enumerate() {
        let fault = stage.fault("lasting", number as u64);
        let mut last = |action| {
            steps.push(Step { until: Some(Trigger::End), ..Step::new(fault.begin(), action) });
        };
        let victim = Target::Node(node);
        let kind = pick(&mut fault.draw("kind"), &w::LASTING);
        match kind {
            Lasting::Down if !scope.crashes => {}
            Lasting::CutOff | Lasting::Mute if !scope.links => {}
            Lasting::Down => last(Action::Crash { node: victim, losing: Losing::Some, at_call: 0 }),
            Lasting::CutOff => last(isolate(stage, victim)),
            Lasting::Mute => nodes.iter().filter(|&&other| other != node).for_each(|&other| {
                last(Action::Cut { from: victim, to: Target::Node(other) });
            }),
        }
    }
}
