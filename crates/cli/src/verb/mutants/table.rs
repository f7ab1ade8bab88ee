//! Results as a table for people.

use super::bug::Bug;
use super::kept::Kept;
use super::tell::Result as Found;
use crate::files::write_behind;
use std::fmt::Write;
use std::path::Path;

const BEGIN: &str = "<!-- results -->\n";

/// Writes the table behind the marker in the file, or as the whole file if there is no marker in it.
///
/// # Errors
/// The file cannot be read or written.
pub(super) fn write(file: &Path, bugs: &[Bug], kept: &Kept) -> anyhow::Result<()> {
    write_behind(file, BEGIN, &text(bugs, &kept.all))
}

fn text(bugs: &[Bug], all: &[Found]) -> String {
    let latest =
        |id: &str, clients: bool| all.iter().rfind(|found| found.id == id && found.is_drawn(clients));
    let mut text = String::from(
        "\n| id | what the code does | breaks | source | k | deliveries to a find, median (quartiles) | core-seconds | first seen by | by clients alone |\n|---|---|---|---|---|---|---|---|---|\n",
    );
    for bug in bugs {
        let Some(found) = latest(&bug.id, false) else { continue };
        let clients = latest(&bug.id, true).map_or_else(|| "-".to_owned(), deliveries);
        let by: Vec<_> = found.found_by().iter().map(|(rule, runs)| format!("{rule} {runs}")).collect();
        let by = if by.is_empty() { found.survives.clone().unwrap_or_default() } else { by.join(", ") };
        let core = found.core_seconds.map_or_else(|| "-".to_owned(), |core| format!("{core:.3}"));
        let Bug { id, mechanism, property, source, events, .. } = bug;
        let took = deliveries(found);
        writeln!(
            text,
            "| {id} | {mechanism} | {property} | {source} | {events} | {took} | {core} | {by} | {clients} |"
        )
        .expect("a text takes everything");
    }
    text
}

fn deliveries(found: &Found) -> String {
    match (found.deliveries, found.deliveries_quartiles) {
        (Some(median), Some([low, high])) => format!("{median} ({low}..{high})"),
        _ => format!("not in {}", found.deliveries_spent),
    }
}
