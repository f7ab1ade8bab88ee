//! Where a search stands, on disk: written whole or not at all, so that it can go on after anything.
//!
//! A failure is saved before the run that found it counts as done. So whenever the process is killed, what the file says
//! is done is done, and a search that goes on makes the other runs again.

use super::meaning::{Meaning, Seeds};
use crate::amount::Amount;
use crate::files;
use crate::program::called;
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use whitewater_hunt::print_command;
use whitewater_plan::{parse_seed, seed_text};

/// Not one of the failures beside it, so it does not end as they do.
const NAME: &str = "campaign.state";

/// How far a search has come.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct State {
    /// The command without its budget: what plans are drawn from.
    search: String,
    /// The first seed, and the end of the seeds if there is one.
    base: String,
    end: Option<String>,
    /// Runs that are done.
    pub(super) runs: u64,
    /// Messages they delivered.
    pub(super) deliveries: u64,
    /// How many of them failed.
    pub(super) failures: u64,
}

impl State {
    /// The state of a search that has not begun.
    pub(super) fn begin(meaning: &Meaning) -> State {
        State {
            search: print_command(called(), &meaning.restrictions, 0),
            base: seed_text(meaning.start()),
            end: meaning.end().map(seed_text),
            runs: 0,
            deliveries: 0,
            failures: 0,
        }
    }

    fn file(folder: &Path) -> PathBuf {
        folder.join(NAME)
    }

    /// Writes it down.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn write(&self, folder: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(self).context("a state is plain data")?;
        files::write_whole(&State::file(folder), &format!("{text}\n"))
    }

    /// What was written down in a folder; none if no search has begun there.
    ///
    /// # Errors
    /// It is damaged, or is about another search.
    pub(super) fn read(folder: &Path, meaning: &Meaning, named: bool) -> anyhow::Result<Option<State>> {
        let file = State::file(folder);
        if !file.exists() {
            return Ok(None);
        }
        let name = file.display().to_string();
        let state: State = serde_json::from_str(&files::read(&file)?)
            .with_context(|| format!("{name}: is damaged; without --resume a new search begins"))?;
        let wanted = State::begin(meaning);
        let other_seeds = named && (&state.base, &state.end) != (&wanted.base, &wanted.end);
        if state.search != wanted.search || other_seeds {
            bail!(
                "{name}: is about another search, {} from {}; leave --resume out",
                state.search,
                state.base
            );
        }
        Ok(Some(state))
    }

    /// The seeds and the budget that are left of a search.
    ///
    /// # Errors
    /// It is damaged.
    pub(super) fn rest(&self, amount: Amount) -> anyhow::Result<(Seeds, Amount)> {
        let seed = |text: &str| parse_seed(text).map_err(anyhow::Error::msg);
        let next = seed(&self.base)?.wrapping_add(self.runs);
        let seeds = match &self.end {
            Some(end) => Seeds::Between(next, seed(end)?),
            None => Seeds::From(next),
        };
        let amount = match amount {
            Amount::Runs(runs) => Amount::Runs(runs.saturating_sub(self.runs)),
            Amount::Deliveries(count) => Amount::Deliveries(count.saturating_sub(self.deliveries)),
            Amount::Time(time) => Amount::Time(time),
        };
        Ok((seeds, amount))
    }
}
