//! What is left of a shrunk failure is small, needs each of its elements, and nothing random.
//!
//! By default a few bugs are tried. All of them, or some, with their rows in the table `crates/mutants/SHRUNK.md`:
//!
//! ```text
//! WHITEWATER_ALL=1 cargo test --profile fuzz -p xtask --features mutants --test shrinking of_each -- --nocapture
//! WHITEWATER_TABLE=1 WHITEWATER_BUGS="E09,R14 by clients,S05-restarted by both" cargo test ...
//! ```
#![cfg(feature = "mutants")]

#[path = "support/families.rs"]
mod families;
#[path = "support/proof.rs"]
mod proof;
mod support;

use families::{With, search};
use proof::{Proven, median_seconds, shrunk, table};
use std::fs;
use whitewater_hunt::{ShrinkBudget, Shrinking, Signature, missed, run, shrink};
use whitewater_kv::KV;
use whitewater_mutants::{Together, together};
use whitewater_plan::{InputFile, Plan, Restrictions, generate};
use whitewater_relay::RELAY;
use whitewater_sim::System;

static SYSTEMS: &[&dyn System] = &[&RELAY, &KV];

/// Runs until a bug counts as not found.
const RUNS_MAX: u64 = 3_000;
/// Who has to see a bug.
#[derive(Clone)]
enum Seen {
    /// Any rule, and a run in which it does harm need not be near.
    ByAny,
    /// Only what clients see counts: most rules see a bug long before it does harm, and need fewer faults for that.
    ByClients,
    /// Any rule, in plans with crashes and cuts and nothing else that disturbs: it takes both.
    WithBoth(Together),
}

/// A planted bug, and who has to see it.
struct Case {
    bug: String,
    seen: Seen,
}

impl Case {
    fn new(bug: &str, seen: Seen) -> Case {
        Case { bug: bug.to_owned(), seen }
    }

    /// The case with this name.
    fn named(name: &str) -> Case {
        if let Some(bug) = name.strip_suffix(" by both") {
            let is_it = |one: &Together| one.bug == bug;
            let measured = measured().into_iter().find(is_it).expect("the list of those has it");
            return Case::new(bug, Seen::WithBoth(measured));
        }
        match name.strip_suffix(" by clients") {
            Some(bug) => Case::new(bug, Seen::ByClients),
            None => Case::new(name, Seen::ByAny),
        }
    }

    fn name(&self) -> String {
        let Case { bug, seen } = self;
        match seen {
            Seen::ByAny => bug.clone(),
            Seen::ByClients => format!("{bug} by clients"),
            Seen::WithBoth(_) => format!("{bug} by both"),
        }
    }

    /// The first plan from seed 0 on that fails.
    fn plan(&self) -> Option<Plan> {
        let mut restrictions = Restrictions { bug: Some(self.bug.clone()), ..Restrictions::default() };
        match &self.seen {
            Seen::ByAny => {}
            Seen::ByClients => restrictions.set.push(("checks".to_owned(), "clients".to_owned())),
            Seen::WithBoth(measured) => {
                restrictions.set.clone_from(&measured.set);
                return Some(search(&KV, &restrictions, With::Both, 2 * measured.found_after).found?.0);
            }
        }
        failing(&restrictions)
    }
}

fn measured() -> Vec<Together> {
    together(support::root()).expect("the list can be read")
}

/// The first failing plan from seed 0 on, with the bug planted.
fn failing(restrictions: &Restrictions) -> Option<Plan> {
    let plan = |seed| generate(SYSTEMS, seed, restrictions).expect("the bug can be planted");
    let fails = |plan: &Plan| !run(system(plan), plan, false).expect("the plan runs").verdict.is_pass();
    (0..RUNS_MAX).map(plan).find(fails)
}

fn found(bug: &str) -> Plan {
    Case::new(bug, Seen::ByAny).plan().expect("it is found")
}

fn system(plan: &Plan) -> &'static dyn System {
    *SYSTEMS.iter().find(|system| system.name() == plan.system).expect("the system is one of ours")
}

/// Bugs that clients see without the help of other rules.
const BY_CLIENTS: [&str; 8] =
    ["E04", "E08", "R06", "R07", "R14", "R17", "wal-cache-not-truncated", "wal-reply-before-sync"];

/// Every bug that is not known to survive, or a few of them, or those that are named.
fn cases() -> Vec<Case> {
    if let Ok(names) = std::env::var("WHITEWATER_BUGS") {
        return names.split(',').map(Case::named).collect();
    }
    if !is_all() {
        return ["E04", "R06", "R07", "figure-8"].map(Case::named).into();
    }
    let named = whitewater_mutants::named(support::root()).expect("the list of bugs can be read");
    let found = named.into_iter().filter(|bug| bug.survives.is_none());
    let by_any = found.map(|bug| Case::new(&bug.id, Seen::ByAny));
    let by_clients = BY_CLIENTS.map(|bug| Case::new(bug, Seen::ByClients));
    let by_both = measured().into_iter().map(|one| Case { bug: one.bug.clone(), seen: Seen::WithBoth(one) });
    by_both.chain(by_any).chain(by_clients).collect()
}

fn is_all() -> bool {
    std::env::var_os("WHITEWATER_ALL").is_some()
}

/// Deliveries of a forgotten vote at most: those who published theirs needed 21 to 23.
const FORGOTTEN_VOTE_DELIVERIES: u64 = 25;

/// The table that is written, after each failure, and what its rows begin behind.
const TABLE: (&str, &str) = ("crates/mutants/SHRUNK.md", "<!-- shrunk -->\n");

/// Writes what was measured. Rows of failures that were not shrunk this time stay as they are.
fn write_table(all: &[Proven]) {
    let file = support::root().join(TABLE.0);
    let text = fs::read_to_string(&file).expect("the table is there");
    let (head, old) = text.split_once(TABLE.1).expect("it says where its rows begin");
    let mut rows: Vec<String> = old.lines().filter(|line| line.ends_with(" |")).map(str::to_owned).collect();
    // What the columns are called.
    rows.drain(..rows.len().min(1));
    for one in all {
        let begins = format!("| {} | ", one.name);
        match rows.iter_mut().find(|row| row.starts_with(&begins)) {
            Some(row) => *row = one.row(),
            None => rows.push(one.row()),
        }
    }
    fs::write(&file, format!("{head}{}\n{}", TABLE.1, table(&rows))).expect("it can be written");
}

#[test]
fn what_is_left_of_each_failure_needs_each_of_its_elements_and_no_seed() {
    let mut all = Vec::new();
    for case in cases() {
        let name = case.name();
        let Some(plan) = case.plan() else {
            println!("{name}: not found in {RUNS_MAX} runs");
            continue;
        };
        let proven = Proven::of(name, system(&plan), &plan);
        println!("{}", proven.row());
        all.push(proven);
        if is_all() || std::env::var_os("WHITEWATER_TABLE").is_some() {
            write_table(&all);
        }
    }
    let mut wrong: Vec<String> = all.iter().filter_map(Proven::complaint).collect();
    let forgotten = all.iter().filter(|one| one.name == "E04");
    let long = forgotten.filter(|one| one.small.after.deliveries > FORGOTTEN_VOTE_DELIVERIES);
    wrong.extend(long.map(|one| one.small.sentence()));
    let median = median_seconds(&all);
    println!("{} failures, median {median:.1} s", all.len());
    assert_eq!(wrong, [""; 0]);
    assert!(median < 60.0, "{median:.1} s");
}

#[test]
fn whoever_stops_early_gets_a_plan_in_which_everything_happens() {
    let set = vec![("relay-not-ready".to_owned(), "drop".to_owned())];
    let restrictions = Restrictions { system: Some("relay".to_owned()), set, ..Restrictions::default() };
    let plans = (0..RUNS_MAX).map(|seed| generate(SYSTEMS, seed, &restrictions).expect("relay can be drawn"));
    let idle = |plan: &Plan| missed(plan, &run(&RELAY, plan, false).expect("the plan runs"));
    let fails = |plan: &Plan| !run(&RELAY, plan, false).expect("the plan runs").verdict.is_pass();
    let plan = plans.into_iter().find(|plan| fails(plan) && !idle(plan).is_empty()).expect("there is one");
    let shrinking = Shrinking { system: &RELAY, budget: ShrinkBudget::Tries(1), jobs: 1, watch: &|_| {} };
    let small = shrink(&shrinking, &plan).expect("the plan fails");
    assert_eq!(idle(&small.plan), [""; 0]);
}

/// Under this seed follower and leader part by many accidents, and nothing of what they are takes away from each other: what
/// is left of the plan by itself has 2,566 deliveries.
const BY_MANY_ACCIDENTS: u64 = 0x7c41_eb03;

#[test]
fn what_took_many_accidents_is_left_as_it_comes_in_a_small_world() {
    let restrictions = Restrictions { bug: Some("R07".to_owned()), ..Restrictions::default() };
    let plan = generate(SYSTEMS, BY_MANY_ACCIDENTS, &restrictions).expect("the bug can be planted");
    let small = shrunk(system(&plan), &plan, 2);
    assert_eq!(
        small.signature,
        Signature::of(&run(&KV, &plan, false).expect("the plan runs")).expect("it fails")
    );
    assert!(small.after.deliveries <= 100 && small.minimal, "{}", small.sentence());
}

#[test]
fn what_is_left_does_not_depend_on_the_number_of_threads() {
    let plan = found("R06");
    let (one, three) = (shrunk(system(&plan), &plan, 1), shrunk(system(&plan), &plan, 3));
    assert_eq!(one.plan, three.plan);
}

/// Failures minimised by hand: the bug, and the lines of the script besides those that all have.
const BY_HAND: [(&str, &[&str]); 5] = [
    ("E04", &["servers 2", "sync 1ms..1ms", "campaign at n1 at 30ms"]),
    ("R05", &["servers 3", "campaign at n1 at 30ms", "drop n1->n3 MsgApp #1"]),
    ("R14", &["servers 2", "sync 1ms..1ms", "campaign at n1 at 30ms"]),
    ("seed-e12", &["servers 1", "put r1 v1 at n1"]),
    (
        "wal-reply-before-sync",
        &["servers 1", "campaign at n1 at 30ms", "crash n1 at 40ms until 50ms losing unsynced"],
    ),
];

/// The plan that was made by hand.
fn by_hand(bug: &str, lines: &[&str]) -> Plan {
    let all = ["seed none", "clients 0", "delay 1ms", "horizon 100ms", "settle 0ms delay 1ms no power-cycle"];
    let script: Vec<_> = all.iter().chain(lines).copied().collect();
    let json = serde_json::json!({
        "plan": 1, "system": "kv", "profile": "calm", "options": {}, "bug": bug, "script": script,
    });
    match InputFile::parse(bug, &json.to_string(), SYSTEMS).expect("the script is one") {
        InputFile::Plan(plan) => plan,
        _ => panic!("{bug}: a plan"),
    }
}

#[test]
fn what_is_left_is_not_much_larger_than_what_is_left_by_hand() {
    for (bug, lines) in BY_HAND {
        let hand = run(&KV, &by_hand(bug, lines), false).expect("the plan runs");
        let plan = found(bug);
        let small = shrunk(system(&plan), &plan, 2);
        println!("{bug:<10} {} deliveries, by hand {}", small.after.deliveries, hand.counters.deliveries);
        assert_eq!(Signature::of(&hand), Some(small.signature.clone()), "{bug}");
        assert!(small.after.deliveries * 10 <= hand.counters.deliveries * 12, "{bug}: {}", small.sentence());
    }
}
