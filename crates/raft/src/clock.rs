//! Counted ticks: the core has no other notion of time.

use std::ops::Range;

/// What counting ticks has led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// A follower or candidate waited long enough to campaign.
    Election,
    /// A leader reached the end of an election timeout: it checks on its quorum and gives up a transfer.
    LeaderTimeout,
    /// A leader has to send heartbeats.
    Heartbeat,
}

/// The counters of one node.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    election_ticks: u32,
    heartbeat_ticks: u32,
    /// Ticks since the node last heard from its leader, voted or campaigned; for a leader since its last check.
    pub(crate) election_elapsed: u32,
    pub(crate) heartbeat_elapsed: u32,
    /// How many ticks without a leader make this node campaign.
    pub(crate) timeout_ticks: u32,
    /// The owner may still choose the timeout.
    timeout_is_open: bool,
}

impl Clock {
    pub(crate) fn new(election_ticks: u32, heartbeat_ticks: u32) -> Clock {
        Clock {
            election_ticks,
            heartbeat_ticks,
            election_elapsed: 0,
            heartbeat_elapsed: 0,
            timeout_ticks: election_ticks,
            timeout_is_open: false,
        }
    }

    /// Starts over, and asks for a new timeout. `salt` picks the one that holds until the owner answers.
    pub(crate) fn reset(&mut self, salt: u64) {
        self.election_elapsed = 0;
        self.heartbeat_elapsed = 0;
        let spread = salt.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
        self.timeout_ticks = self.election_ticks + (spread % u64::from(self.election_ticks)) as u32;
        self.timeout_is_open = true;
    }

    #[inline]
    pub(crate) fn take_timeout_request(&mut self) -> Option<Range<u32>> {
        let open = std::mem::take(&mut self.timeout_is_open);
        open.then_some(self.election_ticks..2 * self.election_ticks)
    }

    #[inline]
    pub(crate) fn set_timeout(&mut self, ticks: u32) {
        self.timeout_ticks = ticks.max(1);
        self.timeout_is_open = false;
    }

    /// Whether a leader was heard of within the smallest election timeout.
    #[inline]
    pub(crate) fn within_lease(&self) -> bool {
        self.election_elapsed < self.election_ticks
    }

    /// Ticks until a leader has to act; at least 1.
    #[inline]
    pub(crate) fn leader_due(&self, heartbeat_ticks: u32) -> u32 {
        let heartbeat = heartbeat_ticks.saturating_sub(self.heartbeat_elapsed);
        let timeout = self.election_ticks.saturating_sub(self.election_elapsed);
        heartbeat.min(timeout).max(1)
    }

    /// Ticks until a node that waits for a leader has to act; at least 1.
    #[inline]
    pub(crate) fn election_due(&self) -> u32 {
        self.timeout_ticks.saturating_sub(self.election_elapsed).max(1)
    }

    /// The interval of heartbeats.
    pub(crate) fn heartbeat_ticks(&self) -> u32 {
        self.heartbeat_ticks
    }

    /// Counts ticks of a node that waits for a leader.
    #[inline]
    pub(crate) fn wait(&mut self, ticks: u32, may_campaign: bool) -> Option<Due> {
        self.election_elapsed = self.election_elapsed.saturating_add(ticks);
        if may_campaign && self.election_elapsed >= self.timeout_ticks {
            self.election_elapsed = 0;
            return Some(Due::Election);
        }
        None
    }

    /// Counts ticks of a leader; the timeout comes first, as it may end the leadership.
    #[inline]
    pub(crate) fn lead(&mut self, ticks: u32) -> Option<Due> {
        self.heartbeat_elapsed = self.heartbeat_elapsed.saturating_add(ticks);
        self.election_elapsed = self.election_elapsed.saturating_add(ticks);
        if self.election_elapsed >= self.election_ticks {
            self.election_elapsed = 0;
            return Some(Due::LeaderTimeout);
        }
        None
    }

    /// Whether heartbeats are due; if so, the next ones are an interval away.
    #[inline]
    pub(crate) fn take_heartbeat(&mut self, heartbeat_ticks: u32) -> Option<Due> {
        if self.heartbeat_elapsed < heartbeat_ticks {
            return None;
        }
        self.heartbeat_elapsed = 0;
        Some(Due::Heartbeat)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timeout_is_asked_for_once_and_within_range_before_the_answer() {
        for salt in 0..1_000 {
            let mut clock = Clock::new(7, 1);
            clock.reset(salt);
            assert!((7..14).contains(&clock.timeout_ticks));
            assert_eq!(clock.take_timeout_request(), Some(7..14));
            assert_eq!(clock.take_timeout_request(), None);
        }
    }

    #[test]
    fn a_heartbeat_interval_of_one_means_every_tick() {
        let mut clock = Clock::new(10, 1);
        for _ in 0..9 {
            assert_eq!(clock.lead(1), None);
            assert_eq!(clock.take_heartbeat(1), Some(Due::Heartbeat));
        }
        assert_eq!(clock.lead(1), Some(Due::LeaderTimeout));
    }

    #[test]
    fn a_node_that_may_not_campaign_keeps_counting() {
        let mut clock = Clock::new(3, 1);
        clock.set_timeout(4);
        assert_eq!(clock.wait(100, false), None);
        assert_eq!(clock.wait(1, true), Some(Due::Election));
        assert_eq!(clock.election_elapsed, 0);
    }
}
