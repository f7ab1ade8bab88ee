//! What nodes send each other: datagrams, each of which belongs to a connection and has a number in it.

use crate::row::Row;
use crate::vclock::Vclock;
use std::fmt;
use whitewater_sim::{Digest, Digester, Kind, NodeId, Role};

/// A node's election state as it tells others: always the whole of it, and only what is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// Its durable term.
    pub term: u64,
    /// Whom it chose in that term.
    pub vote: Option<NodeId>,
    /// Its part: follower, candidate or leader.
    pub state: Role,
    /// What it has, said by candidates only.
    pub vclock: Option<Vclock>,
    /// Whether it sees the leader; only where that is asked.
    pub sees_leader: Option<bool>,
}

/// What a datagram says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// A subscriber asks for everything beyond what it has. The first of a connection.
    Subscribe(Vclock),
    /// The source agrees, and tells its election state directly, without its relay.
    SubscribeReply(Announcement),
    /// The relay passes a broadcast on.
    Announce(Announcement),
    /// The relay sends rows.
    Rows(Vec<Row>),
    /// The relay shows that it is there.
    Heartbeat,
    /// The subscriber says what it has, and in which term it is where that is asked.
    Ack(Vclock, Option<u64>),
    /// There is no such connection (any more).
    Reset {
        /// Whether the source says so, or the subscriber.
        by_source: bool,
    },
}

/// A datagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The connection, numbered by the subscriber; later ones have higher numbers, across its restarts.
    pub connection: u32,
    /// Its number among the datagrams of its direction, from 0.
    pub number: u32,
    /// What it says.
    pub body: Body,
}

/// Names of all kinds of messages; a kind's code is its place here.
pub const KINDS: &[&str] = &[
    "Subscribe",
    "SubscribeReply",
    "Announce",
    "VoteRequest",
    "LeaderAnnounce",
    "Rows",
    "Heartbeat",
    "Ack",
    "Reset",
];

impl Announcement {
    fn short(&self) -> u64 {
        let mut digester = Digester::default();
        self.digest(&mut digester);
        digester.short()
    }
}

impl Body {
    fn code(&self) -> u8 {
        match self {
            Body::Subscribe(_) => 0,
            Body::SubscribeReply(_) => 1,
            Body::Announce(announcement) => match announcement.state {
                Role::Candidate => 3,
                Role::Leader => 4,
                _ => 2,
            },
            Body::Rows(_) => 5,
            Body::Heartbeat => 6,
            Body::Ack(..) => 7,
            Body::Reset { .. } => 8,
        }
    }

    /// The election state it carries, if any.
    pub fn announcement(&self) -> Option<&Announcement> {
        match self {
            Body::SubscribeReply(announcement) | Body::Announce(announcement) => Some(announcement),
            _ => None,
        }
    }
}

impl whitewater_sim::Message for Message {
    fn kind(&self) -> Kind {
        let code = self.body.code();
        Kind { code, name: KINDS[code as usize] }
    }

    fn key(&self) -> u64 {
        match &self.body {
            Body::Subscribe(vclock) | Body::Ack(vclock, _) => vclock.short(),
            Body::SubscribeReply(announcement) | Body::Announce(announcement) => announcement.short(),
            Body::Rows(rows) => {
                let mut digester = Digester::default();
                for row in rows {
                    digester.word((row.origin.index() as u64) << 32 | u64::from(row.lsn));
                }
                digester.short()
            }
            Body::Heartbeat => 0,
            Body::Reset { by_source } => u64::from(*by_source),
        }
    }

    fn term(&self) -> Option<u64> {
        match &self.body {
            Body::Ack(_, term) => *term,
            body => body.announcement().map(|announcement| announcement.term),
        }
    }

    fn size_bytes(&self) -> u32 {
        let body = match &self.body {
            Body::Subscribe(_) | Body::Ack(..) => 64,
            Body::SubscribeReply(_) | Body::Announce(_) => 96,
            Body::Rows(rows) => rows.iter().map(|row| 16 + row.text.len() as u32).sum(),
            Body::Heartbeat | Body::Reset { .. } => 0,
        };
        16 + body
    }

    fn duplicate(&self) -> Option<Message> {
        Some(self.clone())
    }
}

impl Digest for Announcement {
    fn digest(&self, digester: &mut Digester) {
        digester.word(self.term);
        digester.word(self.vote.map_or(0, |vote| 1 + vote.index() as u64) << 8 | self.state as u64);
        if let Some(vclock) = &self.vclock {
            vclock.digest(digester);
        }
        if let Some(sees) = self.sees_leader {
            digester.word(u64::from(sees));
        }
    }
}

impl Digest for Message {
    fn digest(&self, digester: &mut Digester) {
        digester.word(u64::from(self.connection) << 32 | u64::from(self.number));
        digester.word(u64::from(self.body.code()));
        match &self.body {
            Body::Subscribe(vclock) => vclock.digest(digester),
            Body::Ack(vclock, term) => {
                vclock.digest(digester);
                term.iter().for_each(|&term| digester.word(term));
            }
            Body::SubscribeReply(announcement) | Body::Announce(announcement) => {
                announcement.digest(digester);
            }
            Body::Rows(rows) => rows.iter().for_each(|row| digester.word(row.chain(0))),
            Body::Heartbeat => {}
            Body::Reset { by_source } => digester.word(u64::from(*by_source)),
        }
    }
}

impl fmt::Display for Announcement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "term {}", self.term)?;
        match self.state {
            Role::Leader => f.write_str(" leader")?,
            Role::Candidate => f.write_str(" candidate")?,
            _ => f.write_str(" follower")?,
        }
        match self.vote {
            Some(vote) if self.state == Role::Follower => write!(f, " votes {vote}")?,
            _ => {}
        }
        self.vclock.map_or(Ok(()), |vclock| write!(f, " vclock {vclock}"))
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(KINDS[self.body.code() as usize])?;
        match &self.body {
            Body::Subscribe(vclock) | Body::Ack(vclock, None) => write!(f, " vclock {vclock}"),
            Body::Ack(vclock, Some(term)) => write!(f, " term {term} vclock {vclock}"),
            Body::SubscribeReply(announcement) => write!(f, " {announcement}"),
            // The kind says what the sender is.
            Body::Announce(Announcement { term, vote, state, vclock, .. }) => {
                write!(f, " term {term}")?;
                match (state, vote, vclock) {
                    (Role::Leader, ..) => Ok(()),
                    (Role::Candidate, _, Some(vclock)) => write!(f, " vclock {vclock}"),
                    (_, Some(vote), _) => write!(f, " votes {vote}"),
                    _ => Ok(()),
                }
            }
            Body::Rows(rows) => {
                let mut separator = " ";
                for row in rows {
                    write!(f, "{separator}{row}")?;
                    separator = ", ";
                }
                Ok(())
            }
            Body::Heartbeat => Ok(()),
            Body::Reset { by_source } => {
                f.write_str(if *by_source { " by the source" } else { " by the subscriber" })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whitewater_sim::Message as _;

    fn announce(state: Role) -> Message {
        let vote = Some(NodeId::server(0));
        let vclock = (state == Role::Candidate).then(Vclock::default);
        let body = Body::Announce(Announcement { term: 2, vote, state, vclock, sees_leader: None });
        Message { connection: 7, number: 3, body }
    }

    #[test]
    fn a_lost_broadcast_of_a_leader_is_known_by_its_kind() {
        assert_eq!(announce(Role::Leader).kind().name, "LeaderAnnounce");
        assert_eq!(announce(Role::Candidate).kind().name, "VoteRequest");
        assert_eq!(announce(Role::Follower).kind().name, "Announce");
        assert_eq!(announce(Role::Leader).to_string(), "LeaderAnnounce term 2");
        assert_eq!(announce(Role::Candidate).to_string(), "VoteRequest term 2 vclock {}");
        assert_eq!(announce(Role::Follower).to_string(), "Announce term 2 votes n1");
    }

    #[test]
    fn the_name_of_a_message_does_not_depend_on_its_connection() {
        let (one, mut other) = (announce(Role::Leader), announce(Role::Leader));
        other.connection += 1;
        other.number += 1;
        assert_eq!(one.key(), other.key());
    }
}
