//! Runs plans, compares runs, hunts for failures over many seeds, and tells their story.
//!
//! [`run()`] runs one plan, [`campaign()`] one per seed. A [`Failure`] is a failing run, recorded: [`report`] explains it,
//! [`trace_text`] tells it event by event, and its command runs it again. [`Record`] is what machines read of all this.

mod again;
mod agreement;
pub mod apart;
mod around;
mod background;
mod campaign;
mod caught;
mod causes;
mod choice;
mod command;
mod course;
mod coverage;
mod crowd;
pub mod determinism;
mod differ;
mod failure;
mod fingerprint;
mod fold;
mod nearest;
mod neighbour;
mod order;
mod reading;
mod record;
mod rename;
pub mod report;
mod run;
mod shrink;
mod sights;
mod signature;
pub mod snapshot;
mod story;
mod suspect;
mod tally;
#[cfg(test)]
#[path = "../tests/toy/mod.rs"]
mod toy;
pub mod trace_text;
#[cfg(test)]
mod traces;
mod walk;
mod why;
mod words;

pub use again::{Again, Fate, again};
pub use agreement::agreement;
pub use around::{Around, run_around};
pub use campaign::{
    Budget, Campaign, Finished, Observer, REPEAT_ONE_IN, Unobserved, campaign, campaign_apart,
};
pub use causes::causes;
pub use command::{print_command, quoted};
pub use course::{Parting, course, parting, parting_lines};
pub use coverage::{Coverage, Values, upper_bound};
pub use differ::{Compared, differ};
pub use failure::{Failure, FailureKind, FailureRecord, OWN_BUG};
pub use fingerprint::Fingerprint;
pub use nearest::BY_ITSELF;
pub use neighbour::neighbour;
pub use reading::Reading;
pub use record::{FailureLine, ProgressLine, Record, RunLine, ShrunkLine, SpreadLine, SummaryLine};
pub use run::{missed, never_happened, run, run_twice, same};
pub use shrink::{
    Element, ShrinkBudget, ShrinkProgress, Shrinking, Shrunk, Size, Slip, elements, shrink, without,
};
pub use sights::{Place, Sight, sights};
pub use signature::Signature;
pub use snapshot::{meets, scenario_text};
pub use story::find_event;
pub use suspect::suspect;
pub use tally::{FAILURES_KEPT, Progress, Spread, Summary};
pub use walk::{Walk, Walked, event_line};
