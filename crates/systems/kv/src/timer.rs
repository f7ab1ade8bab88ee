//! The timers of servers and clients.

use whitewater_sim::{NodeId, Timer};

/// A timer of a server or a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KvTimer {
    /// The tick at which the core of a server may have something to do.
    Tick,
    /// A client has waited long enough for an answer, or for its next attempt.
    Attempt,
    /// A server whose process died of a failed sync is started again.
    Restart,
    /// A server asks a peer again for a session.
    Connect(NodeId),
    /// A session with a peer is ready.
    SessionReady(NodeId),
    /// The log could not be written, and is tried again.
    Write,
    /// Peers are asked again to forget what a server with a damaged log has sent.
    Fence,
    /// A peer has not said that the snapshot it was sent has come.
    Snapshot(NodeId),
}

impl KvTimer {
    /// The name of every timer.
    pub const NAMES: &[&str] =
        &["tick", "attempt", "restart", "connect", "session-ready", "write", "snapshot", "fence"];
}

impl Timer for KvTimer {
    fn code(&self) -> u32 {
        match self {
            KvTimer::Tick => 0,
            KvTimer::Attempt => 1,
            KvTimer::Restart => 2,
            KvTimer::Connect(peer) => 0x100 | peer.index() as u32,
            KvTimer::SessionReady(peer) => 0x200 | peer.index() as u32,
            KvTimer::Write => 3,
            KvTimer::Fence => 4,
            KvTimer::Snapshot(peer) => 0x300 | peer.index() as u32,
        }
    }

    fn name(&self) -> &'static str {
        match self {
            KvTimer::Tick => Self::NAMES[0],
            KvTimer::Attempt => Self::NAMES[1],
            KvTimer::Restart => Self::NAMES[2],
            KvTimer::Connect(_) => Self::NAMES[3],
            KvTimer::SessionReady(_) => Self::NAMES[4],
            KvTimer::Write => Self::NAMES[5],
            KvTimer::Snapshot(_) => Self::NAMES[6],
            KvTimer::Fence => Self::NAMES[7],
        }
    }

    fn peer(&self) -> Option<NodeId> {
        match self {
            KvTimer::Connect(peer) | KvTimer::SessionReady(peer) | KvTimer::Snapshot(peer) => Some(*peer),
            _ => None,
        }
    }
}
