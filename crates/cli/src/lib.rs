//! Every verb of the command line over a list of systems.

mod exit;
mod screen;

pub use exit::Exit;
pub use screen::{Format, Screen};
