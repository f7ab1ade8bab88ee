//! Whether an order explains the operations on one object, by the shortest way there is.

use crate::operation::{Ask, History, Operation, Outcome};
use crate::part::Part;
use crate::search::{Budget, Found, search};
use crate::{set, unique};

/// Whether an order explains the operations on one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Explained,
    /// No order explains them. All that returned before that moment might be ordered, if it is known.
    Unexplained(Option<u64>),
    Spent,
}

impl From<bool> for Decision {
    fn from(explained: bool) -> Decision {
        if explained { Decision::Explained } else { Decision::Unexplained(None) }
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
        search(std::slice::from_mut(&mut part), &history.symbols, budget).is_none()
    })
}

/// Decides over the operations on one object, by the shortest way. What is left of the steps stays in the budget.
pub(crate) fn decide(operations: &[Operation], history: &History, budget: &mut Budget) -> Decision {
    let is_set = |op: &Operation| matches!(op.ask, Ask::Add(_)) || matches!(op.outcome, Outcome::Elements(_));
    if operations.iter().any(is_set) {
        return set::decide(operations, history).into();
    }
    if let Some(explained) = unique::decide(operations, &history.symbols) {
        return explained.into();
    }
    match search(&mut [Part::new(operations, &history.symbols)], &history.symbols, budget) {
        Found::Order(_) => Decision::Explained,
        Found::None(stuck) => Decision::Unexplained(Some(stuck)),
        Found::Spent => Decision::Spent,
    }
}
