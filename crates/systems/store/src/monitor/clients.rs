//! What clients ask and are told, put into the words of the rules.

use crate::command::{Answer, Command, Operation, Reply, Text};
use std::collections::BTreeMap;
use whitewater_check::{Answer as Told, Ask, ClientRules, Once};
use whitewater_sim::{OpId, Violation};

/// A token that stands for a value nobody wrote.
const NOBODY: u64 = u64::MAX;

/// The rules over clients of any store, with numbers for keys and values.
pub struct Clients {
    rules: ClientRules,
    keys: BTreeMap<Text, u64>,
    names: Vec<Text>,
    /// The token of every value that was written: the operation that wrote it first.
    tokens: BTreeMap<Text, u64>,
    /// What a value that is being read consists of.
    scratch: Vec<u64>,
    /// Reads of what is there when everything is over: operation, key, and the writes acknowledged when it was asked for.
    last: Vec<(OpId, u64, u64)>,
}

impl Clients {
    /// Nothing was asked yet. Reads may return what was there earlier, if `reads_may_be_old`.
    pub fn new(reads_may_be_old: bool) -> Clients {
        let mut rules = ClientRules::new(Once::Claimed);
        if reads_may_be_old {
            for rule in ["acknowledged-kept", "reads-monotonic"] {
                rules.blind(rule).expect("there are such rules");
            }
        }
        Clients {
            rules,
            keys: BTreeMap::new(),
            names: Vec::new(),
            tokens: BTreeMap::new(),
            scratch: Vec::new(),
            last: Vec::new(),
        }
    }

    /// Every key that was asked for.
    pub fn keys(&self) -> &[Text] {
        &self.names
    }

    fn key(&mut self, key: &Text) -> u64 {
        if let Some(known) = self.keys.get(key) {
            return *known;
        }
        let number = self.names.len() as u64;
        self.names.push(key.clone());
        self.keys.insert(key.clone(), number);
        number
    }

    /// A client, or a server for itself, is told to do something.
    pub fn asked(&mut self, op: OpId, command: &Command) {
        let (Command::Operate(operation) | Command::Insist(operation)) = command else { return };
        let key = self.key(operation.key());
        let (ask, value) = match operation {
            Operation::Get(_) => (Ask::Read, None),
            Operation::Put(_, value) => (Ask::Put, Some(value)),
            Operation::Append(_, value) => (Ask::Append, Some(value)),
            Operation::CompareAndSet(_, _, new) => (Ask::Swap, Some(new)),
        };
        let token = value.map_or(0, |value| *self.tokens.entry(value.clone()).or_insert(u64::from(op.0)));
        self.rules.invoked(op, key, ask, token);
    }

    /// What this read returns is what is there when everything is over.
    pub fn is_last(&mut self, op: OpId, key: &Text) {
        let key = self.key(key);
        self.last.push((op, key, self.rules.acknowledged()));
    }

    /// Writes that were acknowledged so far.
    pub fn acknowledged(&self) -> u64 {
        self.rules.acknowledged()
    }

    /// It answers.
    ///
    /// # Errors
    /// The rule that the answer breaks.
    pub fn told(&mut self, op: OpId, reply: &Reply) -> Result<(), Violation> {
        match reply {
            Reply::Campaigning
            | Reply::Transferring
            | Reply::Changing
            | Reply::Requested
            | Reply::Declined => Ok(()),
            Reply::Done(Answer::Written) => self.rules.answered(op, Told::Done),
            Reply::Done(Answer::Differs) | Reply::Refused => self.rules.answered(op, Told::Refused),
            Reply::Unknown => self.rules.answered(op, Told::Unknown),
            Reply::Done(Answer::Value(value)) => {
                self.scratch.clear();
                let text = value.as_deref().unwrap_or_default();
                for part in text.split(',').filter(|part| !part.is_empty()) {
                    self.scratch.push(self.tokens.get(part).copied().unwrap_or(NOBODY));
                }
                // Clients that were behind with their work may have gone on meanwhile: then it is a read like others.
                let over = |last: &&(OpId, u64, u64)| last.0 == op && last.2 == self.rules.acknowledged();
                if let Some((_, key, _)) = self.last.iter().find(over) {
                    self.rules.final_value(*key, &self.scratch)?;
                }
                self.rules.answered(op, Told::Value(&self.scratch))
            }
        }
    }
}
