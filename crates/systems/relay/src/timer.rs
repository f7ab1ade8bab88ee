//! The timers of a node: one for elections, one for the worker, the rest for each peer.

use whitewater_sim::{NodeId, SLOTS};

/// A timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timer {
    /// The one timer of the election state machine.
    Election,
    /// The worker takes its turn.
    Worker,
    /// The relay for a subscriber has started up.
    RelayReady(NodeId),
    /// What waits in the queue from tx to a relay is handled.
    ToRelay(NodeId),
    /// What waits in the queue from a relay to tx is handled.
    ToTx(NodeId),
    /// A relay shows its subscriber that it is there.
    Heartbeat(NodeId),
    /// The applier for a source connects, or has got no answer.
    Connect(NodeId),
    /// The applier for a source looks whether it has heard anything.
    Silence(NodeId),
    /// A gap in what came from a source has not closed.
    Gap(NodeId),
    /// A relay looks for new rows; only where rows and broadcasts take ways of their own.
    Rows(NodeId),
    /// The tx thread does not hang any more.
    Hang,
}

/// Names of all timers; a timer's kind is its place here.
pub const TIMERS: &[&str] = &[
    "election",
    "worker",
    "relay-ready",
    "to-relay",
    "to-tx",
    "heartbeat",
    "connect",
    "silence",
    "gap",
    "rows",
    "hang",
];

impl Timer {
    fn place(self) -> (usize, Option<NodeId>) {
        match self {
            Timer::Election => (0, None),
            Timer::Worker => (1, None),
            Timer::RelayReady(peer) => (2, Some(peer)),
            Timer::ToRelay(peer) => (3, Some(peer)),
            Timer::ToTx(peer) => (4, Some(peer)),
            Timer::Heartbeat(peer) => (5, Some(peer)),
            Timer::Connect(peer) => (6, Some(peer)),
            Timer::Silence(peer) => (7, Some(peer)),
            Timer::Gap(peer) => (8, Some(peer)),
            Timer::Rows(peer) => (9, Some(peer)),
            Timer::Hang => (10, None),
        }
    }
}

impl whitewater_sim::Timer for Timer {
    fn code(&self) -> u32 {
        let (kind, peer) = self.place();
        (kind * SLOTS + peer.map_or(0, NodeId::index)) as u32
    }

    fn name(&self) -> &'static str {
        TIMERS[self.place().0]
    }

    fn peer(&self) -> Option<NodeId> {
        self.place().1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whitewater_sim::Timer as _;

    #[test]
    fn every_timer_of_a_node_has_a_code_of_its_own() {
        let peers = [NodeId::server(0), NodeId::server(15)];
        let mut codes = vec![Timer::Election.code(), Timer::Worker.code(), Timer::Hang.code()];
        for make in [
            Timer::RelayReady,
            Timer::ToRelay,
            Timer::ToTx,
            Timer::Heartbeat,
            Timer::Connect,
            Timer::Silence,
            Timer::Gap,
            Timer::Rows,
        ] {
            codes.extend(peers.map(|peer| make(peer).code()));
        }
        let count = codes.len();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), count);
    }
}
