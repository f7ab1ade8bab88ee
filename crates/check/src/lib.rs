//! What must be true of a Raft: safety after every event, and progress that is owed once faults are over.
//!
//! A system lets its nodes show themselves as [`ElectionView`] and, if they have a log, [`LogView`]. Its monitor keeps
//! [`Shadows`], makes one [`Change`] per event and gives it to the rules it wakes. Which progress is owed is a function of
//! options, topology and timing: [`Core`] and [`rounds_needed`].

mod chain;
mod change;
mod client;
mod client_value;
mod election_safety;
mod log;
mod log_view;
mod monotonic_terms;
mod owed;
mod progress;
mod rule;
mod settlement;
mod view;
mod vote_once;

#[cfg(test)]
mod client_tests;

pub use chain::{ChainLog, Linked, link};
pub use change::{Bits, Change, Grant, Shadows, Standing};
pub use client::{Answer, Ask, ClientRules, Once};
pub use election_safety::ElectionSafety;
pub use log::{LogStanding, RaftRules};
pub use log_view::{LogView, RaftView, Refusal, RefusalReason, Spoken, Stimulus};
pub use monotonic_terms::MonotonicTerms;
pub use owed::{Because, Ground, Owed, SETTLE_TIMEOUTS, Terrain, owed};
pub use progress::{Core, Obstructions, majority, rounds_needed};
pub use rule::Rule;
pub use settlement::{PROGRESS_RULES, Served, Service, Settlement};
pub use view::ElectionView;
pub use vote_once::VoteOnce;
