//! Faults of a generated plan: families that are on or off as a whole.

use super::cluster::permille;
use super::decide::Decisions;
use super::moments::{Fault, Stage};
use super::weights as w;
use super::{clocks, cuts, lasting, processes};
use crate::profile::Scope;
use whitewater_sim::{Action, NodeId, Pattern, Script, Shape, Step, System, Target, Timing, Trouble};

/// Adds the faults of every family that is on, within the scope of the profile, and survived by the system. What was
/// demanded of options stays.
pub(super) fn add(
    script: &mut Script,
    timing: Timing,
    system: &dyn System,
    demanded: &[(String, String)],
    scope: Scope,
    decisions: &Decisions,
) {
    let stage = Stage::new(script, timing, system, decisions);
    let steps = &mut script.steps;
    if scope.clocks {
        clocks::add(steps, &stage);
    }
    if stage.servers < 2 {
        // A lone server has no links and follows nobody.
        if scope.crashes {
            processes::add_crashes(steps, &stage);
        }
        if scope.processes {
            processes::add_delays(steps, &stage);
        }
        return;
    }
    if scope.links {
        cuts::add(steps, &stage);
    }
    if scope.crashes {
        processes::add_crashes(steps, &stage);
    }
    if scope.options && scope.crashes {
        processes::add_rolls(steps, &stage, demanded);
    }
    if scope.processes {
        processes::add_delays(steps, &stage);
    }
    if scope.links {
        add_bad_links(steps, &stage);
    }
    add_holds(steps, &stage, scope);
    if scope.links {
        add_single_messages(steps, &stage);
    }
    lasting::add(steps, &stage, scope);
    processes::add_exchanges(script, &stage, scope);
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
    steps.extend(stage.faults("jitter").map(|fault| {
        let (high, shape) = (fault.shift(), *fault.draw("shape").pick(&Shape::ALL));
        interval(&fault, Action::Jitter { pattern: traffic(&fault), low: high.part(100), high, shape })
    }));
    let share = |fault: &Fault<'_>| permille(&mut fault.draw("ratio"), w::LOSSY_PERMILLE);
    steps.extend(stage.faults("reorder-link").map(|fault| {
        let (pattern, share, window) = (traffic(&fault), share(&fault), fault.shift());
        interval(&fault, Action::Reorder { pattern, share, window })
    }));
    steps.extend(stage.faults("duplicate-link").map(|fault| {
        let (pattern, share, after) = (traffic(&fault), share(&fault), fault.shift());
        interval(&fault, Action::DuplicateSome { pattern, share, after })
    }));
    if stage.servers >= 3 && stage.system.survives(Trouble::Misdelivery) {
        steps.extend(
            stage
                .faults("misdeliver-link")
                .map(|fault| interval(&fault, Action::MisdeliverSome(traffic(&fault), share(&fault)))),
        );
    }
    steps.extend(stage.faults("clog").map(|fault| {
        let (from, to) = fault.direction();
        interval(&fault, Action::Clog { from, to })
    }));
    steps.extend(stage.faults("choke").map(|fault| {
        let bytes = fault.draw("bytes").log_uniform(w::CHOKE_BYTES.0, w::CHOKE_BYTES.1) as u32;
        interval(&fault, Action::Choke(fault.link("link"), bytes))
    }));
    steps.extend(stage.faults("corrupt-link").map(|fault| {
        let ratio = permille(&mut fault.draw("ratio"), w::LOSSY_PERMILLE);
        interval(&fault, Action::Corrupt(traffic(&fault), ratio))
    }));
    if stage.system.survives(Trouble::Replays) {
        steps.extend(stage.faults("replay").map(|fault| {
            let elections = fault.draw("elections").log_uniform(w::REPLAY_ELECTIONS.0, w::REPLAY_ELECTIONS.1);
            let pattern = match fault.draw("all").chance(1, 2) {
                true => fault.message("link"),
                false => fault.one_of(fault.message("link")),
            };
            interval(&fault, Action::Replay(pattern, elections as u32))
        }));
    }
}

/// A fault that ends by itself.
pub(super) fn interval(fault: &Fault<'_>, action: Action) -> Step {
    Step { until: Some(fault.end(None)), ..Step::new(fault.begin(), action) }
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
        let node = pattern.from.and_then(Target::node).expect("generated patterns name a sender");
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
    if stage.servers >= 3 && stage.system.survives(Trouble::Misdelivery) {
        steps.extend(stage.faults("misdeliver-one").map(|fault| {
            let pattern = single(&fault);
            let ends = [pattern.from, pattern.to];
            let others =
                (0..stage.servers).map(NodeId::server).filter(|&node| !ends.contains(&Some(node.into())));
            let others: Vec<NodeId> = others.collect();
            let to = *fault.draw("stranger").pick(&others);
            Step::new(fault.begin(), Action::Misdeliver(pattern, to))
        }));
    }
}
