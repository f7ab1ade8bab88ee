//! What a node says of itself so that plans can be drawn for it: its system, without a line of glue.

use std::marker::PhantomData;
use whitewater_sim::{
    DiskTrouble, Draw, Monitor, Node, OptionSpec, Options, Outcome, Script, System, Target, Timing, World,
};

/// A node with everything a campaign has to know of it.
pub trait Tested: Node + 'static {
    /// What watches its runs, with the rules.
    type Monitor: Monitor<Self>;
    /// Its name on the command line and in files, in kebab-case.
    const NAME: &'static str;
    /// What it is, in one sentence.
    const ABOUT: &'static str;
    /// Name and claim of each rule its monitor checks.
    const RULES: &'static [(&'static str, &'static str)];
    /// Names of its kinds of messages, as scripts write them.
    const MESSAGES: &'static [&'static str];
    /// Names of its timers, as scripts write them.
    const TIMERS: &'static [&'static str];
    /// What can be set.
    const OPTIONS: &'static [OptionSpec] = &[];
    /// Every mark it can set.
    const MARKS: &'static [&'static str] = &[];
    /// Fewest and most clients that plans draw. With (0, 0) it has none, and is never given any.
    const CLIENTS: (usize, usize) = (0, 0);

    /// The options as its nodes read them.
    fn options(options: &Options) -> Self::Options;
    /// Times that plans are made to fit.
    fn timing(options: &Options) -> Timing;
    /// A monitor for one run.
    fn monitor(script: &Script, options: &Self::Options) -> Self::Monitor;
    /// Draws an operation for a plan: whom it is given to and its text form. `number` counts operations from 0.
    fn draw_operation(draw: &mut Draw, number: u32, script: &Script, options: &Options) -> (Target, String);
    /// Whether it survives this trouble with its disks, or its monitor knows better.
    fn stands(_trouble: DiskTrouble) -> bool {
        false
    }
}

/// The system of a node, as campaigns see it.
pub struct SystemOf<N>(PhantomData<fn() -> N>);

impl<N: Tested> SystemOf<N> {
    /// The one there is.
    #[expect(
        clippy::new_without_default,
        reason = "lists of systems are statics, and a default is not const"
    )]
    pub const fn new() -> SystemOf<N> {
        SystemOf(PhantomData)
    }
}

/// The system of a node.
pub fn system<N: Tested>() -> &'static dyn System {
    &SystemOf::<N>(PhantomData)
}

impl<N: Tested> System for SystemOf<N> {
    fn name(&self) -> &'static str {
        N::NAME
    }

    fn about(&self) -> &'static str {
        N::ABOUT
    }

    fn options(&self) -> &'static [OptionSpec] {
        N::OPTIONS
    }

    fn rules(&self) -> Vec<(&'static str, &'static str)> {
        N::RULES.to_vec()
    }

    fn marks(&self) -> &'static [&'static str] {
        N::MARKS
    }

    fn timing(&self, options: &Options) -> Timing {
        N::timing(options)
    }

    fn clients(&self) -> (usize, usize) {
        N::CLIENTS
    }

    fn stands(&self, trouble: DiskTrouble) -> bool {
        N::stands(trouble)
    }

    fn draw_operation(
        &self,
        draw: &mut Draw,
        number: u32,
        script: &Script,
        options: &Options,
    ) -> (Target, String) {
        N::draw_operation(draw, number, script, options)
    }

    fn check_operation(&self, text: &str) -> Result<(), String> {
        N::parse_command(text).map(drop)
    }

    fn names(&self) -> (&'static [&'static str], &'static [&'static str]) {
        (N::MESSAGES, N::TIMERS)
    }

    fn run(&self, script: &Script, options: &Options, record: bool) -> Result<Outcome, String> {
        let options = N::options(options);
        let monitor = N::monitor(script, &options);
        Ok(World::<N, _>::new(script, options, monitor, record)?.run())
    }
}
