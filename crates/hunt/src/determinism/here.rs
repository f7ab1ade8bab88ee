//! Runs of seeds in this thread, one after the other.

use super::CONTEXT_RUNS;
use super::print::Print;
use crate::caught::caught;
use crate::run::run;
use crate::words::clock;
use whitewater_plan::{Plan, Restrictions, generate};
use whitewater_sim::{Digester, Outcome, System, TraceEvent};

/// Where runs are made first: in this thread, in the order of their seeds.
#[derive(Clone, Copy)]
pub struct Here<'a> {
    /// Systems that plans are drawn from.
    pub systems: &'a [&'static dyn System],
    /// What every plan is restricted to.
    pub restrictions: &'a Restrictions,
}

impl Here<'_> {
    /// What the run of a seed says.
    pub fn print(&self, seed: u64) -> Print {
        match self.run(seed, false) {
            Ok((plan, outcome)) => Print::of(seed, plan, &outcome),
            Err((plan, why)) => Print::broken(seed, plan, why),
        }
    }

    /// The events of a run, a line each, after the runs that come before it in `batch`; a run that gives no outcome is one
    /// line.
    pub fn events(&self, batch: &[u64], at: usize) -> Vec<String> {
        batch[at.saturating_sub(CONTEXT_RUNS)..at].iter().for_each(|&seed| drop(self.print(seed)));
        self.recorded(batch[at])
    }

    /// The events of a run, a line each.
    pub(super) fn recorded(&self, seed: u64) -> Vec<String> {
        match self.run(seed, true) {
            Ok((_, outcome)) => {
                outcome.trace.iter().flat_map(|trace| &trace.events).map(event_line).collect()
            }
            Err((_, why)) => vec![why],
        }
    }

    /// Runs a seed; gives a hash of its plan with how it ended.
    fn run(&self, seed: u64, record: bool) -> Result<(String, Outcome), (String, String)> {
        let drawn = caught(|| generate(self.systems, seed, self.restrictions));
        let plan = drawn.map_err(|why| (String::new(), why))?;
        let name = name_of(&plan);
        let system = self.systems.iter().find(|system| system.name() == plan.system);
        let ran = match system {
            Some(system) => caught(|| run(*system, &plan, record)),
            None => Err(format!("there is no system `{}`", plan.system)),
        };
        ran.map(|outcome| (name.clone(), outcome)).map_err(|why| (name, why))
    }
}

/// The system of a plan, and a hash of everything in it.
fn name_of(plan: &Plan) -> String {
    let mut digester = Digester::default();
    digester.bytes(format!("{plan:?}").as_bytes());
    format!("{} {}", plan.system, digester.hash())
}

fn event_line(event: &TraceEvent) -> String {
    let node = event.node.map_or_else(String::new, |node| node.to_string());
    let mut line = format!("{} {} {node} {} {}", event.id, clock(event.time), event.kind.word(), event.text);
    event.notes.iter().for_each(|note| line.push_str(&format!(" | {note}")));
    line
}
