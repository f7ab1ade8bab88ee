//! The failure report: which rule, what is wrong, why, what still holds, and how to see it again.
//!
//! Twelve things, always in this order: the rule with its words, what is wrong in one sentence, what clients saw with the
//! faults around it, the causes backwards, what other rules see and whose cause came first, where the nodes stand, what still holds, who found it, what it was shrunk from,
//! whether it is deterministic, the commands, and nothing else. [`Report`] holds them; [`text`] and [`markdown`] print them, and JSON is the value itself.

mod first;
mod markdown;
mod timeline;

pub use first::{Beside, First};
pub use markdown::markdown;
pub use timeline::{Row, Sort, Timeline};

use crate::causes::{before, is_refusal, refusals};
use crate::failure::Failure;
use crate::story::Story;
use crate::why::why;
use crate::words::{clipped, clock, wrapped};
use serde::Serialize;
use whitewater_plan::seed_text;
use whitewater_sim::{EventId, EventKind, Verdict, Violation};

/// Columns a report takes.
const WIDTH: usize = 110;

/// Longest text of an event; the rest of a longer one is left out.
const TEXT_MAX: usize = 72;

/// What a report says that a failure does not know of itself.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// The sources it was found in, such as `3f2c9ab` or `3f2c9ab with changes`.
    pub commit: Option<String>,
    /// What stands for it.
    pub fingerprint: Option<String>,
    /// What it was shrunk from.
    pub shrunk: Option<String>,
    /// Commands besides the one that runs it again: what for, and the command.
    pub commands: Vec<(&'static str, String)>,
}

/// A report in parts.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The rule that was broken, or `panic`, `limit` or `nondeterministic`.
    pub rule: String,
    /// The node at which it shows.
    pub node: Option<String>,
    /// When it was found, in milliseconds of simulated time.
    pub time: String,
    /// What the rule claims.
    pub claim: Option<String>,
    /// What stands for it among failures.
    pub fingerprint: Option<String>,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What clients saw that no order explains, with the leaders and faults around it, if it is about that.
    pub clients: Option<Timeline>,
    /// What led to it, backwards, one event per line.
    pub why: Vec<String>,
    /// Events of the run.
    pub events: usize,
    /// What another rule sees whose cause came before, if the run was looked at again.
    pub first: Option<First>,
    /// What all other rules see that watch alone, the earliest causes first, if the run was looked at again.
    pub beside: Vec<Beside>,
    /// Where each node stands at the end.
    pub state: Vec<(String, String)>,
    /// The rules that were checked and not broken.
    pub still_holds: Vec<String>,
    /// Seed, system, profile, version and commit.
    pub found_by: String,
    /// What it was shrunk from.
    pub shrunk: Option<String>,
    /// Whether it is the same run each time.
    pub deterministic: String,
    /// What for, and the command.
    pub commands: Vec<(String, String)>,
}

impl Report {
    /// The report of a failure.
    pub fn of(failure: &Failure, about: &About) -> Report {
        let story = Story::of(&failure.plan, &failure.outcome);
        let violation = match &failure.outcome.verdict {
            Verdict::Violated(violation) => Some(violation),
            _ => None,
        };
        let state = story.iter().flat_map(|story| &story.trace.final_states);
        let reproduce = ("Reproduce", failure.command.clone());
        let commands = [reproduce].into_iter().chain(about.commands.clone());
        Report {
            rule: failure.rule().to_owned(),
            node: violation.and_then(|v| v.node).map(|node| node.to_string()),
            time: clock(failure.outcome.time),
            claim: violation.map(|violation| violation.claim.to_owned()),
            fingerprint: about.fingerprint.clone(),
            message: sentence(&failure.message()),
            clients: story.as_ref().and_then(|story| Timeline::of(story, &failure.outcome.evidence)),
            why: story.as_ref().map_or_else(Vec::new, |story| because(story, violation)),
            events: story.as_ref().map_or(0, |story| story.trace.events.len()),
            first: First::of(failure),
            beside: first::beside(failure),
            state: state.map(|(node, state)| (node.to_string(), state.clone())).collect(),
            still_holds: holding(failure),
            found_by: found_by(failure, about.commit.as_deref()),
            shrunk: about.shrunk.clone(),
            deterministic: determinism(failure),
            commands: commands.map(|(what, command)| (what.to_owned(), command)).collect(),
        }
    }

    /// What still holds, in one line.
    fn holds(&self) -> String {
        match self.still_holds[..] {
            [] => String::from("no other rule was checked"),
            _ => self.still_holds.join(", "),
        }
    }
}

/// The report of a failure as text for a terminal.
pub fn text(failure: &Failure, about: &About) -> String {
    let report = Report::of(failure, about);
    let mut out = title(&report);
    for line in wrapped(&report.message, WIDTH) {
        out.push_str(&format!("  {line}\n"));
    }
    out.push('\n');
    if let Some(clients) = &report.clients {
        out.push_str(&format!("  {}\n{}\n\n", clients.title(), clients.lines().join("\n")));
    }
    if !report.why.is_empty() {
        out.push_str(&format!("  Why, backwards ({} of {} events)\n", report.why.len(), report.events));
        report.why.iter().for_each(|line| out.push_str(&format!("{line}\n")));
        out.push('\n');
    }
    out.push_str(&first::text(&report));
    let mut row = |name: &str, value: &str| {
        out.push_str(&format!("  {}\n", format!("{name:<17} {value}").trim_end()));
    };
    for (at, (node, state)) in report.state.iter().enumerate() {
        let name = if at == 0 { "State at the end" } else { "" };
        row(name, &format!("{node:<3} {state}"));
    }
    row("Still holds", &report.holds());
    row("Found by", &report.found_by);
    if let Some(shrunk) = &report.shrunk {
        row("Shrunk", shrunk);
    }
    row("Deterministic", &report.deterministic);
    report.commands.iter().for_each(|(what, command)| row(what, command));
    out
}

/// The rule with its claim.
fn title(report: &Report) -> String {
    let at = report.node.as_ref().map_or(String::new(), |node| format!(" at {node}"));
    let head = format!("✗ {}{at} after {} ms", report.rule, report.time);
    let mut out = match &report.fingerprint {
        Some(fingerprint) => format!("{head:<80} {fingerprint}\n"),
        None => format!("{head}\n"),
    };
    if let Some(claim) = &report.claim {
        for line in wrapped(&format!("\"{claim}\""), WIDTH) {
            out.push_str(&format!("  {line}\n"));
        }
    }
    out.push('\n');
    out
}

fn sentence(text: &str) -> String {
    if text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}

/// The chain of causes, backwards.
fn because(story: &Story<'_>, violation: Option<&Violation>) -> Vec<String> {
    let events = why(story, violation);
    let found = story.trace.violation.and_then(|id| story.trace.event(id));
    let last = found.and_then(|found| before(story.trace, found)).filter(|cause| is_refusal(cause));
    let row = last.map(|last| refusals(story.trace, last));
    let line = |id: EventId| {
        let times = row.filter(|(first, times)| *first == id && *times > 1).map(|(_, times)| times);
        chain_line(story, id, times)
    };
    events.into_iter().map(line).collect()
}

fn chain_line(story: &Story<'_>, id: EventId, times: Option<usize>) -> String {
    let event = story.trace.event(id).expect("an explanation consists of events of the trace");
    let name = story.name_column(event);
    let node = event.node.map_or(String::new(), |node| node.to_string());
    let left =
        format!("   {name} {node:<3} {:<9} {:<48}", event.kind.word(), clipped(story.text(event), TEXT_MAX));
    let mut margin = match event.kind {
        // The sentence above says it.
        EventKind::Violation => String::new(),
        _ => story.margin(event),
    };
    if let Some(times) = times {
        margin.push_str(&format!("   ×{times}"));
    }
    if story.suspect == Some(id) {
        margin.push_str("   ◀ first suspect");
        if event.kind.is_loss() {
            margin.push_str(": nothing made it good");
        }
    }
    format!("{left} {margin}").trim_end().to_owned()
}

/// The rules that were not broken, nor seen to be broken by whoever watched alone.
fn holding(failure: &Failure) -> Vec<String> {
    let broken = failure.rule();
    let names = failure.rules.iter().map(|(name, _)| (*name).to_owned());
    let is_seen = |name: &String| failure.sights.iter().any(|sight| sight.violation.rule == *name);
    names.filter(|name| name != broken && !is_seen(name)).collect()
}

fn found_by(failure: &Failure, commit: Option<&str>) -> String {
    let seed =
        failure.seed.map_or(String::from("a plan without a seed"), |s| format!("seed {}", seed_text(s)));
    let commit = commit.map_or(String::new(), |commit| format!(", commit {commit}"));
    let plan = &failure.plan;
    format!("{seed}, system {}, profile {}, plan version {}{commit}", plan.system, plan.profile, plan.version)
}

fn determinism(failure: &Failure) -> String {
    match &failure.difference {
        None => format!(
            "yes, {} of {} runs with trace hash {}",
            failure.replays, failure.attempts, failure.outcome.hash
        ),
        Some(difference) => format!("NO: {difference}"),
    }
}
