//! Cuts of generated plans: groups, rings, bridges, chains, one-way cuts, single directions, and cuts that flap.

use super::faults::interval;
use super::moments::{Fault, Stage, pick};
use super::weights as w;
use whitewater_sim::{Action, NodeId, Step, Target, Topology};

/// Cuts links, both ways or one way.
pub(super) fn add(steps: &mut Vec<Step>, stage: &Stage<'_>) {
    steps.extend(stage.faults("isolate").map(|fault| interval(&fault, isolate(stage, fault.victim()))));
    steps.extend(stage.faults("split").map(|fault| interval(&fault, split(stage, &fault))));
    steps.extend(stage.faults("cut").map(|fault| interval(&fault, cut(&fault))));
    steps.extend(stage.faults("one-way").map(|fault| interval(&fault, one_way(stage, &fault))));
    steps.extend(stage.faults("flap").map(|fault| interval(&fault, flap(stage, &fault))));
    if stage.servers >= 3 {
        steps.extend(stage.faults("straddle").map(|fault| interval(&fault, straddle(stage))));
        steps.extend(stage.faults("bridge").map(|fault| interval(&fault, bridge(stage, &fault))));
    }
    if stage.servers >= 4 {
        for (family, topology) in [("ring", Topology::Ring), ("chain", Topology::Chain)] {
            steps.extend(stage.faults(family).map(|fault| {
                let groups = vec![targets(stage.shuffled(&fault))];
                interval(&fault, Action::Topology { topology, groups, flapping: None })
            }));
        }
    }
}

fn targets(nodes: Vec<NodeId>) -> Vec<Target> {
    nodes.into_iter().map(Target::Node).collect()
}

/// Everybody; a node that stands in two groups belongs to the first, so whoever a role means may be named beside them.
fn everybody(stage: &Stage<'_>) -> Vec<Target> {
    (0..stage.servers).map(|position| Target::Node(NodeId::server(position))).collect()
}

/// Everybody but one node; whoever a role means stands among them.
fn others(stage: &Stage<'_>, victim: Target) -> Vec<Target> {
    everybody(stage).into_iter().filter(|&node| node != victim).collect()
}

/// Cuts one node off both ways.
pub(super) fn isolate(stage: &Stage<'_>, victim: Target) -> Action {
    Action::Partition(vec![
        vec![victim],
        everybody(stage).into_iter().filter(|&node| node != victim).collect(),
    ])
}

/// Cuts the cluster into two random parts.
fn split(stage: &Stage<'_>, fault: &Fault<'_>) -> Action {
    let (first, second) = halves(stage, fault);
    Action::Partition(vec![targets(first), targets(second)])
}

/// Two random parts of the cluster, each in order.
fn halves(stage: &Stage<'_>, fault: &Fault<'_>) -> (Vec<NodeId>, Vec<NodeId>) {
    let mut first = stage.shuffled(fault);
    let mut second = first.split_off(fault.draw("size").within(1, stage.servers as u64 - 1) as usize);
    first.sort_unstable();
    second.sort_unstable();
    (first, second)
}

/// Leaves the leader with one node less than a majority.
fn straddle(stage: &Stage<'_>) -> Action {
    let with = (stage.servers - 1) / 2 - 1;
    let group = (0..with).map(|count| Target::Follower(count as u8));
    Action::Partition(vec![[Target::Leader].into_iter().chain(group).collect(), everybody(stage)])
}

/// One node, or the leader, is all that two parts of the cluster have in common.
fn bridge(stage: &Stage<'_>, fault: &Fault<'_>) -> Action {
    let mut nodes = stage.shuffled(fault);
    let middle = nodes.pop().expect("there are servers");
    let size = fault.draw("size").within(1, nodes.len() as u64 - 1) as usize;
    let last = nodes.split_off(size);
    let groups = vec![targets(nodes), vec![Target::Node(middle)], targets(last)];
    Action::Topology { topology: Topology::Bridge, groups, flapping: None }
}

/// One node is not heard, or does not hear.
fn one_way(stage: &Stage<'_>, fault: &Fault<'_>) -> Action {
    let victim = fault.victim();
    let groups = match (fault.draw("direction").chance(1, 2), victim) {
        (true, _) => vec![vec![victim], others(stage, victim)],
        (false, Target::Node(_)) => vec![others(stage, victim), vec![victim]],
        // Whoever a role means would belong to the others if they came first by name.
        (false, _) => {
            let all = [Target::Leader].into_iter().chain((0..stage.servers as u8 - 1).map(Target::Follower));
            vec![all.filter(|&node| node != victim).collect(), vec![victim]]
        }
    };
    Action::Topology { topology: Topology::OneWay, groups, flapping: None }
}

/// A cut that comes and goes: around one node, or around whoever leads each time it comes.
fn flap(stage: &Stage<'_>, fault: &Fault<'_>) -> Action {
    let groups = match fault.draw("around").chance(2, 3) {
        true => vec![vec![fault.victim()], others(stage, fault.victim())],
        false => {
            let (first, second) = halves(stage, fault);
            vec![targets(first), targets(second)]
        }
    };
    let topology = pick(&mut fault.draw("topology"), &w::FLAPPING);
    Action::Topology { topology, groups, flapping: Some(fault.shift()) }
}

/// Cuts one direction of one link.
fn cut(fault: &Fault<'_>) -> Action {
    let (from, to) = fault.direction();
    Action::Cut { from, to }
}
