//! What servers and clients send each other: messages of the core inside a session, sessions themselves, requests.

use crate::command::Answer;
use crate::machine::mix;
pub(crate) use crate::naming::{core_id, server};
use crate::order::Order;
use crate::proposal::{Author, Proposal, Verb, checksum, decode, entry_word, word};
use std::fmt;
use whitewater_raft::{ChangeKind, ConfChangeV2, Entry, MessageKind, Payload, Transition, decode_entry};
use whitewater_sim::{Digest, Digester, Kind, Message, NodeId};

/// Number of a life of a server's process, increasing; whoever sends to it says which one is meant.
pub type Session = u32;

/// The session of a server that was restarted `incarnation` times; those after it are for lives that end by themselves.
pub(crate) fn first_session(incarnation: u32) -> Session {
    incarnation << LIVES_LOG2
}

/// A process dies by itself less often than this power of two between two restarts.
const LIVES_LOG2: u32 = 16;

/// A session as it is printed: the number of restarts, then that of lives that ended by themselves, if there were any.
struct Life(Session);

impl fmt::Display for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (incarnation, lives) = (self.0 >> LIVES_LOG2, self.0 & ((1 << LIVES_LOG2) - 1));
        if lives == 0 { write!(f, "{incarnation}") } else { write!(f, "{incarnation}.{lives}") }
    }
}

/// A message.
#[derive(Clone, Debug, PartialEq)]
pub enum KvMessage {
    /// A message of the core.
    Raft {
        /// The session it is sent in.
        session: Session,
        /// The message. Behind a pointer, as it is handed on many times between two servers.
        message: Box<whitewater_raft::Message>,
    },
    /// A server asks a peer for a session.
    Connect {
        /// Returned with the answer, so that an old answer is recognised.
        nonce: u32,
    },
    /// The peer grants it.
    Connected {
        /// That of the question.
        nonce: u32,
        /// The session.
        session: Session,
    },
    /// What was sent in that session came to nobody: the server has been restarted since.
    Broken {
        /// The session that is gone.
        session: Session,
        /// The one that is granted now.
        granted: Session,
    },
    /// The snapshot that was sent in that session has come.
    Arrived {
        /// The session it was sent in.
        session: Session,
        /// The index it reaches to.
        index: u64,
    },
    /// A piece of a snapshot.
    Piece {
        /// The session it is sent in.
        session: Session,
        /// The message of the core, its snapshot without data.
        head: Box<whitewater_raft::Message>,
        /// Where in the data it begins.
        offset: u32,
        /// Bytes of the whole data.
        total: u32,
        /// The piece.
        bytes: Payload,
    },
    /// How much has come of a snapshot that is sent in pieces.
    Come {
        /// The session it was sent in.
        session: Session,
        /// The index the snapshot reaches to.
        index: u64,
        /// The bytes that are there.
        bytes: u32,
    },
    /// A server has found its log damaged: what it has sent in earlier lives is not to be taken any more.
    Fence {
        /// The session that others send to it in now.
        life: Session,
    },
    /// It will not be.
    Fenced {
        /// That of the question.
        life: Session,
        /// The term of the server that answers.
        term: u64,
    },
    /// A client asks for an operation.
    Request {
        /// The incarnation of the server it is meant for.
        session: Session,
        /// Number of the attempt, counted over all requests of the client.
        attempt: u64,
        /// The operation, as an entry of the log.
        body: Payload,
    },
    /// A client orders something about the cluster.
    Order {
        /// As that of a request.
        session: Session,
        /// As that of a request, and counted with them.
        attempt: u64,
        /// Number of the request, counted with those for operations.
        number: u64,
        /// What is ordered.
        order: Order,
    },
    /// A server answers.
    Response {
        /// The attempt that is answered.
        attempt: u64,
        /// The answer.
        outcome: Outcome,
        /// Up to where the server had applied its log when it answered. Clients do nothing with it, and it follows from the
        /// rest of the run: it is no part of the digest.
        index: u64,
    },
}

/// What came of an attempt at a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was carried out.
    Done(Answer),
    /// The server did not take it on: nothing will come of this attempt.
    Refused {
        /// Who leads, as far as the server knows.
        leader: Option<NodeId>,
    },
}

impl KvMessage {
    const SESSION_KINDS: u8 = 32;

    /// The message of the core, if it is one.
    pub fn raft(&self) -> Option<&whitewater_raft::Message> {
        match self {
            KvMessage::Raft { message, .. } => Some(message),
            _ => None,
        }
    }
}

/// The kinds of messages, as scripts name them.
pub(crate) const KINDS: &[&str] = &[
    "MsgApp",
    "MsgAppResp",
    "MsgHeartbeat",
    "MsgHeartbeatResp",
    "MsgVote",
    "MsgVoteResp",
    "MsgPreVote",
    "MsgPreVoteResp",
    "MsgProp",
    "MsgReadIndex",
    "MsgReadIndexResp",
    "MsgSnap",
    "MsgTransferLeader",
    "MsgTimeoutNow",
    "Connect",
    "Connected",
    "Broken",
    "Arrived",
    "Fence",
    "Fenced",
    "Piece",
    "Come",
    "Request",
    "Order",
    "Response",
];

impl Message for KvMessage {
    #[inline]
    fn kind(&self) -> Kind {
        let (code, name) = match self {
            KvMessage::Raft { message, .. } => {
                return Kind { code: message.kind as u8, name: message.kind.name() };
            }
            KvMessage::Connect { .. } => (0, "Connect"),
            KvMessage::Connected { .. } => (1, "Connected"),
            KvMessage::Broken { .. } => (2, "Broken"),
            KvMessage::Request { .. } => (3, "Request"),
            KvMessage::Response { .. } => (4, "Response"),
            KvMessage::Arrived { .. } => (5, "Arrived"),
            KvMessage::Order { .. } => (6, "Order"),
            KvMessage::Fence { .. } => (7, "Fence"),
            KvMessage::Fenced { .. } => (8, "Fenced"),
            KvMessage::Piece { .. } => (9, "Piece"),
            KvMessage::Come { .. } => (10, "Come"),
        };
        Kind { code: Self::SESSION_KINDS + code, name }
    }

    #[inline]
    fn key(&self) -> u64 {
        match self {
            KvMessage::Raft { message, .. } => {
                let range =
                    message.index << 16 | (message.entries.len() as u64) << 1 | u64::from(message.reject);
                let snapshot = message.snapshot().map_or(0, |snapshot| snapshot.index);
                mix(message.term, range ^ snapshot << 16)
            }
            KvMessage::Connect { nonce } | KvMessage::Connected { nonce, .. } => u64::from(*nonce),
            KvMessage::Broken { session, .. } => u64::from(*session),
            KvMessage::Arrived { index, .. } => *index,
            KvMessage::Fence { life } | KvMessage::Fenced { life, .. } => u64::from(*life),
            KvMessage::Piece { head, offset, .. } => {
                let index = head.snapshot().map_or(0, |snapshot| snapshot.index);
                mix(head.term, index << 32 | u64::from(*offset))
            }
            KvMessage::Come { index, bytes, .. } => index << 32 | u64::from(*bytes),
            KvMessage::Request { attempt, .. }
            | KvMessage::Order { attempt, .. }
            | KvMessage::Response { attempt, .. } => *attempt,
        }
    }

    fn term(&self) -> Option<u64> {
        self.raft().map(|message| message.term).filter(|&term| term != 0)
    }

    #[inline]
    fn size_bytes(&self) -> u32 {
        match self {
            KvMessage::Raft { message, .. } => {
                let entries: usize = message.entries.iter().map(|entry| 24 + entry.data.len()).sum();
                let snapshot = message.snapshot().map_or(0, |snapshot| 40 + snapshot.data.len());
                60 + (entries + snapshot) as u32
            }
            KvMessage::Piece { bytes, .. } => 100 + bytes.len() as u32,
            KvMessage::Request { body, .. } => 20 + body.len() as u32,
            KvMessage::Response { outcome: Outcome::Done(Answer::Value(Some(value))), .. } => {
                20 + value.bytes().len() as u32
            }
            _ => 20,
        }
    }

    fn duplicate(&self) -> Option<KvMessage> {
        Some(self.clone())
    }
}

impl Digest for KvMessage {
    #[inline]
    fn digest(&self, digester: &mut Digester) {
        match self {
            KvMessage::Raft { session, message } => digest_raft(*session, message, digester),
            KvMessage::Connect { nonce } => digester.word(u64::from(*nonce)),
            KvMessage::Connected { nonce, session } => {
                digester.word(u64::from(*nonce) << 32 | u64::from(*session))
            }
            KvMessage::Broken { session, granted } => {
                digester.word(u64::from(*session) << 32 | u64::from(*granted));
            }
            KvMessage::Arrived { session, index } => {
                digester.word(u64::from(*session));
                digester.word(*index);
            }
            KvMessage::Piece { session, head, offset, total, bytes } => {
                digest_raft(*session, head, digester);
                digester.word(u64::from(*offset) << 32 | u64::from(*total));
                digester.word(checksum(bytes));
            }
            KvMessage::Come { session, index, bytes } => {
                digester.word(u64::from(*session) << 32 | u64::from(*bytes));
                digester.word(*index);
            }
            KvMessage::Fence { life } => digester.word(u64::from(*life)),
            KvMessage::Fenced { life, term } => {
                digester.word(u64::from(*life));
                digester.word(*term);
            }
            KvMessage::Request { session, attempt, body } => {
                digester.word(u64::from(*session));
                digester.word(*attempt);
                digester.word(word(body));
            }
            KvMessage::Order { session, attempt, number, order } => {
                digester.word(u64::from(*session));
                digester.word(*attempt);
                digester.word(*number);
                order.digest(digester);
            }
            KvMessage::Response { attempt, outcome, .. } => {
                digester.word(*attempt);
                outcome.digest(digester);
            }
        }
    }
}

#[inline]
fn digest_raft(session: Session, message: &whitewater_raft::Message, digester: &mut Digester) {
    digester.word(u64::from(session) << 8 | u64::from(message.reject) << 1 | u64::from(message.transfer));
    digester.word(message.term);
    digester.word(message.index);
    digester.word(message.log_term << 32 ^ message.commit);
    digester.word(message.reject_hint << 32 ^ message.context);
    for entry in message.entries.iter() {
        digester.word(entry.term << 2 | entry.kind as u64);
        digester.word(entry_word(entry));
    }
    if let Some(snapshot) = message.snapshot() {
        digester.word(snapshot.index);
        digester.word(snapshot.term);
        digester.word(checksum(&snapshot.data));
    }
}

impl Digest for Outcome {
    fn digest(&self, digester: &mut Digester) {
        match self {
            Outcome::Done(answer) => answer.digest(digester),
            Outcome::Refused { leader } => {
                digester.word(8 + leader.map_or(0, |node| node.index() as u64 + 1))
            }
        }
    }
}

impl fmt::Display for KvMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KvMessage::Raft { message, .. } => describe(message, f),
            KvMessage::Connect { nonce } => write!(f, "Connect #{nonce}"),
            KvMessage::Connected { nonce, session } => {
                write!(f, "Connected #{nonce} Session:{}", Life(*session))
            }
            KvMessage::Broken { session, granted } => {
                write!(f, "Broken Session:{} Granted:{}", Life(*session), Life(*granted))
            }
            KvMessage::Arrived { session, index } => {
                write!(f, "Arrived Session:{} Snapshot:{index}", Life(*session))
            }
            KvMessage::Fence { life } => write!(f, "Fence Session:{}", Life(*life)),
            KvMessage::Fenced { life, term } => write!(f, "Fenced Session:{} Term:{term}", Life(*life)),
            KvMessage::Piece { head, offset, total, bytes, .. } => {
                let end = *offset as usize + bytes.len();
                describe(head, f)?;
                write!(f, ", {offset} to {end} of {total}")
            }
            KvMessage::Come { session, index, bytes } => {
                write!(f, "Come Session:{} Snapshot:{index} {bytes} bytes", Life(*session))
            }
            KvMessage::Request { attempt, body, .. } => write!(f, "Request #{attempt} {}", Body(body)),
            KvMessage::Order { attempt, order, .. } => write!(f, "Order #{attempt} {order}"),
            KvMessage::Response { attempt, outcome, .. } => write!(f, "Response #{attempt} {outcome}"),
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Done(answer) => answer.fmt(f),
            Outcome::Refused { leader: Some(leader) } => write!(f, "refused, {leader} leads"),
            Outcome::Refused { leader: None } => f.write_str("refused, no leader"),
        }
    }
}

/// Prints a message of the core as etcd does, without sender and receiver and with readable entries, on one line.
fn describe(message: &whitewater_raft::Message, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{} Term:{} Log:{}/{}", message.kind, message.term, message.log_term, message.index)?;
    if message.reject {
        write!(f, " Rejected (Hint: {})", message.reject_hint)?;
    }
    if message.commit != 0 {
        write!(f, " Commit:{}", message.commit)?;
    }
    if let Some(snapshot) = message.snapshot() {
        let bytes = snapshot.data.len();
        write!(f, " Snapshot: {}/{} with {bytes} bytes", snapshot.term, snapshot.index)?;
    }
    if matches!(message.kind, MessageKind::ReadIndex | MessageKind::ReadIndexResponse)
        || message.entries.is_empty()
    {
        return Ok(());
    }
    f.write_str(" Entries:[")?;
    for (at, entry) in message.entries.iter().enumerate() {
        let blank = if at == 0 { "" } else { " " };
        write!(f, "{blank}{}", Line(entry))?;
    }
    f.write_str("]")
}

/// An entry as etcd prints it, its bytes made readable.
pub(crate) struct Line<'a>(pub(crate) &'a Entry);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Line(entry) = self;
        write!(f, "{}/{} {} \"", entry.term, entry.index, entry.kind)?;
        match decode_entry(entry.kind, &entry.data) {
            Some(change) => Members(&change).fmt(f)?,
            None => Body(&entry.data).fmt(f)?,
        }
        f.write_str("\"")
    }
}

/// A change of the membership as etcd prints it, one word for each server: `v` for a voter, `l` for a learner, `r` for one
/// that leaves.
struct Members<'a>(&'a ConfChangeV2);

impl fmt::Display for Members<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Members(ConfChangeV2 { changes, context, transition }) = self;
        write!(f, "{}", Body(context))?;
        for change in changes {
            let letter = match change.kind {
                ChangeKind::AddNode => 'v',
                ChangeKind::AddLearner => 'l',
                ChangeKind::RemoveNode => 'r',
                ChangeKind::UpdateNode => 'u',
            };
            write!(f, " {letter}{}", change.node)?;
        }
        match transition {
            Transition::JointExplicit => f.write_str(" explicitly"),
            _ if changes.is_empty() => f.write_str(" leave"),
            _ => Ok(()),
        }
    }
}

/// The operation in an entry, with its author: `c1#3 put a x`.
struct Body<'a>(&'a [u8]);

impl fmt::Display for Body<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(Proposal { author, number, key, verb }) = decode(self.0) else { return Ok(()) };
        match author {
            Author::Client(position) => write!(f, "c{}#{number} ", position + 1)?,
            Author::Server(position) => write!(f, "n{}#{number} ", position + 1)?,
        }
        let text = String::from_utf8_lossy;
        let key = text(key);
        match verb {
            Verb::Put(value) => write!(f, "put {key} {}", text(value)),
            Verb::Append(value) => write!(f, "append {key} {}", text(value)),
            Verb::Get => write!(f, "get {key}"),
            Verb::Change => f.write_str("change"),
            Verb::CompareAndSet { old, new } => write!(f, "cas {key} {} {}", text(old), text(new)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Operation, Text};
    use crate::proposal::encode;
    use whitewater_raft::EntryKind;

    fn append(commit: u64) -> KvMessage {
        let operation = Operation::Put { key: Text::new(b"a"), value: Text::new(b"x") };
        let data = encode(Author::Client(0), 3, &operation);
        let entry = Entry { term: 2, index: 12, kind: EntryKind::Normal, data };
        let mut message = whitewater_raft::Message::new(MessageKind::Append, 1, 2);
        (message.term, message.log_term, message.index, message.commit) = (2, 1, 11, commit);
        message.entries = vec![entry].into();
        KvMessage::Raft { session: 0, message: Box::new(message) }
    }

    #[test]
    fn an_append_prints_as_etcd_prints_it() {
        assert_eq!(
            append(11).to_string(),
            "MsgApp Term:2 Log:1/11 Commit:11 Entries:[2/12 EntryNormal \"c1#3 put a x\"]"
        );
    }

    #[test]
    fn the_key_of_a_message_is_where_it_stands_in_the_log_and_the_digest_is_everything() {
        let digest = |message: &KvMessage| {
            let mut digester = Digester::default();
            message.digest(&mut digester);
            digester.short()
        };
        assert_eq!(append(11).key(), append(10).key());
        assert_ne!(digest(&append(11)), digest(&append(10)));
        assert_eq!(digest(&append(11)), digest(&append(11).duplicate().unwrap()));
    }

    #[test]
    fn every_kind_a_message_can_have_is_one_that_scripts_can_name() {
        let others = [
            KvMessage::Connect { nonce: 1 },
            KvMessage::Connected { nonce: 1, session: 0 },
            KvMessage::Broken { session: 0, granted: 1 },
            KvMessage::Request { session: 0, attempt: 1, body: Payload::EMPTY },
            KvMessage::Response { attempt: 1, outcome: Outcome::Refused { leader: None }, index: 0 },
            KvMessage::Order { session: 0, attempt: 1, number: 1, order: Order::Transfer(NodeId::server(0)) },
            KvMessage::Arrived { session: 0, index: 1 },
            KvMessage::Fence { life: 1 },
            KvMessage::Fenced { life: 1, term: 1 },
            KvMessage::Come { session: 0, index: 1, bytes: 1 },
            KvMessage::Piece {
                session: 0,
                head: Box::default(),
                offset: 0,
                total: 2,
                bytes: Payload::from(&b"a"[..]),
            },
        ];
        for message in others.iter().chain([&append(0)]) {
            assert!(KINDS.contains(&message.kind().name), "{message}");
        }
    }
}
