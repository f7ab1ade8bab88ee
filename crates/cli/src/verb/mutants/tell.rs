//! What is said of the streams of one bug: medians, and the rules that found it.

use super::stream::{Hit, Stream, restrictions};
use crate::Screen;
use serde::Serialize;
use std::collections::BTreeMap;
use whitewater_hunt::print_command;
use whitewater_plan::seed_text;

/// One bug, for programs.
#[derive(Debug, Serialize)]
struct Line {
    v: u32,
    r#type: &'static str,
    id: String,
    streams: usize,
    /// Streams that found it.
    found: usize,
    /// Medians over the streams; none if the middle one did not find it.
    deliveries: Option<u64>,
    runs: Option<u64>,
    core_seconds: Option<f64>,
    /// How many streams each rule ended.
    rules: BTreeMap<&'static str, usize>,
    /// A run that found it.
    seed: Option<String>,
    command: Option<String>,
}

/// Tells it.
pub(super) fn tell(bug: &str, streams: &[Stream], screen: &Screen) {
    let line = line(bug, streams);
    screen.message(&line);
    screen.print(&text(&line));
}

fn line(bug: &str, streams: &[Stream]) -> Line {
    let hits: Vec<&Hit> = streams.iter().filter_map(|stream| stream.hit.as_ref()).collect();
    let mut rules = BTreeMap::new();
    hits.iter().for_each(|hit| *rules.entry(hit.rule).or_default() += 1);
    let seed = hits.first().map(|hit| hit.seed);
    let core = |stream: &Stream| stream.core.map(|core| core.as_micros() as u64);
    Line {
        v: 1,
        r#type: "mutant",
        id: bug.to_owned(),
        streams: streams.len(),
        found: hits.len(),
        deliveries: median(streams, |stream| Some(stream.deliveries)),
        runs: median(streams, |stream| Some(stream.runs)),
        core_seconds: median(streams, core).map(|micros| micros as f64 / 1e6),
        rules,
        seed: seed.map(seed_text),
        command: seed.map(|seed| print_command(&restrictions(bug), seed)),
    }
}

/// The middle one of what the streams took, of two the greater. A stream that did not find the bug took for ever.
fn median(streams: &[Stream], took: impl Fn(&Stream) -> Option<u64>) -> Option<u64> {
    let forever = |stream: &Stream| if stream.hit.is_some() { took(stream) } else { None };
    let mut all: Vec<u64> = streams.iter().map(|stream| forever(stream).unwrap_or(u64::MAX)).collect();
    all.sort_unstable();
    all.get(all.len() / 2).copied().filter(|&took| took != u64::MAX)
}

fn text(line: &Line) -> String {
    let head = format!("{:<9} found in {} of {} streams", line.id, line.found, line.streams);
    let took = match (line.deliveries, line.runs) {
        (Some(deliveries), Some(runs)) => {
            let core = line.core_seconds.map_or_else(String::new, |core| format!(", {core:.3} core-seconds"));
            format!("; median {deliveries} deliveries, {runs} runs{core}")
        }
        _ => "; the median stream did NOT find it".to_owned(),
    };
    let rules: Vec<_> = line.rules.iter().map(|(rule, streams)| format!("{rule} {streams}")).collect();
    let by = if rules.is_empty() { String::new() } else { format!("; by {}", rules.join(", ")) };
    let again = line.command.as_ref().map_or_else(String::new, |command| format!("\n          {command}"));
    format!("{head}{took}{by}{again}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn stream(deliveries: u64, found: bool) -> Stream {
        let hit = found.then_some(Hit { seed: 42, rule: "vote-once" });
        Stream { deliveries, runs: 3, core: Some(Duration::from_millis(1_500)), hit }
    }

    #[test]
    fn the_median_stream_counts_and_one_that_found_nothing_took_for_ever() {
        let found = line("B7", &[stream(30, true), stream(10, true), stream(5, false)]);
        assert_eq!((found.deliveries, found.found, found.streams), (Some(30), 2, 3));
        assert_eq!(found.core_seconds, Some(1.5));
        let survived = line("B7", &[stream(30, true), stream(5, false), stream(5, false)]);
        assert_eq!(survived.deliveries, None);
        assert!(text(&survived).contains("did NOT find it"), "{}", text(&survived));
    }

    #[test]
    fn rules_are_counted_and_the_first_hit_can_be_had_again() {
        let text = text(&line("B7", &[stream(30, true), stream(10, true)]));
        assert!(text.contains("by vote-once 2"), "{text}");
        assert!(text.contains("cargo xtask fuzz --mutant B7 --seed 0x000000000000002a"), "{text}");
    }
}
