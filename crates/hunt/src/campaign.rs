//! Runs a plan per seed on several threads and shows what they found in the order of seeds.
//!
//! Run `i` of a campaign has seed `start + i`. Workers take numbers from one counter; results wait until all lower
//! numbers are there. Whatever decides about the end - a failure, a budget - is decided on that ordered line, so nothing
//! a campaign says depends on the number of workers.

use crate::apart::{Apart, Fatality, Figures, Report};
use crate::caught::caught;
use crate::command::print_command;
use crate::coverage::PlanFacts;
use crate::failure::{Failure, FailureRecord};
use crate::order::Line;
use crate::run::{compared, run};
use crate::tally::{Progress, RunFigures, Summary, Tally};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex};
use std::thread;
use whitewater_plan::{Plan, Profile, Restrictions, eligible, generate};
use whitewater_sim::{Outcome, Span, System, TraceHash};

/// A search over seeds.
pub struct Campaign<'a> {
    /// Systems that plans are drawn from.
    pub systems: &'a [&'static dyn System],
    /// What is typed before a verb, such as `cargo xtask`: commands that run a failure again begin with it.
    pub program: &'a str,
    /// What every plan is restricted to.
    pub restrictions: Restrictions,
    /// Seed of the first run.
    pub start: u64,
    /// First seed that is not run; none if only the budget ends the campaign. Not above `start`: nothing runs.
    pub end: Option<u64>,
    /// When it ends by itself.
    pub budget: Budget<'a>,
    /// Threads that run plans; 0 counts as 1. No output depends on it.
    pub jobs: usize,
    /// Whether it goes on after a failure.
    pub keep_going: bool,
    /// Seeds that are multiples of this run twice; 0 for none. [`REPEAT_ONE_IN`] unless there is a reason.
    pub repeat_one_in: u64,
}

/// One seed in so many is run twice by default.
pub const REPEAT_ONE_IN: u64 = 20;

/// When a campaign ends by itself.
pub enum Budget<'a> {
    /// After the first run by which so many messages were delivered, counted in the order of seeds; 0: nothing runs.
    Deliveries(u64),
    /// After so many runs.
    Runs(u64),
    /// When this says that it is over; asked before every run. Runs that have begun are finished.
    Until(&'a (dyn Fn() -> bool + Sync)),
    /// At the end of the seeds.
    Seeds,
}

/// A finished run as an observer sees it.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Number of the run, from 0.
    pub index: u64,
    /// Its seed.
    pub seed: u64,
    /// The system that ran.
    pub system: String,
    /// The profile its plan was drawn from; none if no plan came about.
    pub profile: Option<Profile>,
    /// The rule it broke, or `pass`.
    pub rule: &'static str,
    /// Messages that reached a node that was up.
    pub deliveries: u64,
    /// Simulated time it took.
    pub simulated: Span,
    /// What nodes saw and did; none for a run that gave no outcome.
    pub hash: Option<TraceHash>,
    /// Whether it was run twice.
    pub repeated: bool,
}

/// Whoever watches a campaign. Calls come one at a time, in the order of seeds.
pub trait Observer: Sync {
    /// A run has finished and is counted in `progress`.
    fn finished(&self, run: &Finished, progress: &Progress) {
        let _ = (run, progress);
    }

    /// A run failed; called after [`Observer::finished`] for it. `failure` is none if the framework itself failed.
    fn failed(&self, record: &FailureRecord, failure: Option<&Failure>) {
        let _ = (record, failure);
    }
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {}

/// Runs a campaign to its end. `stop` ends it early: runs that have begun are finished, no other begins.
///
/// A panic that is not one of a node is a failure with the rule [`OWN_BUG`](crate::OWN_BUG); it never ends the campaign by itself.
///
/// # Errors
/// The restrictions name a system, option or value that does not exist; the text lists those that do.
pub fn campaign(
    campaign: &Campaign<'_>,
    observer: &dyn Observer,
    stop: &AtomicBool,
) -> Result<Summary, String> {
    conduct(campaign, None, observer, stop)
}

/// As [`campaign`], with runs that are made apart from this process. Those that fail there by themselves are made again
/// here, to be told.
///
/// # Errors
/// As [`campaign`].
pub fn campaign_apart(
    campaign: &Campaign<'_>,
    apart: &dyn Apart,
    observer: &dyn Observer,
    stop: &AtomicBool,
) -> Result<Summary, String> {
    conduct(campaign, Some(apart), observer, stop)
}

fn conduct<'a>(
    campaign: &'a Campaign<'a>,
    apart: Option<&'a dyn Apart>,
    observer: &'a dyn Observer,
    stop: &'a AtomicBool,
) -> Result<Summary, String> {
    generate(campaign.systems, campaign.start, &campaign.restrictions)?;
    let engine = Engine { apart, ..Engine::new(campaign, observer, stop) };
    thread::scope(|scope| {
        for _ in 0..campaign.jobs.max(1) {
            scope.spawn(|| engine.work());
        }
    });
    let shown = engine.shown.into_inner().expect("no worker panics while it shows a run");
    Ok(shown.tally.summary())
}

/// A run with what is to be shown of it.
struct Done {
    run: Finished,
    figures: Option<RunFigures>,
    /// What its plan had, if one came about.
    facts: Option<PlanFacts>,
    failure: Option<(FailureRecord, Option<Box<Failure>>)>,
}

/// What is behind the lock: the ordered line and what was counted on it.
struct Shown {
    line: Line<Done>,
    tally: Tally,
    /// Nothing more is shown or counted.
    over: bool,
}

struct Engine<'a> {
    campaign: &'a Campaign<'a>,
    /// Who makes the runs, if not this process.
    apart: Option<&'a dyn Apart>,
    observer: &'a dyn Observer,
    stop: &'a AtomicBool,
    /// The next number to be taken.
    next: AtomicU64,
    /// The lowest number that need not be run.
    limit: AtomicU64,
    shown: Mutex<Shown>,
    moved: Condvar,
    /// How far a worker may be ahead of the line, so that memory stays flat.
    window: u64,
}

impl<'a> Engine<'a> {
    fn new(campaign: &'a Campaign<'a>, observer: &'a dyn Observer, stop: &'a AtomicBool) -> Engine<'a> {
        let seeds = campaign.end.map_or(u64::MAX, |end| end.saturating_sub(campaign.start));
        let runs = match campaign.budget {
            Budget::Runs(runs) => runs,
            Budget::Deliveries(0) => 0,
            _ => u64::MAX,
        };
        let systems = eligible(campaign.systems, &campaign.restrictions).unwrap_or_default();
        let tally = Tally::new(systems.into_iter().map(|s| s as &dyn System));
        Engine {
            campaign,
            apart: None,
            observer,
            stop,
            next: AtomicU64::new(0),
            limit: AtomicU64::new(seeds.min(runs)),
            shown: Mutex::new(Shown { line: Line::new(), tally, over: false }),
            moved: Condvar::new(),
            window: 16 * campaign.jobs.max(1) as u64,
        }
    }

    /// Takes numbers and runs them until there are none.
    fn work(&self) {
        while !self.is_stopped() {
            let index = self.next.fetch_add(1, Ordering::SeqCst);
            if !self.wait_for_room(index) {
                break;
            }
            let done = self.one(index);
            if done.failure.is_some() && !self.campaign.keep_going {
                self.limit.fetch_min(index + 1, Ordering::SeqCst);
            }
            self.show(index, done);
        }
    }

    fn is_stopped(&self) -> bool {
        let over = if let Budget::Until(over) = self.campaign.budget { over() } else { false };
        over || self.stop.load(Ordering::SeqCst)
    }

    /// Waits until a number may be run; says whether it is to be run at all.
    fn wait_for_room(&self, index: u64) -> bool {
        let wanted = || index < self.limit.load(Ordering::SeqCst);
        let shown = self.shown.lock().expect("no worker panics while it shows a run");
        let full = |shown: &mut Shown| wanted() && index >= shown.line.next() + self.window;
        drop(self.moved.wait_while(shown, full).expect("no worker panics while it shows a run"));
        wanted()
    }

    /// Puts a run on the ordered line and shows what is due.
    fn show(&self, index: u64, done: Done) {
        let mut guard = self.shown.lock().expect("no worker panics while it shows a run");
        let shown = &mut *guard;
        shown.line.put(index, done);
        while !shown.over {
            let Some(done) = shown.line.take() else { break };
            match &done.figures {
                Some(figures) => shown.tally.add(figures),
                None => shown.tally.add_broken(),
            }
            if let Some(facts) = &done.facts {
                shown.tally.cover(facts);
            }
            if let Some((record, _)) = &done.failure {
                shown.tally.fail(record.clone());
            }
            self.observer.finished(&done.run, &shown.tally.progress());
            if let Some((record, failure)) = &done.failure {
                self.observer.failed(record, failure.as_deref());
            }
            let spent = match self.campaign.budget {
                Budget::Deliveries(budget) => shown.tally.deliveries() >= budget,
                _ => false,
            };
            if spent || (done.failure.is_some() && !self.campaign.keep_going) {
                shown.over = true;
                self.limit.fetch_min(done.run.index + 1, Ordering::SeqCst);
            }
        }
        drop(guard);
        self.moved.notify_all();
    }

    /// Runs one number, with its repetition and, if it fails, its recording.
    fn one(&self, index: u64) -> Done {
        let seed = self.campaign.start.wrapping_add(index);
        let every = self.campaign.repeat_one_in;
        let attempt = Attempt {
            index,
            seed,
            repeated: every > 0 && seed.is_multiple_of(every),
            command: print_command(self.campaign.program, &self.campaign.restrictions, seed),
        };
        let systems = self.campaign.systems;
        let drawn = caught(|| generate(systems, seed, &self.campaign.restrictions));
        let facts = drawn.as_ref().ok().map(PlanFacts::of);
        Done { facts, ..self.make(&attempt, drawn) }
    }

    fn make(&self, attempt: &Attempt, drawn: Result<Plan, String>) -> Done {
        let systems = self.campaign.systems;
        let made = self.apart.map(|apart| apart.attempt(attempt.seed, attempt.repeated));
        match made {
            // Whoever made it has survived it.
            None | Some(Ok(Report::Failed)) => {}
            Some(Ok(Report::Passed(figures))) => return attempt.passed_apart(systems, &figures),
            Some(Err(fatality)) => {
                let system = drawn.map_or_else(|_| String::new(), |plan| plan.system);
                return attempt.ended(system, fatality);
            }
        }
        let drawn = drawn.map_err(|message| (String::new(), message));
        let done = drawn.and_then(|plan| {
            let system = plan.system.clone();
            caught(|| attempt.run(systems, plan)).map_err(|message| (system, message))
        });
        done.unwrap_or_else(|(system, message)| attempt.ended(system, Fatality::ours(message)))
    }
}

/// One number of a campaign, about to be run.
struct Attempt {
    index: u64,
    seed: u64,
    repeated: bool,
    command: String,
}

impl Attempt {
    fn run(&self, systems: &[&'static dyn System], plan: Plan) -> Result<Done, String> {
        let system = systems.iter().find(|s| s.name() == plan.system);
        let system = system.ok_or_else(|| format!("there is no system `{}`", plan.system))?;
        let mut outcome = run(*system, &plan, false)?;
        if self.repeated {
            outcome = compared(outcome, &run(*system, &plan, false)?);
        }
        let failure = match outcome.verdict.is_pass() {
            true => None,
            false => {
                let (seed, command) = (Some(self.seed), self.command.clone());
                let failure = Failure::record(*system, plan.clone(), &outcome, seed, command)?;
                Some((failure.keep(), Some(Box::new(failure))))
            }
        };
        let rule = failure.as_ref().and_then(|(_, f)| f.as_ref()).map_or("pass", |f| f.rule());
        let run = self.finished(&plan.system, Some(plan.profile), rule, &outcome);
        Ok(Done { run, figures: Some(RunFigures::of(&outcome, self.repeated)), facts: None, failure })
    }

    fn finished(&self, system: &str, profile: Option<Profile>, rule: &'static str, o: &Outcome) -> Finished {
        Finished {
            index: self.index,
            seed: self.seed,
            system: system.to_owned(),
            profile,
            rule,
            deliveries: o.counters.deliveries,
            simulated: Span::from_nanos(o.time.nanos()),
            hash: Some(o.hash),
            repeated: self.repeated,
        }
    }

    /// A run that passed elsewhere.
    fn passed_apart(&self, systems: &[&'static dyn System], figures: &Figures) -> Done {
        let (name, profile, hash) = figures.identity();
        let marks = systems.iter().find(|s| s.name() == name).map_or(&[][..], |system| system.marks());
        let figures = figures.for_tally(marks, self.repeated);
        let run = Finished {
            index: self.index,
            seed: self.seed,
            system: name.to_owned(),
            profile,
            rule: "pass",
            deliveries: figures.deliveries,
            simulated: figures.simulated,
            hash: Some(hash),
            repeated: self.repeated,
        };
        Done { run, figures: Some(figures), facts: None, failure: None }
    }

    /// A run that came to no end of its own: the framework spoilt it, or it took its process with it.
    fn ended(&self, system: String, fatality: Fatality) -> Done {
        let Fatality { rule, message } = fatality;
        let record = FailureRecord {
            seed: Some(self.seed),
            system: system.clone(),
            profile: None,
            rule: rule.to_owned(),
            message,
            suspect: None,
            fingerprint: None,
            hash: None,
            command: self.command.clone(),
        };
        let run = Finished {
            index: self.index,
            seed: self.seed,
            system,
            profile: None,
            rule,
            deliveries: 0,
            simulated: Span::ZERO,
            hash: None,
            repeated: false,
        };
        Done { run, figures: None, facts: None, failure: Some((record, None)) }
    }
}
