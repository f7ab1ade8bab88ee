//! What servers and clients send each other: messages of the core, snapshots, requests and responses.

use crate::command::Answer;
use crate::core::Snapshot;
use crate::machine::sum_of;
use crate::outline::{self, Outlined};
use crate::request::{Content, word_of};
use std::fmt;
use std::rc::Rc;
use whitewater_check::Spoken;
use whitewater_sim::{Digest, Digester, Kind, Message, NodeId};

/// A message.
#[derive(Clone, Debug)]
pub enum StoreMessage<M> {
    /// A message of the core.
    Core(M),
    /// A client asks for an operation.
    Request {
        /// The life of the server that it is sent to.
        life: u32,
        /// Number of the attempt, counted over all requests of the client.
        attempt: u64,
        /// The operation, as an entry of the log.
        body: Rc<[u8]>,
    },
    /// A server answers.
    Response {
        /// The attempt that is answered.
        attempt: u64,
        /// The answer.
        outcome: Outcome,
        /// Up to which entry the server has applied its log.
        index: u64,
    },
    /// A snapshot has come.
    Arrived {
        /// The index it reaches to.
        index: u64,
    },
    /// What was sent to that life of the server came to nobody: it has been started again since.
    Broken {
        /// The life that is over.
        life: u32,
        /// The one it is in.
        now: u32,
    },
    /// A snapshot of the log of its sender, for cores that leave that to their user.
    Snapshot {
        /// The term of its sender.
        term: u64,
        /// The snapshot.
        snapshot: Box<Snapshot>,
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

/// Codes of kinds below this are the core's.
const OWN_KINDS: u8 = 128;

impl<M> StoreMessage<M> {
    /// The kinds that are not the core's; the last is there for [`crate::Core::BARE`] cores alone.
    pub const KINDS: [&'static str; 5] = ["Request", "Response", "Arrived", "Broken", "Snapshot"];
}

impl<M: Outlined> StoreMessage<M> {
    /// The index of the snapshot it carries, if it does.
    #[inline]
    pub(crate) fn snapshot_index(&self) -> Option<u64> {
        match self {
            StoreMessage::Core(message) => message.outline().snapshot.map(|(_, index, _)| index),
            StoreMessage::Snapshot { snapshot, .. } => Some(snapshot.index),
            _ => None,
        }
    }

    /// What it says to the rules, sent to `to`.
    #[inline]
    pub(crate) fn spoken(&self, to: NodeId) -> Option<Spoken> {
        match self {
            StoreMessage::Core(message) => Some(message.outline().spoken(to)),
            StoreMessage::Snapshot { term, .. } => Some(Spoken::Other { term: *term, is_pre_vote: false }),
            _ => None,
        }
    }
}

impl<M: Outlined> Message for StoreMessage<M> {
    #[inline]
    fn kind(&self) -> Kind {
        let place = match self {
            StoreMessage::Core(message) => return message.outline().kind::<M>(),
            StoreMessage::Request { .. } => 0,
            StoreMessage::Response { .. } => 1,
            StoreMessage::Arrived { .. } => 2,
            StoreMessage::Broken { .. } => 3,
            StoreMessage::Snapshot { .. } => 4,
        };
        Kind { code: OWN_KINDS + place, name: Self::KINDS[usize::from(place)] }
    }

    #[inline]
    fn key(&self) -> u64 {
        match self {
            StoreMessage::Core(message) => outline::key_of(message),
            StoreMessage::Request { attempt, .. } | StoreMessage::Response { attempt, .. } => *attempt,
            StoreMessage::Arrived { index } => *index,
            StoreMessage::Broken { life, .. } => u64::from(*life),
            StoreMessage::Snapshot { snapshot, .. } => snapshot.index,
        }
    }

    fn term(&self) -> Option<u64> {
        match self {
            StoreMessage::Core(message) => Some(message.outline().term).filter(|&term| term != 0),
            StoreMessage::Snapshot { term, .. } => Some(*term),
            _ => None,
        }
    }

    fn size_bytes(&self) -> u32 {
        match self {
            StoreMessage::Core(message) => outline::size_bytes(message),
            StoreMessage::Request { body, .. } => 16 + body.len() as u32,
            StoreMessage::Response { .. } | StoreMessage::Arrived { .. } | StoreMessage::Broken { .. } => 32,
            StoreMessage::Snapshot { snapshot, .. } => 48 + snapshot.data.len() as u32,
        }
    }

    fn duplicate(&self) -> Option<Self> {
        Some(self.clone())
    }
}

impl<M: Outlined> Digest for StoreMessage<M> {
    #[inline]
    fn digest(&self, digester: &mut Digester) {
        match self {
            StoreMessage::Core(message) => outline::digest(message, digester),
            StoreMessage::Request { life, attempt, body } => {
                digester.word(u64::from(*life));
                digester.word(*attempt);
                digester.word(word_of(body));
            }
            StoreMessage::Response { attempt, outcome, index } => {
                digester.word(*attempt);
                outcome.digest(digester);
                digester.word(*index);
            }
            StoreMessage::Arrived { index } => digester.word(*index),
            StoreMessage::Broken { life, now } => digester.word(u64::from(*life) << 32 | u64::from(*now)),
            StoreMessage::Snapshot { term, snapshot } => {
                let Snapshot { index, term: last, data, .. } = &**snapshot;
                [*term, *last, *index, sum_of(data)].into_iter().for_each(|word| digester.word(word));
            }
        }
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

impl<M: Outlined> fmt::Display for StoreMessage<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreMessage::Core(message) => outline::fmt(message, f),
            StoreMessage::Request { attempt, body, .. } => write!(f, "Request #{attempt} {}", Content(body)),
            StoreMessage::Response { attempt, outcome, .. } => write!(f, "Response #{attempt} {outcome}"),
            StoreMessage::Arrived { index } => write!(f, "Arrived Snapshot:{index}"),
            StoreMessage::Broken { .. } => f.write_str("Broken"),
            StoreMessage::Snapshot { term, snapshot } => {
                let Snapshot { index, term: last, data, .. } = &**snapshot;
                write!(f, "Snapshot Term:{term} Snapshot:{last}/{index} with {} bytes", data.len())
            }
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
