//! Places where seeds are run again: once more, in another thread, in reverse order.

use super::CONTEXT_RUNS;
use super::here::Here;
use super::print::Print;
use std::thread;

/// Somewhere else to run seeds.
pub trait Place {
    /// Where it is, as the end of a sentence, such as `in another thread`.
    fn name(&self) -> &str;

    /// What the runs of these seeds say, in any order; of some of them only, if all would take too long.
    ///
    /// # Errors
    /// They could not be made; the text says why.
    fn prints(&mut self, batch: &[u64]) -> Result<Vec<Print>, String>;

    /// The events of the run of one of them, a line each, made under the same circumstances.
    ///
    /// # Errors
    /// As [`Place::prints`].
    fn events(&mut self, batch: &[u64], at: usize) -> Result<Vec<String>, String>;
}

/// Once more, in the same thread: every run twice in a row.
pub struct Again<'a>(
    /// Where it was run first.
    pub Here<'a>,
);

impl Place for Again<'_> {
    fn name(&self) -> &str {
        "once more"
    }

    fn prints(&mut self, batch: &[u64]) -> Result<Vec<Print>, String> {
        Ok(batch.iter().map(|&seed| self.0.print(seed)).collect())
    }

    fn events(&mut self, batch: &[u64], at: usize) -> Result<Vec<String>, String> {
        Ok(self.0.events(batch, at))
    }
}

/// In a thread of its own.
pub struct AnotherThread<'a>(
    /// Where it was run first.
    pub Here<'a>,
);

impl Place for AnotherThread<'_> {
    fn name(&self) -> &str {
        "in another thread"
    }

    fn prints(&mut self, batch: &[u64]) -> Result<Vec<Print>, String> {
        aside(|| batch.iter().map(|&seed| self.0.print(seed)).collect())
    }

    fn events(&mut self, batch: &[u64], at: usize) -> Result<Vec<String>, String> {
        aside(|| self.0.events(batch, at))
    }
}

/// Calls something in a new thread.
fn aside<T: Send>(call: impl FnOnce() -> T + Send) -> Result<T, String> {
    thread::scope(|scope| scope.spawn(call).join()).map_err(|_| "the thread panicked".to_owned())
}

/// In the reverse order: what a run finds left behind is that of another run.
pub struct Reversed<'a>(
    /// Where it was run first.
    pub Here<'a>,
);

impl Place for Reversed<'_> {
    fn name(&self) -> &str {
        "in reverse order"
    }

    fn prints(&mut self, batch: &[u64]) -> Result<Vec<Print>, String> {
        Ok(batch.iter().rev().map(|&seed| self.0.print(seed)).collect())
    }

    fn events(&mut self, batch: &[u64], at: usize) -> Result<Vec<String>, String> {
        let context = batch[at + 1..].iter().take(CONTEXT_RUNS).rev();
        context.for_each(|&seed| drop(self.0.print(seed)));
        Ok(self.0.recorded(batch[at]))
    }
}
