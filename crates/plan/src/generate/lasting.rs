//! Faults that outlast settling: a majority stays whole, the rest may be broken for good, and a member may be slow.

use super::cuts::isolate;
use super::moments::{Stage, pick};
use super::weights::{self as w, Lasting};
use crate::profile::Scope;
use whitewater_sim::{Action, Losing, NodeId, Span, Step, Target, Topology, Trigger};

/// Leaves one server alone connected to all others, which do not reach each other.
fn add_star(steps: &mut Vec<Step>, stage: &Stage<'_>) {
    let fault = stage.fault("lasting", 0);
    let hub = fault.node("hub");
    let others = (0..stage.servers).map(NodeId::server).filter(|&node| node != hub);
    let groups = others.map(|node| vec![Target::Node(node)]).collect();
    let action = Action::Partition(groups);
    steps.push(Step { until: Some(Trigger::End), ..Step::new(fault.begin(), action) });
}

/// Breaks a minority for good. All links between the others stay whole, so that what they owe depends on the options and on
/// who of the rest still reaches them. Now and then all links are cut instead but those of one server.
pub(super) fn add(steps: &mut Vec<Step>, stage: &Stage<'_>, scope: Scope) {
    let minority = (stage.servers - 1) / 2;
    if minority == 0 || !stage.decisions.is_on("lasting") {
        return;
    }
    if scope.links && stage.servers > 3 && stage.decisions.draw("lasting star", 0).chance(1, w::STAR_ONE_IN) {
        return add_star(steps, stage);
    }
    let mut nodes: Vec<NodeId> = (0..stage.servers).map(NodeId::server).collect();
    stage.decisions.draw("lasting nodes", 0).shuffle(&mut nodes);
    let count = stage.decisions.draw("lasting count", 0).within(1, minority as u64) as usize;
    let (broken, core) = nodes.split_at(count);
    for (number, &node) in broken.iter().enumerate() {
        let fault = stage.fault("lasting", number as u64);
        let mut last = |action| {
            steps.push(Step { until: Some(Trigger::End), ..Step::new(fault.begin(), action) });
        };
        let victim = Target::Node(node);
        let one = |node: NodeId| vec![Target::Node(node)];
        let others = |but: Option<NodeId>| -> Vec<Target> {
            let rest = nodes.iter().filter(|&&other| other != node && Some(other) != but);
            rest.map(|&other| Target::Node(other)).collect()
        };
        let way = |topology, groups| Action::Topology { topology, groups, flapping: None };
        let kind = pick(&mut fault.draw("kind"), &w::LASTING);
        match kind {
            Lasting::Down if !scope.crashes => {}
            Lasting::Paused if !scope.processes => {}
            Lasting::Down => last(Action::Crash { node: victim, losing: Losing::Some, at_call: 0 }),
            Lasting::Paused => last(Action::Pause(victim)),
            _ if !scope.links => {}
            Lasting::CutOff => last(isolate(stage, victim)),
            Lasting::Mute => last(way(Topology::OneWay, vec![others(None), one(node)])),
            Lasting::Deaf => last(way(Topology::OneWay, vec![one(node), others(None)])),
            Lasting::Bridge => {
                let friend = *fault.draw("friend").pick(core);
                last(way(Topology::Bridge, vec![one(node), one(friend), others(Some(friend))]));
            }
            Lasting::Chain => {
                // Behind the one before it, or behind one of the core if it is the first.
                let friend = match number {
                    0 => *fault.draw("friend").pick(core),
                    _ => broken[number - 1],
                };
                last(way(Topology::Bridge, vec![one(node), one(friend), others(Some(friend))]));
            }
            Lasting::Flaps => last(Action::Topology {
                topology: Topology::Groups,
                groups: vec![one(node), others(None)],
                flapping: Some(fault.shift()),
            }),
        }
    }
    if scope.processes && stage.decisions.is_on("slow-member") {
        let fault = stage.fault("slow-member", 0);
        let node = Target::Node(*fault.draw("member").pick(core));
        let high = stage.election_low().part(w::SLOW_MEMBER_PART);
        let action = Action::Slow { node, low: Span::ZERO, high };
        steps.push(Step { until: Some(Trigger::End), ..Step::new(fault.begin(), action) });
    }
}
