//! What a script may ask of clients and servers, and what they answer.

use crate::membership::{Part, Step};
use std::fmt;
use std::sync::Arc;
use whitewater_sim::{Digest, Digester, Draw, NodeId};

/// Longest key, in bytes.
const KEY_MAX_BYTES: usize = 64;
/// Longest value in a command, in bytes.
const VALUE_MAX_BYTES: usize = 4_096;

/// A key or a value.
pub type Text = Arc<str>;

/// An operation on the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Gives a key a value.
    Put(Text, Text),
    /// Adds a value to the end of a key's value, behind a comma if it has one already.
    Append(Text, Text),
    /// Reads a key, linearizably.
    Get(Text),
    /// Gives a key the last value if it has the first one now.
    CompareAndSet(Text, Text, Text),
}

impl Operation {
    /// The key it is about.
    pub fn key(&self) -> &Text {
        match self {
            Operation::Put(key, _)
            | Operation::Append(key, _)
            | Operation::Get(key)
            | Operation::CompareAndSet(key, ..) => key,
        }
    }
}

/// A change of the membership. With several servers at once, or with one for another, it goes through a joint membership.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// These become voters.
    Add(Vec<NodeId>),
    /// These receive the log without a vote.
    Learn(Vec<NodeId>),
    /// These leave.
    Remove(Vec<NodeId>),
    /// The first ones leave and the others become voters.
    Replace(Vec<NodeId>, Vec<NodeId>),
}

impl Change {
    /// What each server becomes, in order.
    pub(crate) fn steps(&self) -> Vec<Step> {
        let all = |part, nodes: &[NodeId]| nodes.iter().map(|node| (part, *node)).collect::<Vec<_>>();
        match self {
            Change::Add(nodes) => all(Part::Voter, nodes),
            Change::Learn(nodes) => all(Part::Learner, nodes),
            Change::Remove(nodes) => all(Part::Nobody, nodes),
            Change::Replace(old, new) => [all(Part::Nobody, old), all(Part::Voter, new)].concat(),
        }
    }

    /// Draws one for a plan with that many servers.
    pub(crate) fn draw(draw: &mut Draw, servers: usize) -> Change {
        let mut nodes: Vec<NodeId> = (0..servers).map(NodeId::server).collect();
        draw.shuffle(&mut nodes);
        let most = if draw.chance(1, 4) { 2 } else { 1 };
        let mut take = || nodes.split_off(nodes.len() - most.min(nodes.len()));
        match draw.weighted(&[5, 3, 4, 3]) {
            0 => Change::Add(take()),
            1 => Change::Learn(take()),
            3 if servers > most => Change::Replace(take(), take()),
            _ => Change::Remove(take()),
        }
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
    /// A server hands the leadership to another one, or asks the leader to.
    Transfer(NodeId),
    /// A server that leads changes the membership.
    Change(Change),
    /// A server asks its leader for a snapshot although its log is whole.
    RequestSnapshot,
}

/// Names of servers with commas between them.
struct Names<'a>(&'a [NodeId]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().enumerate().try_for_each(|(at, node)| {
            let comma = if at == 0 { "" } else { "," };
            write!(f, "{comma}{node}")
        })
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operation::Put(key, value) => write!(f, "put {key} {value}"),
            Operation::Append(key, value) => write!(f, "append {key} {value}"),
            Operation::Get(key) => write!(f, "get {key}"),
            Operation::CompareAndSet(key, old, new) => write!(f, "cas {key} {old} {new}"),
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Add(nodes) => write!(f, "add {}", Names(nodes)),
            Change::Learn(nodes) => write!(f, "learn {}", Names(nodes)),
            Change::Remove(nodes) => write!(f, "remove {}", Names(nodes)),
            Change::Replace(old, new) => write!(f, "replace {} by {}", Names(old), Names(new)),
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Command::Operate(operation) => operation.fmt(f),
            Command::Insist(operation) => write!(f, "insist {operation}"),
            Command::Campaign => f.write_str("campaign"),
            Command::Transfer(to) => write!(f, "transfer {to}"),
            Command::Change(change) => change.fmt(f),
            Command::RequestSnapshot => f.write_str("request-snapshot"),
        }
    }
}

const FORMS: &str = "put KEY VALUE, append KEY VALUE, get KEY, cas KEY OLD NEW, each also behind `insist`, campaign, \
     request-snapshot, transfer NODE, add NODES, learn NODES, remove NODES, replace NODES by NODES, with commas between several nodes";

/// Reads a command.
///
/// # Errors
/// Says which forms there are.
pub fn parse(text: &str) -> Result<Command, String> {
    let words: Vec<&str> = text.split(' ').collect();
    Ok(match words[..] {
        ["campaign"] => Command::Campaign,
        ["request-snapshot"] => Command::RequestSnapshot,
        ["transfer", to] => Command::Transfer(server(to)?),
        ["add", nodes] => Command::Change(Change::Add(servers(nodes)?)),
        ["learn", nodes] => Command::Change(Change::Learn(servers(nodes)?)),
        ["remove", nodes] => Command::Change(Change::Remove(servers(nodes)?)),
        ["replace", old, "by", new] => Command::Change(Change::Replace(servers(old)?, servers(new)?)),
        ["insist", ref operation @ ..] => Command::Insist(parse_operation(text, operation)?),
        ref operation => Command::Operate(parse_operation(text, operation)?),
    })
}

fn server(name: &str) -> Result<NodeId, String> {
    let server = name.parse::<NodeId>().ok().filter(|node| node.is_server());
    server.ok_or_else(|| format!("`{name}` is no server: write one such as n2"))
}

fn servers(names: &str) -> Result<Vec<NodeId>, String> {
    names.split(',').map(server).collect()
}

fn parse_operation(text: &str, words: &[&str]) -> Result<Operation, String> {
    let key = |word: &str| short(word, KEY_MAX_BYTES, "key");
    let value = |word: &str| short(word, VALUE_MAX_BYTES, "value");
    Ok(match words {
        ["put", k, v] => Operation::Put(key(k)?, value(v)?),
        ["append", k, v] => Operation::Append(key(k)?, value(v)?),
        ["get", k] => Operation::Get(key(k)?),
        ["cas", k, old, new] => Operation::CompareAndSet(key(k)?, value(old)?, value(new)?),
        _ => return Err(format!("`{text}` is no command: write one of {FORMS}")),
    })
}

fn short(word: &str, bytes_max: usize, what: &str) -> Result<Text, String> {
    match word.len() {
        0 => Err(format!("the {what} is empty: write one of {FORMS}, with single blanks")),
        length if length > bytes_max => {
            Err(format!("the {what} has {length} bytes: it may have at most {bytes_max}"))
        }
        _ => Ok(Text::from(word)),
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
    /// The leader was asked to hand over; whether it does will show.
    Transferring,
    /// The change is in the log; whether it is committed will show.
    Changing,
    /// The leader was asked for a snapshot; whether it comes will show.
    Requested,
    /// The node cannot do that.
    Declined,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Written => f.write_str("ok"),
            Answer::Value(None) => f.write_str("no value"),
            Answer::Value(Some(value)) => write!(f, "value {value}"),
            Answer::Differs => f.write_str("differs"),
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
            Reply::Transferring => f.write_str("transferring"),
            Reply::Changing => f.write_str("changing"),
            Reply::Requested => f.write_str("requested"),
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
                digester.bytes(value.as_bytes());
            }
            Answer::Differs => digester.word(4),
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
            Reply::Changing => digester.word(9),
            Reply::Declined => digester.word(10),
            Reply::Requested => digester.word(11),
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
            "request-snapshot",
            "transfer n2",
            "add n4",
            "learn n4,n5",
            "remove n1",
            "replace n1,n2 by n4,n5",
        ] {
            assert_eq!(parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn every_change_that_is_drawn_reads_back_and_names_nobody_twice() {
        for seed in 0..200 {
            let change = Change::draw(&mut Draw::from_value(seed), 1 + seed as usize % 5);
            let mut nodes: Vec<NodeId> = change.steps().iter().map(|(_, node)| *node).collect();
            assert_eq!(parse(&change.to_string()), Ok(Command::Change(change)));
            let named = nodes.len();
            nodes.sort();
            nodes.dedup();
            assert_eq!((nodes.len(), nodes.is_empty()), (named, false));
        }
    }

    #[test]
    fn what_is_no_command_is_refused_with_the_forms_there_are() {
        for text in
            ["", "put", "put a", "put  1", "get", "cas a 1", "campaign now", "insist campaign", "jump"]
        {
            assert!(parse(text).unwrap_err().contains("put KEY VALUE"), "{text}");
        }
        assert!(parse("transfer c1").unwrap_err().contains("no server"));
        assert!(parse("add n1,x").unwrap_err().contains("no server"));
        assert!(parse(&format!("get {}", "k".repeat(KEY_MAX_BYTES + 1))).unwrap_err().contains("at most 64"));
    }
}
