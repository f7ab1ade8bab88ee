//! What a script may ask of clients and servers, and what they answer.

use crate::control::{self, Control};
use crate::order::{self, Order};
use std::borrow::Borrow;
use std::fmt;
use whitewater_raft::Payload;
use whitewater_sim::{Digest, Digester};

/// Longest key, in bytes.
pub(crate) const KEY_MAX_BYTES: usize = 64;
/// Longest value in a command, in bytes.
pub(crate) const VALUE_MAX_BYTES: usize = 4_096;

/// A short text, shared by its copies: a key, or a value.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Text(Payload);

impl Text {
    /// A text of these bytes.
    pub fn new(bytes: &[u8]) -> Text {
        Text(Payload::from(bytes))
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Borrow<[u8]> for Text {
    fn borrow(&self) -> &[u8] {
        self.bytes()
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(self.bytes()))
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(self.bytes()))
    }
}

/// An operation on the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Gives a key a value.
    Put {
        /// The key.
        key: Text,
        /// Its new value.
        value: Text,
    },
    /// Adds a value to the end of a key's value, behind a comma if it has one already.
    Append {
        /// The key.
        key: Text,
        /// What is added.
        value: Text,
    },
    /// Reads a key, linearizably.
    Get {
        /// The key.
        key: Text,
    },
    /// Gives a key a value if it has a certain one now.
    CompareAndSet {
        /// The key.
        key: Text,
        /// The value it must have.
        old: Text,
        /// Its new value.
        new: Text,
    },
}

impl Operation {
    /// The key it is about.
    pub fn key(&self) -> &Text {
        match self {
            Operation::Put { key, .. }
            | Operation::Append { key, .. }
            | Operation::Get { key }
            | Operation::CompareAndSet { key, .. } => key,
        }
    }

    /// Whether it may change the store.
    pub fn is_write(&self) -> bool {
        !matches!(self, Operation::Get { .. })
    }
}

/// What a node can be told to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// An operation, for a client to carry out at whoever leads, or for a server to propose by itself.
    Operate(Operation),
    /// An operation at which a client tries until it is answered. A server takes it as any other.
    Insist(Operation),
    /// A server stands for election at once.
    Campaign,
    /// Something happens to a server that no message and no timer of its own brings about.
    Control(Control),
    /// A client, or a server by itself, orders something about the cluster.
    Order(Order),
    /// A client gives up what it was to order and has not been answered.
    Abandon,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operation::Put { key, value } => write!(f, "put {key} {value}"),
            Operation::Append { key, value } => write!(f, "append {key} {value}"),
            Operation::Get { key } => write!(f, "get {key}"),
            Operation::CompareAndSet { key, old, new } => write!(f, "cas {key} {old} {new}"),
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Command::Operate(operation) => operation.fmt(f),
            Command::Insist(operation) => write!(f, "insist {operation}"),
            Command::Campaign => f.write_str("campaign"),
            Command::Control(control) => control.fmt(f),
            Command::Order(order) => order.fmt(f),
            Command::Abandon => f.write_str("abandon"),
        }
    }
}

const FORMS: &str = "put KEY VALUE, append KEY VALUE, get KEY, cas KEY OLD NEW, each also behind `insist`, campaign, transfer NODE, abandon";

/// Reads a command.
///
/// # Errors
/// Says which forms there are.
pub(crate) fn parse(text: &str) -> Result<Command, String> {
    if let Some(order) = order::parse(text) {
        return order.map(Command::Order);
    }
    if let Some(control) = Control::parse(text) {
        return control.map(Command::Control);
    }
    match text.strip_prefix("insist ") {
        _ if text == "campaign" => Ok(Command::Campaign),
        _ if text == "abandon" => Ok(Command::Abandon),
        Some(operation) => parse_operation(operation).map(Command::Insist),
        None => parse_operation(text).map(Command::Operate),
    }
}

fn parse_operation(text: &str) -> Result<Operation, String> {
    let mut words = text.split(' ');
    let verb = words.next().unwrap_or_default();
    let rest: Vec<&str> = words.collect();
    let key = |word: &str| short(word, KEY_MAX_BYTES, "key");
    let value = |word: &str| short(word, VALUE_MAX_BYTES, "value");
    let operation = match (verb, rest.as_slice()) {
        ("put", [k, v]) => Operation::Put { key: key(k)?, value: value(v)? },
        ("append", [k, v]) => Operation::Append { key: key(k)?, value: value(v)? },
        ("get", [k]) => Operation::Get { key: key(k)? },
        ("cas", [k, old, new]) => {
            Operation::CompareAndSet { key: key(k)?, old: value(old)?, new: value(new)? }
        }
        _ => {
            return Err(format!(
                "`{text}` is no command: write one of {FORMS}, {}, {}",
                order::FORMS,
                control::FORMS
            ));
        }
    };
    Ok(operation)
}

fn short(word: &str, bytes_max: usize, what: &str) -> Result<Text, String> {
    match word.len() {
        0 => Err(format!("the {what} is empty: write one of {FORMS}, with single blanks")),
        length if length > bytes_max => {
            Err(format!("the {what} has {length} bytes: it may have at most {bytes_max}"))
        }
        _ => Ok(Text::new(word.as_bytes())),
    }
}

/// What came of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The write was carried out.
    Written,
    /// The value that was read; `None` if the key has none.
    Value(Option<Text>),
    /// Compare-and-set found another value and changed nothing.
    Differs,
    /// The membership was changed.
    Changed,
    /// The change did not fit the membership, which stayed as it was.
    Unfit,
    /// The leader was asked to hand over; whether it does will show.
    Asked,
}

/// What a node answers to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// It was carried out, with this result.
    Done(Answer),
    /// It was certainly not carried out and never will be.
    Refused,
    /// It may have been carried out, may still be, or never.
    Unknown,
    /// The server stands for election, or has no reason to.
    Campaigning,
    /// The server did it, as far as there was anything to do.
    Obeyed,
    /// The server was asked to hand over the leadership; whether it does will show.
    Transferring,
    /// The client has given up its orders.
    Abandoned,
    /// The node cannot do that: it is no server, or knows no leader.
    Declined,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Written => f.write_str("ok"),
            Answer::Value(None) => f.write_str("no value"),
            Answer::Value(Some(value)) => write!(f, "value {value}"),
            Answer::Differs => f.write_str("differs"),
            Answer::Changed => f.write_str("changed"),
            Answer::Unfit => f.write_str("unfit"),
            Answer::Asked => f.write_str("asked"),
        }
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reply::Done(answer) => answer.fmt(f),
            Reply::Refused => f.write_str("refused"),
            Reply::Unknown => f.write_str("unknown"),
            Reply::Campaigning => f.write_str("campaigning"),
            Reply::Obeyed => f.write_str("obeyed"),
            Reply::Transferring => f.write_str("transferring"),
            Reply::Abandoned => f.write_str("abandoned"),
            Reply::Declined => f.write_str("declined"),
        }
    }
}

impl Digest for Answer {
    fn digest(&self, digester: &mut Digester) {
        match self {
            Answer::Written => digester.word(1),
            Answer::Value(None) => digester.word(2),
            Answer::Value(Some(value)) => {
                digester.word(3);
                digester.bytes(value.bytes());
            }
            Answer::Differs => digester.word(4),
            Answer::Changed => digester.word(10),
            Answer::Unfit => digester.word(11),
            Answer::Asked => digester.word(12),
        }
    }
}

impl Digest for Reply {
    fn digest(&self, digester: &mut Digester) {
        match self {
            Reply::Done(answer) => answer.digest(digester),
            Reply::Refused => digester.word(5),
            Reply::Unknown => digester.word(6),
            Reply::Campaigning => digester.word(7),
            Reply::Transferring => digester.word(8),
            Reply::Declined => digester.word(9),
            Reply::Abandoned => digester.word(13),
            Reply::Obeyed => digester.word(14),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_reads_back_as_it_is_written() {
        for text in [
            "put a 1",
            "append k7 x12",
            "get a",
            "cas a 1 2",
            "insist get a",
            "campaign",
            "forget-leader",
            "snapshot",
            "unreachable n2",
            "snapshot-failed n3",
            "abandon",
            "transfer n2",
            "replace n1 by n4",
        ] {
            assert_eq!(parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_command_is_refused_with_the_forms_there_are() {
        for text in [
            "",
            "put",
            "put a",
            "put a 1 2",
            "put  1",
            "get",
            "cas a 1",
            "campaign now",
            "insist campaign",
            "jump",
        ] {
            let refusal = parse(text).unwrap_err();
            assert!(refusal.contains("put KEY VALUE"), "{text}");
        }
        assert!(parse("transfer c1").unwrap_err().contains("no server"));
        assert!(parse("jump").unwrap_err().contains("add NODES"));
        let long = format!("get {}", "k".repeat(KEY_MAX_BYTES + 1));
        assert!(parse(&long).unwrap_err().contains("at most 64"));
    }
}
