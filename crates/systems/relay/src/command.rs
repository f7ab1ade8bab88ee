//! What a node may be told, and what it answers.

use crate::raft::Mode;
use std::fmt;
use whitewater_sim::{Digest, Digester, NodeId, Span, parse_span};

/// What a node may be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Write this, if you lead.
    Propose(String),
    /// Stand for election, if you are a candidate.
    Campaign,
    /// Write this at once if you lead, and again each time you begin to lead.
    LeadWith(String),
    /// Stand for election because somebody wants you to lead.
    Promote,
    /// Lead no more, in the same term.
    Resign,
    /// Give up the queue, and then lead no more, in the same term.
    Demote,
    /// Take part in elections like this from now on.
    Mode(Mode),
    /// Handle nothing for so long; only the relays go on by themselves.
    Hang(Span),
}

/// What a node answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The row is durable here, under this number.
    Written(u32),
    /// The node does not lead; this one does, if any is known.
    NoLeader(Option<NodeId>),
    /// The election is called.
    Standing,
    /// It is done.
    Done,
    /// It will not be done, for this reason.
    Refused(&'static str),
}

const FORMS: &str =
    "`propose x=1`, `campaign`, `promote`, `resign`, `demote`, `mode voter`, `hang 500ms` or `lead-with x=1`";

impl Command {
    /// Reads a command.
    ///
    /// # Errors
    /// Says which commands there are.
    pub fn parse(text: &str) -> Result<Command, String> {
        let (verb, rest) = text.split_once(' ').unwrap_or((text, ""));
        let is_row = !rest.is_empty() && !rest.contains(char::is_whitespace);
        match verb {
            "propose" if is_row => Ok(Command::Propose(rest.to_owned())),
            "lead-with" if is_row => Ok(Command::LeadWith(rest.to_owned())),
            "campaign" if text == "campaign" => Ok(Command::Campaign),
            "promote" if text == "promote" => Ok(Command::Promote),
            "resign" if text == "resign" => Ok(Command::Resign),
            "demote" if text == "demote" => Ok(Command::Demote),
            "mode" => match rest {
                "off" => Ok(Command::Mode(Mode::Off)),
                "voter" => Ok(Command::Mode(Mode::Voter)),
                "candidate" => Ok(Command::Mode(Mode::Candidate)),
                _ => Err(format!("a mode is off, voter or candidate: {FORMS}")),
            },
            "hang" => match parse_span(rest) {
                Some(span) => Ok(Command::Hang(span)),
                None => Err(format!("`{rest}` is no time: {FORMS}")),
            },
            "propose" | "lead-with" => Err(format!("`{verb}` takes one word to write: {FORMS}")),
            _ => Err(format!("`{text}` is no command: {FORMS}")),
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Command::Propose(row) => write!(f, "propose {row}"),
            Command::Campaign => f.write_str("campaign"),
            Command::LeadWith(row) => write!(f, "lead-with {row}"),
            Command::Promote => f.write_str("promote"),
            Command::Resign => f.write_str("resign"),
            Command::Demote => f.write_str("demote"),
            Command::Mode(Mode::Off) => f.write_str("mode off"),
            Command::Mode(Mode::Voter) => f.write_str("mode voter"),
            Command::Mode(Mode::Candidate) => f.write_str("mode candidate"),
            Command::Hang(span) => write!(f, "hang {span}"),
        }
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reply::Written(lsn) => write!(f, "written as row {lsn}"),
            Reply::NoLeader(Some(leader)) => write!(f, "refused, the leader is {leader}"),
            Reply::NoLeader(None) => f.write_str("refused, no leader is known"),
            Reply::Standing => f.write_str("stands for election"),
            Reply::Done => f.write_str("done"),
            Reply::Refused(why) => write!(f, "refused, {why}"),
        }
    }
}

impl Digest for Reply {
    fn digest(&self, digester: &mut Digester) {
        digester.word(match self {
            Reply::Written(lsn) => 1 << 32 | u64::from(*lsn),
            Reply::NoLeader(leader) => 2 << 32 | leader.map_or(0, |node| 1 + node.index() as u64),
            Reply::Standing => 3 << 32,
            Reply::Refused(_) => 4 << 32,
            Reply::Done => 5 << 32,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_reads_back_as_it_is_written() {
        let simple = ["propose x=1", "campaign", "lead-with settled=1", "promote", "resign", "demote"];
        for text in simple.into_iter().chain(["mode voter", "hang 500ms"]) {
            assert_eq!(Command::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_command_is_refused_with_those_there_are() {
        for text in [
            "",
            "propose",
            "propose ",
            "propose x y",
            "campaign now",
            "elect",
            "mode",
            "mode king",
            "hang",
            "hang on",
            "resign now",
            "demote n1",
        ] {
            assert!(Command::parse(text).unwrap_err().contains("`campaign`"), "{text}");
        }
    }
}
