//! Reduces a history that no order explains to the fewest operations that show it.
//!
//! A part of a history may be inexplicable only because of what was left out: a read of a value whose write is gone. So
//! only such changes are made as turn every history with an explanation into another one with an explanation:
//!
//! * what lies after a moment is left out, and of what was under way then nobody knows the end;
//! * a read or a failed comparison is left out;
//! * of a write nobody knows the end any more; and if nothing that is left can tell whether it took place, it goes;
//! * where every write leaves a mark of its own, an append and its mark in all values read go together, and so do an
//!   element of a set and all that was read of it.

use crate::check::{Decision, decide};
use crate::operation::{Ask, History, NEVER, Operation, Outcome, Symbol};
use crate::part::Part;
use crate::search::Budget;
use crate::unique::readings;

/// Operations that no order explains. To leave out any one more would hide that.
#[derive(Clone, Debug)]
pub struct CounterExample {
    /// The operations. Values that were read may lack what is not needed.
    pub history: History,
    /// How many operations there were on this object.
    pub of: usize,
    /// Whether parts of values were left out.
    pub abridged: bool,
}

/// Most histories to try.
const TRIALS_MAX: u32 = 4_000;

/// Reduces operations on one object that no order explains.
pub(crate) fn reduce(operations: &[Operation], history: &History, budget: Budget) -> CounterExample {
    let mut reduction = Reduction::new(operations, history, budget);
    reduction.cut_after();
    let mut count = usize::MAX;
    while reduction.count() < count {
        count = reduction.count();
        reduction.leave_out(Kind::Pure);
        reduction.leave_out(Kind::Write);
    }
    reduction.finish(operations.len())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Pure,
    Write,
}

/// An operation that may be left out.
#[derive(Clone, Debug)]
struct Item {
    /// As clients saw it.
    original: Operation,
    /// As it is tried: perhaps with its end unknown.
    tried: Operation,
    /// The writes that its value shows, by their items.
    shows: Vec<u32>,
    state: State,
}

/// Whether an operation is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It is there.
    There,
    /// Nobody knows its end any more. If it adds an element of a set that no operation adds which is there, it is out.
    Opened,
    /// It is out, and so is its mark in values that were read.
    Out,
    /// It is out because it lies after everything else; what was read of it stays, since nobody can explain that.
    Later,
}

struct Reduction<'a> {
    history: &'a History,
    budget: Budget,
    items: Vec<Item>,
    /// Every write leaves a mark of its own, so that it can be left out together with it.
    has_marks: bool,
    is_set: bool,
    trials: u32,
}

impl<'a> Reduction<'a> {
    fn new(operations: &[Operation], history: &'a History, budget: Budget) -> Reduction<'a> {
        let is_set = operations.iter().any(|op| matches!(op.ask, Ask::Add(_)))
            || operations.iter().any(|op| matches!(op.outcome, Outcome::Elements(_)));
        let shown = if is_set { None } else { readings(operations, &history.symbols) };
        let has_marks = shown.is_some();
        let mut shown = shown.unwrap_or_default().into_iter();
        let item = |&op: &Operation| {
            let shows = shown.next().unwrap_or_default();
            Item { original: op, tried: op, shows, state: State::There }
        };
        let items = operations.iter().map(item).collect();
        Reduction { history, budget, items, has_marks, is_set, trials: 0 }
    }

    fn count(&self) -> usize {
        self.items.iter().filter(|item| item.state == State::There).count()
    }

    /// Cuts off all that is later than it has to be.
    fn cut_after(&mut self) {
        let mut moments: Vec<u64> = self.items.iter().map(|item| item.original.returned).collect();
        moments.retain(|&moment| moment != NEVER);
        moments.sort_unstable();
        let whole = self.items.clone();
        let (mut fine, mut broken) = (0, moments.len());
        // The first `broken` returns are inexplicable; the first `fine` have an explanation.
        while broken - fine > 1 {
            let middle = fine.midpoint(broken);
            self.items = cut(&whole, moments[middle - 1]);
            if self.is_inexplicable() { broken = middle } else { fine = middle }
        }
        self.items = match moments.get(broken.wrapping_sub(1)) {
            Some(&moment) => cut(&whole, moment),
            None => whole,
        };
    }

    /// Leaves out as many of a kind as can be, large groups of them first.
    fn leave_out(&mut self, kind: Kind) {
        let is_kind = |item: &Item| item.original.is_pure() == (kind == Kind::Pure);
        let mut units: Vec<u32> = (0..self.items.len() as u32)
            .filter(|&n| self.items[n as usize].state == State::There && is_kind(&self.items[n as usize]))
            .collect();
        let mut size = units.len().div_ceil(2);
        while size > 0 && !units.is_empty() {
            let mut kept = Vec::with_capacity(units.len());
            for group in units.chunks(size) {
                let before: Vec<Item> = group.iter().map(|&n| self.items[n as usize].clone()).collect();
                group.iter().for_each(|&n| self.drop_item(n as usize));
                if self.trials >= TRIALS_MAX || !self.is_inexplicable() {
                    group.iter().zip(before).for_each(|(&n, item)| self.items[n as usize] = item);
                    kept.extend_from_slice(group);
                }
            }
            units = kept;
            size = if size == 1 { 0 } else { size.div_ceil(2) };
        }
    }

    fn drop_item(&mut self, number: usize) {
        let has_marks = self.has_marks;
        let item = &mut self.items[number];
        let goes_with_its_mark = has_marks && matches!(item.tried.ask, Ask::Append(_) | Ask::Push(_));
        item.state = if item.original.is_pure() || goes_with_its_mark { State::Out } else { State::Opened };
        if item.state == State::Opened {
            item.tried = item.tried.opened();
        }
    }

    /// The items that are left as a history, `original` as clients saw them.
    fn built(&self, original: bool) -> History {
        let mut built = History::default();
        let is_out = |write: &&u32| self.items[**write as usize].state == State::Out;
        let gone = self.gone_elements();
        let is_left = |item: &&Item| match (item.state, item.original.ask) {
            (State::Out | State::Later, _) => false,
            (State::Opened, Ask::Add(element)) => gone.binary_search(&element).is_err(),
            _ => true,
        };
        for item in self.items.iter().filter(is_left) {
            let mut op = if original { item.original } else { item.tried };
            let text = |symbol: Symbol| self.history.symbols.text(symbol);
            op.key = built.symbols.of(text(op.key));
            let mut of = |symbol: Symbol| built.symbols.of(text(symbol));
            op.ask = match op.ask {
                Ask::Read => Ask::Read,
                Ask::Write(value) => Ask::Write(of(value)),
                Ask::Swap(old, new) => Ask::Swap(of(old), of(new)),
                Ask::Append(value) => Ask::Append(of(value)),
                Ask::Push(value) => Ask::Push(of(value)),
                Ask::Add(value) => Ask::Add(of(value)),
            };
            op.outcome = match op.outcome {
                Outcome::Value(_) if item.shows.iter().any(|write| is_out(&write)) => {
                    Outcome::Value(built.symbols.of(&self.abridged(item)))
                }
                Outcome::Value(value) => Outcome::Value(of(value)),
                Outcome::Elements(list) => {
                    let elements = &self.history.lists[list as usize];
                    let left = elements.iter().filter(|element| gone.binary_search(element).is_err());
                    let left = left.map(|&element| of(element)).collect();
                    built.lists.push(left);
                    Outcome::Elements(built.lists.len() as u32 - 1)
                }
                outcome => outcome,
            };
            built.operations.push(op);
        }
        built
    }

    /// The elements of a set that were left out, sorted: somebody adds them, and nobody who is there.
    fn gone_elements(&self) -> Vec<Symbol> {
        let added = |states: &[State]| {
            let is_of = |item: &&Item| states.contains(&item.state);
            let element =
                |item: &Item| if let Ask::Add(element) = item.original.ask { Some(element) } else { None };
            let mut elements: Vec<Symbol> = self.items.iter().filter(is_of).filter_map(element).collect();
            elements.sort_unstable();
            elements
        };
        let (mut gone, there) = (added(&[State::Opened]), added(&[State::There, State::Later]));
        gone.retain(|element| there.binary_search(element).is_err());
        gone
    }

    /// The value that a read returned, without the marks of writes that were left out.
    fn abridged(&self, read: &Item) -> String {
        let mut value = String::new();
        for &write in &read.shows {
            let write = &self.items[write as usize];
            if write.state == State::Out {
                continue;
            }
            let (Ask::Write(text) | Ask::Append(text) | Ask::Push(text)) = write.original.ask else {
                continue;
            };
            if matches!(write.original.ask, Ask::Push(_)) && !value.is_empty() {
                value.push(',');
            }
            value.push_str(self.history.symbols.text(text));
        }
        value
    }

    fn is_inexplicable(&mut self) -> bool {
        self.trials += 1;
        let built = self.built(false);
        decide(&built.operations, &built, self.budget) == Decision::Unexplained
    }

    /// Takes out what nothing can tell the presence of, and gives the rest the end that clients saw.
    fn finish(mut self, of: usize) -> CounterExample {
        if !self.is_set {
            let tried = self.built(false);
            let matters = Part::new(&tried.operations, &tried.symbols).tasks;
            let mut place = 0;
            for item in
                self.items.iter_mut().filter(|item| matches!(item.state, State::There | State::Opened))
            {
                if item.state == State::Opened && !matters.iter().any(|task| task.operation == place) {
                    item.state = State::Out;
                }
                place += 1;
            }
        }
        let is_out = |&write: &u32| self.items[write as usize].state == State::Out;
        let lacks = |item: &Item| item.state == State::There && item.shows.iter().any(is_out);
        let abridged = self.items.iter().any(lacks) || !self.gone_elements().is_empty();
        CounterExample { history: self.built(true), of, abridged }
    }
}

/// The items as they were at a moment.
fn cut(items: &[Item], moment: u64) -> Vec<Item> {
    let mut items = items.to_vec();
    for item in &mut items {
        let is_under_way = item.original.returned > moment;
        if item.original.invoked > moment || is_under_way && item.original.is_pure() {
            item.state = State::Later;
        } else if is_under_way {
            item.tried = item.tried.opened();
        }
    }
    items
}
