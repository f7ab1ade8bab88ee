//! What a saved failure says of options, messages and timers that the code no longer has.
//!
//! A failure is saved by a program and run again by a later one. Whoever takes an option away or gives a message another name
//! should not have to mend every file for that: what speaks of it is left out, told and counted. A name that is nearly one of
//! those that there are is a slip of the hand, and refused like any other.

use crate::suggest::nearest;
use crate::text::{Line, parse_lines};
use whitewater_sim::{Action, Condition, Options, Step, System, Trigger};

/// Whether an option with this name is gone; a node may stand behind the name, as in `mode.n1`.
pub(crate) fn is_option_gone(system: &dyn System, name: &str) -> bool {
    let base = name.split('.').next().unwrap_or_default();
    let known: Vec<&str> = system.options().iter().map(|spec| spec.name).collect();
    is_gone(base, &known)
}

/// The option that one which is gone is called now, if there is no doubt: a file lists every option that is drawn, so if one
/// name is gone and one is not in the file, and has such a value, it is the same under another name.
pub(crate) fn called_now(system: &dyn System, given: &[(String, String)]) -> Option<(String, &'static str)> {
    let mut gone = given.iter().filter(|(name, _)| is_option_gone(system, name));
    let (Some((old, value)), None) = (gone.next(), gone.next()) else { return None };
    let is_given = |name: &str| given.iter().any(|(given, _)| given.split('.').next() == Some(name));
    let mut others = system.options().iter().filter(|spec| spec.drawn && !is_given(spec.name));
    match (others.next(), others.next()) {
        (Some(spec), None) => {
            let fits = Options::new().set(system.options(), spec.name, value).is_ok();
            (fits && !old.contains('.')).then(|| (old.clone(), spec.name))
        }
        _ => None,
    }
}

/// Whether a line of a script is a step about a message, a timer or a figure that is gone.
pub(crate) fn is_step_gone(system: &dyn System, line: &str) -> bool {
    let Ok(read) = parse_lines(&[line.to_owned()], None) else { return false };
    let Some(Line::Step(step)) = read.first().map(|read| &read.line) else { return false };
    let (messages, timers) = system.names();
    let known = [messages, timers].concat();
    let rolled = match &step.action {
        Action::Roll { option, .. } => is_option_gone(system, option),
        _ => false,
    };
    rolled
        || names(step).iter().any(|name| is_gone(name, &known))
        || figures(step).iter().any(|name| is_gone(name, system.figures()))
}

fn is_gone(name: &str, known: &[&str]) -> bool {
    !known.contains(&name) && nearest(name, known).is_none()
}

fn conditions(step: &Step) -> impl Iterator<Item = &Condition> {
    let expected = match &step.action {
        Action::Expect(condition, _) | Action::Never(condition) => Some(condition),
        _ => None,
    };
    let triggers = [Some(&step.when), step.until.as_ref()].into_iter().flatten();
    let triggers = triggers.filter_map(|trigger| match trigger {
        Trigger::When(condition, _) => Some(condition),
        Trigger::At(_) | Trigger::After(_) | Trigger::End => None,
    });
    triggers.chain(expected)
}

/// The messages and timers that a step names.
fn names(step: &Step) -> Vec<&str> {
    let patterns = step.action.pattern().into_iter().chain(conditions(step).filter_map(Condition::pattern));
    patterns.filter_map(|pattern| pattern.name.as_deref()).collect()
}

/// The figures of nodes that a step names.
fn figures(step: &Step) -> Vec<&str> {
    let mut figures = Vec::new();
    for condition in conditions(step) {
        if let Condition::Reaches(_, figure, _) = condition {
            figures.push(figure.as_str());
        }
    }
    figures
}
