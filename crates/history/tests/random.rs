//! Small random histories: every way of checking them agrees with every other, and with somebody else's tester.

use stateright::semantics::{ConsistencyTester, LinearizabilityTester, SequentialSpec};
use std::collections::BTreeSet;
use whitewater_history::{
    Ask, Budget, History, Model, NEVER, Operation, Options, Outcome, Symbol, Verdict, certify, check,
    claimed_order, explain, read, write,
};

/// SplitMix64: a test draws the same histories for ever.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x ^ (x >> 31)) % bound
    }
}

/// An object that does one thing after the other.
#[derive(Clone, Debug, Default, PartialEq)]
struct Object {
    value: String,
    set: BTreeSet<String>,
}

/// What is asked of it, in texts.
#[derive(Clone, Debug, PartialEq)]
enum Asked {
    Read,
    Elements,
    Write(String),
    Swap(String, String),
    Append(String),
    Push(String),
    Add(String),
}

/// What it answers.
#[derive(Clone, Debug, PartialEq)]
enum Answer {
    Done,
    Differs,
    Value(String),
    Elements(Vec<String>),
}

impl SequentialSpec for Object {
    type Op = Asked;
    type Ret = Answer;

    fn invoke(&mut self, asked: &Asked) -> Answer {
        match asked {
            Asked::Read => return Answer::Value(self.value.clone()),
            Asked::Elements => return Answer::Elements(self.set.iter().cloned().collect()),
            Asked::Write(value) => self.value = value.clone(),
            Asked::Swap(old, _) if *old != self.value => return Answer::Differs,
            Asked::Swap(_, new) => self.value = new.clone(),
            Asked::Append(text) => self.value += text,
            Asked::Push(text) => {
                let separator = if self.value.is_empty() { "" } else { "," };
                self.value = format!("{}{separator}{text}", self.value);
            }
            Asked::Add(element) => drop(self.set.insert(element.clone())),
        }
        Answer::Done
    }
}

/// What kind of operations a history has.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Register { unique: bool },
    CasRegister,
    Appends { unique: bool },
    Pushes,
    Set,
}

const KINDS: [Kind; 7] = [
    Kind::Register { unique: false },
    Kind::Register { unique: true },
    Kind::CasRegister,
    Kind::Appends { unique: false },
    Kind::Appends { unique: true },
    Kind::Pushes,
    Kind::Set,
];

impl Kind {
    fn model(self) -> Model {
        match self {
            Kind::Register { .. } => Model::Register,
            Kind::CasRegister => Model::CasRegister,
            Kind::Appends { .. } | Kind::Pushes => Model::Kv,
            Kind::Set => Model::Set,
        }
    }

    fn ask(self, number: u64, draws: &mut Draws) -> Asked {
        let unique =
            matches!(self, Kind::Register { unique: true } | Kind::Appends { unique: true } | Kind::Pushes);
        let mut text = || {
            // Of marks without separators none is the beginning of another, or some values could be read in two ways.
            let names = ["a", "b", "c", "aa", "ab"];
            if unique { format!("<{number}>") } else { names[draws.below(5) as usize].to_owned() }
        };
        let (one, other) = (text(), text());
        let reads = draws.below(5) < 2;
        match self {
            Kind::Set if reads => Asked::Elements,
            Kind::Set => Asked::Add(one),
            _ if reads => Asked::Read,
            Kind::CasRegister if draws.below(2) == 0 => Asked::Swap(one, other),
            Kind::Appends { .. } if draws.below(3) > 0 => Asked::Append(one),
            Kind::Pushes if draws.below(3) > 0 => Asked::Push(one),
            _ => Asked::Write(one),
        }
    }
}

/// One operation of a history that is being made.
struct Made {
    asked: Asked,
    answer: Option<Answer>,
}

/// A history of at most `count` operations of at most `processes`, and the order in which they really took place.
fn random(kind: Kind, processes: u64, count: u64, draws: &mut Draws) -> (History, Vec<u32>) {
    let mut object = Object::default();
    let mut history = History::default();
    let mut made: Vec<Made> = Vec::new();
    let mut order = Vec::new();
    // By process its operation that is under way, and whether that has taken place.
    let mut running: Vec<Option<(usize, bool)>> = vec![None; processes as usize];
    let mut now = 0;
    let wrong = draws.below(3) == 0;
    for _ in 0..count * 4 {
        now += 1;
        let process = draws.below(processes) as usize;
        match running[process] {
            None if (made.len() as u64) < count => {
                let asked = kind.ask(made.len() as u64, draws);
                running[process] = Some((made.len(), false));
                history.operations.push(operation(process, &asked, now, &mut history.symbols));
                made.push(Made { asked, answer: None });
            }
            None => {}
            Some((number, false)) => {
                made[number].answer = Some(object.invoke(&made[number].asked));
                order.push(number as u32);
                running[process] = Some((number, true));
            }
            Some((number, true)) => {
                running[process] = None;
                let answer = made[number].answer.clone().expect("it took place");
                let answer =
                    if wrong && draws.below(4) == 0 { made_up(answer, &made, draws) } else { answer };
                if draws.below(8) > 0 {
                    end(&mut history, number, now, &answer);
                }
            }
        }
    }
    (history, order)
}

fn operation(
    process: usize,
    asked: &Asked,
    now: u64,
    symbols: &mut whitewater_history::Symbols,
) -> Operation {
    let ask = match asked {
        Asked::Read | Asked::Elements => Ask::Read,
        Asked::Write(value) => Ask::Write(symbols.of(value)),
        Asked::Swap(old, new) => Ask::Swap(symbols.of(old), symbols.of(new)),
        Asked::Append(text) => Ask::Append(symbols.of(text)),
        Asked::Push(text) => Ask::Push(symbols.of(text)),
        Asked::Add(element) => Ask::Add(symbols.of(element)),
    };
    Operation {
        process: process as u64,
        key: Symbol::NIL,
        ask,
        outcome: Outcome::Unknown,
        invoked: now,
        returned: NEVER,
        place: None,
        lines: [0, 0],
    }
}

/// Another answer of the same kind: what an earlier read may have returned, or something with a piece more or less.
fn made_up(answer: Answer, made: &[Made], draws: &mut Draws) -> Answer {
    match answer {
        Answer::Done => Answer::Done,
        Answer::Differs => Answer::Done,
        Answer::Value(value) => {
            let others = made.iter().filter_map(|made| match (&made.asked, &made.answer) {
                (Asked::Write(text) | Asked::Append(text) | Asked::Push(text), _) => Some(text),
                (_, Some(Answer::Value(value))) => Some(value),
                _ => None,
            });
            let others: Vec<&String> = others.collect();
            let other = others.get(draws.below(others.len().max(1) as u64) as usize).copied();
            match (draws.below(3), other) {
                (0, Some(other)) => Answer::Value(value + other),
                (1, _) => Answer::Value(String::new()),
                (_, other) => Answer::Value(other.cloned().unwrap_or_default()),
            }
        }
        Answer::Elements(mut elements) => {
            if !elements.is_empty() {
                elements.remove(draws.below(elements.len() as u64) as usize);
            }
            Answer::Elements(elements)
        }
    }
}

fn end(history: &mut History, number: usize, now: u64, answer: &Answer) {
    let outcome = match answer {
        Answer::Done => Outcome::Done,
        Answer::Differs => Outcome::Differs,
        Answer::Value(value) => Outcome::Value(history.symbols.of(value)),
        Answer::Elements(elements) => {
            let elements = elements.iter().map(|element| history.symbols.of(element)).collect();
            history.lists.push(elements);
            Outcome::Elements(history.lists.len() as u32 - 1)
        }
    };
    let op = &mut history.operations[number];
    (op.outcome, op.returned) = (outcome, now);
}

/// The verdict of somebody else's tester. Each operation is a thread of its own: time alone orders them.
fn tested(history: &History, is_set: bool) -> bool {
    let text = |symbol: Symbol| history.symbols.text(symbol).to_owned();
    let mut events: Vec<(u64, usize)> = Vec::new();
    for (number, op) in history.operations.iter().enumerate() {
        events.push((op.invoked, number));
        if op.returned != NEVER {
            events.push((op.returned, number));
        }
    }
    events.sort_unstable();
    let mut tester = LinearizabilityTester::new(Object::default());
    for (moment, number) in events {
        let op = &history.operations[number];
        if moment == op.invoked {
            let asked = match op.ask {
                Ask::Read if is_set => Asked::Elements,
                Ask::Read => Asked::Read,
                Ask::Write(value) => Asked::Write(text(value)),
                Ask::Swap(old, new) => Asked::Swap(text(old), text(new)),
                Ask::Append(value) => Asked::Append(text(value)),
                Ask::Push(value) => Asked::Push(text(value)),
                Ask::Add(element) => Asked::Add(text(element)),
            };
            tester.on_invoke(number, asked).unwrap();
            continue;
        }
        let answer = match op.outcome {
            Outcome::Done => Answer::Done,
            Outcome::Differs => Answer::Differs,
            Outcome::Value(value) => Answer::Value(text(value)),
            Outcome::Elements(list) => {
                let mut elements: Vec<String> =
                    history.lists[list as usize].iter().map(|&element| text(element)).collect();
                elements.sort();
                Answer::Elements(elements)
            }
            Outcome::Unknown => unreachable!("nobody knows the end of what never returned"),
        };
        tester.on_return(number, answer).unwrap();
    }
    tester.is_consistent()
}

/// Checks a history in every way there is; what they agree on.
fn agreed(history: &History, kind: Kind) -> bool {
    let is_set = kind == Kind::Set;
    let expected = tested(history, is_set);
    match check(history, Options::new(kind.model())) {
        Verdict::Linearizable => assert!(expected, "{kind:?} {history:?}"),
        Verdict::Unknown => panic!("undecided: {history:?}"),
        Verdict::Violation(counter_example) => {
            assert!(!expected, "{kind:?} {history:?}");
            assert!(!tested(&counter_example.history, is_set), "{kind:?} {history:?}\n{counter_example}");
        }
    }
    if !is_set {
        let order = explain(history, Budget::default()).expect("small histories are decided");
        assert_eq!(order.is_some(), expected, "{kind:?} {history:?}");
        if let Some(order) = order {
            certify(history, &order).unwrap_or_else(|why| panic!("{why}: {order:?} {history:?}"));
        }
    }
    expected
}

#[test]
fn certificate_search_and_another_tester_agree_on_100_000_histories() {
    let mut draws = Draws(7);
    let mut verdicts = [[0u32; 2]; KINDS.len()];
    for number in 0..100_000 {
        let kind = KINDS[number % KINDS.len()];
        let (processes, count) = (2 + draws.below(3), 3 + draws.below(6));
        let (history, order) = random(kind, processes, count, &mut draws);
        let is_explained = agreed(&history, kind);
        // The order in which things really took place is a certificate, unless answers were made up.
        assert!(is_explained || certify(&history, &order).is_err(), "{history:?}");
        verdicts[number % KINDS.len()][usize::from(is_explained)] += 1;
    }
    for (kind, [broken, fine]) in KINDS.iter().zip(verdicts) {
        assert!(broken > 500 && fine > 5_000, "{kind:?}: {broken} broken, {fine} fine");
    }
}

#[test]
fn many_equal_operations_at_once_are_decided_as_another_tester_decides_them() {
    let mut draws = Draws(23);
    let mut verdicts = [0u32; 2];
    for number in 0..3_000 {
        let kind = [Kind::CasRegister, Kind::Register { unique: false }][number % 2];
        let (processes, count) = (5 + draws.below(2), 7 + draws.below(3));
        let (history, _) = random(kind, processes, count, &mut draws);
        verdicts[usize::from(agreed(&history, kind))] += 1;
    }
    assert!(verdicts[0] > 100 && verdicts[1] > 1_000, "{verdicts:?}");
}

/// What one key of a store may see: thousands of operations, thirty at once, hundreds of them without an end.
#[test]
fn long_histories_with_many_operations_at_once_are_decided_within_few_steps() {
    let mut draws = Draws(29);
    let budget = Budget { configurations: 200_000, steps: 20_000_000 };
    for number in 0..12 {
        let kind = [Kind::CasRegister, Kind::Register { unique: false }][number % 2];
        let (history, order) = random(kind, 30, 3_000, &mut draws);
        let open = history.operations.iter().filter(|op| op.returned == NEVER).count();
        assert!(open > 200, "{open}");
        let found = explain(&history, budget).unwrap_or_else(|_| panic!("history {number} is undecided"));
        if certify(&history, &order).is_ok() {
            assert!(found.is_some(), "the order in which things took place explains history {number}");
        }
        if let Some(order) = found {
            assert_eq!(certify(&history, &order), Ok(()), "history {number}");
        }
    }
}

#[test]
fn a_certificate_in_which_two_operations_are_swapped_is_refused_where_time_or_answers_tell() {
    let mut draws = Draws(11);
    let (mut refused, mut tried) = (0, 0);
    while tried < 2_000 {
        let (history, mut order) = random(Kind::Appends { unique: true }, 3, 8, &mut draws);
        if order.len() < 2 || certify(&history, &order).is_err() {
            continue;
        }
        tried += 1;
        let at = draws.below(order.len() as u64 - 1) as usize;
        let of = |number: u32| &history.operations[number as usize];
        let (first, second) = (of(order[at]), of(order[at + 1]));
        let time_tells = first.returned < second.invoked;
        order.swap(at, at + 1);
        let outcome = certify(&history, &order);
        assert!(!time_tells || outcome.is_err(), "{order:?} {history:?}");
        refused += u32::from(outcome.is_err());
    }
    assert!(refused > 500, "{refused}");
}

#[test]
fn a_history_survives_being_written_and_read() {
    let mut draws = Draws(3);
    for number in 0..2_000 {
        let kind = KINDS[number % KINDS.len()];
        let (history, _) = random(kind, 3, 6, &mut draws);
        if history.operations.is_empty() {
            continue;
        }
        let text = write(&history, |moment| Some(moment * 1_000));
        let again = read(&text, kind.model()).unwrap_or_else(|why| panic!("{why}\n{text}"));
        assert_eq!(write(&again, |_| None), write(&history, |_| None));
    }
}

/// A million operations of a hundred clients, in a log that says where each stands.
#[test]
fn a_long_history_is_certified_in_the_order_of_its_log_and_in_no_other() {
    const OPERATIONS: u64 = 1_000_000;
    const CLIENTS: u64 = 100;
    let mut draws = Draws(5);
    let mut history = History::default();
    let mut values = vec![Symbol::NIL; 1_000];
    for number in 0..OPERATIONS {
        let key = draws.below(values.len() as u64) as usize;
        let reads = draws.below(2) == 0;
        let value = if reads { values[key] } else { history.symbols.of(&format!("v{number}")) };
        values[key] = value;
        history.operations.push(Operation {
            process: number % CLIENTS,
            key: history.symbols.of(&format!("k{key}")),
            ask: if reads { Ask::Read } else { Ask::Write(value) },
            outcome: if reads { Outcome::Value(value) } else { Outcome::Done },
            // Each operation overlaps those of all other clients that stand just before and behind it.
            invoked: 2 * number + 1,
            returned: 2 * (number + CLIENTS),
            place: Some(number),
            lines: [0, 0],
        });
    }
    let order = claimed_order(&history).expect("every operation has a place");
    assert_eq!(certify(&history, &order), Ok(()));
    // The first write, at the end of all: whatever began after its end stands before it.
    history.operations[0].place = Some(OPERATIONS);
    let order = claimed_order(&history).expect("every operation has a place");
    assert!(certify(&history, &order).is_err());
}
