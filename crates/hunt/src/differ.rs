//! Two systems under one plan: what their clients are told, and the first thing that differs.

use crate::run::run;
use crate::words::clock;
use std::collections::BTreeMap;
use whitewater_plan::{Plan, text};
use whitewater_sim::{Action, EventKind, Outcome, System, Time};

/// One plan, run on two systems.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The steps both could take; the lines of the others.
    pub left_out: Vec<String>,
    /// How both runs ended, recorded.
    pub outcomes: [Outcome; 2],
    /// Answers that were compared.
    pub answers: usize,
    /// The first thing that clients see and that differs, in words.
    pub difference: Option<String>,
}

/// What one client was told.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Told {
    asked: String,
    answer: Option<String>,
    time: Time,
}

/// Runs the plan of one system on another, which has to know its commands: options they share keep their values, and steps
/// that one of them has no words for are left out for both. If both have clients, what those are told is compared, and not what
/// servers answer to orders of the script; if one has none, neither is given any, and what servers answer is compared.
///
/// # Errors
/// The plan cannot be run; the text says why.
pub fn differ(one: &dyn System, other: &dyn System, plan: &Plan) -> Result<Compared, String> {
    let (shared, left_out) = shared_by(one, other, plan);
    let first = Plan { system: one.name().to_owned(), ..shared.clone() };
    let mut second = Plan { system: other.name().to_owned(), ..shared };
    second.options = Default::default();
    for (name, value) in plan.options.iter() {
        // What the other one does not have, or cannot be set to, stays as it is there.
        let _ = second.options.set(other.options(), name, value);
    }
    let by_clients = first.script.clients > 0;
    let outcomes = [run(one, &first, true)?, run(other, &second, true)?];
    let told = [told(&outcomes[0], by_clients), told(&outcomes[1], by_clients)];
    let difference = first_difference([one.name(), other.name()], &told)
        .or_else(|| verdicts_differ([one.name(), other.name()], &outcomes));
    Ok(Compared { left_out, answers: told[0].len().min(told[1].len()), outcomes, difference })
}

/// The plan without the steps that one of the systems has no words for, and their lines.
fn shared_by(one: &dyn System, other: &dyn System, plan: &Plan) -> (Plan, Vec<String>) {
    let knows = |action: &Action| match action {
        Action::Operate { text, .. } => {
            one.check_operation(text).is_ok() && other.check_operation(text).is_ok()
        }
        _ => true,
    };
    let mut left_out = Vec::new();
    let mut shared = plan.clone();
    if [one, other].iter().any(|system| system.clients() == (0, 0)) {
        shared.script.clients = 0;
    }
    let cluster = [format!("servers {}", plan.script.servers), format!("clients {}", shared.script.clients)];
    shared.script.steps.retain(|step| {
        // A line is read with the names a system has: messages, timers, figures.
        let line = text::print_step(step);
        let lines = [&cluster[..], std::slice::from_ref(&line)].concat();
        let reads = |system| text::parse_script(&lines, Some(system)).is_ok();
        let both = knows(&step.action) && reads(one) && reads(other);
        if !both {
            left_out.push(line);
        }
        both
    });
    (shared, left_out)
}

/// What clients, or else servers, were asked and have answered, by the name of the operation.
fn told(outcome: &Outcome, by_clients: bool) -> BTreeMap<u32, Told> {
    let mut told = BTreeMap::new();
    for event in outcome.trace.iter().flat_map(|trace| &trace.events) {
        let Some((name, text)) = event.text.split_once(' ') else { continue };
        let Some(op) = name.strip_prefix("op").and_then(|number| number.parse().ok()) else { continue };
        match event.kind {
            EventKind::Operate if event.node.is_some_and(|node| node.is_server() != by_clients) => {
                let asked = format!("{text} at {}", event.node.map_or_else(String::new, |n| n.to_string()));
                told.insert(op, Told { asked, answer: None, time: event.time });
            }
            EventKind::Reply => {
                if let Some(told) = told.get_mut(&op) {
                    (told.answer, told.time) = (Some(text.to_owned()), event.time);
                }
            }
            _ => {}
        }
    }
    told
}

/// Of the answers that differ the one that came first.
fn first_difference(names: [&str; 2], told: &[BTreeMap<u32, Told>; 2]) -> Option<String> {
    let pairs = told[0].iter().filter_map(|(op, one)| Some((op, one, told[1].get(op)?)));
    let differ = pairs.filter(|(_, one, other)| one.answer != other.answer || one.asked != other.asked);
    let (op, one, other) = differ.min_by_key(|(op, one, other)| (one.time.min(other.time), **op))?;
    let says = |name: &str, told: &Told| match &told.answer {
        Some(answer) => format!("{name} answers `{answer}` at {} ms", clock(told.time)),
        None => format!("{name} never answers"),
    };
    let asked = match one.asked == other.asked {
        true => format!("op{op} `{}`", one.asked),
        false => format!("op{op} `{}` here and `{}` there", one.asked, other.asked),
    };
    Some(format!("{asked}: {}, {}", says(names[0], one), says(names[1], other)))
}

fn verdicts_differ(names: [&str; 2], outcomes: &[Outcome; 2]) -> Option<String> {
    let [one, other] = [outcomes[0].verdict.rule(), outcomes[1].verdict.rule()];
    (one != other).then(|| {
        let say = |name: &str, outcome: &Outcome| match outcome.verdict.is_pass() {
            true => format!("{name} passes"),
            false => format!("{name} ends with {}: {}", outcome.verdict.rule(), outcome.verdict),
        };
        format!("{}, {}", say(names[0], &outcomes[0]), say(names[1], &outcomes[1]))
    })
}
