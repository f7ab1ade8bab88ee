//! Sets that only grow: whether an order exists follows from the sizes of what was read, without a search.
//!
//! Reads return larger and larger sets, so they stand in the order of what they returned, and an element was added after
//! the last read without it. Hence an element is best added as soon as all reads that are left have it, and a read best
//! takes place as soon as the set is what it returned.

use crate::operation::{Ask, History, NEVER, Operation, Outcome, Symbol};
use std::collections::BTreeMap;

/// What happens at a moment: an operation begins or ends.
type Moment = (u64, bool, usize);

/// Whether an order explains operations on one set.
pub(crate) fn decide(operations: &[Operation], lists: &History) -> bool {
    let Some(levels) = Levels::of(operations, lists) else { return false };
    let mut moments: Vec<Moment> = Vec::with_capacity(operations.len() * 2);
    for (number, op) in operations.iter().enumerate() {
        moments.push((op.invoked, true, number));
        if op.returned != NEVER {
            moments.push((op.returned, false, number));
        }
    }
    moments.sort_unstable();
    let mut sweep = Sweep::new(operations, &levels);
    moments.into_iter().all(|(_, begins, number)| {
        if begins {
            sweep.begin(number);
            true
        } else {
            sweep.is_done[number]
        }
    })
}

/// Which read is the first to show an element.
struct Levels {
    /// By operation that reads: which of the different values read, in the order of their sizes, it returned.
    read: BTreeMap<usize, usize>,
    sizes: Vec<usize>,
    /// By element: the first of these values that has it.
    element: BTreeMap<Symbol, usize>,
}

impl Levels {
    /// `None` if of two reads neither returned all that the other did.
    fn of(operations: &[Operation], lists: &History) -> Option<Levels> {
        let mut reads: Vec<(Vec<Symbol>, usize)> = Vec::new();
        for (number, op) in operations.iter().enumerate() {
            if let Outcome::Elements(list) = op.outcome {
                let mut elements = lists.lists[list as usize].clone();
                elements.sort_unstable();
                elements.dedup();
                reads.push((elements, number));
            }
        }
        reads.sort_by(|a, b| (a.0.len(), &a.0).cmp(&(b.0.len(), &b.0)));
        let mut levels = Levels { read: BTreeMap::new(), sizes: Vec::new(), element: BTreeMap::new() };
        for group in reads.chunk_by(|a, b| a.0 == b.0) {
            let level = levels.sizes.len();
            let size = group[0].0.len();
            group[0].0.iter().for_each(|&element| {
                levels.element.entry(element).or_insert(level);
            });
            // All elements so far, if and only if each smaller value lies within this one.
            if levels.element.len() != size {
                return None;
            }
            levels.sizes.push(size);
            group.iter().for_each(|&(_, number)| {
                levels.read.insert(number, level);
            });
        }
        Some(levels)
    }
}

struct Sweep<'a> {
    operations: &'a [Operation],
    levels: &'a Levels,
    is_done: Vec<bool>,
    /// Elements in the set. Those that no read shows are added when nothing is left to read.
    present: BTreeMap<Symbol, ()>,
    /// By level: reads that have not taken place, adds and reads that wait for it.
    left: Vec<usize>,
    waiting: Vec<Vec<usize>>,
    level: usize,
}

impl<'a> Sweep<'a> {
    fn new(operations: &'a [Operation], levels: &'a Levels) -> Sweep<'a> {
        let count = levels.sizes.len();
        let mut left = vec![0; count];
        levels.read.values().for_each(|&level| left[level] += 1);
        Sweep {
            operations,
            levels,
            is_done: vec![false; operations.len()],
            present: BTreeMap::new(),
            left,
            waiting: vec![Vec::new(); count + 1],
            level: 0,
        }
    }

    fn begin(&mut self, number: usize) {
        let level = match self.operations[number].ask {
            Ask::Add(element) => {
                self.levels.element.get(&element).copied().unwrap_or(self.levels.sizes.len())
            }
            _ => match self.levels.read.get(&number) {
                Some(&level) => level,
                None => return,
            },
        };
        self.waiting[level].push(number);
        self.settle(level);
    }

    /// Lets everything take place that can. Only the present level can have become possible, or one that was passed.
    fn settle(&mut self, level: usize) {
        if level > self.level {
            return;
        }
        let mut level = level;
        loop {
            let mut waiting = std::mem::take(&mut self.waiting[level]);
            waiting.retain(|&number| {
                if let Ask::Add(element) = self.operations[number].ask {
                    self.present.insert(element, ());
                    self.is_done[number] = true;
                }
                !self.is_done[number]
            });
            if level == self.level && self.levels.sizes.get(level) == Some(&self.present.len()) {
                self.left[level] -= waiting.len();
                waiting.drain(..).for_each(|number| self.is_done[number] = true);
                if self.left[level] == 0 {
                    self.level += 1;
                    level += 1;
                    continue;
                }
            }
            self.waiting[level] = waiting;
            return;
        }
    }
}
