//! Plans as data: generated from a seed, printed and read as text, kept in files.
//!
//! A seed is only ever turned into a [`Plan`], and only a plan is ever run. A named [`Scenario`] and a [`Saved`] failure
//! are plans in a JSON container; the lines of their scripts follow the one grammar of [`text`].

mod error;
mod file;
mod generate;
mod gone;
mod input;
mod plan;
mod profile;
mod saved;
mod scenario;
mod seed;
mod suggest;
pub mod text;
mod tuning;

#[cfg(test)]
mod file_tests;
#[cfg(test)]
mod testing;

pub use error::InputError;
pub use generate::{Restrictions, eligible, generate};
pub use input::InputFile;
pub use plan::{PLAN_VERSION, Plan};
pub use profile::Profile;
pub use saved::{Owes, Saved};
pub use scenario::{Expect, SCHEMA, Scenario, Variant, around, index, schema};
pub use seed::{parse_seed, seed_text};
pub use tuning::Tuning;
