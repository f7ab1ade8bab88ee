//! What happens when enough ticks have passed.

use crate::bug::planted;
use crate::clock::Due;
use crate::identity::NONE;
use crate::raft::Raft;
use crate::state::Role;
use crate::storage::Storage;

impl<S: Storage> Raft<S> {
    /// Counts `ticks`, acting at the same ticks as if they came one by one.
    pub(crate) fn tick_by(&mut self, ticks: u32) {
        let mut left = ticks;
        self.log.reading_failed = false;
        while left > 0 {
            let step = left.min(self.ticks_until_due().unwrap_or(left));
            left -= step;
            if self.role == Role::Leader {
                self.tick_as_leader(step);
            } else if self.clock.wait(step, self.is_promotable()) == Some(Due::Election) {
                self.hup();
            }
        }
    }

    fn tick_as_leader(&mut self, ticks: u32) {
        if self.clock.lead(ticks) == Some(Due::LeaderTimeout) {
            if self.config.check_quorum {
                self.check_quorum();
            }
            // Whoever could not take over within an election timeout will not.
            if !planted!(self.log.planted, L14) {
                self.transferee = NONE;
            }
        }
        if self.role == Role::Leader
            && self.clock.take_heartbeat(self.heartbeat_ticks()) == Some(Due::Heartbeat)
        {
            let sequence = self.reads.pending_sequence();
            self.broadcast_heartbeat(sequence);
        }
    }

    /// After how many ticks at the latest something happens; `None` if never.
    pub(crate) fn ticks_until_due(&self) -> Option<u32> {
        if self.role == Role::Leader {
            return Some(self.clock.leader_due(self.heartbeat_ticks()));
        }
        self.is_promotable().then(|| self.clock.election_due())
    }

    fn heartbeat_ticks(&self) -> u32 {
        self.clock.heartbeat_ticks() + u32::from(planted!(self.log.planted, SeedE10))
    }
}
