//! Runs of a search in worker processes, each with a watchdog: a node that never comes back, or takes its process with it,
//! ends a worker and not the search.

use crate::worker::{self, Question, Worker};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use whitewater_hunt::apart::{Apart, Fatality, Report};
use whitewater_plan::Restrictions;

/// Most memory of a worker.
const MEMORY_BYTES: u64 = 4 << 30;

/// Workers that wait for a seed.
pub(crate) struct Isolation {
    words: Vec<String>,
    /// How long one run may take.
    patience: Duration,
    idle: Mutex<Vec<Worker>>,
}

impl Isolation {
    /// No worker yet; they are started as they are needed.
    pub(crate) fn new(restrictions: &Restrictions, patience: Duration) -> Isolation {
        let mut words = worker::words(restrictions);
        words.extend(["--memory".to_owned(), MEMORY_BYTES.to_string()]);
        Isolation { words, patience, idle: Mutex::new(Vec::new()) }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Worker>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&self) -> anyhow::Result<Worker> {
        let mut command = worker::of_this_program()?;
        command.args(&self.words);
        Worker::start(command)
    }
}

impl Apart for Isolation {
    fn attempt(&self, seed: u64, twice: bool) -> Result<Report, Fatality> {
        let idle = self.idle().pop();
        let mut worker = match idle.map_or_else(|| self.start(), Ok) {
            Ok(worker) => worker,
            Err(error) => return Err(Fatality::ours(format!("{error:#}"))),
        };
        let patience = if twice { self.patience * 2 } else { self.patience };
        match worker.ask(&Question::Attempt { seed, twice }, Some(patience)) {
            Ok(report) => {
                self.idle().push(worker);
                Ok(report)
            }
            Err(death) => Err(Fatality { rule: death.rule, message: death.message }),
        }
    }
}
