//! A certificate: an order that the system itself claims, held against what clients saw, in one pass.
//!
//! Only times and answers that clients observed count. So an order that the system made up is refused as soon as it does
//! not explain them; an order that is refused says nothing about whether another one would do.

use crate::operation::{Ask, History, NEVER, Operation, Outcome, Symbol};
use std::collections::BTreeMap;
use std::fmt;

/// Why an order explains nothing. Operations by their place in [`History::operations`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// An operation that ended stands nowhere in it.
    Missing(u32),
    /// An operation stands in it twice, or does not exist.
    Twice(u32),
    /// The second one ended before the first one began, and stands behind it.
    OutOfTime(u32, u32),
    /// An operation was answered otherwise than it would be there.
    WrongAnswer(u32),
    /// An operation that ended has no place in the system's own order, so that there is no certificate at all.
    NoPlace(u32),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Missing(op) => write!(f, "operation {op} stands nowhere in the order"),
            Refused::Twice(op) => write!(f, "operation {op} stands in the order twice"),
            Refused::OutOfTime(first, second) => {
                write!(f, "operation {second} had ended before {first} began, and stands behind it")
            }
            Refused::WrongAnswer(op) => {
                write!(f, "operation {op} was answered otherwise than the order says")
            }
            Refused::NoPlace(op) => write!(f, "operation {op} has no place in the system's order"),
        }
    }
}

/// The order in which the system says the operations took place, from [`Operation::place`]. Reads stand behind what else
/// is in their place.
///
/// # Errors
/// An operation that ended has no place.
pub fn claimed_order(history: &History) -> Result<Vec<u32>, Refused> {
    let mut order = Vec::with_capacity(history.operations.len());
    for (number, op) in history.operations.iter().enumerate() {
        match op.place {
            Some(place) => order.push((place, op.ask == Ask::Read, op.invoked, number as u32)),
            None if op.outcome == Outcome::Unknown => {}
            None => return Err(Refused::NoPlace(number as u32)),
        }
    }
    order.sort_unstable();
    Ok(order.into_iter().map(|(_, _, _, number)| number).collect())
}

/// Whether an order explains a history: every operation that ended stands in it once and is answered as it was, and none
/// stands behind one that began only after its end. Those whose end is unknown may stand in it or not.
///
/// # Errors
/// The first operation that it does not explain.
pub fn certify(history: &History, order: &[u32]) -> Result<(), Refused> {
    let operations = &history.operations;
    let mut stands = vec![false; operations.len()];
    let mut objects = Objects::default();
    let mut latest: (u64, u32) = (0, 0);
    for &number in order {
        let Some(op) = operations.get(number as usize) else { return Err(Refused::Twice(number)) };
        if std::mem::replace(&mut stands[number as usize], true) {
            return Err(Refused::Twice(number));
        }
        if op.returned < latest.0 {
            return Err(Refused::OutOfTime(latest.1, number));
        }
        latest = latest.max((op.invoked, number));
        if !objects.answers(history, op) {
            return Err(Refused::WrongAnswer(number));
        }
    }
    let missing = (0..operations.len()).find(|&n| !stands[n] && operations[n].returned != NEVER);
    missing.map_or(Ok(()), |number| Err(Refused::Missing(number as u32)))
}

/// What the objects hold: texts, and elements of sets.
#[derive(Clone, Debug, Default)]
struct Objects {
    values: BTreeMap<Symbol, String>,
    sets: BTreeMap<Symbol, Vec<Symbol>>,
}

impl Objects {
    /// Lets an operation take place; false if it was answered otherwise.
    fn answers(&mut self, history: &History, op: &Operation) -> bool {
        let symbols = &history.symbols;
        if let Outcome::Elements(list) = op.outcome {
            let mut elements = history.lists[list as usize].clone();
            elements.sort_unstable();
            elements.dedup();
            return self.sets.get(&op.key).map_or(&[][..], Vec::as_slice) == elements;
        }
        if let Ask::Add(element) = op.ask {
            let set = self.sets.entry(op.key).or_default();
            if let Err(at) = set.binary_search(&element) {
                set.insert(at, element);
            }
            return true;
        }
        let value = self.values.entry(op.key).or_default();
        match (op.ask, op.outcome) {
            (Ask::Read, Outcome::Value(read)) => return *value == symbols.text(read),
            (Ask::Read | Ask::Add(_), _) => {}
            (Ask::Write(new), _) => {
                value.clear();
                value.push_str(symbols.text(new));
            }
            (Ask::Swap(old, new), outcome) => {
                let equal = *value == symbols.text(old);
                if equal {
                    symbols.text(new).clone_into(value);
                }
                return outcome == Outcome::Unknown || equal == (outcome == Outcome::Done);
            }
            (Ask::Append(text), _) => value.push_str(symbols.text(text)),
            (Ask::Push(text), _) => {
                if !value.is_empty() {
                    value.push(',');
                }
                value.push_str(symbols.text(text));
            }
        }
        true
    }
}
