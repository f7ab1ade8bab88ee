//! Results as a table for people. Rows of bugs that were not searched for stay as they are.

use super::bug::Bug;
use super::kept::Kept;
use super::tell::Result as Found;
use crate::files::{read, write_behind};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

const BEGIN: &str = "<!-- results -->\n";

/// What was measured of a bug, as columns.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Measured {
    deliveries: String,
    core_seconds: String,
    by: String,
    clients: String,
}

/// Writes the table behind the marker in the file, or as the whole file if there is no marker in it. What an earlier search
/// measured and this one did not is taken over from there.
///
/// # Errors
/// The file cannot be read or written.
pub(super) fn write(file: &Path, bugs: &[Bug], kept: &Kept) -> anyhow::Result<()> {
    let old = if file.exists() { read(file)? } else { String::new() };
    let old = old.split_once(BEGIN).map_or_else(BTreeMap::new, |(_, table)| rows(table));
    write_behind(file, BEGIN, &text(bugs, &kept.all, &old))
}

/// What a table says was measured, by the ids of bugs.
fn rows(table: &str) -> BTreeMap<String, Measured> {
    let row = |line: &str| {
        let columns: Vec<&str> = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect();
        let [id, .., deliveries, core_seconds, by, clients] = columns[..] else { return None };
        let [deliveries, core_seconds, by, clients] =
            [deliveries, core_seconds, by, clients].map(str::to_owned);
        Some((id.to_owned(), Measured { deliveries, core_seconds, by, clients }))
    };
    table.lines().filter_map(row).collect()
}

fn text(bugs: &[Bug], all: &[Found], old: &BTreeMap<String, Measured>) -> String {
    let latest =
        |id: &str, clients: bool| all.iter().rfind(|found| found.id == id && found.is_drawn(clients));
    let mut text = String::from(
        "\n| id | what the code does | breaks | source | k | deliveries to a find, median (quartiles) | core-seconds | first seen by | by clients alone |\n|---|---|---|---|---|---|---|---|---|\n",
    );
    for bug in bugs {
        let known = latest(&bug.id, false).map(measured).or_else(|| old.get(&bug.id).cloned());
        let Some(Measured { deliveries: took, core_seconds, by, .. }) = known else { continue };
        let clients = latest(&bug.id, true).map(seen_by_clients);
        let clients = clients.or_else(|| old.get(&bug.id).map(|old| old.clients.clone()));
        let clients = clients.unwrap_or_else(|| "-".to_owned());
        let Bug { id, mechanism, property, source, events, .. } = bug;
        writeln!(
            text,
            "| {id} | {mechanism} | {property} | {source} | {events} | {took} | {core_seconds} | {by} | {clients} |"
        )
        .expect("a text takes everything");
    }
    text
}

fn by(found: &Found) -> String {
    let by: Vec<_> = found.found_by().iter().map(|(rule, runs)| format!("{rule} {runs}")).collect();
    by.join(", ")
}

/// Not everything that clients need is an answer: progress is owed to them, and a panic needs no rule. So by what, too.
fn seen_by_clients(found: &Found) -> String {
    let by = by(found);
    if by.is_empty() { deliveries(found) } else { format!("{}, by {by}", deliveries(found)) }
}

fn measured(found: &Found) -> Measured {
    let by = by(found);
    Measured {
        deliveries: deliveries(found),
        core_seconds: found.core_seconds.map_or_else(|| "-".to_owned(), |core| format!("{core:.3}")),
        by: if by.is_empty() { found.survives.clone().unwrap_or_default() } else { by },
        clients: "-".to_owned(),
    }
}

fn deliveries(found: &Found) -> String {
    match (found.deliveries, found.deliveries_quartiles) {
        (Some(median), Some([low, high])) => format!("{median} ({low}..{high})"),
        _ => format!("not in {}", found.deliveries_spent),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tell::of_gaps;
    use super::*;

    fn bug(id: &str) -> Bug {
        let text = |text: &str| text.to_owned();
        Bug {
            id: text(id),
            mechanism: text("forgets"),
            property: text("vote-once"),
            source: text("somebody"),
            events: 3,
            survives: None,
            patch: None,
        }
    }

    #[test]
    fn a_row_that_was_not_measured_again_stays_and_one_that_was_is_replaced() {
        let bugs = ["A", "B", "C", "D"].map(bug);
        let begun = text(&bugs, &[of_gaps("A", &[30], false), of_gaps("B", &[50], false)], &BTreeMap::new());
        let later = [of_gaps("A", &[40], true), of_gaps("B", &[60], false), of_gaps("C", &[7], false)];
        let table = text(&bugs, &later, &rows(&begun));
        let row = |id: &str| table.lines().find(|line| line.starts_with(&format!("| {id} |"))).unwrap();
        assert!(
            row("A").contains("| 30 (30..30) |") && row("A").ends_with("| 40 (40..40), by vote-once 1 |"),
            "{table}"
        );
        assert!(row("B").contains("| 60 (60..60) |") && row("B").ends_with("| - |"), "{table}");
        assert!(row("C").contains("| 7 (7..7) |"), "{table}");
        assert!(!table.contains("| D |"), "{table}");
        assert_eq!(text(&bugs, &[], &rows(&table)), table);
    }
}
