//! The book on clients of a store: texts in place of numbers, the rules after every answer, and the search at the end.

use super::naming::{Answered, Asked, Naming};
use super::record::{LINEARIZABLE, Record};
use super::{Answer, Ask, ClientRules, Once};
use std::borrow::{Borrow, Cow};
use std::collections::BTreeMap;
use whitewater_sim::{ClientOperation, NodeId, OpId, Time, Violation};

/// A token that stands for a value nobody wrote.
const NOBODY: u64 = u64::MAX;

/// A key or a value of a store: a text, which is a list of what was appended with commas between.
pub trait Word: Clone + Ord + Borrow<Self::Part> {
    /// A part of one.
    type Part: Ord + ?Sized;
    /// What was appended, one by one; an empty text has no parts.
    fn parts(&self) -> impl Iterator<Item = &Self::Part>;
    /// The text.
    fn text(&self) -> Cow<'_, str>;
}

impl Word for std::sync::Arc<str> {
    type Part = str;
    fn parts(&self) -> impl Iterator<Item = &str> {
        self.split(',').filter(|part| !part.is_empty())
    }
    fn text(&self) -> Cow<'_, str> {
        Cow::Borrowed(self)
    }
}

/// What an operation does to its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed<T> {
    /// Asks for the value.
    Read,
    /// Gives it this value.
    Put(T),
    /// Adds this to the end.
    Append(T),
    /// Gives it the second value if it has the first.
    Swap(T, T),
}

/// How an operation ended for who asked for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended<T> {
    /// The write took place.
    Done,
    /// What was read, if there was something.
    Value(Option<T>),
    /// There was another value than [`Deed::Swap`] compares with.
    Differs,
    /// It has not taken place and never will.
    Refused,
    /// Nobody knows.
    Unknown,
}

/// A read of what is there when everything is over.
#[derive(Clone, Copy, Debug)]
struct LastRead {
    op: OpId,
    key: u64,
    /// Writes to that key that had been acknowledged when it was asked for.
    acknowledged: usize,
}

/// Texts by number.
#[derive(Clone, Debug)]
struct Texts<T> {
    keys: BTreeMap<T, u64>,
    names: Vec<T>,
    /// The token of every value that was written: the operation that wrote it first.
    tokens: BTreeMap<T, u64>,
}

impl<T: Word> Texts<T> {
    /// The token of a value that an operation writes.
    fn token(&mut self, value: &T, op: OpId) -> u64 {
        if let Some(&known) = self.tokens.get::<T>(value) {
            return known;
        }
        let token = u64::from(op.0);
        self.tokens.insert(value.clone(), token);
        token
    }
}

impl<T: Word> Naming for Texts<T> {
    fn key(&self, key: u64) -> String {
        self.names.get(key as usize).map_or_else(|| format!("key {key}"), |name| name.text().into_owned())
    }

    fn value(&self, token: u64) -> String {
        let written = self.tokens.iter().find(|&(_, &known)| known == token);
        written.map_or_else(|| "(nobody's)".to_owned(), |(text, _)| text.text().into_owned())
    }
}

/// Everything that clients of a store ask and are told, under rules.
#[derive(Clone, Debug)]
pub struct Clients<T> {
    rules: ClientRules,
    texts: Texts<T>,
    record: Record<T>,
    /// What a value that is being read consists of.
    scratch: Vec<u64>,
    last: Vec<LastRead>,
    /// No order is looked for, and so no record kept.
    forgoes_search: bool,
}

impl<T: Word> Clients<T> {
    /// Nothing was asked yet. Reads may return what was there earlier, if `reads_may_be_old`.
    pub fn new(reads_may_be_old: bool) -> Clients<T> {
        let mut rules = ClientRules::new(Once::Claimed);
        if reads_may_be_old {
            for rule in ["acknowledged-kept", "reads-monotonic"] {
                rules.blind(rule).expect("there are such rules");
            }
        }
        Clients {
            rules,
            texts: Texts { keys: BTreeMap::new(), names: Vec::new(), tokens: BTreeMap::new() },
            record: Record::new(reads_may_be_old),
            scratch: Vec::new(),
            last: Vec::new(),
            forgoes_search: false,
        }
    }

    /// Switches off [`LINEARIZABLE`](crate::LINEARIZABLE).
    pub fn forgo_search(&mut self) {
        self.forgoes_search = true;
    }

    /// Gives a search over one key so many steps, and no more than that.
    pub fn search_within(&mut self, steps: u64) {
        self.record.search_within(steps);
    }

    /// The rules over single answers.
    pub fn rules_mut(&mut self) -> &mut ClientRules {
        &mut self.rules
    }

    /// Every key that was asked for.
    pub fn keys(&self) -> &[T] {
        &self.texts.names
    }

    /// Writes that were acknowledged so far.
    pub fn acknowledged(&self) -> u64 {
        self.rules.acknowledged()
    }

    fn key(&mut self, key: &T) -> u64 {
        let Texts { keys, names, .. } = &mut self.texts;
        if let Some(&known) = keys.get::<T>(key) {
            return known;
        }
        names.push(key.clone());
        keys.insert(key.clone(), names.len() as u64 - 1);
        names.len() as u64 - 1
    }

    /// Somebody is told to do something, and begins at once, or when [`Clients::begun`] says so.
    pub fn asked(&mut self, op: OpId, asked: Asked, key: &T, deed: Deed<T>, begins: bool) {
        let number = self.key(key);
        let (ask, value) = match &deed {
            Deed::Read => (Ask::Read, None),
            Deed::Put(value) => (Ask::Put, Some(value)),
            Deed::Append(value) => (Ask::Append, Some(value)),
            Deed::Swap(_, new) => (Ask::Swap, Some(new)),
        };
        let token = value.map_or(0, |value| self.texts.token(value, op));
        self.rules.invoked(op, asked, number, ask, token);
        if self.forgoes_search {
            return;
        }
        self.record.asked(asked.node, op, (key, deed), begins.then_some(asked.at));
    }

    /// An operation that was asked for earlier, or now, has begun.
    #[inline]
    pub fn begun(&mut self, op: OpId, now: Time) {
        self.record.begun(op, now);
    }

    /// What this read returns is what is there when everything is over.
    pub fn is_last(&mut self, op: OpId, key: &T) {
        let key = self.key(key);
        self.last.push(LastRead { op, key, acknowledged: self.rules.acknowledged_to(key) });
    }

    /// An operation ends. What is no operation, as nobody asked for it here, is ignored.
    ///
    /// # Errors
    /// The rule that the answer breaks.
    pub fn told(
        &mut self,
        op: OpId,
        node: NodeId,
        ended: &Ended<T>,
        answered: Answered,
    ) -> Result<(), Violation> {
        if self.rules.asked(op).is_none() {
            return Ok(());
        }
        self.record.told(op, ended, answered.at, answered.index);
        let (rules, texts) = (&mut self.rules, &self.texts);
        match ended {
            Ended::Done => rules.answered(op, Answer::Done, answered, texts),
            Ended::Differs | Ended::Refused => rules.answered(op, Answer::Refused, answered, texts),
            Ended::Unknown => rules.answered(op, Answer::Unknown, answered, texts),
            Ended::Value(value) => {
                self.scratch.clear();
                for part in value.iter().flat_map(Word::parts) {
                    self.scratch.push(texts.tokens.get(part).copied().unwrap_or(NOBODY));
                }
                // Clients that were behind with their work may have gone on meanwhile: then it is a read like others.
                let over =
                    |last: &&LastRead| last.op == op && last.acknowledged == rules.acknowledged_to(last.key);
                if let Some(last) = self.last.iter().find(over) {
                    let asked = rules.asked(op).unwrap_or(Asked { node, at: answered.at });
                    rules.final_value(last.key, &self.scratch, (asked, answered), texts)?;
                }
                rules.answered(op, Answer::Value(&self.scratch), answered, texts)
            }
        }
    }

    /// Whether some order explains all operations on each key, now that the run is over.
    ///
    /// # Errors
    /// The operations that none explains.
    pub fn check(&mut self) -> Result<(), Violation> {
        self.record.check()
    }

    /// Keys for which [`Clients::check`] could not say so within its budget.
    pub fn undecided(&self) -> u64 {
        self.record.undecided()
    }

    /// If this violation is about what clients see: the fewest of their operations that no order explains, as far as they
    /// are known. A rule over single answers is broken only by what no order explains.
    pub fn evidence(&self, violation: &Violation) -> Vec<ClientOperation> {
        let is_of_clients =
            ClientRules::rules().into_iter().chain([LINEARIZABLE]).any(|(name, _)| name == violation.rule);
        if is_of_clients { self.record.evidence() } else { Vec::new() }
    }

    /// Every operation, as JSON lines.
    pub fn to_lines(&self) -> String {
        self.record.to_lines()
    }
}
