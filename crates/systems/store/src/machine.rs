//! The state machine: values by key, and the last request of every client with its answer.

use crate::command::{Answer, Text};
use crate::request::{Request, Verb, decode, word_of};
use std::collections::BTreeMap;
use whitewater_sim::{CLIENTS_MAX, Digester, Key, NodeId};

/// What an entry came to when it was applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Applied {
    /// Who had asked for it.
    pub(crate) author: NodeId,
    /// The number of the request.
    pub(crate) number: u64,
    /// The answer; `None` if the client had gone on to a later request before this one came.
    pub(crate) answer: Option<Answer>,
}

/// A value with a word that stands for it, made of the entries that made it.
#[derive(Clone, Debug, Default)]
struct Cell {
    value: Vec<u8>,
    hash: u64,
}

/// The replicated state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Machine {
    cells: BTreeMap<Box<[u8]>, Cell>,
    clients: [(u64, Option<Answer>); CLIENTS_MAX],
    /// Stands for the whole state: every part is in it once.
    hash: u64,
}

fn mix(a: u64, b: u64) -> u64 {
    Key::default().at(a, b)
}

fn text_of(bytes: &[u8]) -> Text {
    Text::from(String::from_utf8_lossy(bytes))
}

impl Machine {
    /// Applies a committed entry. `None` for an entry that asks for nothing.
    pub(crate) fn apply(&mut self, data: &[u8]) -> Option<Applied> {
        let Request { author, number, key, verb } = decode(data)?;
        if author.is_server() {
            let answer = Some(self.carry_out(data, key, verb));
            return Some(Applied { author, number, answer });
        }
        let client = author.position();
        let (last, answer) = &self.clients[client];
        if *last >= number {
            // Applied before: a client retries with the same number, and gives up a number for ever when it goes on.
            let answer = answer.clone().filter(|_| *last == number);
            return Some(Applied { author, number, answer });
        }
        self.hash ^= mix(client as u64, *last) ^ mix(client as u64, number);
        let answer = self.carry_out(data, key, verb);
        self.clients[client] = (number, Some(answer.clone()));
        Some(Applied { author, number, answer: Some(answer) })
    }

    fn carry_out(&mut self, data: &[u8], key: &[u8], verb: Verb<'_>) -> Answer {
        let (value, grows) = match verb {
            Verb::Get => return Answer::Value(self.get(key)),
            Verb::CompareAndSet { old, .. } if self.cells.get(key).is_none_or(|c| c.value != old) => {
                return Answer::Differs;
            }
            Verb::Put(value) | Verb::CompareAndSet { new: value, .. } => (value, false),
            Verb::Append(value) => (value, true),
        };
        let name = word_of(key);
        let cell = match self.cells.get_mut(key) {
            Some(cell) => {
                self.hash ^= mix(name, cell.hash);
                cell
            }
            None => self.cells.entry(Box::from(key)).or_default(),
        };
        cell.hash = if grows { mix(cell.hash, word_of(data)) } else { word_of(data) };
        match grows && !cell.value.is_empty() {
            true => cell.value.push(b','),
            false => cell.value.clear(),
        }
        cell.value.extend_from_slice(value);
        self.hash ^= mix(name, cell.hash);
        Answer::Written
    }

    /// The value of a key.
    pub(crate) fn get(&self, key: &[u8]) -> Option<Text> {
        self.cells.get(key).map(|cell| text_of(&cell.value))
    }

    /// Stands for the whole state: equal states that came about alike have equal hashes.
    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    /// The whole state as bytes: the number of cells, then key, hash and value of each, then number and answer of each
    /// client. Numbers have 8 bytes, texts their length before them; an answer is a number, 4 with a text behind it.
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut bytes = (self.cells.len() as u64).to_le_bytes().to_vec();
        let number = |bytes: &mut Vec<u8>, number: u64| bytes.extend(number.to_le_bytes());
        let text = |bytes: &mut Vec<u8>, text: &[u8]| {
            number(bytes, text.len() as u64);
            bytes.extend_from_slice(text);
        };
        for (key, cell) in &self.cells {
            text(&mut bytes, key);
            number(&mut bytes, cell.hash);
            text(&mut bytes, &cell.value);
        }
        for (last, answer) in &self.clients {
            number(&mut bytes, *last);
            match answer {
                None => number(&mut bytes, 0),
                Some(Answer::Written) => number(&mut bytes, 1),
                Some(Answer::Differs) => number(&mut bytes, 2),
                Some(Answer::Value(None)) => number(&mut bytes, 3),
                Some(Answer::Value(Some(value))) => {
                    number(&mut bytes, 4);
                    text(&mut bytes, value.as_bytes());
                }
            }
        }
        bytes
    }

    /// Reads what [`Machine::write`] has written. `None` if it has not.
    pub(crate) fn read(mut bytes: &[u8]) -> Option<Machine> {
        let mut machine = Machine::default();
        for _ in 0..number(&mut bytes)? {
            let key = text(&mut bytes)?;
            let cell = Cell { hash: number(&mut bytes)?, value: text(&mut bytes)?.to_vec() };
            machine.hash ^= mix(word_of(key), cell.hash);
            machine.cells.insert(Box::from(key), cell);
        }
        for client in 0..CLIENTS_MAX {
            let last = number(&mut bytes)?;
            let answer = match number(&mut bytes)? {
                0 => None,
                1 => Some(Answer::Written),
                2 => Some(Answer::Differs),
                3 => Some(Answer::Value(None)),
                _ => Some(Answer::Value(Some(text_of(text(&mut bytes)?)))),
            };
            machine.hash ^= mix(client as u64, 0) ^ mix(client as u64, last);
            machine.clients[client] = (last, answer);
        }
        bytes.is_empty().then_some(machine)
    }
}

fn number(bytes: &mut &[u8]) -> Option<u64> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u64::from_le_bytes(*number))
}

fn text<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(number(bytes)?).ok()?;
    let (text, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(text)
}

/// A word that stands for bytes of any kind, such as those of a snapshot.
pub(crate) fn sum_of(bytes: &[u8]) -> u64 {
    let mut digester = Digester::default();
    digester.bytes(bytes);
    digester.short()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Command, parse};
    use crate::request::encode;

    fn apply(machine: &mut Machine, client: usize, number: u64, text: &str) -> Option<Answer> {
        let Command::Operate(operation) = parse(text).unwrap() else { panic!("{text} is an operation") };
        machine.apply(&encode(NodeId::client(client), number, &operation)).unwrap().answer
    }

    fn run(requests: &[(usize, u64, &str)]) -> (Machine, Vec<Option<Answer>>) {
        let mut machine = Machine::default();
        let answers = requests.iter().map(|&(c, n, text)| apply(&mut machine, c, n, text)).collect();
        (machine, answers)
    }

    #[test]
    fn a_retried_request_is_carried_out_once_and_one_given_up_never() {
        let (machine, answers) = run(&[
            (0, 2, "append a x"),
            (0, 2, "append a x"),
            (0, 1, "append a z"),
            (1, 1, "append a y"),
            (1, 2, "get a"),
        ]);
        assert_eq!(answers[..2], [Some(Answer::Written), Some(Answer::Written)]);
        assert_eq!(answers[2], None);
        assert_eq!(answers[4], Some(Answer::Value(machine.get(b"a"))));
        assert_eq!(machine.get(b"a").as_deref(), Some("x,y"));
    }

    #[test]
    fn compare_and_set_changes_only_the_value_it_expects() {
        let (machine, answers) = run(&[(0, 1, "put a x"), (0, 2, "cas a y z"), (0, 3, "cas a x w")]);
        assert_eq!(answers[1..], [Some(Answer::Differs), Some(Answer::Written)]);
        assert_eq!(machine.get(b"a").as_deref(), Some("w"));
    }

    #[test]
    fn the_hash_tells_states_apart() {
        let hash = |requests: &[(usize, u64, &str)]| run(requests).0.hash();
        assert_ne!(hash(&[(0, 1, "put a x")]), hash(&[(0, 1, "put a y")]));
        assert_ne!(hash(&[(0, 1, "put a x")]), hash(&[(0, 1, "put b x")]));
        let (one, other) = ((0, 1, "append a x"), (1, 1, "append a y"));
        assert_ne!(hash(&[one, other]), hash(&[other, one]));
    }

    #[test]
    fn a_state_that_was_written_and_read_goes_on_as_the_one_it_was_made_of() {
        let (mut machine, _) =
            run(&[(0, 1, "append a x"), (1, 7, "put b y"), (2, 1, "get b"), (3, 1, "get c")]);
        let bytes = machine.write();
        let mut read = Machine::read(&bytes).unwrap();
        assert_eq!(read.hash(), machine.hash());
        for (client, number, text) in
            [(2, 1, "get b"), (0, 2, "append a z"), (0, 3, "put c w"), (3, 2, "get a")]
        {
            assert_eq!(apply(&mut read, client, number, text), apply(&mut machine, client, number, text));
            assert_eq!(read.hash(), machine.hash(), "{text}");
        }
        assert!((0..bytes.len()).all(|length| Machine::read(&bytes[..length]).is_none()));
    }
}
