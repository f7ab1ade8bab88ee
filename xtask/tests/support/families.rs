//! Families of faults that take servers down and that part them, and searches with only some of all families.

#![allow(dead_code, reason = "each test file uses a part of it")]

use whitewater_plan::{Plan, Restrictions, Tuning, generate};
use whitewater_sim::{Fault, System};

/// Kinds of faults that do one thing to servers, and the families they are drawn in.
pub(crate) struct Families {
    /// The kinds that a plan shows.
    pub(crate) kinds: &'static [Fault],
    /// Their names in a profile.
    pub(crate) names: &'static [&'static str],
}

/// What takes a server down, with what is lost then.
pub(crate) const CRASHES: Families = Families {
    kinds: &[
        Fault::Crash,
        Fault::CrashLeader,
        Fault::CrashAtCall,
        Fault::CrashAtSend,
        Fault::CrashAtReply,
        Fault::Roll,
    ],
    names: &[
        "crash",
        "crash-leader",
        "crash-follower",
        "crash-at-send",
        "crash-at-reply",
        "crash-at-call",
        "roll",
        "lose-unsynced",
        "wiped-disk",
        "older-disk",
    ],
};

/// What parts servers.
pub(crate) const CUTS: Families = Families {
    kinds: &[
        Fault::Cut,
        Fault::Isolate,
        Fault::Split,
        Fault::Straddle,
        Fault::Ring,
        Fault::Bridge,
        Fault::Chain,
        Fault::OneWay,
        Fault::Flap,
        Fault::CutLeader,
    ],
    names: &["isolate", "split", "cut", "one-way", "flap", "straddle", "bridge", "ring", "chain"],
};

impl Families {
    /// Whether a plan has faults of these kinds. A power cycle is a crash.
    pub(crate) fn are_in(&self, plan: &Plan) -> bool {
        let cycled = plan.script.settle.power_cycle && self.kinds.contains(&Fault::Crash);
        cycled || plan.script.faults().iter().any(|fault| self.kinds.contains(&fault))
    }

    fn has(&self, family: &str) -> bool {
        self.names.contains(&family)
    }
}

/// Families that end a process as a crash does: it dies of its disk, and starts again.
const DEADLY: [&str; 6] =
    ["sync-failures", "write-failures", "read-failures", "full", "capacity", "disk-faults"];

/// Families that disturb nothing: what a sync takes, and what a disk writes as one.
const HARMLESS: [&str; 2] = ["sync-latency", "sectors"];

/// Which families of faults a search has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum With {
    /// Crashes and cuts, and everything else quiet.
    Both,
    /// All there are but crashes, and what ends a process like one; nor are servers power-cycled in the end.
    NoCrashes,
    /// Crashes alone: no cut, and nothing that could stand for one, such as a message that is lost, late or copied, a
    /// server or a clock that stands still, or a disk that takes its time.
    NoCuts,
}

impl With {
    fn has(self, family: &str) -> bool {
        match self {
            With::Both => CRASHES.has(family) || CUTS.has(family) || HARMLESS.contains(&family),
            With::NoCrashes => !CRASHES.has(family) && !DEADLY.contains(&family),
            With::NoCuts => CRASHES.has(family) || HARMLESS.contains(&family),
        }
    }

    /// The families that are off, as a profile says it: none of those to come is on unseen.
    fn profile(self) -> String {
        let off = Tuning::families().filter(|family| !self.has(family));
        let shares: Vec<String> = off.map(|family| format!("\"{family}\": \"0/1\"")).collect();
        format!("{{\"shares\": {{{}}}}}", shares.join(", "))
    }
}

/// What a search has come to.
pub(crate) struct Search {
    /// The first failing plan, and its seed.
    pub(crate) found: Option<(Plan, u64)>,
    /// Messages delivered.
    pub(crate) deliveries: u64,
}

/// Searches from seed 0 on until a plan fails or so many messages were delivered.
pub(crate) fn search(
    system: &'static dyn System,
    restrictions: &Restrictions,
    with: With,
    deliveries_max: u64,
) -> Search {
    let (_, tuning) = Tuning::parse("families.json", &with.profile()).expect("the families are there");
    let restrictions = Restrictions { tuning, ..restrictions.clone() };
    let mut deliveries = 0;
    for seed in 0.. {
        let mut plan = generate(&[system], seed, &restrictions).expect("the bug can be planted");
        plan.script.settle.power_cycle &= with != With::NoCrashes;
        let outcome = whitewater_hunt::run(system, &plan, false).expect("the plan runs");
        deliveries += outcome.counters.deliveries;
        if !outcome.verdict.is_pass() {
            return Search { found: Some((plan, seed)), deliveries };
        }
        if deliveries > deliveries_max {
            break;
        }
    }
    Search { found: None, deliveries }
}
