//! What a message of a core says, told once: its name, its text, its hash and what it promises follow from that.

use crate::machine::sum_of;
use crate::request::{Content, word_of};
use std::fmt;
use whitewater_check::Spoken;
use whitewater_sim::{Digester, Kind, NodeId};

/// A message of a core, which can tell what it says.
pub trait Outlined: Clone + fmt::Debug {
    /// The kinds there are, as scripts name them; at most 128.
    const KINDS: &'static [&'static str];

    /// What it says.
    fn outline(&self) -> Outline<'_>;
    /// The entries it carries, in order.
    fn entries(&self) -> impl Iterator<Item = EntryOutline<'_>>;
    /// The same, for the store to fill in what requests hold; needed of [`crate::Core::BARE`] cores alone.
    fn entries_mut(&mut self) -> Option<&mut Vec<crate::Entry>> {
        None
    }
}

/// What a message says besides its entries. What a kind of message does not have is 0 or empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outline<'a> {
    /// Its kind, by its place in [`Outlined::KINDS`].
    pub kind: u8,
    /// Its term; 0 if it carries none.
    pub term: u64,
    /// What it promises or claims.
    pub claim: Claim,
    /// Term and index of the entry it is about: the one before those it carries, the last one of a candidate, or the one up to
    /// which the sender's log is as it was sent.
    pub place: (u64, u64),
    /// Up to which index its sender knows entries to be committed.
    pub commit: u64,
    /// Whether it says no.
    pub rejects: bool,
    /// A snapshot it carries: term, index and content.
    pub snapshot: Option<(u64, u64, &'a [u8])>,
    /// Whatever else it says.
    pub more: [u64; 3],
    /// And that, too.
    pub context: &'a [u8],
}

/// An entry in a message.
#[derive(Clone, Copy, Debug)]
pub struct EntryOutline<'a> {
    /// Its term.
    pub term: u64,
    /// Its index.
    pub index: u64,
    /// Its kind, see [`crate::REQUEST`].
    pub kind: u8,
    /// What it holds.
    pub data: &'a [u8],
}

impl<'a> From<&'a crate::Entry> for EntryOutline<'a> {
    fn from(entry: &'a crate::Entry) -> EntryOutline<'a> {
        EntryOutline { term: entry.term, index: entry.index, kind: entry.kind, data: &entry.payload }
    }
}

/// What a message promises or claims, which the rules hold against the disk of its sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Claim {
    /// Nothing, but that its sender has reached its term.
    #[default]
    Nothing,
    /// A vote for its receiver.
    Vote,
    /// No vote, no pre-vote, or no append.
    Refusal,
    /// The log of the sender is as it was sent, up to [`Outline::place`].
    Appended,
    /// Its term may be one that nobody has reached yet: somebody asks for a pre-vote, or grants one.
    PreVote,
}

/// Bytes of a message without entries, about.
const HEAD_BYTES: usize = 48;
/// And of an entry without its content.
const ENTRY_HEAD_BYTES: usize = 16;

impl Outline<'_> {
    #[inline]
    pub(crate) fn kind<M: Outlined>(&self) -> Kind {
        Kind { code: self.kind, name: M::KINDS[usize::from(self.kind)] }
    }

    /// What it says to the rules, sent to `to`.
    #[inline]
    pub(crate) fn spoken(&self, to: NodeId) -> Spoken {
        let term = self.term;
        match self.claim {
            Claim::Vote => Spoken::Grant { to, term },
            Claim::Refusal => Spoken::Refusal { term },
            Claim::Appended => Spoken::AppendResponse { to, term, index: self.place.1 },
            Claim::PreVote => Spoken::Other { term, is_pre_vote: true },
            Claim::Nothing => Spoken::Other { term, is_pre_vote: false },
        }
    }
}

/// What tells a message apart from others of its kind on its way.
pub(crate) fn key_of<M: Outlined>(message: &M) -> u64 {
    let outline = message.outline();
    let entries = message.entries().count() as u64;
    let mut digester = Digester::default();
    digester.word(outline.term);
    digester.word(outline.place.1 << 16 | entries << 1 | u64::from(outline.rejects));
    digester.word(outline.snapshot.map_or(0, |(_, index, _)| index));
    digester.short()
}

pub(crate) fn digest<M: Outlined>(message: &M, digester: &mut Digester) {
    let outline = message.outline();
    digester.word(outline.term << 8 | u64::from(outline.kind));
    digester.word(outline.place.0 << 1 | u64::from(outline.rejects));
    digester.word(outline.place.1);
    digester.word(outline.commit);
    if outline.more != [0; 3] {
        outline.more.into_iter().for_each(|word| digester.word(word));
    }
    if !outline.context.is_empty() {
        digester.bytes(outline.context);
    }
    for entry in message.entries() {
        digester.word(entry.term << 8 | u64::from(entry.kind));
        digester.word(entry.index);
        digester.word(word_of(entry.data));
    }
    if let Some((term, index, data)) = outline.snapshot {
        [term, index, sum_of(data)].into_iter().for_each(|word| digester.word(word));
    }
}

pub(crate) fn size_bytes<M: Outlined>(message: &M) -> u32 {
    let entries: usize = message.entries().map(|entry| ENTRY_HEAD_BYTES + entry.data.len()).sum();
    let snapshot = message.outline().snapshot.map_or(0, |(_, _, data)| data.len());
    (HEAD_BYTES + entries + snapshot) as u32
}

/// Writes a message as etcd does: `MsgApp Term:2 Log:1/3 Commit:3 Entries:[2/4 "c1#1 put a x"]`.
pub(crate) fn fmt<M: Outlined>(message: &M, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let outline = message.outline();
    write!(f, "{} Term:{}", outline.kind::<M>().name, outline.term)?;
    if outline.place != (0, 0) {
        write!(f, " Log:{}/{}", outline.place.0, outline.place.1)?;
    }
    if outline.rejects {
        f.write_str(" Rejected")?;
    }
    if outline.commit != 0 {
        write!(f, " Commit:{}", outline.commit)?;
    }
    if let Some((term, index, data)) = outline.snapshot {
        write!(f, " Snapshot:{term}/{index} with {} bytes", data.len())?;
    }
    for (at, entry) in message.entries().enumerate() {
        f.write_str(if at == 0 { " Entries:[" } else { " " })?;
        write!(f, "{}/{} ", entry.term, entry.index)?;
        match entry.kind {
            crate::REQUEST => write!(f, "\"{}\"", Content(entry.data))?,
            kind => write!(f, "(kind {kind})")?,
        }
    }
    f.write_str(if message.entries().next().is_some() { "]" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, Default)]
    struct Letter(Outline<'static>, Vec<(u64, u64, &'static [u8])>);

    impl Outlined for Letter {
        const KINDS: &'static [&'static str] = &["Ask", "Answer"];
        fn outline(&self) -> Outline<'_> {
            self.0
        }
        fn entries(&self) -> impl Iterator<Item = EntryOutline<'_>> {
            self.1.iter().map(|&(term, index, data)| EntryOutline { term, index, kind: 0, data })
        }
    }

    fn hash(letter: &Letter) -> u64 {
        let mut digester = Digester::default();
        digest(letter, &mut digester);
        digester.short()
    }

    #[test]
    fn messages_that_say_different_things_have_different_hashes() {
        let outline = Outline { kind: 1, term: 3, place: (2, 7), commit: 6, ..Outline::default() };
        let letter = Letter(outline, vec![(3, 8, b"x")]);
        let others = [
            Letter(Outline { kind: 0, ..outline }, letter.1.clone()),
            Letter(Outline { term: 4, ..outline }, letter.1.clone()),
            Letter(Outline { place: (2, 8), ..outline }, letter.1.clone()),
            Letter(Outline { commit: 5, ..outline }, letter.1.clone()),
            Letter(Outline { rejects: true, ..outline }, letter.1.clone()),
            Letter(Outline { more: [0, 1, 0], ..outline }, letter.1.clone()),
            Letter(Outline { context: b"c", ..outline }, letter.1.clone()),
            Letter(Outline { snapshot: Some((1, 2, b"s")), ..outline }, letter.1.clone()),
            Letter(outline, vec![(3, 8, b"y")]),
            Letter(outline, Vec::new()),
        ];
        assert_eq!(hash(&letter), hash(&letter.clone()));
        others.iter().for_each(|other| assert_ne!(hash(other), hash(&letter), "{other:?}"));
    }

    #[test]
    fn a_claim_is_what_the_rules_hear() {
        let to = NodeId::server(1);
        let said = |claim| Outline { term: 3, claim, place: (2, 7), ..Outline::default() }.spoken(to);
        assert_eq!(said(Claim::Vote), Spoken::Grant { to, term: 3 });
        assert_eq!(said(Claim::Appended), Spoken::AppendResponse { to, term: 3, index: 7 });
        assert_eq!(said(Claim::Refusal), Spoken::Refusal { term: 3 });
        assert_eq!(said(Claim::PreVote), Spoken::Other { term: 3, is_pre_vote: true });
        assert_eq!(said(Claim::Nothing), Spoken::Other { term: 3, is_pre_vote: false });
    }
}
