//! Messages of the core, and what they say.

use crate::shelf::kind_of;
use raft::eraftpb::{Message, MessageType};
use whitewater_store::{Claim, EntryOutline, Outline, Outlined};

/// A message, behind a pointer as it is handed on many times.
#[derive(Clone, Debug)]
pub struct TikvMessage(pub Box<Message>);

impl Outlined for TikvMessage {
    // As etcd writes them, by the number of their type.
    const KINDS: &'static [&'static str] = &[
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

    fn outline(&self) -> Outline<'_> {
        use MessageType::{
            MsgAppendResponse, MsgRequestPreVote, MsgRequestPreVoteResponse, MsgRequestVoteResponse,
        };
        let message = &self.0;
        let kind = message.get_msg_type();
        let claim = match kind {
            MsgRequestVoteResponse | MsgAppendResponse | MsgRequestPreVoteResponse if message.reject => {
                Claim::Refusal
            }
            MsgRequestVoteResponse => Claim::Vote,
            MsgAppendResponse => Claim::Appended,
            MsgRequestPreVote | MsgRequestPreVoteResponse => Claim::PreVote,
            _ => Claim::Nothing,
        };
        let snapshot = message.get_snapshot();
        let at = snapshot.get_metadata();
        Outline {
            kind: kind as u8,
            term: message.term,
            claim,
            place: (message.log_term, message.index),
            commit: message.commit,
            rejects: message.reject,
            snapshot: (at.index > 0).then_some((at.term, at.index, &snapshot.data[..])),
            more: [message.reject_hint, message.request_snapshot, message.commit_term],
            context: &message.context,
        }
    }

    fn entries(&self) -> impl Iterator<Item = EntryOutline<'_>> {
        self.0.entries.iter().map(|entry| {
            let kind = kind_of(entry.get_entry_type());
            EntryOutline { term: entry.term, index: entry.index, kind, data: &entry.data }
        })
    }
}
