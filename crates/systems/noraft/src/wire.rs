//! Messages between nodes of any release, with the content of commands, and snapshots, which the crate leaves to its users.

use std::sync::Arc;
use whitewater_store::{Claim, Entry, EntryOutline, Outline, Outlined};

/// A place in the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Term of the entry there.
    pub term: u64,
    /// Its index.
    pub index: u64,
}

/// A message: the fields are those of the crate's own, each as a number.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Wire {
    /// A candidate asks for a vote.
    VoteCall { term: u64, last: Position },
    /// The answer.
    VoteReply { term: u64, granted: bool },
    /// A leader sends entries.
    AppendCall { term: u64, commit: u64, base: Position, entries: Vec<Entry> },
    /// The answer: where the log of the follower ends now.
    AppendReply { term: u64, generation: u64, last: Position },
    /// A leader sends a snapshot.
    Snapshot { term: u64, at: Position, data: Arc<[u8]> },
}

impl Outlined for Wire {
    const KINDS: &'static [&'static str] =
        &["VoteCall", "VoteReply", "AppendCall", "AppendReply", "Snapshot"];

    fn outline(&self) -> Outline<'_> {
        let of = |kind, term: &u64, at: &Position| Outline {
            kind,
            term: *term,
            place: (at.term, at.index),
            ..Outline::default()
        };
        let nowhere = Position::default();
        match self {
            Wire::VoteCall { term, last } => of(0, term, last),
            Wire::VoteReply { term, granted } => {
                let claim = if *granted { Claim::Vote } else { Claim::Refusal };
                Outline { claim, rejects: !granted, ..of(1, term, &nowhere) }
            }
            Wire::AppendCall { term, commit, base, .. } => Outline { commit: *commit, ..of(2, term, base) },
            // Agreement or not: so much is on the disk.
            Wire::AppendReply { term, generation, last } => {
                Outline { claim: Claim::Appended, more: [*generation, 0, 0], ..of(3, term, last) }
            }
            Wire::Snapshot { term, at, data } => {
                Outline { snapshot: Some((at.term, at.index, data)), ..of(4, term, &nowhere) }
            }
        }
    }

    fn entries(&self) -> impl Iterator<Item = EntryOutline<'_>> {
        let entries = if let Wire::AppendCall { entries, .. } = self { entries.as_slice() } else { &[] };
        entries.iter().map(EntryOutline::from)
    }
}
