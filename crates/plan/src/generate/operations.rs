//! Operations of a generated plan: what clients ask for, spread over the horizon.

use super::decide::{Decisions, readable};
use super::weights::OPERATIONS;
use whitewater_sim::{Action, Options, Script, Span, Step, System, Time, Trigger};

pub(super) fn add(script: &mut Script, system: &dyn System, options: &Options, decisions: &Decisions) {
    // The larger of two draws: a race of writes needs writes, and yet some runs stay short enough to read.
    let mut draw = decisions.draw("operations", 0);
    let (low, high) = decisions.range("operations", OPERATIONS);
    let count = draw.log_uniform(low, high).max(draw.log_uniform(low, high));
    let mut times: Vec<Time> = (0..count)
        .map(|number| {
            let nanos = decisions.draw("operation-time", number).below(script.horizon.nanos().max(1));
            Time::ZERO + readable(Span::from_nanos(nanos))
        })
        .collect();
    times.sort_unstable();
    for (number, time) in times.into_iter().enumerate() {
        let mut draw = decisions.draw("operation", number as u64);
        let (target, text) = system.draw_operation(&mut draw, number as u32, script, options);
        script.steps.push(Step::new(Trigger::At(time), Action::Operate { target, text, every: None }));
    }
}
