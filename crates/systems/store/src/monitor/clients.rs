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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Change;
    use crate::node::StoreNode;
    use crate::timer::StoreTimer;
    use crate::toy::Toy;
    use whitewater_sim::{EventId, Kind, NodeId, Time};

    fn text(text: &str) -> Text {
        text.into()
    }

    #[test]
    fn every_operation_is_followed_whether_or_not_a_client_insists_and_nothing_else_is() {
        let (a, x, y) = (text("a"), text("x"), text("y"));
        for (operation, expected) in [
            (Operation::Get(a.clone()), Deed::Read),
            (Operation::Put(a.clone(), x.clone()), Deed::Put(x.clone())),
            (Operation::Append(a.clone(), x.clone()), Deed::Append(x.clone())),
            (Operation::CompareAndSet(a.clone(), x.clone(), y.clone()), Deed::Swap(x, y)),
        ] {
            for command in [Command::Operate(operation.clone()), Command::Insist(operation)] {
                assert_eq!(deed(&command), Some((&a, expected.clone())), "{command:?}");
            }
        }
        let node = NodeId::server(0);
        for command in [Command::Campaign, Command::Transfer(node), Command::Change(Change::Add(vec![node]))]
        {
            assert_eq!(deed(&command), None);
        }
    }

    #[test]
    fn every_answer_ends_an_operation_as_it_says_and_what_answers_none_ends_none() {
        let value = |value: Option<&str>| value.map(text);
        for (reply, expected) in [
            (Reply::Done(Answer::Written), Some(Ended::Done)),
            (Reply::Done(Answer::Differs), Some(Ended::Differs)),
            (Reply::Done(Answer::Value(value(Some("x")))), Some(Ended::Value(value(Some("x"))))),
            (Reply::Done(Answer::Value(None)), Some(Ended::Value(None))),
            (Reply::Refused, Some(Ended::Refused)),
            (Reply::Declined, Some(Ended::Refused)),
            (Reply::Unknown, Some(Ended::Unknown)),
            (Reply::Campaigning, None),
            (Reply::Transferring, None),
            (Reply::Changing, None),
            (Reply::Requested, None),
        ] {
            assert_eq!(ended(&reply), expected, "{reply:?}");
        }
    }

    /// Has the rules follow a step of the first client.
    fn follow(
        clients: &mut Clients,
        millis: u64,
        what: What<'_, StoreNode<Toy>>,
        effects: &[Effect<StoreNode<Toy>>],
        begins: bool,
    ) -> Result<(), Violation> {
        let (node, time) = (NodeId::client(0), Time::from_millis(millis));
        let seen = Seen { event: EventId::NONE, time, node, what, effects, died: false };
        follow_clients(clients, &seen, begins, Some(7))
    }

    #[test]
    fn a_read_of_what_nobody_wrote_is_told_with_who_answered_and_when() {
        let mut clients = Clients::new(false);
        let (op, command) = (OpId(0), Command::Operate(Operation::Get(text("a"))));
        follow(&mut clients, 3, What::Commanded { op, command: &command }, &[], true).expect("it only asks");
        let effects = [Effect::Reply { op, reply: Reply::Done(Answer::Value(Some(text("x")))) }];
        let (from, kind) = (NodeId::server(1), Kind { code: 0, name: "Response" });
        let delivered = What::Delivered { from, kind, key: 0, sent: Time::from_millis(8) };
        let phantom = follow(&mut clients, 9, delivered, &effects, true).expect_err("nobody wrote it");
        assert_eq!(phantom.rule, "no-phantom-value");
        let told = ["n2", "3ms", "9ms", "7"].map(|word| phantom.message.contains(word));
        assert_eq!(told, [true; 4], "{}", phantom.message);
        assert_eq!(clients.to_lines().lines().count(), 2, "{}", clients.to_lines());
    }

    #[test]
    fn an_operation_that_has_to_wait_has_begun_only_when_that_is_said() {
        let lines = |begins| {
            let mut clients = Clients::new(false);
            let (op, command) = (OpId(0), Command::Operate(Operation::Get(text("a"))));
            follow(&mut clients, 3, What::Commanded { op, command: &command }, &[], begins).unwrap();
            clients.begun(op, Time::from_millis(5));
            let effects = [Effect::Reply { op, reply: Reply::Done(Answer::Value(None)) }];
            follow(&mut clients, 9, What::Fired(StoreTimer::Attempt), &effects, begins).unwrap();
            clients.to_lines()
        };
        assert!(lines(true).contains("\"time\":3000000"), "{}", lines(true));
        assert!(lines(false).contains("\"time\":5000000"), "{}", lines(false));
        assert!(lines(true).contains("\"place\":7"), "{}", lines(true));
    }
}
