//! Every bug there is, named or patched, with what is known about it.

use crate::Systems;
use std::path::Path;
use whitewater_mutants::{Patch, named};

/// A bug that can be searched for.
#[derive(Clone, Debug)]
pub(super) struct Bug {
    pub(super) id: String,
    /// What the code does with the bug.
    pub(super) mechanism: String,
    /// The property it breaks.
    pub(super) property: String,
    /// Who had it.
    pub(super) source: String,
    /// How many rare events must meet.
    pub(super) events: u32,
    /// Why nothing can find it.
    pub(super) survives: Option<String>,
    /// What plants it, unless it is a branch in the code.
    pub(super) patch: Option<Patch>,
}

/// What is owed in time, or at any time from the code alone: everything else is safety.
const PROGRESS: &[&str] = &[
    "acknowledged-goes-on",
    "bounded elections",
    "convergence",
    "heartbeats-on-time",
    "joint-left",
    "leader",
    "leader-elected",
    "no panic",
    "prefix-accepted",
    "silent-without-disk",
    "transfer ends",
    "write served",
];

impl Bug {
    /// Whether it makes something wrong instead of late; a bug that only a scenario tells of is none of these.
    pub(super) fn is_of_safety(&self) -> bool {
        let is_known = !self.property.is_empty() && self.property != "see its scenario";
        is_known && self.survives.is_none() && !PROGRESS.contains(&self.property.as_str())
    }

    /// Whether this build has it.
    pub(super) fn is_here(&self, systems: Systems) -> bool {
        systems.iter().any(|system| system.bugs().contains(&self.id.as_str()))
    }
}

/// Every bug of the project, in the order of their ids, and every bug of the systems that the project does not describe.
///
/// # Errors
/// A patch or the list of the named ones is wrong.
pub(super) fn all(root: &Path, systems: Systems) -> anyhow::Result<Vec<Bug>> {
    let mut bugs = Vec::new();
    for bug in named(root)? {
        bugs.push(Bug {
            id: bug.id,
            mechanism: bug.mechanism,
            property: bug.property,
            source: bug.source,
            events: bug.events,
            survives: bug.survives,
            patch: None,
        });
    }
    for patch in whitewater_mutants::all(root)? {
        bugs.push(Bug {
            id: patch.id.clone(),
            mechanism: patch.mechanism.clone(),
            property: patch.property.clone(),
            source: patch.source.clone(),
            events: patch.events,
            survives: patch.survives.clone(),
            patch: Some(patch),
        });
    }
    for id in systems.iter().flat_map(|system| system.bugs()) {
        if !bugs.iter().any(|bug| bug.id == *id) {
            let text = String::new;
            bugs.push(Bug {
                id: (*id).to_owned(),
                mechanism: text(),
                property: text(),
                source: text(),
                events: 1,
                survives: None,
                patch: None,
            });
        }
    }
    bugs.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(bugs)
}
