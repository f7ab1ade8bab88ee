//! What the words behind `fuzz` mean: which seeds, how much of them, under which restrictions.

use super::resume::State;
use super::{Shrink, Typed};
use crate::Screen;
use crate::amount::Amount;
use crate::given::Given;
use crate::program::called;
use anyhow::bail;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::PathBuf;
use std::time::Duration;
use whitewater_plan::{Restrictions, parse_seed, seed_text};

/// How long a search takes if nothing else is said.
const TIME_DEFAULT: Duration = Duration::from_secs(60);

/// Which seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seeds {
    /// This one, alone.
    One(u64),
    /// This one and those after it.
    From(u64),
    /// From the first up to but not including the second.
    Between(u64, u64),
}

/// A search, decided.
#[derive(Debug)]
pub(super) struct Meaning {
    pub(super) seeds: Seeds,
    pub(super) amount: Amount,
    pub(super) restrictions: Restrictions,
    pub(super) jobs: usize,
    pub(super) keep_going: bool,
    /// How long a run may take in a worker process, if it is made in one.
    pub(super) isolate: Option<Duration>,
    pub(super) save: Option<PathBuf>,
    pub(super) shrink: Shrink,
    /// How far the search has come, if that is written down.
    pub(super) state: Option<State>,
    pub(super) verbose: bool,
    /// Where the values come from, for people who ask.
    origins: Vec<String>,
}

impl Meaning {
    /// Decides.
    ///
    /// # Errors
    /// Two values were given of which only one can hold.
    pub(super) fn of(typed: &Typed, given: &Given<'_>) -> anyhow::Result<Meaning> {
        let which = given.one_of(&["seed", "seeds"])?;
        // A budget that comes from a variable must not change what was asked for by name.
        let asked = which.is_some_and(|name| given.is_typed(name));
        let budget = given.one_of(&["deliveries", "runs", "for"])?;
        let amount = match budget.filter(|name| !asked || given.is_typed(name)) {
            Some("deliveries") => typed.deliveries.map(Amount::Deliveries),
            Some("runs") => typed.runs.map(Amount::Runs),
            Some(_) => typed.time.map(Amount::Time),
            None => None,
        };
        if let Some(save) = typed.save.as_ref().filter(|save| save.exists() && !save.is_dir()) {
            bail!("--save {}: this is no folder; name one, it is made if it is not there", save.display());
        }
        let (seeds, by_default) = match (which, typed.seed, typed.seeds) {
            (Some("seed"), Some(seed), _) if amount.is_none() => (Seeds::One(seed), Amount::Runs(1)),
            (Some("seed"), Some(seed), _) => (Seeds::From(seed), Amount::Time(TIME_DEFAULT)),
            (Some(_), _, Some((from, until))) => {
                (Seeds::Between(from, until), Amount::Runs(until.saturating_sub(from)))
            }
            _ => (Seeds::From(fresh_seed()), Amount::Time(TIME_DEFAULT)),
        };
        let named = which.is_some();
        let origin = |name: &&str| format!("{name} {}", given.origin(name));
        let meaning = Meaning {
            seeds,
            amount: amount.unwrap_or(by_default),
            restrictions: typed.restricted.meaning()?,
            jobs: typed.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
            keep_going: typed.keep_going,
            isolate: typed.isolate,
            save: typed.save.clone(),
            shrink: typed.shrink,
            state: None,
            verbose: typed.verbose,
            origins: ["seed", "seeds", "deliveries", "runs", "for", "system", "profile", "jobs", "save"]
                .iter()
                .filter(|name| given.is_given(name))
                .map(origin)
                .collect(),
        };
        meaning.with_state(typed.resume, named)
    }

    /// The same search with its state, from where it stopped if it is to go on; `named` if seeds were.
    fn with_state(mut self, resumes: bool, named: bool) -> anyhow::Result<Meaning> {
        let Some(folder) = self.save.clone() else { return Ok(self) };
        let stopped = if resumes { State::read(&folder, &self, named)? } else { None };
        if let Some(state) = &stopped {
            (self.seeds, self.amount) = state.rest(self.amount)?;
        }
        self.state = Some(stopped.unwrap_or_else(|| State::begin(&self)));
        Ok(self)
    }

    /// The first seed.
    pub(super) fn start(&self) -> u64 {
        match self.seeds {
            Seeds::One(seed) | Seeds::From(seed) | Seeds::Between(seed, _) => seed,
        }
    }

    /// The seed after the last one, if there is a last one.
    pub(super) fn end(&self) -> Option<u64> {
        match self.seeds {
            Seeds::Between(_, until) => Some(until),
            Seeds::One(_) | Seeds::From(_) => None,
        }
    }

    /// Says what is about to be searched, so that the same search can be had again.
    pub(super) fn announce(&self, screen: &Screen) {
        let system = self.restrictions.system.as_deref().unwrap_or("all systems");
        let profile = self.restrictions.profile.map_or_else(|| "any profile".to_owned(), |p| p.to_string());
        let mut line = format!("fuzz {system}, {profile}, base seed {}", seed_text(self.start()));
        for (name, value) in &self.restrictions.set {
            line.push_str(&format!(", {name}={value}"));
        }
        screen.remark(&line);
        if self.verbose {
            let origins =
                if self.origins.is_empty() { "nothing was given".into() } else { self.origins.join(", ") };
            screen.remark(&format!("{origins}; {} threads", self.jobs));
        }
        if env!("WHITEWATER_OPT_LEVEL") == "0" {
            screen.remark(&format!(
                "This build is not optimised and searches about 20 times slower; `{}` builds one that is.",
                called().trim_end_matches(" --")
            ));
        }
    }
}

/// A seed nobody has chosen: the standard library takes these keys from the operating system.
pub(crate) fn fresh_seed() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Reads `A..B`.
pub(super) fn parse_range(text: &str) -> Result<(u64, u64), String> {
    let (from, until) =
        text.split_once("..").ok_or_else(|| format!("`{text}` is no range: write A..B, as in 0..2000"))?;
    Ok((parse_seed(from)?, parse_seed(until)?))
}

/// Reads `key=value`.
pub(crate) fn parse_setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(format!("`{text}` gives no value: write KEY=VALUE, as in relay-not-ready=drop")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_two_seeds_with_two_dots_between() {
        assert_eq!(parse_range("0..0x10"), Ok((0, 16)));
        for text in ["", "5", "..", "1..", "a..b", "1..2..3"] {
            assert!(parse_range(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_setting_may_have_an_equals_sign_in_its_value() {
        assert_eq!(parse_setting("a=b=c"), Ok(("a".into(), "b=c".into())));
        assert!(parse_setting("a").unwrap_err().contains("KEY=VALUE"));
        assert!(parse_setting("=b").is_err());
    }

    #[test]
    fn a_fresh_seed_is_not_always_the_same() {
        assert_ne!(fresh_seed(), fresh_seed());
    }
}
