//! What clients ask and are told, put into the words of the rules.

use crate::command::{Answer, Command, Operation, Reply, Text};
use std::collections::{BTreeMap, BTreeSet};
use whitewater_check::{Answer as Told, Ask, ClientRules, Once};
use whitewater_sim::{OpId, Violation};

/// A token that stands for a value nobody wrote.
const NOBODY: u64 = u64::MAX;

/// The rules over clients, with numbers for keys and values.
pub(super) struct Clients {
    pub(super) rules: ClientRules,
    keys: BTreeMap<Text, u64>,
    names: Vec<Text>,
    /// The token of every value that was written: the operation that wrote it first.
    tokens: BTreeMap<Text, u64>,
    /// What a value that is being read consists of.
    scratch: Vec<u64>,
    /// Reads of what is there when everything is over.
    last: Vec<LastRead>,
    /// Orders: what comes of them is no business of these rules.
    orders: BTreeSet<OpId>,
}

/// A read of what is there when everything is over.
struct LastRead {
    op: OpId,
    key: u64,
    /// Writes that had been acknowledged when it was asked for.
    acknowledged: u64,
}

impl Clients {
    /// Rules for a run in which reads may return what was there earlier, if `reads_may_be_old`.
    pub(super) fn new(reads_may_be_old: bool) -> Clients {
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
            orders: BTreeSet::new(),
        }
    }

    /// Every key that was asked for.
    pub(super) fn keys(&self) -> &[Text] {
        &self.names
    }

    fn key(&mut self, key: &Text) -> u64 {
        *self.keys.entry(key.clone()).or_insert_with(|| {
            self.names.push(key.clone());
            self.names.len() as u64 - 1
        })
    }

    /// A client, or a server for itself, is told to do something.
    pub(super) fn asked(&mut self, op: OpId, command: &Command) {
        let (Command::Operate(operation) | Command::Insist(operation)) = command else {
            if matches!(command, Command::Order(_)) {
                self.orders.insert(op);
            }
            return;
        };
        let key = self.key(operation.key());
        let (ask, value) = match operation {
            Operation::Get { .. } => (Ask::Read, None),
            Operation::Put { value, .. } => (Ask::Put, Some(value)),
            Operation::Append { value, .. } => (Ask::Append, Some(value)),
            Operation::CompareAndSet { new, .. } => (Ask::Swap, Some(new)),
        };
        let token = value.map_or(0, |value| *self.tokens.entry(value.clone()).or_insert(u64::from(op.0)));
        self.rules.invoked(op, key, ask, token);
    }

    /// What this read returns is what is there when everything is over.
    pub(super) fn is_last(&mut self, op: OpId, key: &Text) {
        let key = self.key(key);
        self.last.push(LastRead { op, key, acknowledged: self.rules.acknowledged() });
    }

    /// It answers.
    pub(super) fn told(&mut self, op: OpId, reply: &Reply) -> Result<(), Violation> {
        match reply {
            Reply::Campaigning | Reply::Obeyed | Reply::Transferring | Reply::Declined | Reply::Abandoned => {
                Ok(())
            }
            Reply::Done(Answer::Changed | Answer::Unfit | Answer::Asked) => Ok(()),
            Reply::Refused | Reply::Unknown if self.orders.contains(&op) => Ok(()),
            Reply::Done(Answer::Written) => self.rules.answered(op, Told::Done),
            Reply::Done(Answer::Differs) | Reply::Refused => self.rules.answered(op, Told::Refused),
            Reply::Unknown => self.rules.answered(op, Told::Unknown),
            Reply::Done(Answer::Value(value)) => {
                self.scratch.clear();
                let bytes = value.as_ref().map_or(&[][..], Text::bytes);
                for part in bytes.split(|&byte| byte == b',').filter(|part| !part.is_empty()) {
                    self.scratch.push(self.tokens.get(part).copied().unwrap_or(NOBODY));
                }
                // Clients that were behind with their work may have gone on meanwhile: then it is a read like others.
                let over = |last: &&LastRead| last.op == op && last.acknowledged == self.rules.acknowledged();
                if let Some(last) = self.last.iter().find(over) {
                    self.rules.final_value(last.key, &self.scratch)?;
                }
                self.rules.answered(op, Told::Value(&self.scratch))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const APPEND: OpId = OpId(0);
    const READ: OpId = OpId(1);

    fn key() -> Text {
        Text::new(b"a")
    }

    /// A client appended x, and was told that it is done.
    fn appended() -> Clients {
        let mut clients = Clients::new(false);
        let append = Operation::Append { key: key(), value: Text::new(b"x") };
        clients.asked(APPEND, &Command::Operate(append));
        clients.told(APPEND, &Reply::Done(Answer::Written)).unwrap();
        clients.asked(READ, &Command::Insist(Operation::Get { key: key() }));
        clients
    }

    /// The rule that an answer to the read breaks.
    fn broken(mut clients: Clients, value: Option<&[u8]>) -> Option<&'static str> {
        let read = Reply::Done(Answer::Value(value.map(Text::new)));
        clients.told(READ, &read).err().map(|violation| violation.rule)
    }

    #[test]
    fn what_clients_are_told_is_held_against_what_they_wrote() {
        assert_eq!(broken(appended(), Some(b"x")), None);
        assert_eq!(broken(appended(), None), Some("acknowledged-kept"));
        assert_eq!(broken(appended(), Some(b"x,y")), Some("no-phantom-value"));
        assert_eq!(broken(appended(), Some(b"x,x")), Some("applied-once"));
    }

    #[test]
    fn what_is_gone_when_everything_is_over_is_not_durable() {
        let mut clients = appended();
        clients.is_last(READ, &key());
        assert_eq!(broken(clients, None), Some("final-durability"));
    }

    #[test]
    fn a_last_read_during_which_somebody_wrote_is_a_read_like_others() {
        let mut clients = appended();
        clients.is_last(READ, &key());
        let late = Operation::Append { key: key(), value: Text::new(b"z") };
        clients.asked(OpId(2), &Command::Operate(late));
        clients.told(OpId(2), &Reply::Done(Answer::Written)).unwrap();
        assert_eq!(broken(clients, None), Some("acknowledged-kept"));
    }
}
