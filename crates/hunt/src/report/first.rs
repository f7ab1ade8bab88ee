//! What other rules see of a failure, and the chain behind the one whose cause came first.

use super::{Report, WIDTH, because, sentence};
use crate::failure::Failure;
use crate::sights::{Place, Sight};
use crate::story::Story;
use crate::words::{clipped, clock, wrapped};
use serde::Serialize;

/// Rows of other rules at most.
const ROWS_MAX: usize = 6;

/// What another rule sees whose cause came before that of what is reported.
#[derive(Clone, Debug, Serialize)]
pub struct First {
    /// The rule.
    pub rule: String,
    /// What it claims.
    pub claim: String,
    /// The node at which it shows.
    pub node: Option<String>,
    /// When its cause was, in milliseconds of simulated time.
    pub time: String,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What led to it, backwards, one event per line.
    pub why: Vec<String>,
}

/// What another rule sees.
#[derive(Clone, Debug, Serialize)]
pub struct Beside {
    /// The rule.
    pub rule: String,
    /// The node at which it shows.
    pub node: Option<String>,
    /// When its cause was, in milliseconds of simulated time.
    pub time: String,
    /// How its cause lies to that of what is reported.
    pub place: String,
    /// What is wrong, in one sentence.
    pub message: String,
}

fn time(sight: &Sight) -> String {
    let event = sight.outcome.trace.as_ref().and_then(|trace| trace.event(sight.cause));
    event.map_or_else(String::new, |event| clock(event.time))
}

const fn place(place: Place) -> &'static str {
    match place {
        Place::Before => "earlier",
        Place::Same => "the same step",
        Place::Behind => "comes of it",
        Place::Beside => "later, elsewhere",
    }
}

impl First {
    /// The one whose cause came before, if there is one.
    pub(super) fn of(failure: &Failure) -> Option<First> {
        let sight = failure.first_cause()?;
        let (violation, story) = (&sight.violation, Story::of(&failure.plan, &sight.outcome));
        Some(First {
            rule: violation.rule.to_owned(),
            claim: violation.claim.to_owned(),
            node: violation.node.map(|node| node.to_string()),
            time: time(sight),
            message: sentence(&violation.message),
            why: story.as_ref().map_or_else(Vec::new, |story| because(story, Some(violation))),
        })
    }
}

/// What all of them see.
pub(super) fn beside(failure: &Failure) -> Vec<Beside> {
    let row = |sight: &Sight| Beside {
        rule: sight.violation.rule.to_owned(),
        node: sight.violation.node.map(|node| node.to_string()),
        time: time(sight),
        place: place(sight.place).to_owned(),
        message: sight.violation.message.clone(),
    };
    failure.sights.iter().map(row).collect()
}

/// Both in lines; nothing if nobody else sees anything.
pub(super) fn text(report: &Report) -> String {
    let at = |node: &Option<String>| node.as_ref().map_or(String::new(), |node| format!(" at {node}"));
    let mut out = String::new();
    if let Some(first) = &report.first {
        let head = format!("Its cause came first, at {} ms: {}{}", first.time, first.rule, at(&first.node));
        out.push_str(&format!("  {head}\n"));
        for line in wrapped(&format!("\"{}\" {}", first.claim, first.message), WIDTH - 2) {
            out.push_str(&format!("    {line}\n"));
        }
        first.why.iter().for_each(|line| out.push_str(&format!("{line}\n")));
        out.push('\n');
    }
    if report.beside.is_empty() {
        return out;
    }
    out.push_str("  What other rules see, each watching alone, by the time of the cause\n");
    for row in report.beside.iter().take(ROWS_MAX) {
        let rule = format!("{}{}", row.rule, at(&row.node));
        let line = format!("{:>10} {rule:<32} {:<16} {}", row.time, row.place, row.message);
        out.push_str(&format!("  {}\n", clipped(line, WIDTH + 10)));
    }
    if report.beside.len() > ROWS_MAX {
        out.push_str(&format!("    and {} more\n", report.beside.len() - ROWS_MAX));
    }
    out.push('\n');
    out
}
