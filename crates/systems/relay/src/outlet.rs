//! Where broadcasts meet a relay that may not be ready: dropped, latched, or put into a mailbox.
//!
//! This is the tx half of a relay. `drop` is the state before the patch. `latch` is the patch as it was mailed, with what
//! was wrong in it; see the crate's documentation. `mailbox` is the patch as it was merged.

use crate::message::Announcement;

/// What becomes of a broadcast while the relay is not ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotReady {
    /// It is thrown away.
    Drop,
    /// The latest is kept, and never forgotten.
    Latch,
    /// The latest is kept until it is sent; one is on its way at a time.
    Mailbox,
}

/// What became of a broadcast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// It goes to the relay.
    Queued(Announcement),
    /// It waits.
    Kept,
    /// It is lost.
    Lost,
}

/// What goes to the relay when it says that it is ready.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Enabled {
    /// Put into the queue before the answer, so it takes the way of every broadcast.
    pub ahead: Option<Announcement>,
    /// Carried by the answer itself, past the way of broadcasts.
    pub carried: Option<Announcement>,
}

/// The tx half of one relay, as far as broadcasts go. It outlives connections.
#[derive(Clone, Debug)]
pub struct Outlet {
    not_ready: NotReady,
    is_enabled: bool,
    pending: Option<Announcement>,
    is_sent: bool,
}

impl Outlet {
    /// Of a relay that does not run.
    pub fn new(not_ready: NotReady) -> Outlet {
        Outlet { not_ready, is_enabled: false, pending: None, is_sent: false }
    }

    /// Whether broadcasts go straight to the relay.
    pub fn is_enabled(&self) -> bool {
        self.is_enabled
    }

    /// A broadcast.
    pub fn push(&mut self, announcement: Announcement) -> Pushed {
        match self.not_ready {
            NotReady::Drop | NotReady::Latch if self.is_enabled => Pushed::Queued(announcement),
            NotReady::Drop => Pushed::Lost,
            NotReady::Latch => {
                self.pending = Some(announcement);
                Pushed::Kept
            }
            NotReady::Mailbox => {
                self.pending = Some(announcement);
                self.take().map_or(Pushed::Kept, Pushed::Queued)
            }
        }
    }

    /// The relay says that it is ready.
    pub fn enable(&mut self) -> Enabled {
        self.is_enabled = true;
        match self.not_ready {
            NotReady::Drop => Enabled::default(),
            NotReady::Latch => Enabled { ahead: None, carried: self.pending },
            NotReady::Mailbox => Enabled { ahead: self.take(), carried: None },
        }
    }

    /// The relay has sent what was on its way.
    pub fn returned(&mut self) -> Option<Announcement> {
        if self.not_ready != NotReady::Mailbox {
            return None;
        }
        self.is_sent = false;
        self.take()
    }

    /// The relay stops. Says what it still sends, into a connection that is about to end.
    pub fn disable(&mut self) -> Option<Announcement> {
        let was_enabled = std::mem::replace(&mut self.is_enabled, false);
        // What was on its way is flushed with the queues.
        self.is_sent = false;
        self.pending.filter(|_| was_enabled && self.not_ready == NotReady::Latch)
    }

    fn take(&mut self) -> Option<Announcement> {
        if !self.is_enabled || self.is_sent {
            return None;
        }
        let taken = self.pending.take();
        self.is_sent = taken.is_some();
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whitewater_sim::Role;

    fn broadcast(term: u64) -> Announcement {
        Announcement { term, vote: None, state: Role::Follower, vclock: None, sees_leader: None }
    }

    #[test]
    fn before_the_patch_a_broadcast_to_a_relay_that_is_not_ready_is_lost() {
        let mut outlet = Outlet::new(NotReady::Drop);
        assert_eq!(outlet.push(broadcast(1)), Pushed::Lost);
        assert_eq!(outlet.enable(), Enabled::default());
        assert_eq!(outlet.push(broadcast(2)), Pushed::Queued(broadcast(2)));
    }

    #[test]
    fn the_mailbox_keeps_the_latest_and_sends_it_once_ahead_of_the_answer() {
        let mut outlet = Outlet::new(NotReady::Mailbox);
        assert_eq!(outlet.push(broadcast(1)), Pushed::Kept);
        assert_eq!(outlet.push(broadcast(2)), Pushed::Kept);
        assert_eq!(outlet.enable(), Enabled { ahead: Some(broadcast(2)), carried: None });
        assert_eq!(outlet.returned(), None);
        outlet.disable();
        assert_eq!(outlet.enable(), Enabled::default());
    }

    #[test]
    fn the_mailbox_has_one_broadcast_on_its_way_and_the_latest_waits() {
        let mut outlet = Outlet::new(NotReady::Mailbox);
        outlet.enable();
        assert_eq!(outlet.push(broadcast(1)), Pushed::Queued(broadcast(1)));
        assert_eq!(outlet.push(broadcast(2)), Pushed::Kept);
        assert_eq!(outlet.push(broadcast(3)), Pushed::Kept);
        assert_eq!(outlet.returned(), Some(broadcast(3)));
        assert_eq!(outlet.returned(), None);
    }

    #[test]
    fn a_connection_that_ends_with_a_broadcast_on_its_way_does_not_block_the_next() {
        let mut outlet = Outlet::new(NotReady::Mailbox);
        outlet.enable();
        outlet.push(broadcast(1));
        outlet.disable();
        outlet.enable();
        assert_eq!(outlet.push(broadcast(2)), Pushed::Queued(broadcast(2)));
    }

    #[test]
    fn the_latch_never_forgets_and_sends_again_at_teardown_and_at_the_next_start() {
        let mut outlet = Outlet::new(NotReady::Latch);
        assert_eq!(outlet.push(broadcast(1)), Pushed::Kept);
        assert_eq!(outlet.enable(), Enabled { ahead: None, carried: Some(broadcast(1)) });
        assert_eq!(outlet.push(broadcast(2)), Pushed::Queued(broadcast(2)));
        assert_eq!(outlet.disable(), Some(broadcast(1)));
        assert_eq!(outlet.enable().carried, Some(broadcast(1)));
    }

    #[test]
    fn the_latch_lets_any_number_of_broadcasts_be_on_their_way() {
        let mut outlet = Outlet::new(NotReady::Latch);
        outlet.enable();
        assert_eq!(outlet.push(broadcast(1)), Pushed::Queued(broadcast(1)));
        assert_eq!(outlet.push(broadcast(2)), Pushed::Queued(broadcast(2)));
    }
}
