//! How much a search is to do.

use std::time::Duration;

/// When a search ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Amount {
    /// So many messages delivered.
    Deliveries(u64),
    /// So many runs.
    Runs(u64),
    /// So much real time.
    Time(Duration),
}
