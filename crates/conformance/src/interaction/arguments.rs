//! Reading the arguments of commands.

use crate::datadriven::{Argument, Command};
use whitewater_raft::{MessageKind, NodeId};

/// Kinds of messages that etcd has and that never travel: asking for them is no mistake.
const UNSEEN_KINDS: [&str; 6] =
    ["MsgHup", "MsgBeat", "MsgUnreachable", "MsgSnapStatus", "MsgCheckQuorum", "MsgForgetLeader"];

/// Which messages a delivery is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filter {
    /// All.
    Any,
    /// Those of one kind.
    Kind(MessageKind),
    /// Those of a kind that never travels.
    Nothing,
}

impl Filter {
    pub(crate) fn takes(self, kind: MessageKind) -> bool {
        match self {
            Filter::Any => true,
            Filter::Kind(wanted) => wanted == kind,
            Filter::Nothing => false,
        }
    }

    fn named(name: &str) -> Result<Filter, String> {
        if UNSEEN_KINDS.contains(&name) {
            return Ok(Filter::Nothing);
        }
        let kind = MessageKind::ALL.into_iter().find(|kind| kind.name() == name);
        kind.map(Filter::Kind).ok_or_else(|| format!("unknown message type {name}"))
    }
}

/// Somebody to whom messages are delivered, or whose messages are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Recipient {
    pub(crate) id: NodeId,
    pub(crate) drop: bool,
}

pub(crate) fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("not a number: {text}"))
}

pub(crate) fn flag(text: &str) -> Result<bool, String> {
    match text {
        "true" | "t" | "1" => Ok(true),
        "false" | "f" | "0" => Ok(false),
        other => Err(format!("not a boolean: {other}")),
    }
}

/// The words without a value, as node ids.
pub(crate) fn ids(command: &Command) -> Result<Vec<NodeId>, String> {
    command.arguments.iter().filter(|word| word.values.is_empty()).map(|word| number(&word.key)).collect()
}

/// The first word, as a node id.
pub(crate) fn first_id(command: &Command) -> Result<NodeId, String> {
    number(&command.arguments.first().ok_or("the command lacks a node")?.key)
}

/// The single value of the argument with this key.
pub(crate) fn value<'a>(command: &'a Command, key: &str) -> Result<&'a str, String> {
    let found = command.arguments.iter().find(|argument| argument.key == key);
    let value = found.and_then(|argument| argument.values.first());
    value.map(String::as_str).ok_or_else(|| format!("the command lacks {key}="))
}

/// Whom a delivery is about, in the order of the arguments, and which messages.
pub(crate) fn delivery(command: &Command) -> Result<(Filter, Vec<Recipient>), String> {
    let mut filter = Filter::Any;
    let mut recipients: Vec<Recipient> = Vec::new();
    for Argument { key, values } in &command.arguments {
        if values.is_empty() {
            recipients.push(Recipient { id: number(key)?, drop: false });
        }
        for value in values {
            match key.as_str() {
                "type" => filter = Filter::named(value)?,
                "drop" => {
                    let id = number(value)?;
                    if recipients.iter().any(|recipient| recipient.id == id) {
                        return Err(format!("can't both deliver and drop msgs to {id}"));
                    }
                    recipients.push(Recipient { id, drop: true });
                }
                other => return Err(format!("unknown argument {other}")),
            }
        }
    }
    Ok((filter, recipients))
}
