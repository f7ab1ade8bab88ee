//! The applier for one source: its connection as the subscriber sees it.

use crate::inbound::Inbound;
use whitewater_sim::{LocalTime, NodeId};

/// How far the connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// There is none; the next attempt waits for its timer.
    Idle,
    /// SUBSCRIBE was sent.
    Subscribing,
    /// The source answered.
    Following,
}

/// The applier for one source.
#[derive(Clone, Debug)]
pub struct Applier {
    /// The node at the other end.
    pub source: NodeId,
    /// How far the connection is.
    pub link: Link,
    /// Its number; 0 before the first.
    pub connection: u32,
    /// What came.
    pub inbound: Inbound,
    /// When something was last heard in order.
    pub last_heard: LocalTime,
    /// Whether the relay has shown itself on this connection.
    pub is_relay_seen: bool,
    /// Number of the next acknowledgement.
    pub acks: u32,
    /// Whether the timer for a gap is set.
    pub is_gap_timed: bool,
    /// Datagrams heard in order, over all connections.
    pub heard: u64,
    /// Whether it has given up and takes no rows any more: only with a planted bug.
    pub is_stopped: bool,
}

impl Applier {
    /// Without a connection.
    pub fn new(source: NodeId) -> Applier {
        Applier {
            source,
            link: Link::Idle,
            connection: 0,
            inbound: Inbound::default(),
            last_heard: LocalTime::default(),
            is_relay_seen: false,
            acks: 0,
            is_gap_timed: false,
            heard: 0,
            is_stopped: false,
        }
    }

    /// Begins a connection of that number.
    pub fn begin(&mut self, connection: u32, now: LocalTime) {
        self.link = Link::Subscribing;
        self.connection = connection;
        self.inbound = Inbound::default();
        self.last_heard = now;
        self.is_relay_seen = false;
        self.acks = 0;
        self.is_gap_timed = false;
    }

    /// Whether a datagram of the source belongs to the present connection.
    pub fn is_on(&self, connection: u32) -> bool {
        self.link != Link::Idle && self.connection == connection
    }

    /// The number of the next acknowledgement.
    pub fn next_ack(&mut self) -> u32 {
        self.acks += 1;
        self.acks
    }
}
