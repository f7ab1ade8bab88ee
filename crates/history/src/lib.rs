//! Histories of clients, and whether they are linearizable.
//!
//! They are if some order of the operations, each of them at a moment between its beginning and its end, gives every
//! client the answer it got.
//!
//! A [`History`] is read from a file by [`read()`] or collected by whoever watches clients. [`check()`] decides, object by
//! object: at once where every write leaves a mark of its own, by a full search otherwise. Where the system under test
//! says in which order things took place, [`certify`] holds that order against what clients saw, in one pass. What cannot
//! be explained is reduced to a [`CounterExample`].

mod certificate;
mod check;
mod decide;
mod operation;
mod part;
mod read;
mod reduce;
mod search;
mod set;
mod tell;
mod unique;
mod write;

pub use certificate::{Refused, certify, claimed_order};
pub use check::{Options, Spent, Verdict, check, explain};
pub use operation::{Ask, History, Model, NEVER, Operation, Outcome, Symbol, Symbols};
pub use read::{ReadError, read};
pub use reduce::CounterExample;
pub use search::Budget;
pub use write::write;
