//! Clocks of generated plans: off from the start, fast, slow, standing still, jumping.

use super::faults::interval;
use super::moments::{Fault, Stage};
use super::weights as w;
use whitewater_sim::{Action, ClockChange, NodeId, Rate, Step, Target, Time, Trigger, Trouble};

/// Lets clocks go wrong as far as the system survives it.
pub(super) fn add(steps: &mut Vec<Step>, stage: &Stage<'_>) {
    if stage.system.survives(Trouble::Steps) {
        add_offsets(steps, stage);
        add_jumps(steps, stage);
    }
    if stage.system.survives(Trouble::Rates) {
        steps.extend(stage.faults("clock-rate").map(|fault| {
            let change = ClockChange::Rate(rate(&fault));
            interval(&fault, Action::Clock { node: fault.victim(), change })
        }));
        steps.extend(stage.faults("clock-freeze").map(|fault| {
            interval(&fault, Action::Clock { node: fault.victim(), change: ClockChange::Freeze })
        }));
    }
}

/// Each server's clock is off by something else from the start.
fn add_offsets(steps: &mut Vec<Step>, stage: &Stage<'_>) {
    if !stage.decisions.is_on("clock-offset") {
        return;
    }
    for position in 0..stage.servers {
        let fault = stage.fault("clock-offset", position as u64);
        if fault.draw("is off").chance(1, 2) {
            let by = fault.long();
            let change = match fault.draw("ahead").chance(1, 2) {
                true => ClockChange::Forward(by),
                false => ClockChange::Back(by),
            };
            let node = Target::Node(NodeId::server(position));
            steps.push(Step::new(Trigger::At(Time::ZERO), Action::Clock { node, change }));
        }
    }
}

fn add_jumps(steps: &mut Vec<Step>, stage: &Stage<'_>) {
    let jump = |fault: &Fault<'_>, change| {
        let when = match fault.begin() {
            // What is off from the start is another family.
            Trigger::At(Time::ZERO) => Trigger::At(Time::from_nanos(1)),
            when => when,
        };
        Step::new(when, Action::Clock { node: fault.victim(), change })
    };
    steps.extend(stage.faults("clock-forward").map(|fault| jump(&fault, ClockChange::Forward(fault.long()))));
    steps.extend(stage.faults("clock-back").map(|fault| jump(&fault, ClockChange::Back(fault.shift()))));
}

/// A rate from a quarter to four times the true one, of which every doubling is equally likely.
fn rate(fault: &Fault<'_>) -> Rate {
    let hundredths = fault.draw("rate").log_uniform(w::CLOCK_HUNDREDTHS.0, w::CLOCK_HUNDREDTHS.1);
    Rate::of(hundredths, 100)
}
