//! Runs in other processes: of this very program, and of a build of another kind.

use crate::program::program;
use crate::rebuild;
use crate::worker::{self, Question, Worker};
use std::process::Command;
use whitewater_hunt::determinism::{Place, Print};
use whitewater_plan::Restrictions;

/// In a build of another kind only one run in so many is made, as one that is not optimised is so much slower.
const ONE_IN: usize = 20;

/// Every batch in a process of its own.
pub(super) struct FreshProcess {
    words: Vec<String>,
}

impl FreshProcess {
    pub(super) fn new(restrictions: &Restrictions) -> FreshProcess {
        FreshProcess { words: worker::words(restrictions) }
    }

    fn start(&self) -> Result<Worker, String> {
        let command = worker::of_this_program();
        let started = command.and_then(|mut command| {
            command.args(&self.words);
            Worker::start(command)
        });
        started.map_err(|error| format!("{error:#}"))
    }
}

impl Place for FreshProcess {
    fn name(&self) -> &str {
        "in a fresh process"
    }

    fn prints(&mut self, batch: &[u64]) -> Result<Vec<Print>, String> {
        let mut worker = self.start()?;
        batch.iter().map(|&seed| ask(&mut worker, &Question::Print(seed))).collect()
    }

    fn events(&mut self, batch: &[u64], at: usize) -> Result<Vec<String>, String> {
        events(&mut self.start()?, &batch[..at], batch[at])
    }
}

/// In a debug build, or in an optimised one if this is a debug build; that process goes on from batch to batch.
pub(super) struct AnotherBuild {
    words: Vec<String>,
    worker: Option<Worker>,
}

impl AnotherBuild {
    pub(super) fn new(restrictions: &Restrictions) -> AnotherBuild {
        AnotherBuild { words: worker::words(restrictions), worker: None }
    }

    fn worker(&mut self) -> Result<&mut Worker, String> {
        let worker = match self.worker.take() {
            Some(worker) => worker,
            None => Worker::start(self.command()).map_err(|error| format!("{error:#}"))?,
        };
        Ok(self.worker.insert(worker))
    }

    fn command(&self) -> Command {
        let mut command = rebuild::cargo();
        // A package in another repository need not know the profile of this one.
        let package = program().plants;
        let optimised = if package.is_some() { "fuzz" } else { "release" };
        command.args(["run", "--quiet", "--profile", if is_debug() { optimised } else { "dev" }]);
        command.args(package.iter().flat_map(|package| ["--package", package]));
        if self.words.iter().any(|word| word == "--mutant") {
            command.args(["--features", rebuild::FEATURE]).arg("--target-dir").arg(rebuild::target_folder());
        }
        command.args(["--", worker::VERB]).args(&self.words);
        command
    }
}

/// Whether this build is not optimised.
fn is_debug() -> bool {
    env!("WHITEWATER_OPT_LEVEL") == "0"
}

impl Place for AnotherBuild {
    fn name(&self) -> &str {
        if is_debug() { "in an optimised build" } else { "in a debug build" }
    }

    fn prints(&mut self, batch: &[u64]) -> Result<Vec<Print>, String> {
        let worker = self.worker()?;
        batch.iter().step_by(ONE_IN).map(|&seed| ask(worker, &Question::Print(seed))).collect()
    }

    fn events(&mut self, batch: &[u64], at: usize) -> Result<Vec<String>, String> {
        events(self.worker()?, &[], batch[at])
    }
}

fn events(worker: &mut Worker, before: &[u64], seed: u64) -> Result<Vec<String>, String> {
    for &seed in before {
        let _: Print = ask(worker, &Question::Print(seed))?;
    }
    ask(worker, &Question::Events(seed))
}

fn ask<A: serde::de::DeserializeOwned>(worker: &mut Worker, question: &Question) -> Result<A, String> {
    worker.ask(question, None).map_err(|death| death.message)
}
