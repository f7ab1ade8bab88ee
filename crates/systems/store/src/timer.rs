//! The timers of servers and clients.

use whitewater_sim::{NodeId, Timer};

/// A timer of a server or a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StoreTimer {
    /// A tick of the core of a server.
    Tick,
    /// A client has waited long enough for an answer, or for its next attempt.
    Attempt,
    /// The log could not be written, and is tried again.
    Write,
    /// What came while the core could take no input is given to it.
    Take,
    /// A process that died of its disk is started again.
    Restart,
    /// A peer has not said that the snapshot it was sent has come.
    Snapshot(NodeId),
}

impl StoreTimer {
    /// The name of every timer.
    pub const NAMES: &[&str] = &["tick", "attempt", "write", "take", "restart", "snapshot"];
}

impl Timer for StoreTimer {
    fn code(&self) -> u32 {
        match self {
            StoreTimer::Tick => 0,
            StoreTimer::Attempt => 1,
            StoreTimer::Write => 2,
            StoreTimer::Take => 3,
            StoreTimer::Restart => 4,
            StoreTimer::Snapshot(peer) => 0x100 | peer.index() as u32,
        }
    }

    fn name(&self) -> &'static str {
        let place = match self {
            StoreTimer::Tick => 0,
            StoreTimer::Attempt => 1,
            StoreTimer::Write => 2,
            StoreTimer::Take => 3,
            StoreTimer::Restart => 4,
            StoreTimer::Snapshot(_) => 5,
        };
        Self::NAMES[place]
    }

    fn peer(&self) -> Option<NodeId> {
        match self {
            StoreTimer::Snapshot(peer) => Some(*peer),
            _ => None,
        }
    }
}
