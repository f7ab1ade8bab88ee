//! The failure report: which rule, what is wrong, why, what still holds, and how to see it again.

use crate::causes::{before, is_refusal, refusals};
use crate::failure::Failure;
use crate::story::Story;
use crate::trace_text::wrapped;
use crate::why::why;
use crate::words::clipped;
use whitewater_plan::seed_text;
use whitewater_sim::{EventId, EventKind, Verdict, Violation};

/// Columns a report takes.
const WIDTH: usize = 110;

/// Longest text of an event; the rest of a longer one is left out.
const TEXT_MAX: usize = 72;

/// The report of a failure. `commit` names the sources it was found in, such as `3f2c9ab` or `3f2c9ab with changes`.
pub fn text(failure: &Failure, commit: Option<&str>) -> String {
    let story = Story::of(&failure.plan, &failure.outcome);
    let violation = match &failure.outcome.verdict {
        Verdict::Violated(violation) => Some(violation),
        _ => None,
    };
    let mut out = title(failure, violation);
    for line in wrapped(&sentence(&failure.message()), WIDTH) {
        out.push_str(&format!("  {line}\n"));
    }
    if let Some(story) = &story {
        out.push_str(&because(story, violation));
        out.push_str(&state(story));
    }
    let mut row = |name: &str, value: &str| out.push_str(&format!("  {name:<17} {value}\n"));
    row("Still holds", &holding(failure));
    row("Found by", &found_by(failure, commit));
    row("Deterministic", &determinism(failure));
    row("Reproduce", &failure.command);
    out
}

/// The rule with its claim.
fn title(failure: &Failure, violation: Option<&Violation>) -> String {
    let at = violation.and_then(|v| v.node).map_or(String::new(), |node| format!(" at {node}"));
    let mut out = format!("✗ {}{at}\n", failure.rule());
    if let Some(violation) = violation {
        for line in wrapped(&format!("\"{}\"", violation.claim), WIDTH) {
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
fn because(story: &Story<'_>, violation: Option<&Violation>) -> String {
    let events = why(story, violation);
    if events.is_empty() {
        return String::from("\n");
    }
    let mut out = format!("\n  Why, backwards ({} of {} events)\n", events.len(), story.trace.events.len());
    let found = story.trace.violation.and_then(|id| story.trace.event(id));
    let last = found.and_then(|found| before(story.trace, found)).filter(|cause| is_refusal(cause));
    let row = last.map(|last| refusals(story.trace, last));
    for id in events {
        let times = row.filter(|(first, times)| *first == id && *times > 1).map(|(_, times)| times);
        out.push_str(&chain_line(story, id, times));
    }
    out.push('\n');
    out
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
    let line = format!("{left} {margin}");
    format!("{}\n", line.trim_end())
}

/// How each node stands at the end.
fn state(story: &Story<'_>) -> String {
    let mut out = String::new();
    for (at, (node, state)) in story.trace.final_states.iter().enumerate() {
        let name = if at == 0 { "State at the end" } else { "" };
        out.push_str(&format!("  {name:<17} {}\n", format!("{node:<3} {state}").trim_end()));
    }
    out
}

/// The rules that were not broken.
fn holding(failure: &Failure) -> String {
    let broken = failure.rule();
    let held: Vec<&str> =
        failure.rules.iter().map(|(name, _)| *name).filter(|name| *name != broken).collect();
    if held.is_empty() { String::from("no other rule was checked") } else { held.join(", ") }
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
