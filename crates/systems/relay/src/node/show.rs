//! What a server shows of itself: to checks, and in words.

use super::RelayNode;
use crate::queue::Queue;
use crate::raft::Mode;
use crate::relay::Stage;
use crate::vclock::Vclock;
use std::fmt;
use whitewater_check::ElectionView;
use whitewater_sim::{NodeId, Role};

impl ElectionView for RelayNode {
    fn term(&self) -> u64 {
        self.raft.term()
    }

    fn durable_term(&self) -> u64 {
        self.raft.durable_term()
    }

    fn vote(&self) -> Option<NodeId> {
        self.raft.vote()
    }

    fn role(&self) -> Role {
        self.raft.state()
    }

    fn leader(&self) -> Option<NodeId> {
        self.raft.leader()
    }
}

impl RelayNode {
    /// What it has durably.
    pub fn vclock(&self) -> &Vclock {
        &self.vclock
    }

    /// A hash over all rows it has of `origin`: equal hashes mean equal rows.
    pub fn chain(&self, origin: NodeId) -> u64 {
        self.chains[origin.index()]
    }

    /// All rows it has, in order.
    #[cfg(test)]
    pub(crate) fn rows(&self) -> &[crate::row::Row] {
        &self.log
    }

    /// Whom it chose in its durable term, as far as that is durable.
    pub fn durable_vote(&self) -> Option<NodeId> {
        self.raft.durable_vote()
    }

    /// How far it takes part in elections.
    pub fn mode(&self) -> Mode {
        self.raft.mode()
    }

    /// Elections it has called since it started.
    pub fn elections(&self) -> u64 {
        self.raft.elections()
    }

    /// Times it started again by itself in this life, after a failed sync.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// Datagrams of `source` that it heard in order in this life. Panics if `source` is the node itself.
    pub fn heard_of(&self, source: NodeId) -> u64 {
        self.appliers[self.place(source)].heard
    }

    /// The synchronous queue, if there is one.
    pub fn queue(&self) -> Option<&Queue> {
        self.settings.queue.then_some(&self.queue)
    }

    /// Writes that it took on for the queue without owning it, in this life.
    pub fn unclaimed_writes(&self) -> u32 {
        self.claim.unclaimed
    }

    pub(super) fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "term {}", self.raft.term())?;
        if let Some(vote) = self.raft.vote() {
            write!(f, ", votes {vote}")?;
        }
        match self.raft.leader() {
            Some(leader) => write!(f, ", leader {leader}")?,
            None => f.write_str(", knows no leader")?,
        }
        write!(f, ", rows {}", self.vclock)?;
        if self.settings.queue {
            match self.queue.owner() {
                Some(owner) => write!(f, ", queue of {owner} since term {}", self.queue.term())?,
                None => f.write_str(", queue of nobody")?,
            }
            write!(f, ", {} confirmed", self.queue.confirmed_count())?;
            if let Some((owner, lsn)) = self.queue.last_waiting() {
                write!(f, ", waits for {owner}:{lsn}")?;
            }
        }
        let mut separator = ", relay to ";
        for relay in &self.relays {
            let stage = match relay.stage {
                Stage::Off => "off",
                Stage::Starting => "starting",
                Stage::Enabling => "enabling",
                Stage::Streaming => "ready",
            };
            write!(f, "{separator}{} {stage}", relay.subscriber)?;
            separator = ", ";
        }
        Ok(())
    }
}
