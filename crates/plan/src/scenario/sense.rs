//! What single lines of a script may say and their script cannot mean: steps that could never happen as they are told.
//!
//! Only a scenario is held to this: somebody means it. A plan that a search has cut down to what a failure needs may well
//! hold a step that comes too late.

use super::step::step_lines;
use crate::text::{LineError, Read};
use whitewater_sim::{Action, NodeId, Pattern, Script, Step, Target, Time, Trigger};

/// Looks at every step of a scenario; `texts` are the lines of its file.
///
/// # Errors
/// The first step that could never happen as it is told, with a mend.
pub(super) fn check(read: &[Read], texts: &[String], script: &Script) -> Result<(), LineError> {
    for (line, step) in step_lines(read).zip(&script.steps) {
        let text = &texts[line];
        let wrong = |word: &str, message: String, mend: String| LineError {
            line,
            column: column_of(text, word),
            message,
            mend,
        };
        let over = Time::ZERO + script.horizon;
        if let Trigger::At(begins) = step.when
            && begins > over
        {
            let message = format!("faults are over at {}, and it begins later", script.horizon);
            let mend = "give it an earlier moment, or write a later `horizon`; what is to be so in the end is told by `at end`";
            return Err(wrong(&begins.since(Time::ZERO).to_string(), message, mend.to_owned()));
        }
        if let (Trigger::At(begins), Some(Trigger::At(ends))) = (&step.when, &step.until)
            && ends < begins
        {
            let message = "it ends before it begins".to_owned();
            let mend = "write a later end, or how long it lasts, such as `until +300ms`".to_owned();
            return Err(wrong("until", message, mend));
        }
        if let Some(node) = own_link(&step.action) {
            let message = format!("no link leads from {node} to itself");
            let mend = "write another node on one of its sides, such as n1->n2".to_owned();
            return Err(wrong(&format!("{node}->{node}"), message, mend));
        }
        let followers = script.servers.saturating_sub(1);
        if let Some(number) = everybody(step).into_iter().find_map(|target| beyond(target, followers)) {
            let message = format!("there is no follower-{number}: of {} servers one leads", script.servers);
            let mend = match followers {
                0 => "name the server, or add the line `servers 3`".to_owned(),
                1 => "write follower".to_owned(),
                count => format!("write follower-1 to follower-{count}"),
            };
            return Err(wrong(&format!("follower-{number}"), message, mend));
        }
    }
    Ok(())
}

/// The node that both ends of a link name.
fn own_link(action: &Action) -> Option<NodeId> {
    let (from, to) = match action {
        Action::Cut { from, to } | Action::Clog { from, to } => (*from, *to),
        other => {
            let Pattern { from, to, .. } = other.pattern()?;
            ((*from)?, (*to)?)
        }
    };
    from.node().filter(|node| to.node() == Some(*node))
}

/// Everybody a step names, roles included.
fn everybody(step: &Step) -> Vec<Target> {
    let ends = step.action.pattern().map(|pattern| [pattern.from, pattern.to]);
    step.action.targets().into_iter().chain(ends.into_iter().flatten().flatten()).collect()
}

/// The number of a follower that so many do not have.
fn beyond(target: Target, followers: usize) -> Option<usize> {
    match target {
        Target::Follower(place) if usize::from(place) >= followers => Some(usize::from(place) + 1),
        _ => None,
    }
}

/// The column of a word of a line, from 1; that of the line if the word is written in another way.
fn column_of(text: &str, word: &str) -> usize {
    text.find(word).map_or(1, |at| text[..at].chars().count() + 1)
}
