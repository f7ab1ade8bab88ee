//! Whether a history is linearizable: the way that is right for each object, and one verdict over all.

use crate::decide::{Decision, decide};
use crate::operation::{History, Model, Operation, Symbol};
use crate::part::Part;
use crate::reduce::{CounterExample, reduce};
use crate::search::{Budget, Found, search};
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
            Found::None(_) => {}
        }
    }
    let mut spent = false;
    for operations in objects.values() {
        match decide(operations, history, &mut { options.budget }) {
            Decision::Explained => {}
            Decision::Spent => spent = true,
            Decision::Unexplained(stuck) => {
                let counter_example = reduce(operations, history, stuck);
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
        Found::None(_) => Ok(None),
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
