//! What clients may expect of a register of writes: nothing invented, nothing lost, nothing taken back.
//!
//! A key holds a list of writes: one that put its value, then those that appended. Every write has a token of its own, so a
//! value read tells which writes it shows. Order of calls is order of time.

mod book;
mod history;
mod naming;
pub(crate) mod record;
#[cfg(test)]
pub(crate) mod tests;
mod value;

pub use book::{Clients, Deed, Ended, Word};
pub use history::{Answer, Ask, Once};
pub use naming::{Answered, Asked, Naming};
pub use record::LINEARIZABLE;

use history::{CLIENT_RULES, History, NEVER, Operation, State};
use std::collections::BTreeMap;
use value::{KeyBook, Reading, Value};
use whitewater_sim::{OpId, Violation};

/// The rules over what clients see.
#[derive(Clone, Debug)]
pub struct ClientRules {
    history: History,
    keys: BTreeMap<u64, KeyBook>,
    open: usize,
    acknowledged: u64,
}

impl ClientRules {
    /// Rules for an empty store.
    pub fn new(once: Once) -> ClientRules {
        ClientRules {
            history: History {
                once,
                blind: 0,
                now: 0,
                operations: Vec::new(),
                writes: BTreeMap::new(),
                before: BTreeMap::new(),
            },
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
        self.history.blind |= 1 << rule.number;
        Ok(())
    }

    /// Switches every rule off but this one; all of them if it is none of these.
    pub fn blind_all_but(&mut self, name: &str) {
        for rule in CLIENT_RULES.iter().filter(|rule| rule.name != name) {
            self.history.blind |= 1 << rule.number;
        }
    }

    /// Somebody was told to do something. `token` names a write; of a read it means nothing. A token given to two writes is
    /// known, but neither of them is missed if it is lost. An operation that began before is not begun again.
    pub fn invoked(&mut self, op: OpId, asked: Asked, key: u64, ask: Ask, token: u64) {
        self.history.now += 1;
        let number = op.0 as usize;
        if number >= self.history.operations.len() {
            self.history.operations.resize(number + 1, None);
        }
        if self.history.operations[number].is_some() {
            return;
        }
        let begun = Operation::begun((key, ask, token), self.history.now, asked);
        self.history.operations[number] = Some(begun);
        self.open += 1;
        let book = self.keys.entry(key).or_default();
        if ask == Ask::Read {
            return;
        }
        if let Some(before) = self.history.writes.insert(token, op) {
            self.history.before.entry(token).or_default().push(before);
            book.shares(token);
            let other = self.history.operation(before).key;
            if other != key {
                self.keys.entry(other).or_default().shares(token);
            }
        }
    }

    /// A client's operation ended. An answer to one that has ended is ignored, unless it was [`Answer::Unknown`] so far.
    ///
    /// # Errors
    /// The rule that a value read breaks. Panics if the operation never began.
    pub fn answered(
        &mut self,
        op: OpId,
        answer: Answer<'_>,
        answered: Answered,
        naming: &dyn Naming,
    ) -> Result<(), Violation> {
        self.history.now += 1;
        let slot = self.history.operations.get_mut(op.0 as usize).and_then(Option::as_mut);
        let operation = slot.expect("an operation begins before it is answered");
        if !matches!(operation.state, State::Open | State::Unknown) {
            return Ok(());
        }
        self.open -= usize::from(operation.state == State::Open);
        (operation.state, operation.done) = match answer {
            Answer::Done | Answer::Value(_) => (State::Done, self.history.now),
            Answer::Refused => (State::Refused, NEVER),
            Answer::Unknown => (State::Unknown, NEVER),
        };
        operation.answer(answered);
        let operation = *operation;
        match answer {
            Answer::Value(tokens) => {
                let (key, invoked) = (operation.key, operation.invoked);
                let reading = Reading { asked: operation.asked(), answered };
                let value = Value { key, tokens, invoked, reading, naming, is_final: false };
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
    pub fn final_value(
        &mut self,
        key: u64,
        tokens: &[u64],
        (asked, answered): (Asked, Answered),
        naming: &dyn Naming,
    ) -> Result<(), Violation> {
        self.history.now += 1;
        let (invoked, reading) = (self.history.now, Reading { asked, answered });
        self.check(&Value { key, tokens, invoked, reading, naming, is_final: true })
    }

    /// By whom an operation was asked for, and when, if it was.
    pub(crate) fn asked(&self, op: OpId) -> Option<Asked> {
        Some(self.history.operations.get(op.0 as usize)?.as_ref()?.asked())
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

    /// Writes to a key that were acknowledged.
    pub(crate) fn acknowledged_to(&self, key: u64) -> usize {
        self.keys.get(&key).map_or(0, |book| book.acknowledged.len())
    }

    fn check(&mut self, value: &Value<'_>) -> Result<(), Violation> {
        value.check(&self.history, self.keys.entry(value.key).or_default())
    }
}
