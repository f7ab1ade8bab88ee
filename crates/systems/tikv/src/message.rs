//! Messages of the core as the world sees them: their names, what tells them apart, and their text.

use crate::kind_of;
use raft::eraftpb::{Message, MessageType};
use std::fmt;
use whitewater_check::Spoken;
use whitewater_sim::{Digest, Digester, Kind, NodeId};
use whitewater_store::{Content, sum_of, word_of};

/// A message, behind a pointer as it is handed on many times.
#[derive(Clone, Debug)]
pub struct TikvMessage(pub Box<Message>);

/// The names of kinds, as etcd writes them, by the number of their type.
pub(crate) const KINDS: &[&str] = &[
    "MsgHup",
    "MsgBeat",
    "MsgProp",
    "MsgApp",
    "MsgAppResp",
    "MsgVote",
    "MsgVoteResp",
    "MsgSnap",
    "MsgHeartbeat",
    "MsgHeartbeatResp",
    "MsgUnreachable",
    "MsgSnapStatus",
    "MsgCheckQuorum",
    "MsgTransferLeader",
    "MsgTimeoutNow",
    "MsgReadIndex",
    "MsgReadIndexResp",
    "MsgPreVote",
    "MsgPreVoteResp",
];

impl TikvMessage {
    /// What it promises or claims.
    pub(crate) fn spoken(&self, to: NodeId) -> Spoken {
        let message = &self.0;
        let term = message.term;
        match message.get_msg_type() {
            MessageType::MsgRequestVoteResponse if !message.reject => Spoken::Grant { to, term },
            MessageType::MsgAppendResponse if !message.reject => {
                Spoken::AppendResponse { term, index: message.index }
            }
            MessageType::MsgRequestVoteResponse | MessageType::MsgAppendResponse => Spoken::Refusal { term },
            MessageType::MsgRequestPreVoteResponse if message.reject => Spoken::Refusal { term },
            MessageType::MsgRequestPreVote | MessageType::MsgRequestPreVoteResponse => {
                Spoken::Other { term, is_pre_vote: true }
            }
            _ => Spoken::Other { term, is_pre_vote: false },
        }
    }
}

impl whitewater_sim::Message for TikvMessage {
    fn kind(&self) -> Kind {
        let code = self.0.get_msg_type() as u8;
        Kind { code, name: KINDS[usize::from(code)] }
    }

    fn key(&self) -> u64 {
        let message = &self.0;
        let mut digester = Digester::default();
        digester.word(message.term);
        digester.word(message.index << 16 | (message.entries.len() as u64) << 1 | u64::from(message.reject));
        digester.word(message.get_snapshot().get_metadata().index);
        digester.short()
    }

    fn term(&self) -> Option<u64> {
        Some(self.0.term).filter(|&term| term != 0)
    }

    fn size_bytes(&self) -> u32 {
        let entries: usize = self.0.entries.iter().map(|entry| 16 + entry.data.len()).sum();
        (48 + entries + self.0.get_snapshot().data.len()) as u32
    }

    fn duplicate(&self) -> Option<TikvMessage> {
        Some(self.clone())
    }
}

impl Digest for TikvMessage {
    fn digest(&self, digester: &mut Digester) {
        let message = &self.0;
        digester.word(message.term << 8 | message.get_msg_type() as u64);
        digester.word(message.log_term);
        digester.word(message.index);
        digester.word(message.commit ^ message.commit_term.rotate_left(32));
        digester.word(message.request_snapshot << 1 | u64::from(message.reject));
        digester.word(message.reject_hint);
        digester.bytes(&message.context);
        for entry in &message.entries {
            digester.word(entry.term << 2 | u64::from(kind_of(entry)));
            digester.word(entry.index);
            digester.word(word_of(&entry.data));
        }
        let snapshot = message.get_snapshot();
        if !snapshot.data.is_empty() {
            digester.word(snapshot.get_metadata().index);
            digester.word(snapshot.get_metadata().term);
            digester.word(sum_of(&snapshot.data));
        }
    }
}

impl fmt::Display for TikvMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = &self.0;
        let name = whitewater_sim::Message::kind(self).name;
        write!(f, "{name} Term:{} Log:{}/{}", message.term, message.log_term, message.index)?;
        if message.reject {
            write!(f, " Rejected (Hint: {})", message.reject_hint)?;
        }
        if message.commit != 0 {
            write!(f, " Commit:{}", message.commit)?;
        }
        let snapshot = message.get_snapshot();
        if !snapshot.data.is_empty() {
            let at = snapshot.get_metadata();
            write!(f, " Snapshot: {}/{} with {} bytes", at.term, at.index, snapshot.data.len())?;
        }
        if name.starts_with("MsgRead") || message.entries.is_empty() {
            return Ok(());
        }
        f.write_str(" Entries:[")?;
        for (at, entry) in message.entries.iter().enumerate() {
            let (blank, kind) = (if at == 0 { "" } else { " " }, entry.get_entry_type());
            write!(f, "{blank}{}/{} {kind:?} \"{}\"", entry.term, entry.index, Content(&entry.data))?;
        }
        f.write_str("]")
    }
}
