//! Messages between nodes of any release, with the content of commands, and snapshots, which the crate leaves to its users.

use std::fmt;
use std::sync::Arc;
use whitewater_sim::{Digest, Digester, Kind, Message};
use whitewater_store::{Content, Entry, sum_of, word_of};

/// A place in the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Term of the entry there.
    pub term: u64,
    /// Its index.
    pub index: u64,
}

/// A membership.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Who votes.
    pub voters: Vec<u64>,
    /// Who will, while the membership is a joint one.
    pub new_voters: Vec<u64>,
    /// Who receives the log without a vote.
    pub learners: Vec<u64>,
}

impl Config {
    /// As bytes: for each of the three groups their number, then the ids.
    pub(crate) fn write(&self) -> Vec<u8> {
        let groups = [&self.voters, &self.new_voters, &self.learners];
        groups
            .iter()
            .flat_map(|ids| std::iter::once(ids.len() as u8).chain(ids.iter().map(|id| *id as u8)))
            .collect()
    }

    pub(crate) fn read(mut bytes: &[u8]) -> Config {
        let mut group = || {
            let (length, rest) = bytes.split_first().expect("a membership that was written is whole");
            let (ids, rest) = rest.split_at(usize::from(*length));
            bytes = rest;
            ids.iter().map(|id| u64::from(*id)).collect()
        };
        Config { voters: group(), new_voters: group(), learners: group() }
    }
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
    Snapshot { term: u64, at: Position, config: Config, data: Arc<[u8]> },
}

impl Wire {
    /// The names of kinds.
    pub(crate) const KINDS: &[&str] = &["VoteCall", "VoteReply", "AppendCall", "AppendReply", "Snapshot"];

    pub(crate) fn term(&self) -> u64 {
        match self {
            Wire::VoteCall { term, .. }
            | Wire::VoteReply { term, .. }
            | Wire::AppendCall { term, .. }
            | Wire::AppendReply { term, .. }
            | Wire::Snapshot { term, .. } => *term,
        }
    }
}

impl Message for Wire {
    fn kind(&self) -> Kind {
        let code = match self {
            Wire::VoteCall { .. } => 0,
            Wire::VoteReply { .. } => 1,
            Wire::AppendCall { .. } => 2,
            Wire::AppendReply { .. } => 3,
            Wire::Snapshot { .. } => 4,
        };
        Kind { code, name: Self::KINDS[usize::from(code)] }
    }

    fn key(&self) -> u64 {
        let (index, length) = match self {
            Wire::VoteCall { last, .. } | Wire::AppendReply { last, .. } => (last.index, 0),
            Wire::VoteReply { granted, .. } => (u64::from(*granted), 0),
            Wire::AppendCall { base, entries, .. } => (base.index, entries.len() as u64),
            Wire::Snapshot { at, .. } => (at.index, 0),
        };
        let mut digester = Digester::default();
        digester.word(self.term());
        digester.word(index << 16 | length);
        digester.short()
    }

    fn term(&self) -> Option<u64> {
        Some(Wire::term(self))
    }

    fn size_bytes(&self) -> u32 {
        match self {
            Wire::AppendCall { entries, .. } => {
                48 + entries.iter().map(|entry| 16 + entry.payload.len() as u32).sum::<u32>()
            }
            Wire::Snapshot { data, .. } => 48 + data.len() as u32,
            _ => 48,
        }
    }

    fn duplicate(&self) -> Option<Wire> {
        Some(self.clone())
    }
}

impl Digest for Wire {
    fn digest(&self, digester: &mut Digester) {
        digester.word(Wire::term(self) << 8 | u64::from(Message::kind(self).code));
        match self {
            Wire::VoteCall { last, .. } => {
                [last.term, last.index].iter().for_each(|word| digester.word(*word))
            }
            Wire::VoteReply { granted, .. } => digester.word(u64::from(*granted)),
            Wire::AppendCall { commit, base, entries, .. } => {
                [*commit, base.term, base.index].iter().for_each(|word| digester.word(*word));
                for entry in entries {
                    digester.word(entry.term << 2 | u64::from(entry.kind));
                    digester.word(word_of(&entry.payload));
                }
            }
            Wire::AppendReply { generation, last, .. } => {
                [*generation, last.term, last.index].iter().for_each(|word| digester.word(*word));
            }
            Wire::Snapshot { at, data, .. } => {
                [at.term, at.index, sum_of(data)].iter().for_each(|word| digester.word(*word));
            }
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.term, self.index)
    }
}

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} Term:{}", Message::kind(self).name, Wire::term(self))?;
        match self {
            Wire::VoteCall { last, .. } => write!(f, " Log:{last}"),
            Wire::VoteReply { granted, .. } => f.write_str(if *granted { " granted" } else { " Rejected" }),
            Wire::AppendCall { commit, base, entries, .. } => {
                write!(f, " Log:{base} Commit:{commit}")?;
                if entries.is_empty() {
                    return Ok(());
                }
                f.write_str(" Entries:[")?;
                for (at, entry) in entries.iter().enumerate() {
                    let blank = if at == 0 { "" } else { " " };
                    write!(f, "{blank}{}/{} \"{}\"", entry.term, entry.index, Content(&entry.payload))?;
                }
                f.write_str("]")
            }
            Wire::AppendReply { last, .. } => write!(f, " Log:{last}"),
            Wire::Snapshot { at, data, .. } => write!(f, " Snapshot: {at} with {} bytes", data.len()),
        }
    }
}
