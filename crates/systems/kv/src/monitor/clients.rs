//! What clients ask and are told, put into the words of the rules.

use crate::command::{Answer, Command, Operation, Reply, Text};
use std::borrow::Cow;
use whitewater_check::{Deed, Ended, Word};

/// The rules over clients.
pub(super) type Clients = whitewater_check::Clients<Text>;

impl Word for Text {
    type Part = [u8];

    fn parts(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes().split(|&byte| byte == b',').filter(|part| !part.is_empty())
    }

    fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.bytes())
    }
}

/// What a command does to which key, if it is about one.
pub(super) fn deed(command: &Command) -> Option<(&Text, Deed<Text>)> {
    let (Command::Operate(operation) | Command::Insist(operation)) = command else { return None };
    let deed = match operation {
        Operation::Get { .. } => Deed::Read,
        Operation::Put { value, .. } => Deed::Put(value.clone()),
        Operation::Append { value, .. } => Deed::Append(value.clone()),
        Operation::CompareAndSet { old, new, .. } => Deed::Swap(old.clone(), new.clone()),
    };
    Some((operation.key(), deed))
}

/// How an operation ended, if this is an answer to one: what comes of orders is no business of these rules.
pub(super) fn ended(reply: &Reply) -> Option<Ended<Text>> {
    match reply {
        Reply::Done(Answer::Written) => Some(Ended::Done),
        Reply::Done(Answer::Differs) => Some(Ended::Differs),
        Reply::Done(Answer::Value(value)) => Some(Ended::Value(value.clone())),
        Reply::Refused | Reply::Declined => Some(Ended::Refused),
        Reply::Unknown => Some(Ended::Unknown),
        Reply::Done(Answer::Changed | Answer::Unfit | Answer::Asked)
        | Reply::Campaigning
        | Reply::Obeyed
        | Reply::Transferring
        | Reply::Abandoned => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_what_was_appended_one_by_one() {
        let parts = |text: &str| {
            let text = Text::new(text.as_bytes());
            text.parts().map(|part| String::from_utf8_lossy(part).into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(parts("v1,v2"), ["v1", "v2"]);
        assert!(parts("").is_empty());
    }

    #[test]
    fn every_operation_and_no_order_is_held_against_the_rules() {
        let text = |text: &str| Text::new(text.as_bytes());
        let swap = Operation::CompareAndSet { key: text("k"), old: text("a"), new: text("b") };
        let expected = Deed::Swap(text("a"), text("b"));
        assert_eq!(deed(&Command::Operate(swap)), Some((&text("k"), expected)));
        assert_eq!(deed(&Command::Campaign), None);
        assert_eq!(ended(&Reply::Done(Answer::Differs)), Some(Ended::Differs));
        assert_eq!(ended(&Reply::Transferring), None);
    }
}
