//! What clients may expect of a register of writes: nothing invented, nothing lost, nothing taken back.
//!
//! A key holds a list of writes: one that put its value, then those that appended. Every write has a token of its own, so a
//! value read tells which writes it shows. Order of calls is order of time.

use crate::client_value::{KeyBook, Value};
use std::collections::BTreeMap;
use whitewater_sim::{OpId, Violation};

/// What an operation asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// The value of the key.
    Read,
    /// Another value in place of the present one.
    Put,
    /// Another value in place of the present one if that is a certain one. If it is not, the answer is
    /// [`Answer::Refused`].
    Swap,
    /// More at the end of the value.
    Append,
}

/// How an operation ended for its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<'a> {
    /// The write took place.
    Done,
    /// The write has not taken place and never will. A write that was sent more than once is only refused if every
    /// sending was; else its end is unknown.
    Refused,
    /// The client does not know and does not wait any longer.
    Unknown,
    /// What was read: tokens in the order in which they stand.
    Value(&'a [u64]),
}

/// Whether a write that its client sends several times takes effect once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Once {
    /// The system says so.
    Claimed,
    /// It does not: a write may stand in a value several times.
    NotClaimed,
}

/// One operation. Moments are numbers of calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation {
    pub(crate) key: u64,
    pub(crate) ask: Ask,
    pub(crate) token: u64,
    pub(crate) invoked: u64,
    /// When it was answered with [`Answer::Done`] or [`Answer::Value`]; never as long as it was not.
    pub(crate) done: u64,
    pub(crate) state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Open,
    Done,
    Refused,
    Unknown,
}

/// A moment that has not come.
pub(crate) const NEVER: u64 = u64::MAX;

macro_rules! client_rules {
    ($($name:ident = ($number:literal, $text:literal, $claim:literal),)*) => {
        $(pub(crate) const $name: ClientRule = ClientRule { number: $number, name: $text, claim: $claim };)*
        const CLIENT_RULES: &[ClientRule] = &[$($name),*];
    };
}

/// A rule over what clients see.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientRule {
    number: u8,
    name: &'static str,
    claim: &'static str,
}

client_rules! {
    NO_PHANTOM = (0, "no-phantom-value", "A read returns only what somebody wrote to that key."),
    APPLIED_ONCE = (1, "applied-once", "A write takes effect once, however often its client sends it."),
    WRITES_IN_ORDER =
        (2, "writes-in-order", "A write that was acknowledged before another began stands before it."),
    ACKNOWLEDGED_KEPT =
        (3, "acknowledged-kept", "A read returns every write to its key acknowledged before it began."),
    READS_MONOTONIC =
        (4, "reads-monotonic", "A read returns nothing older than what a read before it returned."),
    FINAL_DURABILITY =
        (5, "final-durability", "In the end, after a power cycle, every acknowledged write is there."),
}

/// The rules over what clients see.
#[derive(Clone, Debug)]
pub struct ClientRules {
    pub(crate) once: Once,
    blind: u8,
    /// Number of calls so far.
    pub(crate) now: u64,
    /// By number of the operation.
    operations: Vec<Option<Operation>>,
    /// Operation of each token.
    pub(crate) writes: BTreeMap<u64, OpId>,
    keys: BTreeMap<u64, KeyBook>,
    open: usize,
    acknowledged: u64,
}

impl ClientRules {
    /// Rules for an empty store.
    pub fn new(once: Once) -> ClientRules {
        ClientRules {
            once,
            blind: 0,
            now: 0,
            operations: Vec::new(),
            writes: BTreeMap::new(),
            keys: BTreeMap::new(),
            open: 0,
            acknowledged: 0,
        }
    }

    /// Name and claim of each rule.
    pub fn rules() -> Vec<(&'static str, &'static str)> {
        CLIENT_RULES.iter().map(|rule| (rule.name, rule.claim)).collect()
    }

    /// Switches a rule off, so that a test can show what is missed without it.
    ///
    /// # Errors
    /// There is no such rule; the text lists those there are.
    pub fn blind(&mut self, name: &str) -> Result<(), String> {
        let Some(rule) = CLIENT_RULES.iter().find(|rule| rule.name == name) else {
            let names: Vec<&str> = CLIENT_RULES.iter().map(|rule| rule.name).collect();
            return Err(format!("there is no rule `{name}`; there are {}", names.join(", ")));
        };
        self.blind |= 1 << rule.number;
        Ok(())
    }

    /// A client began an operation. `token` names a write; of a read it means nothing. A token given to two writes is
    /// known, but neither of them is missed if it is lost. An operation that began before is not begun again.
    pub fn invoked(&mut self, op: OpId, key: u64, ask: Ask, token: u64) {
        self.now += 1;
        let number = op.0 as usize;
        if number >= self.operations.len() {
            self.operations.resize(number + 1, None);
        }
        if self.operations[number].is_some() {
            return;
        }
        let begun = Operation { key, ask, token, invoked: self.now, done: NEVER, state: State::Open };
        self.operations[number] = Some(begun);
        self.open += 1;
        let book = self.keys.entry(key).or_default();
        if ask != Ask::Read && self.writes.insert(token, op).is_some() {
            book.shared_tokens.push(token);
        }
    }

    /// A client's operation ended. An answer to one that has ended is ignored, unless it was [`Answer::Unknown`] so far.
    ///
    /// # Errors
    /// The rule that a value read breaks. Panics if the operation never began.
    pub fn answered(&mut self, op: OpId, answer: Answer<'_>) -> Result<(), Violation> {
        self.now += 1;
        let slot = self.operations.get_mut(op.0 as usize).and_then(Option::as_mut);
        let operation = slot.expect("an operation begins before it is answered");
        if !matches!(operation.state, State::Open | State::Unknown) {
            return Ok(());
        }
        self.open -= usize::from(operation.state == State::Open);
        (operation.state, operation.done) = match answer {
            Answer::Done | Answer::Value(_) => (State::Done, self.now),
            Answer::Refused => (State::Refused, NEVER),
            Answer::Unknown => (State::Unknown, NEVER),
        };
        let operation = *operation;
        match answer {
            Answer::Value(tokens) => {
                let value = Value { key: operation.key, tokens, invoked: operation.invoked, is_final: false };
                self.check(&value)
            }
            Answer::Done if operation.ask != Ask::Read => {
                self.acknowledged += 1;
                self.keys.entry(operation.key).or_default().acknowledged.push(op);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// What a server holds under `key` when everything is over; no tokens if nothing.
    ///
    /// # Errors
    /// The rule that it breaks.
    pub fn final_value(&mut self, key: u64, tokens: &[u64]) -> Result<(), Violation> {
        self.now += 1;
        self.check(&Value { key, tokens, invoked: self.now, is_final: true })
    }

    /// All keys that were ever asked for.
    pub fn keys(&self) -> impl Iterator<Item = u64> + '_ {
        self.keys.keys().copied()
    }

    /// Operations that began and have not ended.
    pub fn open(&self) -> usize {
        self.open
    }

    /// Writes that were acknowledged.
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    pub(crate) fn operation(&self, op: OpId) -> &Operation {
        self.operations[op.0 as usize].as_ref().expect("only operations that began are remembered")
    }

    fn check(&mut self, value: &Value<'_>) -> Result<(), Violation> {
        let mut book = self.keys.remove(&value.key).unwrap_or_default();
        let result = value.check(self, &mut book);
        self.keys.insert(value.key, book);
        result
    }

    /// A violation of `rule`, unless that is switched off.
    pub(crate) fn broken(&self, rule: ClientRule, message: impl FnOnce() -> String) -> Result<(), Violation> {
        if self.blind & 1 << rule.number != 0 {
            return Ok(());
        }
        Err(Violation { rule: rule.name, claim: rule.claim, message: message(), node: None, peer: None })
    }
}
