//! Messages as the Raft paper has them, for cores that have none of their own, or several forms that have to meet.

use crate::core::Entry;
use crate::outline::{Claim, EntryOutline, Outline, Outlined};
use crate::place::Place;

/// What a message is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// A candidate asks for a vote.
    #[default]
    VoteCall,
    /// The answer to that.
    VoteReply,
    /// A leader sends entries, or none to show that it is there.
    AppendCall,
    /// The answer to that.
    AppendReply,
}

/// A message. Snapshots are brought by the store, see [`crate::Core::BARE`].
#[derive(Clone, Debug, Default)]
pub struct Message {
    /// What it is.
    pub kind: Kind,
    /// The term of its sender.
    pub term: u64,
    /// The last entry of a candidate; the entry before those that a leader sends; up to where the log of a follower is as it was
    /// sent, which is on its disk.
    pub place: Place,
    /// Up to where a leader knows entries to be committed.
    pub commit: u64,
    /// Whether an answer says no.
    pub rejects: bool,
    /// What a leader sends.
    pub entries: Vec<Entry>,
    /// Whatever else a core has to say.
    pub more: u64,
}

impl Outlined for Message {
    const KINDS: &'static [&'static str] = &["VoteCall", "VoteReply", "AppendCall", "AppendReply"];

    fn outline(&self) -> Outline<'_> {
        let claim = match self.kind {
            Kind::VoteCall | Kind::AppendCall => Claim::Nothing,
            _ if self.rejects => Claim::Refusal,
            Kind::VoteReply => Claim::Vote,
            Kind::AppendReply => Claim::Appended,
        };
        Outline {
            kind: self.kind as u8,
            term: self.term,
            claim,
            place: (self.place.term, self.place.index),
            commit: self.commit,
            rejects: self.rejects,
            more: [self.more, 0, 0],
            ..Outline::default()
        }
    }

    fn entries(&self) -> impl Iterator<Item = EntryOutline<'_>> {
        self.entries.iter().map(EntryOutline::from)
    }

    fn entries_mut(&mut self) -> Option<&mut Vec<Entry>> {
        (self.kind == Kind::AppendCall).then_some(&mut self.entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_claims_what_it_grants_and_a_call_nothing() {
        let claim = |kind, rejects| Message { kind, rejects, ..Message::default() }.outline().claim;
        assert_eq!(claim(Kind::VoteReply, false), Claim::Vote);
        assert_eq!(claim(Kind::AppendReply, false), Claim::Appended);
        assert_eq!([claim(Kind::VoteReply, true), claim(Kind::AppendReply, true)], [Claim::Refusal; 2]);
        assert_eq!([claim(Kind::VoteCall, false), claim(Kind::AppendCall, false)], [Claim::Nothing; 2]);
    }
}
