//! The state machine: values by key, and the last request of every client with its answer.

use crate::bytes::Bytes;
use crate::command::{Answer, Text};
use crate::proposal::{Author, Verb, decode, word};
use std::collections::BTreeMap;
use whitewater_raft::Payload;
use whitewater_sim::{CLIENTS_MAX, Key};

/// What an entry came to when it was applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Applied {
    /// Who had asked for it.
    pub(crate) author: Author,
    /// The number of the request.
    pub(crate) number: u64,
    /// The answer; `None` if the client had gone on to a later request before this one came.
    pub(crate) answer: Option<Answer>,
}

/// A value: the end of the entry that put it, or grown by appending.
#[derive(Clone, Debug)]
enum Value {
    Put { entry: Payload, start: usize },
    Grown(Vec<u8>),
}

impl Value {
    fn bytes(&self) -> &[u8] {
        match self {
            Value::Put { entry, start } => &entry[*start..],
            Value::Grown(bytes) => bytes,
        }
    }

    /// Adds to it, behind a comma if there is something already.
    fn grow(&mut self, added: &[u8]) {
        if let Value::Put { .. } = self {
            *self = Value::Grown(self.bytes().to_vec());
        }
        if let Value::Grown(bytes) = self {
            if !bytes.is_empty() {
                bytes.push(b',');
            }
            bytes.extend_from_slice(added);
        }
    }
}

#[derive(Clone, Debug)]
struct Cell {
    value: Value,
    /// Stands for the value, by the entries that made it.
    hash: u64,
    /// Stands for the key.
    name: u64,
}

impl Cell {
    fn whole(&self) -> u64 {
        mix(self.name, self.hash)
    }
}

/// The last request of a client that was applied.
#[derive(Clone, Debug)]
struct Last {
    number: u64,
    answer: Answer,
}

/// The replicated state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Machine {
    cells: BTreeMap<Box<[u8]>, Cell>,
    clients: [Option<Last>; CLIENTS_MAX],
    hash: u64,
}

/// Mixes two words into one.
#[inline]
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    Key::default().at(a, b)
}

impl Machine {
    /// Applies a committed entry. `None` for an entry that asks for nothing.
    pub(crate) fn apply(&mut self, entry: &Payload) -> Option<Applied> {
        let proposal = decode(entry)?;
        Some(self.once(proposal.author, proposal.number, |machine| {
            machine.carry_out(entry, proposal.key, proposal.verb)
        }))
    }

    /// Applies a committed change of the membership by its context; `carry_out` does what the change says. `None` if nobody
    /// has asked for it.
    pub(crate) fn apply_change(
        &mut self,
        context: &[u8],
        carry_out: impl FnOnce() -> Answer,
    ) -> Option<Applied> {
        let proposal = decode(context)?;
        Some(self.once(proposal.author, proposal.number, |_| carry_out()))
    }

    /// Carries out a request unless it was carried out or given up before.
    fn once(
        &mut self,
        author: Author,
        number: u64,
        carry_out: impl FnOnce(&mut Machine) -> Answer,
    ) -> Applied {
        let Author::Client(client) = author else {
            return Applied { author, number, answer: Some(carry_out(self)) };
        };
        let client = usize::from(client);
        if let Some(last) = &self.clients[client]
            && last.number >= number
        {
            // Applied before: a client retries with the same number, and gives up a number for ever when it goes on.
            let answer = (last.number == number).then(|| last.answer.clone());
            return Applied { author, number, answer };
        }
        let answer = carry_out(self);
        let before = self.clients[client].as_ref().map_or(0, |last| last.number);
        self.hash ^= seat(client, before) ^ seat(client, number);
        self.clients[client] = Some(Last { number, answer: answer.clone() });
        Applied { author, number, answer: Some(answer) }
    }

    fn carry_out(&mut self, entry: &Payload, key: &[u8], verb: Verb<'_>) -> Answer {
        match verb {
            Verb::Get => return Answer::Value(self.get(key)),
            // An entry of its own kind, which does not come here.
            Verb::Change => return Answer::Unfit,
            Verb::CompareAndSet { old, .. } if self.cells.get(key).is_none_or(|c| c.value.bytes() != old) => {
                return Answer::Differs;
            }
            Verb::Put(value) | Verb::CompareAndSet { new: value, .. } => {
                let start = entry.len() - value.len();
                self.change(key, |cell| {
                    cell.value = Value::Put { entry: entry.clone(), start };
                    cell.hash = word(entry);
                });
            }
            Verb::Append(added) => self.change(key, |cell| {
                cell.value.grow(added);
                cell.hash = mix(cell.hash, word(entry));
            }),
        }
        Answer::Written
    }

    /// Changes the cell of a key, an empty one if there is none, and keeps the hash of the whole in step.
    fn change(&mut self, key: &[u8], change: impl FnOnce(&mut Cell)) {
        if let Some(cell) = self.cells.get_mut(key) {
            let gone = cell.whole();
            change(cell);
            self.hash ^= gone ^ cell.whole();
            return;
        }
        let mut cell = Cell { value: Value::Grown(Vec::new()), hash: 0, name: name_of(key) };
        change(&mut cell);
        self.hash ^= cell.whole();
        self.cells.insert(Box::from(key), cell);
    }

    /// The value of a key.
    pub(crate) fn get(&self, key: &[u8]) -> Option<Text> {
        self.cells.get(key).map(|cell| Text::new(cell.value.bytes()))
    }

    /// Writes the whole state behind `bytes`, see the module `image`.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend((self.cells.len() as u32).to_le_bytes());
        for (key, cell) in &self.cells {
            bytes.push(key.len() as u8);
            bytes.extend_from_slice(key);
            bytes.extend(cell.hash.to_le_bytes());
            put(bytes, cell.value.bytes());
        }
        for last in &self.clients {
            bytes.extend(last.as_ref().map_or(0, |last| last.number).to_le_bytes());
            match last.as_ref().map(|last| &last.answer) {
                None => {}
                Some(Answer::Written) => bytes.push(1),
                Some(Answer::Differs) => bytes.push(2),
                Some(Answer::Value(None)) => bytes.push(3),
                Some(Answer::Value(Some(value))) => {
                    bytes.push(4);
                    put(bytes, value.bytes());
                }
                Some(Answer::Changed) => bytes.push(5),
                Some(Answer::Unfit) => bytes.push(6),
                Some(Answer::Asked) => unreachable!("a transfer is no entry of the log"),
            }
        }
    }

    /// Reads what [`Machine::write`] has written. `None` if it has not.
    pub(crate) fn read(bytes: &mut Bytes<'_>) -> Option<Machine> {
        let mut machine = Machine::default();
        for _ in 0..bytes.length()? {
            let length = bytes.byte()?;
            let key = bytes.take(usize::from(length))?;
            let hash = bytes.word()?;
            let length = bytes.length()?;
            let value = Value::Grown(bytes.take(length)?.to_vec());
            let cell = Cell { value, hash, name: name_of(key) };
            machine.hash ^= cell.whole();
            machine.cells.insert(Box::from(key), cell);
        }
        for client in 0..CLIENTS_MAX {
            let number = bytes.word()?;
            if number == 0 {
                continue;
            }
            let answer = match bytes.byte()? {
                1 => Answer::Written,
                2 => Answer::Differs,
                3 => Answer::Value(None),
                5 => Answer::Changed,
                6 => Answer::Unfit,
                _ => {
                    let length = bytes.length()?;
                    Answer::Value(Some(Text::new(bytes.take(length)?)))
                }
            };
            machine.hash ^= seat(client, 0) ^ seat(client, number);
            machine.clients[client] = Some(Last { number, answer });
        }
        Some(machine)
    }

    /// Stands for the whole state: equal states have equal hashes, whichever way they came about entry by entry.
    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }
}

/// Stands for a key.
fn name_of(key: &[u8]) -> u64 {
    key.iter().fold(key.len() as u64, |hash, &byte| mix(hash, u64::from(byte)))
}

/// Stands for the last request of a client.
fn seat(client: usize, number: u64) -> u64 {
    mix(1 << 32 | client as u64, number)
}

fn put(bytes: &mut Vec<u8>, text: &[u8]) {
    bytes.extend((text.len() as u32).to_le_bytes());
    bytes.extend_from_slice(text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Command, parse};
    use crate::proposal::encode;

    fn entry(client: u8, number: u64, text: &str) -> Payload {
        let Command::Operate(operation) = parse(text).unwrap() else { panic!("{text} is an operation") };
        encode(Author::Client(client), number, &operation)
    }

    fn run(requests: &[(u8, u64, &str)]) -> (Machine, Vec<Option<Answer>>) {
        let mut machine = Machine::default();
        let apply = |&(client, number, text): &(u8, u64, &str)| {
            machine.apply(&entry(client, number, text)).unwrap().answer
        };
        let answers = requests.iter().map(apply).collect();
        (machine, answers)
    }

    fn value(text: &str) -> Option<Answer> {
        Some(Answer::Value(Some(Text::new(text.as_bytes()))))
    }

    #[test]
    fn an_append_adds_to_what_was_put() {
        let (_, answers) =
            run(&[(0, 1, "put a x"), (0, 2, "append a y"), (0, 3, "append a z"), (0, 4, "get a")]);
        assert_eq!(answers[3], value("x,y,z"));
    }

    #[test]
    fn a_retried_request_is_carried_out_once_and_answered_alike() {
        let (machine, answers) = run(&[(0, 1, "append a x"), (0, 1, "append a x"), (1, 1, "append a y")]);
        assert_eq!(answers, vec![Some(Answer::Written); 3]);
        assert_eq!(machine.get(b"a").unwrap().bytes(), b"x,y");
    }

    #[test]
    fn a_request_that_was_given_up_is_never_carried_out() {
        let (machine, answers) = run(&[(0, 2, "append a x"), (0, 1, "append a y")]);
        assert_eq!(answers[1], None);
        assert_eq!(machine.get(b"a").unwrap().bytes(), b"x");
    }

    #[test]
    fn compare_and_set_changes_only_the_value_it_expects() {
        let (machine, answers) =
            run(&[(0, 1, "put a x"), (0, 2, "cas a y z"), (0, 3, "cas a x w"), (0, 4, "cas b x w")]);
        assert_eq!(answers[1..], [Some(Answer::Differs), Some(Answer::Written), Some(Answer::Differs)]);
        assert_eq!(machine.get(b"a").unwrap().bytes(), b"w");
        assert_eq!(machine.get(b"b"), None);
    }

    #[test]
    fn the_hash_tells_states_apart_and_not_the_order_of_what_is_independent() {
        let hash = |requests: &[(u8, u64, &str)]| run(requests).0.hash();
        assert_ne!(hash(&[(0, 1, "put a x")]), hash(&[(0, 1, "put a y")]));
        assert_ne!(hash(&[(0, 1, "put a x")]), hash(&[(0, 1, "put b x")]));
        assert_ne!(hash(&[(0, 1, "append a x")]), hash(&[(0, 1, "append a x"), (1, 1, "get a")]));
        let (one, other) = ((0, 1, "append a x"), (1, 1, "append a y"));
        assert_ne!(hash(&[one, other]), hash(&[other, one]));
        let (one, other) = ((0, 1, "append a x"), (1, 1, "append b y"));
        assert_eq!(hash(&[one, other]), hash(&[other, one]));
    }

    #[test]
    fn a_state_that_was_written_and_read_goes_on_as_the_one_it_was_made_of() {
        let (mut machine, _) = run(&[
            (0, 1, "append a x"),
            (1, 7, "put b y"),
            (2, 1, "get b"),
            (3, 1, "get c"),
            (4, 1, "cas b z q"),
            (0, 2, "append a z"),
        ]);
        let mut bytes = Vec::new();
        machine.write(&mut bytes);
        let mut read = Machine::read(&mut Bytes(&bytes)).unwrap();
        assert_eq!(read.hash(), machine.hash());
        for (client, number, text) in
            [(2, 1, "get b"), (4, 1, "cas b z q"), (0, 2, "append a z"), (0, 3, "append a w")]
        {
            let entry = entry(client, number, text);
            assert_eq!(read.apply(&entry), machine.apply(&entry), "{text}");
        }
        assert_eq!((read.hash(), read.get(b"a")), (machine.hash(), machine.get(b"a")));
    }

    #[test]
    fn a_change_is_carried_out_once_and_its_answer_survives_in_a_snapshot() {
        let mut machine = Machine::default();
        let context = crate::proposal::encode_change(Author::Client(0), 3);
        let mut times = 0;
        let mut apply = |machine: &mut Machine| {
            let applied = machine.apply_change(&context, || {
                times += 1;
                Answer::Changed
            });
            applied.unwrap().answer
        };
        assert_eq!(apply(&mut machine), Some(Answer::Changed));
        let mut bytes = Vec::new();
        machine.write(&mut bytes);
        let mut read = Machine::read(&mut Bytes(&bytes)).unwrap();
        assert_eq!(apply(&mut read), Some(Answer::Changed));
        assert_eq!(times, 1);
        assert_eq!(machine.apply_change(&[], || Answer::Changed), None, "a leader leaves by itself");
    }

    #[test]
    fn the_entry_that_opens_a_term_asks_for_nothing() {
        assert_eq!(Machine::default().apply(&Payload::EMPTY), None);
    }
}
