//! The text trace: a recorded run as a story, one event a line, with a lane per server.
//!
//! An event goes by its time in milliseconds and its cause by the time of that; `36.17b` is the second event told at
//! 36.17 ms. There is no hash in it, no time of day and no path, so that it changes only with behaviour, and where
//! behaviour is the same the lines are.

use crate::fold::{Fold, Item};
use crate::story::Story;
use crate::words::{clipped, clock, margin_lines};
use whitewater_plan::Plan;
use whitewater_sim::{Action, EventKind, NodeId, Outcome, Rest, Role, Target, TraceEvent, Verdict};

/// Columns of a line before the margin.
const TEXT_WIDTH: usize = 48;

/// Longest text of an event; the rest of a longer one is left out.
const TEXT_MAX: usize = 72;

/// A recorded run as text, with `title` before everything else. A run that was not recorded gives its verdict only.
pub fn render(plan: &Plan, outcome: &Outcome, title: &str) -> String {
    text(plan, outcome, title, Story::of(plan, outcome))
}

/// As [`render`], with a line for every event.
pub fn render_whole(plan: &Plan, outcome: &Outcome, title: &str) -> String {
    text(plan, outcome, title, Story::of(plan, outcome).map(Story::whole))
}

fn text(plan: &Plan, outcome: &Outcome, title: &str, story: Option<Story<'_>>) -> String {
    let mut out = String::new();
    out.push_str(&header(plan, outcome, title));
    if let Some(story) = story {
        out.push('\n');
        if let Some(omission) = &story.omission {
            out.push_str(&format!(" a long run: {omission}\n\n"));
        }
        out.push_str(&head_line(plan));
        for item in &story.items {
            match item {
                Item::Event(at) => out.push_str(&event_lines(&story, &story.trace.events[*at])),
                Item::Fold(fold) => out.push_str(&fold_line(plan, fold)),
            }
        }
        out.push('\n');
        for (node, state) in &story.trace.final_states {
            out.push_str(format!(" {node:<3} {state}").trim_end());
            out.push('\n');
        }
    }
    out.push('\n');
    out.push_str(&verdict_lines(plan, outcome));
    out
}

/// What is run, and how it ends.
fn header(plan: &Plan, outcome: &Outcome, title: &str) -> String {
    let script = &plan.script;
    let (low, high) = (script.network.delay_low, script.network.delay_high);
    let delay = if low == high { low.to_string() } else { format!("{low}..{high}") };
    let servers = if script.servers == 1 { "1 server".into() } else { format!("{} servers", script.servers) };
    let seed = match script.rest {
        Rest::Drawn => format!("seed 0x{:x}", script.seed),
        Rest::Fixed => String::from("no seed"),
    };
    let mut out = [title, &seed, &servers, &format!("delay {delay}"), &ending(outcome)].join("    ");
    out.push('\n');
    let options: Vec<String> = plan.options.iter().map(|(name, value)| format!("{name}={value}")).collect();
    if !options.is_empty() {
        out.push_str(&format!("{} with {}\n", plan.system, options.join(" ")));
    }
    if let Some(bug) = plan.options.planted() {
        out.push_str(&format!("with the bug {bug} planted\n"));
    }
    out
}

/// The verdict in two words.
fn ending(outcome: &Outcome) -> String {
    match &outcome.verdict {
        Verdict::Pass => String::from("passes"),
        Verdict::Violated(violation) => format!("violates {}", violation.rule),
        other => other.rule().to_owned(),
    }
}

fn head_line(plan: &Plan) -> String {
    let lanes: String = (1..=plan.script.servers).map(|n| format!("{:<3}", format!("n{n}"))).collect();
    format!("{:>9}{:<2} {:<11} {}\n", "ms", "", "cause", lanes.trim_end())
}

/// The line of repeats, at the time of the last of them.
fn fold_line(plan: &Plan, fold: &Fold) -> String {
    let (first, last) = fold.times();
    let since = if first == last { String::new() } else { format!(" (since {})", clock(first)) };
    let lanes = "   ".repeat(plan.script.servers);
    format!("{:>9}{:<2} {:<11} {lanes} {:<9} {}{since}\n", clock(last), "", "", "…", fold.text())
}

/// An event's line, and further ones if its margin is long.
fn event_lines(story: &Story<'_>, event: &TraceEvent) -> String {
    let name = story.name_column(event);
    let cause = story.cause(event.id).map_or(String::new(), |name| format!("<{name}"));
    let lanes = lanes(story, event);
    let (word, text) = (event.kind.word(), clipped(story.text(event), TEXT_MAX));
    let left = format!("{name} {cause:<11} {lanes} {word:<9} ");
    let margin = margin_lines(&story.margin(event));
    let mut out = String::new();
    let indent = left.chars().count() + text.chars().count().max(TEXT_WIDTH);
    match margin.split_first() {
        None => out.push_str(&format!("{left}{text}")),
        Some((first, _)) => out.push_str(&format!("{left}{text:<TEXT_WIDTH$} | {first}")),
    }
    let mut lines = vec![out.trim_end().to_owned()];
    lines.extend(margin.iter().skip(1).map(|line| format!("{:indent$} | {line}", "")));
    lines.join("\n") + "\n"
}

/// A column per server; the one that acts shows its role, or `x` if it goes down.
fn lanes(story: &Story<'_>, event: &TraceEvent) -> String {
    let crashed = match event.kind {
        EventKind::Open => crashed_by(story, event),
        _ => None,
    };
    let acting = event.node.or(crashed);
    let letter = match (event.kind, event.role) {
        (EventKind::Crash | EventKind::Open, _) | (_, None) => 'x',
        (_, Some(Role::None)) => '-',
        (_, Some(role)) => role.letter(),
    };
    let lane = |server: usize| match acting {
        Some(node) if node.is_server() && node.position() == server => format!(" {letter} "),
        _ => String::from("   "),
    };
    (0..story.plan.script.servers).map(lane).collect()
}

/// The node that a step crashes as it begins.
fn crashed_by(story: &Story<'_>, open: &TraceEvent) -> Option<NodeId> {
    let step = story.plan.script.steps.get(open.step?)?;
    match step.action {
        Action::Crash { node: Target::Node(node), at_call: 0, .. } => return Some(node),
        Action::Crash { .. } | Action::CrashAfter { .. } | Action::Roll { .. } => {}
        _ => return None,
    }
    let events = &story.trace.events;
    let at = events.partition_point(|e| e.id <= open.id);
    let crash = events.get(at).filter(|e| e.kind == EventKind::Crash && e.cause == open.id)?;
    crash.node
}

/// The verdict with what its rule claims and the first suspect.
fn verdict_lines(plan: &Plan, outcome: &Outcome) -> String {
    let mut out = match &outcome.verdict {
        Verdict::Pass => String::from(" passes: every rule held, and what was owed was paid\n"),
        Verdict::Violated(violation) => {
            let at = violation.node.map_or(String::new(), |node| format!(" at {node}"));
            format!(" violates {}{at}: {}\n", violation.rule, violation.claim)
        }
        other => format!(" {}: {other}\n", other.rule()),
    };
    let suspect = Story::of(plan, outcome).and_then(|story| story.sentence(story.suspect?));
    if let Some(suspect) = suspect {
        out.push_str(&format!("   first suspect {suspect}\n"));
    }
    out
}
