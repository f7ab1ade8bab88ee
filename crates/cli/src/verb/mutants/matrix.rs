//! Rules and bugs in two tables: who sees which bug, and which rules nobody would miss.

use super::bug::Bug;
use super::kept::Kept;
use super::tell::Result as Found;
use crate::Systems;
use crate::files::write_behind;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

const BEGIN: &str = "<!-- matrix -->\n";

/// What a rule did for one bug.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Share {
    /// Failures in which it was broken.
    fired: usize,
    /// Failures in which it was broken before every other.
    first: usize,
}

/// Writes the tables behind the marker in the file, or as the whole file if there is no marker in it.
///
/// # Errors
/// The file cannot be read or written.
pub(super) fn write(file: &Path, bugs: &[Bug], systems: Systems, kept: &Kept) -> anyhow::Result<()> {
    let latest = |id: &str| {
        kept.all.iter().rfind(|found| found.id == id && found.is_drawn(false) && !found.watched.is_empty())
    };
    let rows: Vec<(&str, usize, BTreeMap<&str, Share>)> = bugs
        .iter()
        .filter_map(|bug| latest(&bug.id))
        .map(|found| (found.id.as_str(), found.watched.len(), shares(found)))
        .collect();
    let mut rules: Vec<&str> = Vec::new();
    for (rule, _) in systems.iter().flat_map(|system| system.rules()) {
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    rules.extend(["panic", "limit"]);
    write_behind(file, BEGIN, &format!("{}{}", by_bug(&rows), by_rule(&rules, &rows)))
}

fn shares(found: &Found) -> BTreeMap<&str, Share> {
    let mut shares: BTreeMap<&str, Share> = BTreeMap::new();
    for fired in &found.watched {
        for one in fired {
            shares.entry(&one.rule).or_default().fired += 1;
        }
        // Whoever sees it in the same step as another is no first.
        let alone = |at: usize| fired.get(at).is_some_and(|next| next.event == fired[0].event);
        if let Some(first) = fired.first().filter(|_| !alone(1)) {
            shares.entry(&first.rule).or_default().first += 1;
        }
    }
    shares
}

fn by_bug(rows: &[(&str, usize, BTreeMap<&str, Share>)]) -> String {
    let mut text = String::from(
        "\n| bug | failures | rules that fire, in how many, before all others in how many |\n|---|---|---|\n",
    );
    for (id, failures, shares) in rows {
        let mut shares: Vec<_> = shares.iter().collect();
        shares.sort_by_key(|(rule, share)| (usize::MAX - share.first, usize::MAX - share.fired, **rule));
        let told: Vec<_> = shares
            .iter()
            .map(|(rule, share)| match share.first {
                0 => format!("{rule} {}", share.fired),
                first => format!("**{rule} {}, first {first}**", share.fired),
            })
            .collect();
        writeln!(text, "| {id} | {failures} | {} |", told.join("; ")).expect("a text takes everything");
    }
    text
}

fn by_rule(rules: &[&str], rows: &[(&str, usize, BTreeMap<&str, Share>)]) -> String {
    let mut text = String::from(
        "\n| rule | bugs it sees | bugs it sees first | bugs nobody else sees | |\n|---|---|---|---|---|\n",
    );
    for rule in rules {
        let seen = |does: &dyn Fn(&Share, usize) -> bool| {
            let shares = rows.iter().filter_map(|(_, _, shares)| Some((shares.get(rule)?, shares.len())));
            shares.filter(|(share, others)| does(share, *others)).count()
        };
        let (sees, first) = (seen(&|_, _| true), seen(&|share, _| share.first > 0));
        let alone = seen(&|_, others| others == 1);
        let optional = if first == 0 { "optional" } else { "" };
        writeln!(text, "| {rule} | {sees} | {first} | {alone} | {optional} |")
            .expect("a text takes everything");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(shares: &[(&'static str, usize, usize)]) -> (&'static str, usize, BTreeMap<&'static str, Share>) {
        let shares = shares.iter().map(|&(rule, fired, first)| (rule, Share { fired, first })).collect();
        ("B7", 5, shares)
    }

    #[test]
    fn a_rule_that_is_never_first_is_optional_and_one_that_sees_what_nobody_else_sees_is_not() {
        let rows = [row(&[("early", 5, 3), ("late", 2, 0)]), row(&[("early", 1, 1)])];
        let text = by_rule(&["early", "late", "silent"], &rows);
        assert!(text.contains("| early | 2 | 2 | 1 |  |"), "{text}");
        assert!(text.contains("| late | 1 | 0 | 0 | optional |"), "{text}");
        assert!(text.contains("| silent | 0 | 0 | 0 | optional |"), "{text}");
        assert!(by_bug(&rows[..1]).contains("| B7 | 5 | **early 5, first 3**; late 2 |"));
    }
}
