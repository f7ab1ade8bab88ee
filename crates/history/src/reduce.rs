//! Reduces a history that no order explains to the fewest operations that show it.
//!
//! A part of a history may be inexplicable only because of what was left out: a read of a value whose write is gone. So
//! only such changes are made as turn every history with an explanation into another one with an explanation:
//!
//! * what lies after a moment is left out, and of what was under way then nobody knows the end;
//! * what lies before a moment is left out, and any value may be there; again nobody knows what became of what was under way;
//! * a read or a failed comparison is left out;
//! * of a write nobody knows the end any more; and if nothing that is left can tell whether it took place, it goes;
//! * where every write leaves a mark of its own, an append and its mark in all values read go together, and so do an
//!   element of a set and all that was read of it.

use crate::decide::{Decision, decide, is_inexplicable_from_anything};
use crate::operation::{Ask, History, NEVER, Operation, Outcome, Symbol};
use crate::part::Part;
use crate::search::Budget;
use crate::unique::{Piece, readings};
use std::collections::BTreeMap;

/// Operations that no order explains, and of which none can do without.
#[derive(Clone, Debug)]
pub struct CounterExample {
    /// The operations. Values that were read may lack what is not needed.
    pub history: History,
    /// Those among them, by their places, that are there only because they might explain the others, and do not.
    pub in_vain: Vec<u32>,
    /// How many operations there were on this object.
    pub of: usize,
    /// Whether parts of values were left out.
    pub abridged: bool,
    /// Whether no order explains them even if the value before them is anything.
    pub from_anything: bool,
}

/// Most histories to try.
const TRIALS_MAX: u32 = 4_000;
/// How much the search in one of them may do, in the searches of a reduction: opened writes make searches long.
const TRIAL: Budget = Budget { configurations: 20_000, steps: 200_000 };
/// How much all of them may do: about a second.
const STEPS_MAX: u64 = 2_000_000;

/// Reduces operations on one object that no order explains. `stuck` is the moment at which a search got no further.
pub(crate) fn reduce(operations: &[Operation], history: &History, stuck: Option<u64>) -> CounterExample {
    let mut reduction = Reduction::new(operations, history);
    reduction.cut_after(stuck);
    reduction.cut_before();
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
    /// The pieces of its value, where every write leaves a mark; of writes by their items.
    shows: Vec<Piece>,
    /// The first write that leaves the same mark, by its item; itself if there is none.
    alike: u32,
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
    /// It is out because it lies before or after everything else or does not matter; what was read of it stays.
    Beyond,
}

struct Reduction<'a> {
    history: &'a History,
    items: Vec<Item>,
    /// Every write leaves a mark of its own, so that it can be left out together with it.
    has_marks: bool,
    is_set: bool,
    /// What was before is left out, so that the first value may be anything.
    from_anything: bool,
    trials: u32,
    steps_left: u64,
}

impl<'a> Reduction<'a> {
    fn new(operations: &[Operation], history: &'a History) -> Reduction<'a> {
        let is_set = operations.iter().any(|op| matches!(op.ask, Ask::Add(_)))
            || operations.iter().any(|op| matches!(op.outcome, Outcome::Elements(_)));
        let shown = if is_set { None } else { readings(operations, &history.symbols) };
        let has_marks = shown.is_some();
        let mut shown = shown.unwrap_or_default().into_iter();
        let mut alike: BTreeMap<Symbol, u32> = BTreeMap::new();
        let mut item = |(number, &op): (usize, &Operation)| {
            let shows = shown.next().unwrap_or_default();
            let number = number as u32;
            let alike = match op.ask {
                Ask::Write(text) | Ask::Append(text) | Ask::Push(text) => {
                    *alike.entry(text).or_insert(number)
                }
                _ => number,
            };
            Item { original: op, tried: op, shows, alike, state: State::There }
        };
        let items = operations.iter().enumerate().map(&mut item).collect();
        Reduction {
            history,
            items,
            has_marks,
            is_set,
            from_anything: false,
            trials: 0,
            steps_left: STEPS_MAX,
        }
    }

    fn count(&self) -> usize {
        self.items.iter().filter(|item| item.state == State::There).count()
    }

    /// Cuts off all that is later than it has to be.
    fn cut_after(&mut self, stuck: Option<u64>) {
        let mut moments: Vec<u64> = self.items.iter().map(|item| item.original.returned).collect();
        moments.retain(|&moment| moment != NEVER);
        moments.sort_unstable();
        let whole = self.items.clone();
        if let Some(stuck) = stuck {
            self.items = cut(&whole, stuck);
            if self.is_inexplicable() {
                return;
            }
        }
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

    /// Cuts off all that is earlier than it has to be, where any value may have been there before.
    fn cut_before(&mut self) {
        if self.has_marks || self.is_set {
            return;
        }
        let mut moments: Vec<u64> = self.items.iter().map(|item| item.tried.returned).collect();
        moments.retain(|&moment| moment != NEVER);
        moments.sort_unstable();
        let whole = self.items.clone();
        self.from_anything = true;
        // The last `broken` returns are inexplicable whatever was before; the last `fine` may have an explanation. A few
        // are soon tried, so the number that is needed is approached from there.
        let (mut fine, mut broken) = (0, 1);
        let last = |count: usize| cut_start(&whole, moments[moments.len() - 1 - count]);
        loop {
            if broken >= moments.len() {
                (self.items, self.from_anything) = (whole, false);
                return;
            }
            self.items = last(broken);
            if self.is_inexplicable() {
                break;
            }
            (fine, broken) = (broken, broken * 2);
        }
        while broken - fine > 1 {
            let middle = fine.midpoint(broken);
            self.items = last(middle);
            if self.is_inexplicable() { broken = middle } else { fine = middle }
        }
        self.items = last(broken);
    }

    /// Leaves out as many of a kind as can be, large groups of them first.
    fn leave_out(&mut self, kind: Kind) {
        let mut units = self.units(kind);
        let mut size = units.len().div_ceil(2);
        while size > 0 && !units.is_empty() {
            let mut kept = Vec::with_capacity(units.len());
            for group in units.chunks(size) {
                let numbers: Vec<usize> = group.iter().flatten().map(|&number| number as usize).collect();
                let before: Vec<Item> = numbers.iter().map(|&n| self.items[n].clone()).collect();
                group.iter().for_each(|unit| self.drop_unit(unit));
                if self.trials >= TRIALS_MAX || !self.is_inexplicable() {
                    numbers.iter().zip(before).for_each(|(&n, item)| self.items[n] = item);
                    kept.extend_from_slice(group);
                }
            }
            units = kept;
            size = if size == 1 { 0 } else { size.div_ceil(2) };
        }
    }

    /// What can only be left out together: each operation by itself, but for writes that leave the same mark.
    fn units(&self, kind: Kind) -> Vec<Vec<u32>> {
        let is_kind = |item: &Item| item.original.is_pure() == (kind == Kind::Pure);
        let mut units: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (item, number) in self.items.iter().zip(0..) {
            if item.state == State::There && is_kind(item) {
                let unit = if self.has_marks { item.alike } else { number };
                units.entry(unit).or_default().push(number);
            }
        }
        units.into_values().collect()
    }

    fn drop_unit(&mut self, unit: &[u32]) {
        let of = |&number: &u32| &self.items[number as usize];
        let is_append = |item: &Item| matches!(item.tried.ask, Ask::Append(_) | Ask::Push(_));
        let is_pure = unit.iter().map(of).all(|item| item.original.is_pure());
        let go_with_their_mark = self.has_marks && unit.iter().map(of).all(is_append);
        for &number in unit {
            let item = &mut self.items[number as usize];
            item.state = if is_pure || go_with_their_mark { State::Out } else { State::Opened };
            if item.state == State::Opened {
                item.tried = item.tried.opened();
            }
        }
    }

    /// The items that are left as a history, `original` as clients saw them.
    fn built(&self, original: bool) -> History {
        let mut built = History::default();
        let gone = self.gone_elements();
        let is_left = |item: &&Item| match (item.state, item.original.ask) {
            (State::Out | State::Beyond, _) => false,
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
                Outcome::Value(_) if item.shows.iter().any(|piece| self.is_out(piece)) => {
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

    /// Whether it adds an element of a set that was left out.
    fn is_gone(&self, item: &Item) -> bool {
        matches!(item.original.ask, Ask::Add(element) if item.state == State::Opened
            && self.gone_elements().binary_search(&element).is_ok())
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
        let (mut gone, there) = (added(&[State::Opened]), added(&[State::There, State::Beyond]));
        gone.retain(|element| there.binary_search(element).is_err());
        gone
    }

    /// The value that a read returned, without the marks of writes that were left out.
    fn abridged(&self, read: &Item) -> String {
        let mut value = String::new();
        let is_separated = self.items.iter().any(|item| matches!(item.original.ask, Ask::Push(_)));
        for piece in read.shows.iter().filter(|piece| !self.is_out(piece)) {
            if is_separated && !value.is_empty() {
                value.push(',');
            }
            match piece {
                Piece::Foreign(text) => value.push_str(text),
                Piece::Mark(write) => match self.items[*write as usize].original.ask {
                    Ask::Write(text) | Ask::Append(text) | Ask::Push(text) => {
                        value.push_str(self.history.symbols.text(text));
                    }
                    _ => unreachable!("only writes leave marks"),
                },
            }
        }
        value
    }

    fn is_out(&self, piece: &Piece) -> bool {
        matches!(piece, Piece::Mark(write) if self.items[*write as usize].state == State::Out)
    }

    fn is_inexplicable(&mut self) -> bool {
        self.trials += 1;
        let built = self.built(false);
        let mut trial = Budget { steps: TRIAL.steps.min(self.steps_left), ..TRIAL };
        let granted = trial.steps;
        let is_inexplicable = if self.from_anything {
            is_inexplicable_from_anything(&built.operations, &built, &mut trial)
        } else {
            matches!(decide(&built.operations, &built, &mut trial), Decision::Unexplained(_))
        };
        self.steps_left -= granted - trial.steps;
        is_inexplicable
    }

    /// Takes out what nothing can tell the presence of, and gives the rest the end that clients saw.
    fn finish(mut self, of: usize) -> CounterExample {
        if !self.is_set {
            let tried = self.built(false);
            let matters = Part::new(&tried.operations, &tried.symbols).tasks;
            let is_left = |item: &&mut Item| matches!(item.state, State::There | State::Opened);
            for (item, place) in self.items.iter_mut().filter(is_left).zip(0..) {
                if item.state == State::Opened && !matters.iter().any(|task| task.operation == place) {
                    // Its mark stays, where a read shows one that this write cannot explain.
                    item.state = State::Beyond;
                }
            }
        }
        let lacks =
            |item: &Item| item.state == State::There && item.shows.iter().any(|piece| self.is_out(piece));
        let abridged = self.items.iter().any(lacks) || !self.gone_elements().is_empty();
        let left = self.items.iter().filter(|item| matches!(item.state, State::There | State::Opened));
        let left = left.filter(|item| !self.is_gone(item));
        let in_vain = left.zip(0..).filter(|(item, _)| item.tried.outcome == Outcome::Unknown);
        let in_vain = in_vain.map(|(_, place)| place).collect();
        CounterExample { history: self.built(true), in_vain, of, abridged, from_anything: self.from_anything }
    }
}

/// The items without what was over at a moment. What was under way then may have taken place before it.
fn cut_start(items: &[Item], moment: u64) -> Vec<Item> {
    let mut items = items.to_vec();
    for item in items.iter_mut().filter(|item| item.original.invoked < moment) {
        if item.tried.returned <= moment || item.original.is_pure() {
            item.state = State::Beyond;
        } else {
            item.tried = item.tried.opened();
        }
    }
    items
}

/// The items as they were at a moment.
fn cut(items: &[Item], moment: u64) -> Vec<Item> {
    let mut items = items.to_vec();
    for item in &mut items {
        let is_under_way = item.original.returned > moment;
        if item.original.invoked > moment || is_under_way && item.original.is_pure() {
            item.state = State::Beyond;
        } else if is_under_way {
            item.tried = item.tried.opened();
        }
    }
    items
}
