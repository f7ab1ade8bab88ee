//! `scenario show`: the notes, the script and the trace of each variant, to be read as a story.

use super::list::expectation;
use super::{chosen, load, variants};
use crate::telling::system;
use crate::{Exit, Screen, Systems};
use whitewater_hunt::trace_text;
use whitewater_plan::{Plan, Scenario, Variant, text};
use whitewater_sim::{EventKind, Outcome, Time};

/// Shows a scenario: its notes, its script, and the trace of each variant.
#[derive(Debug, clap::Args)]
pub(crate) struct Typed {
    /// Name of a scenario, or a file.
    #[arg(value_name = "NAME|FILE")]
    pub(super) name: String,
    /// Only this variant.
    #[arg(long, value_name = "VARIANT")]
    variant: Option<String>,
    /// Tells every event, also messages that change nothing and what repeats.
    #[arg(long)]
    all: bool,
}

pub(crate) fn run(typed: &Typed, systems: Systems, screen: &Screen) -> anyhow::Result<Exit> {
    let file = chosen(std::slice::from_ref(&typed.name))?.remove(0);
    let scenario = load(&file, systems)?;
    let variants = variants(&scenario, typed.variant.as_deref())?;
    screen.print(&head(&scenario));
    for variant in variants {
        screen.print(&trace(&scenario, variant, typed.all, systems)?);
    }
    if !typed.all {
        screen.remark("Messages that change nothing are left out; `--all` tells every event.");
    }
    Ok(Exit::Clean)
}

fn head(scenario: &Scenario) -> String {
    let mut lines = vec![scenario.name.clone(), String::new()];
    lines.extend(scenario.notes.iter().map(|note| format!("  {note}")));
    lines.extend(scenario.source.iter().map(|source| format!("  Source: {source}")));
    lines.push(String::new());
    lines.extend(text::script_lines(&scenario.script).iter().map(|line| format!("  {line}")));
    lines.push(String::new());
    for variant in &scenario.variants {
        lines.push(format!("  @{:<12} {}", variant.name, expectation(&variant.expect)));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn trace(scenario: &Scenario, variant: &Variant, all: bool, systems: Systems) -> anyhow::Result<String> {
    let system = system(&scenario.system, systems)?;
    let plan = scenario.plan(variant);
    let outcome = whitewater_hunt::run(system, &plan, true).map_err(anyhow::Error::msg)?;
    let title = format!("{} @{}", scenario.name, variant.name);
    let render = if all { trace_text::render_whole } else { trace_text::render };
    Ok(format!("{}\n{}", beside(&plan, &outcome), render(&plan, &outcome, &title)))
}

/// Columns of a step before what became of it.
const STEP_WIDTH: usize = 72;

/// Every step of the script, and beside it when it began and ended in this run.
fn beside(plan: &Plan, outcome: &Outcome) -> String {
    let events = outcome.trace.iter().flat_map(|trace| &trace.events);
    let mut moments: Vec<Vec<(bool, Time)>> = vec![Vec::new(); plan.script.steps.len()];
    for event in events {
        let begins = matches!(event.kind, EventKind::Open | EventKind::Operate);
        if let Some(step) = event.step.filter(|_| begins || event.kind == EventKind::Close) {
            moments[step].push((begins, event.time));
        }
    }
    let mut lines = String::new();
    for (number, (step, moments)) in plan.script.steps.iter().zip(&moments).enumerate() {
        let step = text::print_step(&whitewater_sim::Step { note: None, ..step.clone() });
        lines.push_str(&format!("{:>4}  {step:<STEP_WIDTH$}  {}\n", number + 1, became(moments)));
    }
    lines
}

/// When a step began and ended, in words.
fn became(moments: &[(bool, Time)]) -> String {
    let begins: Vec<Time> = moments.iter().filter(|(begins, _)| *begins).map(|(_, time)| *time).collect();
    let end = moments.iter().rev().find(|(begins, _)| !begins).map(|(_, time)| *time);
    match (begins.as_slice(), end) {
        ([], _) => "never".to_owned(),
        ([one], None) => millis(*one),
        ([first, .., last], None) => {
            format!("{} to {}, {} times", millis(*first), millis(*last), begins.len())
        }
        ([first, ..], Some(end)) if *first == end => millis(*first),
        ([first, ..], Some(end)) => format!("{} to {}", millis(*first), millis(end)),
    }
}

/// A moment in milliseconds, as the trace has it, without needless zeros.
fn millis(time: Time) -> String {
    let hundredths = time.since(Time::ZERO).nanos() / 10_000;
    let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    format!("{} ms", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_became_of_a_step_is_told_in_a_few_words() {
        let at = |begins, millis| (begins, Time::from_millis(millis));
        assert_eq!(became(&[]), "never");
        assert_eq!(became(&[at(true, 5)]), "5 ms");
        assert_eq!(became(&[at(true, 5), at(false, 9)]), "5 ms to 9 ms");
        assert_eq!(became(&[at(true, 5), at(false, 5)]), "5 ms");
        assert_eq!(millis(Time::ZERO + whitewater_sim::Span::from_nanos(405_433_088)), "405.43 ms");
        assert_eq!(millis(Time::from_millis(200)), "200 ms");
        assert_eq!(became(&[at(true, 5), at(true, 7), at(true, 9)]), "5 ms to 9 ms, 3 times");
    }
}
