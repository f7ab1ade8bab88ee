//! What must be true of a Raft: safety after every event, and progress that is owed once faults are over.
//!
//! A system lets its nodes show themselves as [`ElectionView`] and, if they have a log, [`LogView`]. Its monitor gives every
//! step to [`RaftRules`], which shadows each node, makes one change per event and wakes the rules that it concerns; without
//! a log it keeps [`Shadows`] and wakes single rules with a [`Change`]. What clients ask and are told goes to
//! [`ClientRules`]. Which progress is owed is a function of options, topology and timing: [`owed()`] and [`Settlement`], or
//! [`Core`] and [`rounds_needed`] without a log.

mod abstract_raft;
mod bounds;
mod calm;
mod chain;
mod change;
mod circle;
mod client;
mod election_safety;
mod lease;
mod log;
mod log_view;
mod membership;
#[cfg(test)]
mod messages;
mod monotonic_terms;
mod owed;
mod pace;
mod progress;
#[cfg(test)]
mod progress_tests;
mod rule;
mod settlement;
mod terrain;
mod view;
mod vote_once;

pub use bounds::{BoundRules, Cargo, Limits};
pub use calm::Witness;
pub use chain::{ChainLog, Linked, link};
pub use change::{Bits, Change, Grant, Shadows, Standing};
pub use client::{
    Answer, Answered, Ask, Asked, ClientRules, Clients, Deed, Ended, LINEARIZABLE, Naming, Once, Word,
};
pub use election_safety::ElectionSafety;
pub use lease::{Heard, LeaseRules, LeaseStep};
pub use log::{LogStanding, RaftRules};
pub use log_view::{LogView, RaftView, Refusal, RefusalReason, Spoken, Stimulus, Tracked};
pub use membership::{Membership, set_of};
pub use monotonic_terms::MonotonicTerms;
pub use owed::{Because, Ground, Owed, SETTLE_TIMEOUTS, owed};
pub use pace::{Beat, PaceRules};
pub use progress::{Core, Obstructions, majority, rounds_needed};
pub use rule::Rule;
pub use settlement::{PROGRESS_RULES, Served, Service, Settlement};
pub use terrain::Terrain;
pub use view::ElectionView;
pub use vote_once::VoteOnce;
