//! A system as campaigns see it: a name, options as data, and a way to run a script.

use crate::canary::Canary;
use crate::disk::DiskTrouble;
use crate::draw::Draw;
use crate::options::{OptionSpec, Options};
use crate::script::Script;
use crate::target::Target;
use crate::time::Span;
use crate::trouble::Trouble;
use crate::verdict::Outcome;

/// A protocol that can be put into the world, behind one object-safe door.
pub trait System: Sync {
    /// Its name on the command line and in plans.
    fn name(&self) -> &'static str;
    /// What it is, in one sentence.
    fn about(&self) -> &'static str;
    /// Its options. Plans hold values for any of them, the rest have their defaults.
    fn options(&self) -> &'static [OptionSpec];
    /// The rules checked on it: name and claim.
    fn rules(&self) -> Vec<(&'static str, &'static str)>;
    /// Every mark its nodes can set.
    fn marks(&self) -> &'static [&'static str];
    /// Bugs that can be planted in it, see [`Options::plant`]; none without the feature `mutants`.
    fn bugs(&self) -> &'static [&'static str] {
        &[]
    }
    /// What must fail in every build, if there is something; every search looks for it first.
    fn canary(&self) -> Option<Canary> {
        None
    }
    /// Times that plans are made to fit.
    fn timing(&self, options: &Options) -> Timing;
    /// Number of clients that plans draw from, lowest and highest. A system with (0, 0) has none, and is never given any.
    fn clients(&self) -> (usize, usize) {
        (0, 0)
    }
    /// Whether its nodes survive this trouble with their disks and still owe whatever it owes, or its checks know
    /// better; plans have no trouble that their system does not stand.
    fn stands(&self, _trouble: DiskTrouble) -> bool {
        false
    }
    /// Whether its nodes survive this kind of fault and still owe whatever they owe, or its checks know better; plans have
    /// none that their system does not survive.
    fn survives(&self, _trouble: Trouble) -> bool {
        false
    }
    /// Names of the options that a server may be given other values for when it restarts, while others keep theirs.
    fn rolls(&self) -> &'static [&'static str] {
        &[]
    }
    /// Draws an operation for a plan: whom it is given to and its text form. `number` counts operations from 0.
    fn draw_operation(
        &self,
        draw: &mut Draw,
        number: u32,
        script: &Script,
        options: &Options,
    ) -> (Target, String);
    /// Whether a text is a command of this system.
    ///
    /// # Errors
    /// Says what would be right.
    fn check_operation(&self, text: &str) -> Result<(), String>;
    /// Names that scripts may use in patterns: message kinds, then timers.
    fn names(&self) -> (&'static [&'static str], &'static [&'static str]);
    /// Numbers of its nodes that scripts may wait for, see [`crate::Node::figure`].
    fn figures(&self) -> &'static [&'static str] {
        &[]
    }
    /// What its words mean, where they do not say it themselves: commands, kinds of messages, timers and figures, each with
    /// a sentence. For whoever writes scripts.
    fn glossary(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }
    /// Runs a script; records a trace if asked to.
    ///
    /// # Errors
    /// The script or the options are not valid; the text says why.
    fn run(&self, script: &Script, options: &Options, record: bool) -> Result<Outcome, String>;
    /// As [`System::run`] with some of its checks only: for measuring what they cost, and for who sees what.
    ///
    /// # Errors
    /// As [`System::run`], or the checks cannot be switched off.
    fn run_watched(
        &self,
        script: &Script,
        options: &Options,
        watch: Watch<'_>,
        record: bool,
    ) -> Result<Outcome, String> {
        match watch {
            Watch::All => self.run(script, options, record),
            _ => Err(format!("the checks of `{}` cannot be switched off", self.name())),
        }
    }
}

/// Which checks of a system watch a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch<'a> {
    /// All there are.
    All,
    /// None, and nothing is owed.
    None,
    /// All but the one of this name.
    AllBut(&'a str),
    /// The one of this name; what others say does not end the run.
    Only(&'a str),
    /// All there are, and copies of the one of this name, so that what it costs can be told from noise.
    Copies {
        /// Its name.
        rule: &'a str,
        /// How many.
        count: u32,
        /// Whether they look; else they are only asked whether they do, to tell what that costs.
        look: bool,
    },
}

/// Times of a system that plans are made to fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Shortest time after which a node that hears of no leader stands for election.
    pub election_low: Span,
    /// Longest such time.
    pub election_high: Span,
    /// Time between two heartbeats.
    pub heartbeat: Span,
}
