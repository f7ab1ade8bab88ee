//! What is said of the search for one bug: medians with their spread, and the rules that found it.

use super::bug::Bug;
use super::search::{Gap, Stream};
use super::watchers::Fired;
use crate::Screen;
use crate::program::called;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use whitewater_hunt::print_command;
use whitewater_plan::{Restrictions, seed_text};

/// The search for one bug, for programs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Result {
    v: u32,
    r#type: String,
    pub(super) id: String,
    /// Runs that broke a rule.
    pub(super) hits: usize,
    /// Messages delivered from one hit to the next: the median; none without a hit.
    pub(super) deliveries: Option<u64>,
    /// The quarter of the gaps that are at most this, and the three quarters.
    pub(super) deliveries_quartiles: Option<[u64; 2]>,
    pub(super) runs: Option<u64>,
    pub(super) core_seconds: Option<f64>,
    /// Spent in all.
    pub(super) deliveries_spent: u64,
    pub(super) core_seconds_spent: Option<f64>,
    /// How many runs each rule ended.
    pub(super) rules: BTreeMap<String, usize>,
    /// A run that found it.
    seed: Option<String>,
    command: Option<String>,
    /// Only what clients see counted.
    pub(super) clients_only: bool,
    /// Options that were given and not drawn.
    #[serde(default)]
    pub(super) set: Vec<(String, String)>,
    /// Why nothing can find it.
    pub(super) survives: Option<String>,
    /// How long it took to build the program with the bug in it, if it has one of its own.
    pub(super) build_seconds: Option<f64>,
    /// Of some failures: every rule that is broken in it, the first one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) watched: Vec<Vec<Fired>>,
}

impl Result {
    pub(super) fn of(bug: &Bug, stream: &Stream, restrictions: &Restrictions, clients_only: bool) -> Result {
        let mut rules = BTreeMap::new();
        stream.hits.iter().for_each(|hit| *rules.entry(hit.rule.to_owned()).or_default() += 1);
        let seed = stream.hits.first().map(|hit| hit.seed);
        let gaps: Vec<Gap> = stream.hits.iter().map(|hit| hit.gap).collect();
        let all = || gaps.iter().chain([&stream.rest]);
        let deliveries = sorted(gaps.iter().map(|gap| gap.deliveries));
        let micros = sorted(gaps.iter().filter_map(|gap| gap.core).map(|core| core.as_micros() as u64));
        Result {
            v: 1,
            r#type: "mutant".to_owned(),
            id: bug.id.clone(),
            hits: gaps.len(),
            deliveries: part(&deliveries, 2),
            deliveries_quartiles: part(&deliveries, 1)
                .zip(part(&deliveries, 3))
                .map(|(low, high)| [low, high]),
            runs: part(&sorted(gaps.iter().map(|gap| gap.runs)), 2),
            core_seconds: part(&micros, 2).map(|micros| micros as f64 / 1e6),
            deliveries_spent: all().map(|gap| gap.deliveries).sum(),
            core_seconds_spent: Some(all().filter_map(|gap| gap.core).map(|core| core.as_secs_f64()).sum()),
            rules,
            seed: seed.map(seed_text),
            command: seed.map(|seed| print_command(called(), restrictions, seed)),
            clients_only,
            set: restrictions.set.clone(),
            survives: bug.survives.clone(),
            build_seconds: None,
            watched: stream.watched.clone(),
        }
    }

    /// Whether every option was drawn, with or without the rules about the inside of a node.
    pub(super) fn is_drawn(&self, clients_only: bool) -> bool {
        self.clients_only == clients_only && self.set.iter().all(|(name, _)| clients_only && name == "checks")
    }

    /// The rules that found it, the most frequent first.
    pub(super) fn found_by(&self) -> Vec<(&str, usize)> {
        let mut rules: Vec<(&str, usize)> =
            self.rules.iter().map(|(rule, runs)| (rule.as_str(), *runs)).collect();
        rules.sort_by_key(|&(rule, runs)| (usize::MAX - runs, rule));
        rules
    }
}

fn sorted(values: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values
}

/// The value below which so many quarters lie, of two the greater.
fn part(sorted: &[u64], quarters: usize) -> Option<u64> {
    sorted.get((sorted.len() * quarters / 4).min(sorted.len().saturating_sub(1))).copied()
}

/// Tells it.
pub(super) fn tell(found: &Result, screen: &Screen) {
    screen.message(found);
    screen.print(&text(found));
}

/// Tells how many were found, and which were not.
pub(super) fn tell_all(found: &[Result], screen: &Screen) {
    let hit = found.iter().filter(|found| found.hits > 0).count();
    let core = found.iter().filter_map(|found| found.core_seconds_spent).fold(0.0, |all, one| all + one);
    let builds = found.iter().filter_map(|found| found.build_seconds).fold(0.0, |all, one| all + one);
    let mut lines = vec![format!(
        "{hit} of {} bugs found, in {core:.0} core-seconds of search; builds took {builds:.0} s",
        found.len()
    )];
    for survivor in found.iter().filter(|found| found.hits == 0) {
        let why = survivor.survives.as_deref().unwrap_or("UNEXPLAINED");
        lines.push(format!("  {:<9} survives: {why}", survivor.id));
    }
    screen.print(&lines.join("\n"));
}

fn text(line: &Result) -> String {
    let by: Vec<_> = line.found_by().iter().map(|(rule, runs)| format!("{rule} {runs}")).collect();
    let (Some(deliveries), Some(runs)) = (line.deliveries, line.runs) else {
        let why = line.survives.as_deref().map_or_else(String::new, |why| format!(": {why}"));
        return format!("{:<9} NOT found in {} deliveries{why}", line.id, line.deliveries_spent);
    };
    let core = line.core_seconds.map_or_else(String::new, |core| format!(", {core:.3} core-seconds"));
    let spread =
        line.deliveries_quartiles.map_or_else(String::new, |[low, high]| format!(" ({low}..{high})"));
    let again = line.command.as_ref().map_or_else(String::new, |command| format!("\n          {command}"));
    format!(
        "{:<9} found {} times; median {deliveries}{spread} deliveries, {runs} runs{core}; by {}{again}",
        line.id,
        line.hits,
        by.join(", ")
    )
}

#[cfg(test)]
pub(super) use tests::of_gaps;

#[cfg(test)]
mod tests {
    use super::super::search::Hit;
    use super::*;
    use std::time::Duration;

    fn bug(id: &str) -> Bug {
        let text = String::new;
        Bug {
            id: id.to_owned(),
            mechanism: text(),
            property: text(),
            source: text(),
            events: 1,
            survives: None,
            patch: None,
        }
    }

    /// The search for a bug that had these many deliveries between its finds.
    pub(in super::super) fn of_gaps(id: &str, gaps: &[u64], clients_only: bool) -> Result {
        let restrictions = super::super::search::restrictions(id, clients_only, &[]);
        Result::of(&bug(id), &stream(gaps), &restrictions, clients_only)
    }

    fn result(gaps: &[u64], clients_only: bool) -> Result {
        of_gaps("B7", gaps, clients_only)
    }

    fn stream(gaps: &[u64]) -> Stream {
        let gap = |&deliveries: &u64| Gap { deliveries, runs: 3, core: Some(Duration::from_millis(1_500)) };
        let hits = gaps.iter().map(|gap_of| Hit { seed: 42, rule: "vote-once", gap: gap(gap_of) });
        Stream { hits: hits.collect(), rest: gap(&100), watched: Vec::new() }
    }

    #[test]
    fn the_median_gap_counts_and_what_was_spent_behind_the_last_hit_is_spent() {
        let found = result(&[30, 10, 50], false);
        assert_eq!((found.deliveries, found.hits, found.deliveries_spent), (Some(30), 3, 190));
        assert_eq!((found.core_seconds, found.deliveries_quartiles), (Some(1.5), Some([10, 50])));
        let survived = result(&[], false);
        assert_eq!(survived.deliveries, None);
        assert!(text(&survived).contains("NOT found in 100 deliveries"), "{}", text(&survived));
    }

    #[test]
    fn rules_are_counted_and_the_first_hit_can_be_had_again() {
        let text = text(&result(&[30, 10], false));
        assert!(text.contains("by vote-once 2"), "{text}");
        assert!(text.contains(" fuzz --mutant B7 --seed 0x000000000000002a"), "{text}");
    }

    #[test]
    fn a_result_survives_being_written_and_read() {
        let found = result(&[30], true);
        let read: Result = serde_json::from_str(&serde_json::to_string(&found).unwrap()).unwrap();
        assert_eq!((read.deliveries, read.clients_only, read.rules), (Some(30), true, found.rules));
    }
}
