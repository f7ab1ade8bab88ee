//! Tries plans, on several threads and within a budget, and remembers what it has tried.

use super::element::elements;
use super::{ShrinkProgress, Shrinking, Size};
use crate::run::run;
use crate::signature::Signature;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use whitewater_plan::Plan;
use whitewater_sim::{Outcome, Pin, Step};

/// When shrinking stops by itself.
pub enum ShrinkBudget<'a> {
    /// After so many tries.
    Tries(u64),
    /// When this says that it is over; asked between tries.
    Until(&'a (dyn Fn() -> bool + Sync)),
}

/// Another failure that came up.
#[derive(Clone, Debug)]
pub struct Slip {
    /// What makes it another one.
    pub signature: Signature,
    /// The plan that shows it.
    pub plan: Plan,
}

/// Other failures that are kept.
const SLIPS_MAX: usize = 8;

/// The smallest plan so far, with how it ends.
#[derive(Clone)]
pub(super) struct Held {
    pub(super) plan: Plan,
    pub(super) outcome: Outcome,
}

/// How long a run is: what decides whether a plan that fails the same way is welcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Length {
    /// Messages that reached a node that was up.
    pub(super) deliveries: u64,
    pub(super) events: u64,
}

impl Length {
    pub(super) fn of(outcome: &Outcome) -> Length {
        Length { deliveries: outcome.counters.deliveries, events: outcome.counters.events }
    }
}

/// Everything that is tried.
pub(super) struct Trials<'a> {
    shrinking: &'a Shrinking<'a>,
    signature: Signature,
    before: Size,
    tries: u64,
    /// Messages delivered in all of them.
    deliveries: u64,
    /// Plans that do not fail the same way.
    refused: BTreeSet<u64>,
    /// How long the others are, so that one which was not welcome is not run again to hear that.
    lengths: BTreeMap<u64, Length>,
    /// Plans that were held once. What takes the place of something else never leads back to one of them.
    left: BTreeSet<u64>,
    slips: Vec<Slip>,
}

impl<'a> Trials<'a> {
    pub(super) fn new(shrinking: &'a Shrinking<'a>, signature: Signature, before: Size) -> Trials<'a> {
        Trials {
            shrinking,
            signature,
            before,
            tries: 0,
            deliveries: 0,
            refused: BTreeSet::new(),
            lengths: BTreeMap::new(),
            left: BTreeSet::new(),
            slips: Vec::new(),
        }
    }

    /// Whether the budget is spent.
    pub(super) fn is_over(&self) -> bool {
        match self.shrinking.budget {
            ShrinkBudget::Tries(tries) => self.tries >= tries,
            ShrinkBudget::Until(over) => over(),
        }
    }

    pub(super) fn system(&self) -> &'static dyn whitewater_sim::System {
        self.shrinking.system
    }

    /// Messages delivered in all tries: how much work they were.
    pub(super) fn deliveries(&self) -> u64 {
        self.deliveries
    }

    /// Records the run of a plan.
    pub(super) fn recorded(&mut self, plan: &Plan) -> Option<Outcome> {
        self.tries += 1;
        run(self.shrinking.system, plan, true).ok()
    }

    pub(super) fn finish(self) -> (u64, Vec<Slip>) {
        (self.tries, self.slips)
    }

    /// Takes the first of several plans that fails the same way and is hardly longer: whatever is tried from then on takes as
    /// long. What can go in spite of that goes in the end, one by one. Says its place among them.
    pub(super) fn first(
        &mut self,
        held: &mut Held,
        candidates: impl IntoIterator<Item = Plan>,
    ) -> Option<usize> {
        self.first_if(held, candidates, hardly_longer)
    }

    /// Takes the first of several plans that fails the same way, however long it is.
    pub(super) fn first_of_any_length(
        &mut self,
        held: &mut Held,
        candidates: impl IntoIterator<Item = Plan>,
    ) -> Option<usize> {
        self.first_if(held, candidates, |_, _| true)
    }

    /// Takes the first of several plans that fails the same way and whose length is welcome.
    pub(super) fn first_if(
        &mut self,
        held: &mut Held,
        candidates: impl IntoIterator<Item = Plan>,
        welcome: impl Fn(&Held, Length) -> bool,
    ) -> Option<usize> {
        let mut candidates = candidates.into_iter().enumerate();
        let held_name = name(&held.plan);
        // To start a thread takes as long as a short run.
        let is_short = held.outcome.counters.deliveries < INLINE;
        let jobs = if is_short { 1 } else { self.shrinking.jobs.max(1) };
        while !self.is_over() {
            let mut batch = Vec::with_capacity(jobs);
            while batch.len() < jobs {
                let Some((at, plan)) = candidates.next() else { break };
                let name = name(&plan);
                let unwelcome = self.lengths.get(&name).is_some_and(|&length| !welcome(held, length));
                if name != held_name && !unwelcome && !self.refused.contains(&name) {
                    batch.push((at, name, plan));
                }
            }
            if batch.is_empty() {
                return None;
            }
            let outcomes = self.run_all(&batch);
            for ((at, name, plan), outcome) in batch.into_iter().zip(outcomes) {
                self.tries += 1;
                self.deliveries += outcome.as_ref().map_or(0, |outcome| outcome.counters.deliveries);
                let signature = outcome.as_ref().and_then(Signature::of);
                match (outcome, signature) {
                    (Some(outcome), Some(signature)) if signature == self.signature => {
                        let length = Length::of(&outcome);
                        self.lengths.insert(name, length);
                        if welcome(held, length) {
                            self.left.insert(held_name);
                            *held = Held { plan, outcome };
                            self.tell(held);
                            return Some(at);
                        }
                    }
                    (_, signature) => {
                        self.refused.insert(name);
                        self.slipped(signature, plan);
                    }
                }
            }
        }
        None
    }

    /// Takes the first of several plans that fails the same way and was not held before.
    ///
    /// One pass puts a crash in the place of a partition, another a partition in the place of a crash: without this
    /// they would do so for ever.
    pub(super) fn replaced(&mut self, held: &mut Held, candidates: impl IntoIterator<Item = Plan>) -> bool {
        let candidates: Vec<Plan> = candidates.into_iter().filter(|plan| self.is_new(plan)).collect();
        self.first(held, candidates).is_some()
    }

    fn is_new(&self, plan: &Plan) -> bool {
        !self.left.contains(&name(plan))
    }

    /// Takes the first of several plans that fails the same way, was not held before, and in which there is less to read.
    pub(super) fn lighter(&mut self, held: &mut Held, candidates: impl IntoIterator<Item = Plan>) -> bool {
        let system = self.system();
        candidates.into_iter().any(|plan| {
            if !self.is_new(&plan) {
                return false;
            }
            let elements = elements(&plan, system).len();
            let lighter = |held: &Held, length: Length| {
                let now = weight(super::elements(&held.plan, system).len(), Length::of(&held.outcome));
                weight(elements, length) < now
            };
            self.first_if(held, [plan], lighter).is_some()
        })
    }

    /// Whether a plan fails the same way.
    pub(super) fn fails(&mut self, plan: &Plan) -> bool {
        self.outcome(plan).is_some()
    }

    /// Takes a plan if it fails the same way, whatever is left of the budget.
    pub(super) fn replaces(&mut self, held: &mut Held, plan: Plan) -> bool {
        let outcome = self.outcome(&plan);
        let taken = outcome.is_some();
        if let Some(outcome) = outcome {
            *held = Held { plan, outcome };
            self.tell(held);
        }
        taken
    }

    /// How a plan ends, if it fails the same way.
    fn outcome(&mut self, plan: &Plan) -> Option<Outcome> {
        let name = name(plan);
        if self.refused.contains(&name) {
            return None;
        }
        self.tries += 1;
        let outcome = self.run_all(&[(0, name, plan.clone())]).pop().flatten();
        let same = outcome.filter(|outcome| Signature::of(outcome).as_ref() == Some(&self.signature));
        if same.is_none() {
            self.refused.insert(name);
        }
        same
    }

    fn run_all(&self, batch: &[(usize, u64, Plan)]) -> Vec<Option<Outcome>> {
        let system = self.shrinking.system;
        // What the framework itself cannot run is no smaller failure.
        let one = |plan: &Plan| {
            catch_unwind(AssertUnwindSafe(|| run(system, plan, false).ok())).unwrap_or_default()
        };
        let Some(((_, _, here), others)) = batch.split_first() else { return Vec::new() };
        if others.is_empty() {
            return vec![one(here)];
        }
        thread::scope(|scope| {
            let started: Vec<_> = others.iter().map(|(_, _, plan)| scope.spawn(move || one(plan))).collect();
            let here = one(here);
            let others = started.into_iter().map(|thread| thread.join().unwrap_or_default());
            std::iter::once(here).chain(others).collect()
        })
    }

    fn slipped(&mut self, signature: Option<Signature>, plan: Plan) {
        let Some(signature) = signature else { return };
        let known = self.slips.iter().any(|slip| slip.signature == signature);
        if !known && self.slips.len() < SLIPS_MAX {
            self.slips.push(Slip { signature, plan });
        }
    }

    fn tell(&self, held: &Held) {
        let now = Size::of(&held.plan, &held.outcome);
        (self.shrinking.watch)(&ShrinkProgress { tries: self.tries, before: self.before, now });
    }
}

/// How much there is to read in a plan with so many elements and its run.
pub(super) fn weight(elements: usize, length: Length) -> u64 {
    4 * elements as u64 + length.deliveries
}

/// Whether a run is not so much longer that a plan with less in it would be no gain.
pub(super) fn little_longer(held: &Held, length: Length) -> bool {
    length.deliveries <= 2 * held.outcome.counters.deliveries + LITTLE
}

/// Whether a run is hardly longer: by a quarter at most, unless it is a short one all the same.
fn hardly_longer(held: &Held, length: Length) -> bool {
    let now = held.outcome.counters.deliveries;
    length.deliveries <= (now + now / 4).max(SHORT)
}

/// Deliveries of a run that takes little time.
const SHORT: u64 = 2_500;

/// Deliveries of a run that is not worth a thread.
const INLINE: u64 = 150;

/// Deliveries that are no reason to keep what could go.
const LITTLE: u64 = 50;

/// A plan with other steps.
pub(super) fn with_steps(plan: &Plan, steps: Vec<Step>) -> Plan {
    let mut plan = plan.clone();
    plan.script.steps = steps;
    plan
}

/// A plan with other pins.
pub(super) fn with_pins(plan: &Plan, pins: Vec<Pin>) -> Plan {
    let mut plan = plan.clone();
    plan.script.pins = pins;
    plan
}

/// A plan with one thing changed.
pub(super) fn changed(plan: &Plan, change: impl FnOnce(&mut Plan)) -> Plan {
    let mut plan = plan.clone();
    change(&mut plan);
    plan
}

/// A number that stands for a plan.
fn name(plan: &Plan) -> u64 {
    whitewater_sim::draw::name_hash(&plan.to_json())
}
