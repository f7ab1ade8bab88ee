//! Deterministic simulation testing for replicated systems: what other repositories depend on.
//!
//! Write your protocol as a [`sim::Node`], say with [`Tested`] what a campaign has to know of it, and search:
//!
//! ```text
//! #[test]
//! fn survives() {
//!     whitewater::hunt::<MyNode>().deliveries(2_000_000).assert_clean();
//! }
//! ```
//!
//! A failure is reported with the line that runs it again. A race worth keeping becomes a scenario, held by a snapshot:
//! [`scenario`]. With `whitewater_cli::main(whitewater::systems![MyNode])` a program has every verb of the command line.
//!
//! What is stable: [`Tested`], [`hunt()`], [`scenario`], the text of scripts, files and JSON records. What may still change: the
//! fields of [`sim::Script`], and everything in [`hunts`] that takes or gives a trace.

mod durable;
mod hunt;
mod scenario;
mod tested;
mod words;

pub use durable::{load, save};
pub use hunt::{Hunt, hunt, hunt_in};
pub use scenario::{scenario, scenario_in};
pub use tested::{SystemOf, Tested, system};

pub use whitewater_check as check;
pub use whitewater_hunt as hunts;
pub use whitewater_plan as plan;
pub use whitewater_sim as sim;

/// Makes the list of systems that a command line is for, of the types of their nodes: `systems![MyNode, OtherNode]`.
#[macro_export]
macro_rules! systems {
    ($($node:ty),+ $(,)?) => {{
        static SYSTEMS: &[&dyn $crate::sim::System] = &[$(&$crate::SystemOf::<$node>::new()),+];
        SYSTEMS
    }};
}
