//! Systems in any language: one process per node, spoken to in lines of JSON.
//!
//! The protocol is described in `PROTOCOL.md` beside this crate. Time comes with every input; chance and the disk are asked for;
//! so a guest that looks at no clock and draws no lots of its own is deterministic. This is the only part of the project
//! that starts processes.

mod group;
mod guest;
mod manners;
mod node;
mod system;
mod words;

pub use manners::Manners;
pub use node::ExecNode;
pub use system::{Exec, PREFIX};
pub use words::{Alarm, Said};
