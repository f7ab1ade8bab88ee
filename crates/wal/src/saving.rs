//! A snapshot on its way to the disk.

use crate::entry::{Entry, HardState, Snapshot};
use whitewater_sim::Ticket;

/// A snapshot whose file is being written.
#[derive(Clone, Debug)]
pub(crate) struct Saving {
    pub(crate) snapshot: Snapshot,
    /// What else its frame brings, if the log begins anew behind it.
    pub(crate) restore: Option<(Option<HardState>, Vec<Entry>)>,
    pub(crate) ticket: Option<Ticket>,
}

impl Saving {
    pub(crate) fn waits_for(&self, ticket: Ticket) -> bool {
        self.ticket == Some(ticket)
    }

    pub(crate) fn restores(&self) -> bool {
        self.restore.is_some()
    }
}
