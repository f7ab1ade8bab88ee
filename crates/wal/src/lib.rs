//! A write-ahead log and snapshot store on a simulated disk: what was said to be durable is there after any crash.
//!
//! A [`Wal`] keeps a hard state, entries and one snapshot. Everything given to one call of [`Wal::append`] is one
//! frame in one write, so a crash leaves all of it or nothing. A call says when its data is durable: now, or when a
//! ticket of the disk comes back ([`Durability`]). After a failed sync the log takes nothing more. [`Wal::open`]
//! reads it back: it drops a tail that was never durable, refuses damage in the middle, and reports both. The module
//! `format` documents every byte.

mod bug;
mod checksum;
mod damage;
mod describe;
mod entry;
mod error;
mod format;
mod open;
mod quarantine;
mod saving;
mod snapshot;
mod state;
mod wal;

pub use bug::Bug;
pub use describe::describe;
pub use entry::{Entry, HardState, Snapshot};
pub use error::WalError;
pub use open::{Dropped, Mended, Recovered, Why};
pub use wal::{Durability, Options, Synced, Wal};
