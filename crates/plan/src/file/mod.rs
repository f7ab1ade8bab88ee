//! Files: JSON containers around lines of the grammar, read with errors that point and written in one layout.

mod diagnose;
mod layout;
mod places;
mod shared;

pub(crate) use diagnose::Source;
pub(crate) use layout::Json;
pub(crate) use shared::{Entries, PlanParts, options_json, script_json};
