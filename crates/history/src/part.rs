//! One object of a history, made ready for a search: small steps between numbered states.
//!
//! Only what some operation can tell apart is a state of its own. A value that no read returned, no swap compares with and
//! that is not the beginning of such a value is [`DEAD`] like all others of its kind.

use crate::operation::{Ask, Operation, Outcome, Symbol, Symbols};
use std::collections::{BTreeMap, BTreeSet};

/// The state of a value that nobody can recognise.
pub(crate) const DEAD: u32 = 0;

/// What an operation does with a state. `Check` and `Differs` never change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    /// Finds this state.
    Check(u32),
    /// Finds another state than this.
    Differs(u32),
    /// Puts this one in place of any.
    Set(u32),
    /// Puts the second one in place of the first.
    Swap(u32, u32),
    /// Adds this text.
    Append(Symbol),
    /// Adds this text, behind a comma if there is something already.
    Push(Symbol),
}

/// An operation made ready.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task {
    pub(crate) step: Step,
    /// Its place among the operations that the part was made of.
    pub(crate) operation: u32,
    pub(crate) invoked: u64,
    pub(crate) returned: u64,
    /// Nobody knows whether it took place.
    pub(crate) is_open: bool,
    /// Whatever it is applied to, nobody can recognise the result.
    pub(crate) is_dead: bool,
}

/// One object.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) initial: u32,
    /// In the order of their beginning. Open operations that cannot matter are left out.
    pub(crate) tasks: Vec<Task>,
    /// Whether some operation found another value than it compared with: even a value that nobody recognises is seen then.
    pub(crate) has_differs: bool,
    values: Values,
}

impl Part {
    /// Makes operations on one object ready, `initial` being its first value.
    pub(crate) fn new(operations: &[Operation], symbols: &Symbols) -> Part {
        let mut values = Values::new(operations, symbols);
        let has_differs = operations.iter().any(|op| op.outcome == Outcome::Differs);
        let mut tasks: Vec<Task> = Vec::with_capacity(operations.len());
        for (operation, op) in operations.iter().enumerate() {
            let Some(step) = values.step(op, symbols) else { continue };
            let is_open = op.outcome == Outcome::Unknown;
            let dead = match step {
                Step::Set(state) => state == DEAD,
                // Whether it takes place otherwise, only a search can tell.
                Step::Swap(_, state) => is_open && state == DEAD,
                Step::Append(text) | Step::Push(text) => !values.contains(symbols.text(text)),
                _ => false,
            };
            if is_open && dead && !has_differs {
                continue;
            }
            let is_dead = dead && !has_differs;
            let operation = operation as u32;
            let (invoked, returned) = (op.invoked, op.returned);
            tasks.push(Task { step, operation, invoked, returned, is_open, is_dead });
        }
        tasks.sort_by_key(|task| task.invoked);
        let initial = values.state_of("");
        Part { initial, tasks, has_differs, values }
    }

    /// The states that a value may have had which nobody saw written: those that somebody recognises, and all others.
    /// `None` if values grow.
    pub(crate) fn recognised(&mut self) -> Option<Vec<u32>> {
        let known: Vec<String> = self.values.known.clone();
        let states = known.iter().map(|value| self.values.state_of(value));
        let states = states.chain([DEAD, self.initial]).collect();
        (!self.values.grows).then_some(states)
    }

    /// Whether its values grow, so that the beginning of a value is a state as well.
    pub(crate) fn grows(&self) -> bool {
        self.values.grows
    }

    /// The state after a step, if it can be taken there.
    #[inline]
    pub(crate) fn apply(&mut self, state: u32, step: Step, symbols: &Symbols) -> Option<u32> {
        match step {
            Step::Check(value) => (state == value && value != DEAD).then_some(state),
            Step::Differs(value) => (state != value).then_some(state),
            Step::Set(value) => Some(value),
            Step::Swap(old, new) => (state == old && old != DEAD).then_some(new),
            Step::Append(text) => Some(self.values.extended(state, text, false, symbols)),
            Step::Push(text) => Some(self.values.extended(state, text, true, symbols)),
        }
    }
}

/// The values that operations look at. A swap whose end is unknown counts only if somebody looks at what it leaves, or can
/// tell that it left something else.
fn looked_at(operations: &[Operation], grows: bool) -> BTreeSet<Symbol> {
    let has_differs = operations.iter().any(|op| op.outcome == Outcome::Differs);
    let mut known = BTreeSet::new();
    let mut open = Vec::new();
    for op in operations {
        match (op.ask, op.outcome) {
            (Ask::Read, Outcome::Value(value)) => known.extend([value]),
            (Ask::Swap(old, new), Outcome::Unknown) if !grows && !has_differs => open.push((old, new)),
            (Ask::Swap(old, _), _) => known.extend([old]),
            _ => {}
        }
    }
    let mut count = usize::MAX;
    while count != open.len() {
        count = open.len();
        open.retain(|&(old, new)| {
            let counts = known.contains(&new);
            if counts {
                known.insert(old);
            }
            !counts
        });
    }
    known
}

/// A beginning of values that somebody can recognise: the first so many bytes of those from `low` up to `high`.
#[derive(Clone, Copy, Debug)]
struct Beginning {
    low: u32,
    high: u32,
    bytes: u32,
}

/// The values of one object that somebody can recognise, sorted, and the states that lead to them.
#[derive(Clone, Debug)]
struct Values {
    known: Vec<String>,
    /// Whether values grow, so that the beginning of a known value is a state as well.
    grows: bool,
    /// By state; the first stands for all dead ones.
    states: Vec<Beginning>,
    numbers: BTreeMap<(u32, u32), u32>,
    extended: BTreeMap<(u32, Symbol, bool), u32>,
}

impl Values {
    fn new(operations: &[Operation], symbols: &Symbols) -> Values {
        let grows = operations.iter().any(|op| matches!(op.ask, Ask::Append(_) | Ask::Push(_)));
        let known = looked_at(operations, grows);
        let mut known: Vec<String> = known.iter().map(|&value| symbols.text(value).to_owned()).collect();
        known.sort_unstable();
        let none = Beginning { low: 0, high: 0, bytes: 0 };
        Values { known, grows, states: vec![none], numbers: BTreeMap::new(), extended: BTreeMap::new() }
    }

    fn step(&mut self, op: &Operation, symbols: &Symbols) -> Option<Step> {
        Some(match (op.ask, op.outcome) {
            (Ask::Read, Outcome::Value(value)) => Step::Check(self.state_of(symbols.text(value))),
            (Ask::Read, _) => return None,
            (Ask::Swap(old, _), Outcome::Differs) => Step::Differs(self.state_of(symbols.text(old))),
            (Ask::Swap(old, new), _) => {
                Step::Swap(self.state_of(symbols.text(old)), self.state_of(symbols.text(new)))
            }
            (Ask::Write(value), _) => Step::Set(self.state_of(symbols.text(value))),
            (Ask::Append(text), _) => Step::Append(text),
            (Ask::Push(text), _) => Step::Push(text),
            (Ask::Add(_), _) => unreachable!("sets are checked by themselves"),
        })
    }

    /// The state of a value.
    fn state_of(&mut self, text: &str) -> u32 {
        let low = self.known.partition_point(|known| known.as_str() < text);
        let high = low + self.known[low..].partition_point(|known| known.starts_with(text));
        let exact = self.known.get(low).is_some_and(|known| known == text);
        if low == high || !exact && !self.grows {
            return DEAD;
        }
        self.state(Beginning { low: low as u32, high: high as u32, bytes: text.len() as u32 })
    }

    fn state(&mut self, beginning: Beginning) -> u32 {
        let states = &mut self.states;
        *self.numbers.entry((beginning.low, beginning.bytes)).or_insert_with(|| {
            states.push(beginning);
            states.len() as u32 - 1
        })
    }

    /// The state after more text.
    fn extended(&mut self, state: u32, text: Symbol, separated: bool, symbols: &Symbols) -> u32 {
        if state == DEAD {
            return DEAD;
        }
        if let Some(&known) = self.extended.get(&(state, text, separated)) {
            return known;
        }
        let mut beginning = Some(self.states[state as usize]);
        if separated && self.states[state as usize].bytes > 0 {
            beginning = self.narrowed(beginning, b",");
        }
        beginning = self.narrowed(beginning, symbols.text(text).as_bytes());
        let next = beginning.map_or(DEAD, |beginning| self.state(beginning));
        self.extended.insert((state, text, separated), next);
        next
    }

    /// The values that go on with `more` behind what they have in common.
    fn narrowed(&self, beginning: Option<Beginning>, more: &[u8]) -> Option<Beginning> {
        let Beginning { low, high, bytes } = beginning?;
        let known = &self.known[low as usize..high as usize];
        let first = known.partition_point(|known| known.as_bytes()[bytes as usize..] < *more);
        let count =
            known[first..].partition_point(|known| known.as_bytes()[bytes as usize..].starts_with(more));
        let low = low + first as u32;
        (count > 0).then_some(Beginning { low, high: low + count as u32, bytes: bytes + more.len() as u32 })
    }

    /// Whether a text stands in any value that somebody can recognise.
    fn contains(&self, text: &str) -> bool {
        let is_whole = |(at, known): (usize, &String)| {
            self.known.get(at + 1).is_none_or(|next| !next.starts_with(known.as_str()))
        };
        self.known.iter().enumerate().any(|(at, known)| is_whole((at, known)) && known.contains(text))
    }
}
