//! Whether a history is linearizable: the way that is right for each object, and one verdict over all.

use crate::operation::{History, Model, Operation, Outcome, Symbol};
use crate::part::Part;
use crate::reduce::{CounterExample, reduce};
use crate::search::{Budget, Found, search};
use crate::{set, unique};
use std::collections::BTreeMap;

/// How a history is checked.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// What the objects are.
    pub model: Model,
    /// Whether each key is searched by itself, as it may be. If not, the whole map is one object.
    pub split: bool,
    /// How much each search may do.
    pub budget: Budget,
}

impl Options {
    /// Objects of a model, each by itself, within the usual budget.
    pub fn new(model: Model) -> Options {
        Options { model, split: true, budget: Budget::default() }
    }
}

/// Whether some order explains a history.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// One does.
    Linearizable,
    /// None does.
    Violation(Box<CounterExample>),
    /// The search was given up.
    Unknown,
}

/// Checks a history. A violation on one key outweighs that others remain unknown.
pub fn check(history: &History, options: Options) -> Verdict {
    let objects = objects(history);
    if !options.split && options.model != Model::Set {
        let mut parts: Vec<Part> =
            objects.values().map(|operations| Part::new(operations, &history.symbols)).collect();
        match search(&mut parts, &history.symbols, &mut { options.budget }) {
            Found::Order(_) => return Verdict::Linearizable,
            Found::Spent => return Verdict::Unknown,
            Found::None => {}
        }
    }
    let mut spent = false;
    for operations in objects.values() {
        match decide(operations, history, &mut { options.budget }) {
            Decision::Explained => {}
            Decision::Spent => spent = true,
            Decision::Unexplained => {
                let counter_example = reduce(operations, history);
                return Verdict::Violation(Box::new(counter_example));
            }
        }
    }
    if spent { Verdict::Unknown } else { Verdict::Linearizable }
}

/// An order that explains a history, as the full search finds it, without any shorter way: places in
/// [`History::operations`]. `None` if there is none. Sets have no full search of their own.
///
/// # Errors
/// The budget was spent.
pub fn explain(history: &History, mut budget: Budget) -> Result<Option<Vec<u32>>, Spent> {
    let mut objects: BTreeMap<Symbol, Vec<u32>> = BTreeMap::new();
    for (number, op) in history.operations.iter().enumerate() {
        objects.entry(op.key).or_default().push(number as u32);
    }
    let of = |numbers: &Vec<u32>| -> Vec<Operation> {
        numbers.iter().map(|&number| history.operations[number as usize]).collect()
    };
    let mut parts: Vec<Part> =
        objects.values().map(|numbers| Part::new(&of(numbers), &history.symbols)).collect();
    let objects: Vec<Vec<u32>> = objects.into_values().collect();
    match search(&mut parts, &history.symbols, &mut budget) {
        Found::None => Ok(None),
        Found::Spent => Err(Spent),
        Found::Order(order) => {
            Ok(Some(order.into_iter().map(|(part, at)| objects[part as usize][at as usize]).collect()))
        }
    }
}

/// A search was given up because its budget was spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent;

fn objects(history: &History) -> BTreeMap<Symbol, Vec<Operation>> {
    let mut objects: BTreeMap<Symbol, Vec<Operation>> = BTreeMap::new();
    for &op in &history.operations {
        objects.entry(op.key).or_default().push(op);
    }
    objects
}

/// Whether an order explains the operations on one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Explained,
    Unexplained,
    Spent,
}

impl From<bool> for Decision {
    fn from(explained: bool) -> Decision {
        if explained { Decision::Explained } else { Decision::Unexplained }
    }
}

/// Whether operations on one object are inexplicable whatever its value was before them. Only values that do not grow.
pub(crate) fn is_inexplicable_from_anything(
    operations: &[Operation],
    history: &History,
    budget: &mut Budget,
) -> bool {
    let mut part = Part::new(operations, &history.symbols);
    let Some(states) = part.recognised() else { return false };
    states.into_iter().all(|initial| {
        part.initial = initial;
        search(std::slice::from_mut(&mut part), &history.symbols, budget) == Found::None
    })
}

/// Decides over the operations on one object, by the shortest way. What is left of the steps stays in the budget.
pub(crate) fn decide(operations: &[Operation], history: &History, budget: &mut Budget) -> Decision {
    let is_set = |op: &Operation| {
        matches!(op.ask, crate::operation::Ask::Add(_)) || matches!(op.outcome, Outcome::Elements(_))
    };
    if operations.iter().any(is_set) {
        return set::decide(operations, history).into();
    }
    if let Some(explained) = unique::decide(operations, &history.symbols) {
        return explained.into();
    }
    match search(&mut [Part::new(operations, &history.symbols)], &history.symbols, budget) {
        Found::Order(_) => Decision::Explained,
        Found::None => Decision::Unexplained,
        Found::Spent => Decision::Spent,
    }
}
