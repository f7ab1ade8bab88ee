//! Coverage: which faults plans had, which parameters they were drawn with, and what that says about what never came.

use std::collections::{BTreeMap, BTreeSet};
use whitewater_plan::Plan;
use whitewater_sim::{Action, Fault, FaultSet, parse_span};

/// Words of an option that are told one by one; of more of them only their number.
const WORDS_TOLD: usize = 6;

/// What one plan adds.
#[derive(Clone, Debug)]
pub(crate) struct PlanFacts {
    faults: FaultSet,
    values: Vec<(String, String)>,
}

impl PlanFacts {
    pub(crate) fn of(plan: &Plan) -> PlanFacts {
        let script = &plan.script;
        let operations = script.steps.iter().filter(|s| matches!(s.action, Action::Operate { .. })).count();
        let own = [
            ("servers", script.servers.to_string()),
            ("clients", script.clients.to_string()),
            ("delay", script.network.delay_high.to_string()),
            ("horizon", script.horizon.to_string()),
            ("operations", operations.to_string()),
            ("faults", (script.steps.len() - operations).to_string()),
        ];
        let own = own.into_iter().map(|(name, value)| (name.to_owned(), value));
        let options = plan.options.iter().map(|(name, value)| {
            // What is given for one node belongs to the option all the same.
            (name.split('.').next().unwrap_or(name).to_owned(), value.to_owned())
        });
        PlanFacts { faults: script.faults(), values: own.chain(options).collect() }
    }
}

/// What all plans of a campaign had.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Runs whose plan had a kind of fault, by its name; every kind is in it.
    pub faults: BTreeMap<&'static str, u64>,
    /// For each parameter and option that was drawn the values that were met.
    pub parameters: BTreeMap<String, Values>,
}

/// Values that were met: numbers and times as a range, everything else word by word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values {
    /// Lowest number with its text.
    low: Option<(u64, String)>,
    /// Highest number with its text.
    high: Option<(u64, String)>,
    words: BTreeSet<String>,
}

impl Coverage {
    /// Adds a plan.
    pub(crate) fn add(&mut self, facts: &PlanFacts) {
        for fault in Fault::ALL {
            *self.faults.entry(fault.name()).or_default() += u64::from(facts.faults.has(fault));
        }
        for (name, value) in &facts.values {
            match self.parameters.get_mut(name) {
                Some(values) => values.add(value),
                None => {
                    let mut values = Values::default();
                    values.add(value);
                    self.parameters.insert(name.clone(), values);
                }
            }
        }
    }
}

impl Values {
    fn add(&mut self, value: &str) {
        let number = value.parse().ok().or_else(|| parse_span(value).map(|span| span.nanos()));
        let Some(number) = number else {
            if !self.words.contains(value) {
                self.words.insert(value.to_owned());
            }
            return;
        };
        if self.low.as_ref().is_none_or(|(low, _)| number < *low) {
            self.low = Some((number, value.to_owned()));
        }
        if self.high.as_ref().is_none_or(|(high, _)| number > *high) {
            self.high = Some((number, value.to_owned()));
        }
    }
}

impl std::fmt::Display for Values {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let range = match (&self.low, &self.high) {
            (Some((low, text)), Some((high, _))) if low == high => Some(text.clone()),
            (Some((_, low)), Some((_, high))) => Some(format!("{low}..{high}")),
            _ => None,
        };
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        let words = match words.len() {
            0 => None,
            n if n > WORDS_TOLD => Some(format!("{n} words")),
            _ => Some(words.join("|")),
        };
        let parts: Vec<String> = range.into_iter().chain(words).collect();
        f.write_str(&parts.join("|"))
    }
}

/// The share of runs that something has at most, with a confidence of 95 %, when none of `runs` independent runs had it:
/// the rule of three, since (1 - 3/n)^n is below 1/20.
pub fn upper_bound(runs: u64) -> f64 {
    if runs == 0 { 1.0 } else { (3.0 / runs as f64).min(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_are_told_as_a_range_and_words_one_by_one() {
        let met = |all: &[&str]| {
            let mut values = Values::default();
            all.iter().for_each(|value| values.add(value));
            values.to_string()
        };
        assert_eq!(met(&["5", "1", "9"]), "1..9");
        assert_eq!(met(&["10ms", "1s", "900us"]), "900us..1s");
        assert_eq!(met(&["7", "7"]), "7");
        assert_eq!(met(&["off", "on", "off"]), "off|on");
        assert_eq!(met(&["a", "b", "c", "d", "e", "f", "g"]), "7 words");
    }

    #[test]
    fn what_none_of_many_runs_had_is_rare_with_a_bound() {
        assert_eq!(upper_bound(0), 1.0);
        assert_eq!(upper_bound(2), 1.0);
        assert_eq!(upper_bound(300), 0.01);
        for runs in [10, 1_000, 100_000u64] {
            let none = (1.0 - upper_bound(runs)).powi(runs as i32);
            assert!(none < 0.05, "{runs}: {none}");
        }
    }
}
