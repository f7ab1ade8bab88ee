//! What is left of a shrunk failure is small, needs each of its elements, and nothing random.
//!
//! By default a few bugs are tried; `WHITEWATER_ALL=1` tries all of them and prints a table, `WHITEWATER_BUGS="E09,R14 by clients"`
//! tries those. The table tells whether crashes and cuts are left; which bugs take both is measured in `together.rs`.
#![cfg(feature = "mutants")]

#[path = "support/families.rs"]
mod families;
mod support;

use families::{CRASHES, CUTS};
use std::time::Instant;
use whitewater_hunt::{ShrinkBudget, Shrinking, Shrunk, Signature, elements, missed, run, shrink, without};
use whitewater_kv::KV;
use whitewater_plan::{InputFile, Plan, Restrictions, generate};
use whitewater_relay::RELAY;
use whitewater_sim::{Rest, System};

static SYSTEMS: &[&dyn System] = &[&RELAY, &KV];

/// Runs until a bug counts as not found.
const RUNS_MAX: u64 = 3_000;
/// Tries of one shrink.
const TRIES: u64 = 16_000;

/// A planted bug, and who has to see it.
struct Case {
    bug: String,
    /// Only what clients see counts: most rules see a bug long before it does harm, and need fewer faults for that.
    by_clients: bool,
}

impl Case {
    fn new(bug: &str, by_clients: bool) -> Case {
        Case { bug: bug.to_owned(), by_clients }
    }

    fn restrictions(&self) -> Restrictions {
        let checks = self.by_clients.then(|| ("checks".to_owned(), "clients".to_owned()));
        Restrictions {
            bug: Some(self.bug.clone()),
            set: checks.into_iter().collect(),
            ..Restrictions::default()
        }
    }

    fn name(&self) -> String {
        if self.by_clients { format!("{} by clients", self.bug) } else { self.bug.clone() }
    }
}

/// The first failing plan from seed 0 on, with the bug planted, changed as `change` says.
fn failing(restrictions: &Restrictions, change: impl Fn(&mut Plan)) -> Option<(Plan, u64)> {
    (0..RUNS_MAX).find_map(|seed| {
        let mut plan = generate(SYSTEMS, seed, restrictions).expect("the bug can be planted");
        change(&mut plan);
        let fails = !run(system(&plan), &plan, false).expect("the plan runs").verdict.is_pass();
        fails.then_some((plan, seed))
    })
}

fn found(bug: &str) -> Plan {
    failing(&Case::new(bug, false).restrictions(), |_| ()).expect("it is found").0
}

fn system(plan: &Plan) -> &'static dyn System {
    *SYSTEMS.iter().find(|system| system.name() == plan.system).expect("the system is one of ours")
}

fn shrunk(plan: &Plan, jobs: usize) -> Shrunk {
    let shrinking =
        Shrinking { system: system(plan), budget: ShrinkBudget::Tries(TRIES), jobs, watch: &|_| {} };
    shrink(&shrinking, plan).expect("the plan fails")
}

/// Bugs that clients see without the help of other rules.
const BY_CLIENTS: [&str; 8] =
    ["E04", "E08", "R06", "R07", "R14", "R17", "wal-cache-not-truncated", "wal-reply-before-sync"];

/// Every bug that is not known to survive, or a few of them, or those that are named.
fn cases() -> Vec<Case> {
    let seen = |bugs: &[&str], by_clients| bugs.iter().map(|bug| Case::new(bug, by_clients)).collect();
    if let Ok(named) = std::env::var("WHITEWATER_BUGS") {
        let named = named.split(',').map(|name| match name.strip_suffix(" by clients") {
            Some(bug) => Case::new(bug, true),
            None => Case::new(name, false),
        });
        return named.collect();
    }
    if std::env::var_os("WHITEWATER_ALL").is_none() {
        return seen(&["E04", "R06", "R07", "figure-8"], false);
    }
    let named = whitewater_mutants::named(support::root()).expect("the list of bugs can be read");
    let found = named.into_iter().filter(|bug| bug.survives.is_none());
    let by_clients: Vec<Case> = seen(&BY_CLIENTS, true);
    found.map(|bug| Case::new(&bug.id, false)).chain(by_clients).collect()
}

/// Deliveries of a forgotten vote at most: those who published theirs needed 21 to 23.
const FORGOTTEN_VOTE_DELIVERIES: u64 = 25;

/// The families of faults in what is left of a failure.
fn taken(left: &Plan) -> String {
    let has = [("crash", &CRASHES), ("cut", &CUTS)].into_iter().filter(|(_, families)| families.are_in(left));
    has.map(|(name, _)| name).collect::<Vec<_>>().join(" ")
}

#[test]
fn what_is_left_of_a_failure_needs_each_of_its_elements_and_no_seed() {
    let mut times = Vec::new();
    for case in cases() {
        let name = case.name();
        let Some((plan, seed)) = failing(&case.restrictions(), |_| ()) else {
            println!("{name:<36} not found in {RUNS_MAX} runs");
            continue;
        };
        let begun = Instant::now();
        let small = shrunk(&plan, 2);
        let took = begun.elapsed().as_secs_f64();
        times.push(took);
        let elements = elements(&small.plan, system(&plan));
        println!(
            "{name:<34} {:<34} {:>4} deliveries, {:>3} elements {took:>6.1} s  {:<11} {}",
            small.signature.to_string(),
            small.after.deliveries,
            elements.len(),
            taken(&small.plan),
            small.sentence()
        );
        assert_eq!(small.plan.script.rest, Rest::Fixed, "{name}, seed {seed}: something is left to a seed");
        assert!(
            case.bug != "E04" || small.after.deliveries <= FORGOTTEN_VOTE_DELIVERIES,
            "{}",
            small.sentence()
        );
        assert!(small.minimal, "{name}, seed {seed}: {} tries did not do", small.tries);
        for element in &elements {
            let Some(less) = without(&small.plan, system(&plan), element) else { continue };
            let ends = run(system(&plan), &less, false).ok().and_then(|outcome| Signature::of(&outcome));
            assert_ne!(ends, Some(small.signature.clone()), "{name}, seed {seed}: {element:?} is not needed");
        }
    }
    times.sort_by(f64::total_cmp);
    let median = times[times.len() / 2];
    println!("{} failures, median {median:.1} s", times.len());
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

#[test]
fn what_is_left_does_not_depend_on_the_number_of_threads() {
    let plan = found("R06");
    let (one, three) = (shrunk(&plan, 1), shrunk(&plan, 3));
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
        let small = shrunk(&plan, 2);
        println!("{bug:<10} {} deliveries, by hand {}", small.after.deliveries, hand.counters.deliveries);
        assert_eq!(Signature::of(&hand), Some(small.signature.clone()), "{bug}");
        assert!(small.after.deliveries * 10 <= hand.counters.deliveries * 12, "{bug}: {}", small.sentence());
    }
}
