//! Messages of the core, and what they say.

use crate::shelf::kind_of;
use raft::eraftpb::Message;
use whitewater_store::{EntryOutline, Outline, Outlined, etcd};

/// A message, behind a pointer as it is handed on many times.
#[derive(Clone, Debug)]
pub struct TikvMessage(pub Box<Message>);

impl Outlined for TikvMessage {
    const KINDS: &'static [&'static str] = etcd::KINDS;

    fn outline(&self) -> Outline<'_> {
        let message = &self.0;
        let (kind, snapshot) = (message.msg_type as u8, message.get_snapshot());
        let at = snapshot.get_metadata();
        Outline {
            kind,
            term: message.term,
            claim: etcd::claim_of(kind, message.reject),
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
