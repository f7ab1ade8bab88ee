//! The full search for an order that explains a history: Wing and Gong's algorithm with Lowe's memory of configurations.
//!
//! A configuration is the set of operations that took place so far and the state they left. From there the operation that
//! returned first, the *due* one, must take place before its return; only operations on the same object that had begun
//! by then can come before it, and only they are tried. Several things keep the search small without losing an order:
//!
//! * What changes nothing and is possible takes place at once: moved forward from wherever it stands in an order that
//!   explains the rest, it still explains the rest.
//! * A write whose value nobody can recognise takes place just before the next write that replaces the value, or where
//!   the value is one that nobody recognises anyway, or when it is due.
//! * Of an operation whose end is unknown an order may do without. It takes place only if the state differs after it and
//!   something looks at that state before it is replaced; of equal ones the earliest that is left stands for all.
//! * At first operations with an unknown end may take place any number of times. If nothing is found then, there is no
//!   order; if an order is found, those kinds that it uses too often are counted from then on, and it is tried again.
//! * Of several equal operations the one that returns first takes place first, and one whose end is unknown only if none of
//!   the others can: whatever order has them otherwise explains as much with the two exchanged.
//! * A value is not given up while somebody has yet to find it and nobody can bring it back in time.
//! * A configuration that was tried with fewer of the unknown operations used covers the same one with more used.

mod needs;
mod pending;
mod seen;

use crate::operation::Symbols;
use crate::part::{DEAD, Part, Step};
use needs::Needs;
use pending::Pending;
use seen::{Hash, Seen};
use std::collections::BTreeSet;

/// How much a search may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Most configurations to remember, about 40 bytes each.
    pub configurations: u64,
    /// Most steps to try, and operations to look at for the next one.
    pub steps: u64,
}

impl Default for Budget {
    /// Four million configurations and a hundred million steps: some hundred megabytes, and half a minute at most.
    fn default() -> Budget {
        Budget { configurations: 4_000_000, steps: 100_000_000 }
    }
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// An order that explains the history: parts and the places of operations in them.
    Order(Vec<(u32, u32)>),
    /// There is none. All that had returned before this moment could be ordered, what returned at it could not.
    None(u64),
    /// The budget was spent before it came to an end.
    Spent,
}

impl Found {
    /// Whether there surely is none.
    pub(crate) fn is_none(&self) -> bool {
        matches!(self, Found::None(_))
    }
}

/// A number for each task over all parts.
type TaskId = u32;

/// A choice between operations, and which of them have been tried.
#[derive(Clone, Copy, Debug)]
struct Choice {
    trail: u32,
    candidates: u32,
    due: u32,
}

/// What a task did, to be undone.
#[derive(Clone, Copy, Debug)]
struct Done {
    task: TaskId,
    before: u32,
    after_open: bool,
    /// It had to have begun by then.
    limit: u64,
}

struct Search<'a> {
    parts: &'a mut [Part],
    symbols: &'a Symbols,
    pending: Pending,
    needs: Needs,
    states: Vec<u32>,
    /// Whether the last that took place in a part is an open operation that nothing has looked at since.
    after_open: Vec<bool>,
    hash: Hash,
    /// Which open operations took place, a bit each.
    used: Vec<u64>,
    /// Place of the due task among the tasks that return, in the order of their returns.
    due: u32,
    trail: Vec<Done>,
    choices: Vec<Choice>,
    candidates: Vec<TaskId>,
    steps: u64,
    /// When the furthest due task returned.
    furthest: u64,
}

/// Looks for an order of all operations of these parts, which must be of one history. What is left of the steps stays in
/// the budget.
pub(crate) fn search(parts: &mut [Part], symbols: &Symbols, budget: &mut Budget) -> Found {
    let mut counted = BTreeSet::new();
    loop {
        let mut search = Search::new(parts, symbols, &counted);
        let found = search.run(budget);
        budget.steps = budget.steps.saturating_sub(search.steps);
        if found != Some(true) {
            return if found.is_none() { Found::Spent } else { Found::None(search.furthest) };
        }
        let mut uses: Vec<(TaskId, u64)> = search.trail.iter().map(|done| (done.task, done.limit)).collect();
        let overused = search.pending.assign(&mut uses);
        if overused.is_empty() {
            return Found::Order(uses.iter().map(|&(task, _)| search.pending.name(task)).collect());
        }
        counted.extend(overused);
    }
}

impl<'a> Search<'a> {
    fn new(parts: &'a mut [Part], symbols: &'a Symbols, counted: &BTreeSet<usize>) -> Search<'a> {
        let pending = Pending::new(parts, counted);
        let needs = Needs::new(parts, &pending);
        Search {
            states: parts.iter().map(|part| part.initial).collect(),
            after_open: vec![false; parts.len()],
            hash: Hash::default(),
            used: vec![0; pending.open_count().div_ceil(64)],
            due: 0,
            trail: Vec::new(),
            choices: Vec::new(),
            candidates: Vec::new(),
            steps: 0,
            furthest: 0,
            parts,
            symbols,
            pending,
            needs,
        }
    }

    /// Whether there is an order; `None` if the budget was spent before that was known.
    fn run(&mut self, budget: &Budget) -> Option<bool> {
        let mut seen = Seen::new(self.used.len());
        loop {
            self.settle();
            if self.due as usize == self.pending.returns.len() {
                return Some(true);
            }
            if self.is_new(&mut seen) {
                self.choose();
            }
            if seen.len() as u64 > budget.configurations || self.steps > budget.steps {
                return None;
            }
            if !self.next() {
                return Some(false);
            }
        }
    }

    fn is_new(&mut self, seen: &mut Seen) -> bool {
        let part = self.due_part();
        if seen.covers(self.hash, &self.used) {
            return false;
        }
        let mut key = self.hash;
        if self.after_open[part] {
            // Fewer things may follow here, so that this covers nothing but its like.
            key.toggle(Hash::of(u32::MAX, u32::MAX));
            if seen.covers(key, &self.used) {
                return false;
            }
        }
        seen.insert(key, &self.used);
        true
    }

    #[inline]
    fn due_part(&self) -> usize {
        self.pending.part(self.pending.returns[self.due as usize])
    }

    /// Lets everything take place that can only be right at once.
    fn settle(&mut self) {
        loop {
            while self.pending.returns.get(self.due as usize).is_some_and(|&task| !self.pending.waits(task)) {
                self.due += 1;
            }
            let Some(&due) = self.pending.returns.get(self.due as usize) else { return };
            let (part, limit) = (self.pending.part(due), self.pending.returned(due));
            let mut at = self.pending.first(part);
            while let Some(task) = at.filter(|&task| self.pending.invoked(task) < limit) {
                at = self.pending.after(task);
                let (step, state) = (self.pending.step(task), self.states[part]);
                let at_once = match step {
                    Step::Check(value) => state == value,
                    Step::Differs(value) => state != value,
                    _ => state == DEAD && self.pending.is_dead(task),
                };
                if at_once {
                    self.take(task, state, false);
                }
            }
            if self.pending.waits(due) {
                return;
            }
        }
    }

    /// Lists what may take place next.
    fn choose(&mut self) {
        let due = self.pending.returns[self.due as usize];
        let (part, limit) = (self.pending.part(due), self.pending.returned(due));
        let (state, after_open) = (self.states[part], self.after_open[part]);
        let wanted = match self.pending.step(due) {
            Step::Check(value) | Step::Swap(value, _) => value,
            _ => u32::MAX,
        };
        self.furthest = self.furthest.max(limit);
        let start = self.candidates.len();
        self.choices.push(Choice { trail: self.trail.len() as u32, candidates: start as u32, due: self.due });
        for open in self.pending.open_of(part, limit) {
            let step = self.pending.step(open);
            let looks_first = after_open && matches!(step, Step::Set(_));
            let next = self.parts[part].apply(state, step, self.symbols);
            let Some(next) = next.filter(|&next| next != state && !looks_first) else { continue };
            if !self.needs.may_leave(part, state, open, limit, &self.pending) {
                continue;
            }
            if next != DEAD || self.parts[part].has_differs {
                self.candidates.push(open);
            }
        }
        let mut at = self.pending.first(part);
        while let Some(task) = at.filter(|&task| self.pending.invoked(task) < limit) {
            at = self.pending.after(task);
            self.steps += 1;
            let step = self.pending.step(task);
            let in_vain =
                self.pending.is_dead(task) && task != due || after_open && matches!(step, Step::Set(_));
            let Some(next) = self.parts[part].apply(state, step, self.symbols).filter(|_| !in_vain) else {
                continue;
            };
            if next == state || self.needs.may_leave(part, state, task, limit, &self.pending) {
                self.add_candidate(start, task);
            }
        }
        // The last one is tried first: the due one, else what it waits for, else what has to return first.
        let (parts, symbols, pending) = (&mut *self.parts, self.symbols, &self.pending);
        self.candidates[start..].sort_by_cached_key(|&task| {
            let leads =
                wanted != u32::MAX && parts[part].apply(state, pending.step(task), symbols) == Some(wanted);
            (task == due, leads, std::cmp::Reverse(pending.returned(task)))
        });
    }

    /// Adds what may take place next to the choice that begins at `start`. Of equal tasks only one stays: the one that returns
    /// first, or if none returns any.
    fn add_candidate(&mut self, start: usize, task: TaskId) {
        let (step, pending) = (self.pending.step(task), &self.pending);
        let equal = self.candidates[start..].iter_mut().find(|other| pending.step(**other) == step);
        match equal {
            None => self.candidates.push(task),
            Some(other) if pending.returned(task) < pending.returned(*other) => *other = task,
            Some(_) => {}
        }
    }

    /// Takes back what was done since the last choice and does the next thing there; false if no choice is left.
    fn next(&mut self) -> bool {
        loop {
            let Some(&choice) = self.choices.last() else { return false };
            while self.trail.len() > choice.trail as usize {
                self.take_back();
            }
            self.due = choice.due;
            if self.candidates.len() == choice.candidates as usize {
                self.choices.pop();
                continue;
            }
            let task = self.candidates.pop().expect("there is one more than the choice began with");
            self.try_next(task);
            return true;
        }
    }

    fn try_next(&mut self, task: TaskId) {
        let part = self.pending.part(task);
        let limit = self.pending.returned(self.pending.returns[self.due as usize]);
        let step = self.pending.step(task);
        if matches!(step, Step::Set(_)) {
            let mut at = self.pending.first(part);
            while let Some(dead) = at.filter(|&dead| self.pending.invoked(dead) < limit) {
                at = self.pending.after(dead);
                if dead != task && self.pending.is_dead(dead) {
                    self.take(dead, DEAD, false);
                }
            }
        }
        let state = self.states[part];
        let next = self.parts[part].apply(state, step, self.symbols);
        // Nothing but dead writes came between, and a write that replaces the value can follow those.
        self.take(task, next.expect("it could take place when it was listed"), self.pending.is_open(task));
    }

    /// Lets a task take place.
    #[inline]
    fn take(&mut self, task: TaskId, next: u32, is_open: bool) {
        let part = self.pending.part(task);
        self.steps += 1;
        let limit = self.pending.returned(self.pending.returns[self.due as usize]);
        let (before, after_open) = (self.states[part], self.after_open[part]);
        self.trail.push(Done { task, before, after_open, limit });
        self.after_open[part] = is_open;
        self.toggle(task, part, next);
        self.pending.remove(task);
    }

    fn take_back(&mut self) {
        let Some(Done { task, before, after_open, .. }) = self.trail.pop() else { return };
        let part = self.pending.part(task);
        self.after_open[part] = after_open;
        self.toggle(task, part, before);
        self.pending.restore(task);
    }

    #[inline]
    fn toggle(&mut self, task: TaskId, part: usize, next: u32) {
        let state = std::mem::replace(&mut self.states[part], next);
        if state != next {
            self.hash.toggle(Hash::of(part as u32, state));
            self.hash.toggle(Hash::of(part as u32, next));
        }
        match self.pending.open_number(task) {
            Some(number) => self.used[number / 64] ^= 1 << (number % 64),
            None if self.pending.is_open(task) => {}
            None => self.hash.toggle(Hash::of(u32::MAX, task)),
        }
    }
}
