//! `worker`: the other side of a worker process, which answers questions until nobody asks any more. In no list of verbs.

use super::fuzz::Restricted;
use crate::worker::{MARK, Question};
use crate::{Exit, Systems};
use serde::Serialize;
use std::io::{self, BufRead, Write};
use whitewater_hunt::apart::report;
use whitewater_hunt::determinism::Here;

/// Runs seeds for another process of this program.
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub(crate) struct Typed {
    #[command(flatten)]
    pub(crate) restricted: Restricted,
    /// Most bytes of memory it may have, where the operating system can hold it to that.
    #[arg(long, value_name = "BYTES")]
    memory: Option<u64>,
}

/// Answers every question on standard input.
///
/// # Errors
/// A question cannot be read, or the restrictions contradict themselves.
pub(crate) fn run(typed: &Typed, systems: Systems) -> anyhow::Result<Exit> {
    let restrictions = typed.restricted.meaning()?;
    if let Some(bytes) = typed.memory {
        limit_memory(bytes);
    }
    let here = Here { systems, restrictions: &restrictions };
    for line in io::stdin().lock().lines() {
        let sent = match line?.parse::<Question>().map_err(anyhow::Error::msg)? {
            Question::Attempt { seed, twice } => answer(&report(systems, &restrictions, seed, twice)),
            Question::Print(seed) => answer(&here.print(seed)),
            Question::Events(seed) => answer(&here.events(&[seed], 0)),
        };
        if sent.is_err() {
            break; // whoever asked has gone
        }
    }
    Ok(Exit::Clean)
}

fn answer(answer: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_string(answer).expect("answers are plain data");
    let mut out = io::stdout().lock();
    // A node may have left a line of its own unfinished.
    writeln!(out, "\n{MARK}{text}")?;
    out.flush()
}

/// Holds this process to so many bytes; what it asks for beyond that it does not get, and dies of it.
#[cfg(target_os = "linux")]
fn limit_memory(bytes: u64) {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
    // A stricter limit that holds already is as good.
    let _ = setrlimit(Resource::As, limit);
}

#[cfg(not(target_os = "linux"))]
fn limit_memory(_: u64) {}
