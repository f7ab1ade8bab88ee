//! A campaign inside of a test: searches seeds, and fails the test with the report and the line that runs it again.

use crate::tested::{Tested, system};
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use whitewater_hunt::{
    Budget, Campaign, Failure, FailureRecord, Observer, REPEAT_ONE_IN, Summary, campaign, report,
};
use whitewater_plan::{Profile, Restrictions, parse_seed, seed_text};
use whitewater_sim::System;

/// Runs one seed alone, twice, instead of the search.
const SEED: &str = "WHITEWATER_SEED";
/// Searches for so many deliveries instead of what the test says, such as every night.
const DELIVERIES: &str = "WHITEWATER_DELIVERIES";
/// What a search takes if nothing else is said.
const DELIVERIES_DEFAULT: u64 = 1_000_000;

/// A search for failures, to be described and begun.
#[must_use = "nothing is searched before `assert_clean` or `run`"]
pub struct Hunt {
    systems: [&'static dyn System; 1],
    restrictions: Restrictions,
    deliveries: u64,
    start: u64,
    jobs: usize,
    reaches_all: bool,
}

/// A search for failures of a node, with every rule of its monitor.
pub fn hunt<N: Tested>() -> Hunt {
    hunt_in(system::<N>())
}

/// A search for failures of a system.
pub fn hunt_in(system: &'static dyn System) -> Hunt {
    let restrictions = Restrictions { system: Some(system.name().to_owned()), ..Restrictions::default() };
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    Hunt {
        systems: [system],
        restrictions,
        deliveries: DELIVERIES_DEFAULT,
        start: 0,
        jobs,
        reaches_all: false,
    }
}

impl Hunt {
    /// Searches until so many messages were delivered, which takes equally many runs on every machine.
    pub fn deliveries(mut self, deliveries: u64) -> Hunt {
        self.deliveries = deliveries;
        self
    }

    /// Searches from this seed on, 0 if nothing is said: the test does the same every time until the code changes.
    pub fn from_seed(mut self, seed: u64) -> Hunt {
        self.start = seed;
        self
    }

    /// Draws plans of this profile only, such as [`Profile::Network`].
    pub fn profile(mut self, profile: Profile) -> Hunt {
        self.restrictions.profile = Some(profile);
        self
    }

    /// Gives an option of the system this value in every run.
    pub fn set(mut self, name: &str, value: &str) -> Hunt {
        self.restrictions.set.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Searches on so many threads; nothing it finds depends on it.
    pub fn jobs(mut self, jobs: usize) -> Hunt {
        self.jobs = jobs;
        self
    }

    /// Has the search pass only if it has met every situation that the system marks: who does nothing breaks no rule, and a
    /// part of the code that has come to do nothing shows by what is not met any more. Asks for a search that is long enough.
    pub fn reaching_everything(mut self) -> Hunt {
        self.reaches_all = true;
        self
    }

    /// Searches, says in one line what was searched, and panics with the report of the first failure. With `WHITEWATER_SEED` set it runs that seed alone;
    /// `WHITEWATER_DELIVERIES` goes before [`Hunt::deliveries`].
    ///
    /// # Panics
    /// A rule is broken, or what was asked for does not exist; the text says how to run it again. Or there are runs of which
    /// nobody can say within the budget whether they are linearizable: that is no pass. Or something was not met that
    /// [`Hunt::reaching_everything`] asks for.
    #[track_caller]
    pub fn assert_clean(self) {
        let name = self.systems[0].name();
        let reaches_all = self.reaches_all && variable(SEED).is_ok_and(|seed| seed.is_none());
        match self.run() {
            Ok(Summary { never_reached, runs, deliveries, .. })
                if reaches_all && !never_reached.is_empty() =>
            {
                panic!(
                    "{name}: nothing found, but {runs} runs with {deliveries} deliveries have never reached {}: either they \
                     are too few, or something is not done any more",
                    never_reached.join(", ")
                )
            }
            Ok(Summary { undecided: undecided @ 1.., runs, .. }) => panic!(
                "{name}: nothing found, but of {undecided} of {runs} runs it is not known within the budget whether some \
                 order explains what clients saw"
            ),
            // Past what `cargo test` keeps to itself: a green test should say how much it stands for.
            Ok(summary) => drop(writeln!(std::io::stderr(), "{name}: {}", searched(&summary))),
            Err(text) => panic!("{text}"),
        }
    }

    /// Searches, and gives what was done.
    ///
    /// # Errors
    /// The report of the first failure, or what is wrong with what was asked for.
    pub fn run(mut self) -> Result<Summary, String> {
        let alone = variable(SEED)?.map(|text| parse_seed(&text).map_err(|wrong| format!("{SEED}: {wrong}")));
        let alone = alone.transpose()?;
        if let Some(text) = variable(DELIVERIES)? {
            let number = text.replace('_', "").parse();
            self.deliveries = number.map_err(|_| format!("{DELIVERIES}: `{text}` is no number"))?;
        }
        let search = Campaign {
            systems: &self.systems,
            // The line that runs a failure again is one of the test's own.
            program: "",
            restrictions: self.restrictions,
            start: alone.unwrap_or(self.start),
            end: None,
            budget: if alone.is_some() { Budget::Runs(1) } else { Budget::Deliveries(self.deliveries) },
            jobs: self.jobs,
            keep_going: false,
            repeat_one_in: if alone.is_some() { 1 } else { REPEAT_ONE_IN },
        };
        let told = Told { again: again(), report: Mutex::default() };
        let summary = campaign(&search, &told, &AtomicBool::new(false))?;
        match told.report.into_inner().expect("nobody panics while a failure is told") {
            Some(report) => Err(report),
            None => Ok(summary),
        }
    }
}

/// What a search that found nothing has seen, and what it has not.
fn searched(summary: &Summary) -> String {
    let Summary { deliveries, runs, .. } = summary;
    let unseen: Vec<&str> = summary.never_reached.iter().copied().chain(summary.never_bitten()).collect();
    let unseen = match unseen[..] {
        [] => "every mark was reached and every kind of fault that was drawn bit".to_owned(),
        _ => format!("never reached: {}", unseen.join(", ")),
    };
    format!("{deliveries} deliveries in {runs} runs, nothing found; {unseen}")
}

/// Keeps the first failure as text.
struct Told {
    /// What to type behind the seed to run it again.
    again: String,
    report: Mutex<Option<String>>,
}

impl Observer for Told {
    fn failed(&self, record: &FailureRecord, failure: Option<&Failure>) {
        let seed = record.seed.map_or_else(String::new, seed_text);
        let command = format!("{SEED}={seed} {}", self.again);
        let report = match failure {
            Some(failure) => report::text(&Failure { command, ..failure.clone() }, &report::About::default()),
            None => format!("{}: {}\n  Reproduce         {command}\n", record.rule, record.message),
        };
        *self.report.lock().expect("nobody panics while a failure is told") = Some(format!("\n\n{report}"));
    }
}

/// The command that runs this test alone, where it lives.
fn again() -> String {
    let mut line = String::from("cargo test");
    // What was built for this test need not be built once more.
    if !cfg!(debug_assertions) {
        line.push_str(" --release");
    }
    if let Ok(package) = std::env::var("CARGO_PKG_NAME") {
        let _ = write!(line, " --package {package}");
    }
    // The thread of a test has the name of the test.
    let thread = std::thread::current();
    if let Some(test) = thread.name().filter(|name| *name != "main") {
        let _ = write!(line, " {test} -- --exact");
    }
    line
}

/// The value of a variable, if it is set.
fn variable(name: &str) -> Result<Option<String>, String> {
    match std::env::var(name) {
        Ok(text) if text.trim().is_empty() => Ok(None),
        Ok(text) => Ok(Some(text.trim().to_owned())),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => Err(format!("{name} holds no text")),
    }
}
