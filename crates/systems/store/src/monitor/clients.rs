//! What clients ask and are told, put into the words of the rules.

use crate::command::{Answer, Command, Operation, Reply, Text};
use whitewater_check::{Answered, Asked, Deed, Ended};
use whitewater_sim::{Effect, Node, OpId, Seen, Violation, What};

/// The rules over clients of any store.
pub type Clients = whitewater_check::Clients<Text>;

/// Tells the rules over clients what a step of any node with the commands of a store has to do with them. `begins` if it
/// begins at once with what it is told to do; `index` is up to where the server that answered had applied its log.
///
/// # Errors
/// The rule that an answer breaks.
#[inline]
pub fn follow_clients<N: Node<Command = Command, Reply = Reply>>(
    clients: &mut Clients,
    seen: &Seen<'_, N>,
    begins: bool,
    index: Option<u64>,
) -> Result<(), Violation> {
    if let What::Commanded { op, command } = seen.what
        && let Some((key, deed)) = deed(command)
    {
        clients.asked(op, Asked { node: seen.node, at: seen.time }, key, deed, begins);
    }
    let mut replies = seen.effects.iter().filter_map(|effect| match effect {
        Effect::Reply { op, reply } => Some((*op, ended(reply)?)),
        _ => None,
    });
    let by = match seen.what {
        What::Delivered { from, .. } if from.is_server() => Some(from),
        _ => None,
    };
    let answered = Answered { at: seen.time, by, index };
    replies.try_for_each(|(op, ended): (OpId, Ended<Text>)| clients.told(op, seen.node, &ended, answered))
}

/// What a command does to which key, if it is about one.
fn deed(command: &Command) -> Option<(&Text, Deed<Text>)> {
    let (Command::Operate(operation) | Command::Insist(operation)) = command else { return None };
    let deed = match operation {
        Operation::Get(_) => Deed::Read,
        Operation::Put(_, value) => Deed::Put(value.clone()),
        Operation::Append(_, value) => Deed::Append(value.clone()),
        Operation::CompareAndSet(_, old, new) => Deed::Swap(old.clone(), new.clone()),
    };
    Some((operation.key(), deed))
}

/// How an operation ended, if this is an answer to one.
fn ended(reply: &Reply) -> Option<Ended<Text>> {
    match reply {
        Reply::Done(Answer::Written) => Some(Ended::Done),
        Reply::Done(Answer::Differs) => Some(Ended::Differs),
        Reply::Done(Answer::Value(value)) => Some(Ended::Value(value.clone())),
        Reply::Refused | Reply::Declined => Some(Ended::Refused),
        Reply::Unknown => Some(Ended::Unknown),
        Reply::Campaigning | Reply::Transferring | Reply::Changing | Reply::Requested => None,
    }
}
