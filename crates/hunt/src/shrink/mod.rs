//! Makes a failing plan small: takes away and weakens whatever the failure does not need, until nothing can go.
//!
//! A smaller plan is accepted only if it breaks the same rule at the same site. Plans are tried in a fixed order, and of
//! several that fail the first one counts, so the result does not depend on the number of threads. At the end nothing is
//! left to the seed, and every element is needed: without any one of them the failure is gone.

mod afresh;
mod cluster;
mod commoner;
mod element;
mod exchange;
mod list;
mod pinning;
mod reductions;
mod reseed;
mod times;
mod trials;
mod values;
mod weaker;

pub use element::{Element, elements, without};
pub use trials::{ShrinkBudget, Slip};

use crate::run::run;
use crate::signature::Signature;
use trials::{Held, Length, Trials};
use whitewater_plan::Plan;
use whitewater_sim::{Outcome, System};

/// How a plan is shrunk.
pub struct Shrinking<'a> {
    /// The system the plan is for.
    pub system: &'static dyn System,
    /// When it stops by itself.
    pub budget: ShrinkBudget<'a>,
    /// Threads that try plans; 0 counts as 1. The result depends on it only if time runs out.
    pub jobs: usize,
    /// Told after every step that made the plan smaller.
    pub watch: &'a dyn Fn(&ShrinkProgress),
}

/// How far it has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShrinkProgress {
    /// Plans that were tried.
    pub tries: u64,
    /// The plan it began with.
    pub before: Size,
    /// The smallest so far.
    pub now: Size,
}

/// How large a plan and its run are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size {
    /// Servers and clients.
    pub nodes: usize,
    /// Faults and operations.
    pub steps: usize,
    /// Pins.
    pub pins: usize,
    /// Messages that reached a node that was up.
    pub deliveries: u64,
    /// Events of the run.
    pub events: u64,
}

/// A plan that was made small.
#[derive(Clone, Debug)]
pub struct Shrunk {
    /// What is left.
    pub plan: Plan,
    /// How it ends.
    pub outcome: Outcome,
    /// What makes it the same failure.
    pub signature: Signature,
    /// Size of the plan it was made from.
    pub before: Size,
    /// Its size.
    pub after: Size,
    /// Plans that were tried.
    pub tries: u64,
    /// Whether nothing can be taken away any more; false if the budget ran out before that was known.
    pub minimal: bool,
    /// Other failures that came up on the way, one plan for each signature.
    pub slips: Vec<Slip>,
}

impl Shrunk {
    /// What its sentence says if the budget ran out before nothing could be taken away any more.
    pub const UNFINISHED: &str = "stopped before it was minimal";

    /// What it was shrunk from and to, in one line.
    pub fn sentence(&self) -> String {
        let (a, b) = (self.before, self.after);
        let pins = if b.pins == 0 { String::new() } else { format!(" and {} pins", b.pins) };
        let end = if self.minimal { String::new() } else { format!("; {}", Shrunk::UNFINISHED) };
        format!(
            "{} nodes to {}, {} steps to {}{pins}, {} deliveries to {}, {} events to {}, in {} tries{end}",
            a.nodes, b.nodes, a.steps, b.steps, a.deliveries, b.deliveries, a.events, b.events, self.tries
        )
    }
}

impl Size {
    /// The size of a plan and its run.
    pub fn of(plan: &Plan, outcome: &Outcome) -> Size {
        let script = &plan.script;
        Size {
            nodes: script.servers + script.clients,
            steps: script.steps.len(),
            pins: script.pins.len(),
            deliveries: outcome.counters.deliveries,
            events: outcome.counters.events,
        }
    }
}

/// A way to make a plan smaller; says whether it did.
type Pass = fn(&mut Trials<'_>, &mut Held) -> bool;

/// What is cheap and takes much away, under the seed.
const DRAWN: [Pass; 12] = [
    times::end_at_the_verdict,
    times::no_settling,
    times::shorter_horizon,
    values::same_delays,
    values::same_syncs,
    list::only_what_happens,
    list::fewer_steps,
    cluster::fewer_servers,
    cluster::fewer_clients,
    values::calmer_links,
    values::calmer_disks,
    values::usual_options,
];

/// What makes a plan without a seed smaller, until none does any more.
const PINNED: [Pass; 22] = [
    list::no_pins,
    list::only_what_happens,
    list::fewer_pins,
    list::fewer_steps,
    times::end_at_the_verdict,
    times::no_settling,
    times::shorter_horizon,
    cluster::fewer_servers,
    cluster::fewer_clients,
    exchange::at_servers,
    cluster::one_client,
    values::calmer_links,
    values::calmer_disks,
    values::usual_options,
    exchange::lower_limits,
    exchange::absent_servers,
    weaker::fewer_members,
    weaker::weaker_kinds,
    times::sooner,
    values::rounder_pins,
    values::earlier_pins,
    list::one_by_one,
];

/// What makes it read better and no larger.
const LAST: [Pass; 3] = [times::rounder, cluster::usual_names, list::usual_order];

/// Shrinks a plan.
///
/// # Errors
/// The plan cannot be run, does not fail, or does not fail the same way twice; the text says which.
pub fn shrink(shrinking: &Shrinking<'_>, plan: &Plan) -> Result<Shrunk, String> {
    let outcome = run(shrinking.system, plan, false)?;
    let Some(signature) = Signature::of(&outcome) else {
        return Err("the plan passes: there is nothing to shrink".to_owned());
    };
    if run(shrinking.system, plan, false)?.hash != outcome.hash {
        return Err("the plan gives another run each time: that has to be found first".to_owned());
    }
    let before = Size::of(plan, &outcome);
    let first = Held { plan: plan.clone(), outcome };
    let mut trials = Trials::new(shrinking, signature.clone(), before);
    let (begun, tried) = beginning(&mut trials, &first);
    let (mut held, mut minimal) = attempt(&mut trials, begun.clone());
    // A plan from which nothing can be taken may still be a bad one: begin again elsewhere, and keep the best.
    for number in tried..ATTEMPTS {
        if is_small(&held, shrinking.system) || trials.is_over() {
            break;
        }
        let from = match number % WAYS {
            0 => Again::Afresh(&held),
            1 => Again::Begun(&begun),
            2 => Again::Left(&held),
            _ => Again::Common(&held),
        };
        let Some(mut other) = again(&mut trials, from, &first, number) else { continue };
        drawn(&mut trials, &mut other);
        let (other, is_minimal) = attempt(&mut trials, other);
        if is_minimal >= minimal && weight(&other, shrinking.system) < weight(&held, shrinking.system) {
            (held, minimal) = (other, is_minimal);
        }
    }
    list::only_what_happens(&mut trials, &mut held);
    let after = Size::of(&held.plan, &held.outcome);
    let (tries, slips) = trials.finish();
    Ok(Shrunk { plan: held.plan, outcome: held.outcome, signature, before, after, tries, minimal, slips })
}

/// Beginnings under other seeds that are tried for a plan that did not become small.
const ATTEMPTS: u64 = 9;

/// Ways to begin again, taken in turn.
const WAYS: u64 = 4;

/// What a shrink begins again with.
enum Again<'a> {
    /// Small worlds drawn afresh, with the options of the smallest plan there is.
    Afresh(&'a Held),
    /// The smallest plan there is, under seeds that make its accidents common.
    Common(&'a Held),
    /// The smallest plan there is.
    Left(&'a Held),
    /// What was left under a seed.
    Begun(&'a Held),
}

/// Another beginning: what is small already under other seeds, or else the plan as it came, which more seeds let fail.
fn again(trials: &mut Trials<'_>, from: Again<'_>, first: &Held, number: u64) -> Option<Held> {
    let small = match from {
        Again::Afresh(held) if number < WAYS => afresh::smallest_world(trials, held, &first.plan),
        Again::Afresh(held) => afresh::another_world(trials, held, &first.plan, number / WAYS),
        Again::Common(held) => commoner::common(trials, held, number),
        Again::Left(held) => reseed::loosened(trials, held, &first.plan, number),
        Again::Begun(begun) => reseed::elsewhere(trials, begun, number),
    };
    small.or_else(|| reseed::elsewhere(trials, first, number))
}

/// What is left under a seed, or a small world or another seed if that is too much: every decision of a long run is one more
/// pin, and to take thousands of pins away costs more than to begin elsewhere. With it how many other beginnings were tried
/// for that.
fn beginning(trials: &mut Trials<'_>, first: &Held) -> (Held, u64) {
    let mut held = first.clone();
    drawn(trials, &mut held);
    let deliveries = |held: &Held| held.outcome.counters.deliveries;
    if deliveries(&held) <= MIDDLING || trials.is_over() {
        return (held, 0);
    }
    let mut other = afresh::smallest_world(trials, &held, &first.plan);
    if other.is_none() && deliveries(&held) > LONG {
        other = reseed::elsewhere(trials, first, 0);
    }
    if let Some(mut other) = other {
        drawn(trials, &mut other);
        if deliveries(&other) < deliveries(&held) {
            held = other;
        }
    }
    (held, 1)
}

/// Deliveries of a run for which it is worth looking for a small world that fails as well.
const MIDDLING: u64 = 400;

/// Deliveries of a run that is better not pinned.
const LONG: u64 = 2_500;

/// Makes a plan smaller that still draws from a seed.
fn drawn(trials: &mut Trials<'_>, held: &mut Held) {
    round(trials, held, &DRAWN);
    round(trials, held, &DRAWN[3..]);
    reseed::other_seeds(trials, held);
    reseed::luckier_seed(trials, held);
}

/// One way from a plan to a small one without a seed; says whether nothing can be taken from it.
fn attempt(trials: &mut Trials<'_>, mut held: Held) -> (Held, bool) {
    pinning::without_seed(trials, &mut held);
    let mut minimal = until_nothing_helps(trials, &mut held, &PINNED);
    for pass in LAST {
        pass(trials, &mut held);
    }
    minimal &= until_nothing_helps(trials, &mut held, &PINNED) && !trials.is_over();
    (held, minimal)
}

/// How much there is to read in a plan and its run.
fn weight(held: &Held, system: &dyn System) -> u64 {
    trials::weight(elements(&held.plan, system).len(), Length::of(&held.outcome))
}

/// Whether nobody would ask for less.
fn is_small(held: &Held, system: &dyn System) -> bool {
    weight(held, system) <= SMALL
}

/// A plan with a few elements and a run of about ten deliveries.
const SMALL: u64 = 20;

fn round(trials: &mut Trials<'_>, held: &mut Held, passes: &[Pass]) -> bool {
    passes.iter().fold(false, |helped, pass| pass(trials, held) | helped)
}

/// Goes round until a whole round has changed nothing; false if the budget ended it.
fn until_nothing_helps(trials: &mut Trials<'_>, held: &mut Held, passes: &[Pass]) -> bool {
    while !trials.is_over() {
        if !round(trials, held, passes) {
            return true;
        }
    }
    false
}
