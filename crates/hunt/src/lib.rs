//! Runs plans, compares runs, hunts for failures over many seeds, and tells their story.
//!
//! [`run()`] runs one plan, [`campaign()`] one per seed. A [`Failure`] is a failing run, recorded: [`report`] explains it,
//! [`trace_text`] tells it event by event, and its command runs it again. [`Record`] is what machines read of all this.

mod campaign;
mod causes;
mod choice;
mod command;
mod failure;
mod fold;
mod order;
mod record;
pub mod report;
mod run;
pub mod snapshot;
mod story;
mod suspect;
mod tally;
pub mod trace_text;
#[cfg(test)]
mod traces;
mod why;
mod words;

pub use campaign::{Budget, Campaign, Finished, Observer, REPEAT_ONE_IN, Unobserved, campaign};
pub use causes::causes;
pub use command::print_command;
pub use failure::{Failure, FailureKind, FailureRecord, OWN_BUG};
pub use record::{FailureLine, ProgressLine, Record, RunLine, SpreadLine, SummaryLine};
pub use run::{missed, never_happened, run, run_twice, same};
pub use snapshot::{meets, scenario_text};
pub use suspect::suspect;
pub use tally::{FAILURES_KEPT, Progress, Spread, Summary};
