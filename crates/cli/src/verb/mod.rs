//! The verbs, one file each: what was typed, what it means, and doing it.

pub(crate) mod bench;
pub(crate) mod check_history;
pub(crate) mod demo;
pub(crate) mod determinism;
pub(crate) mod differ;
pub(crate) mod fuzz;
pub(crate) mod mutants;
pub(crate) mod replay;
pub(crate) mod scenario;
pub(crate) mod seeds;
pub(crate) mod shrink;
pub(crate) mod wal;
pub(crate) mod worker;
