//! What makes two failures the same one: the rule and where it was broken, as far as that survives another run.

use crate::words::numberless;
use std::fmt;
use whitewater_sim::{Outcome, Role, Verdict};

/// The rule that was broken and its site: the role of the node at which it shows, the place of a panic without its
/// numbers, or which limit was hit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Signature {
    /// Name of the rule, or `panic`, `limit` or `nondeterministic`.
    pub rule: String,
    /// Where; empty if it shows at no node in particular.
    pub site: String,
}

impl Signature {
    /// The signature of a run that failed; none of one that passed.
    pub fn of(outcome: &Outcome) -> Option<Signature> {
        let site = match &outcome.verdict {
            Verdict::Pass => return None,
            Verdict::Violated(violation) => match violation.node {
                Some(node) if !node.is_server() => "a client".to_owned(),
                Some(_) => site_of(outcome.role).to_owned(),
                None => String::new(),
            },
            Verdict::Crashed { message, location, .. } => {
                // A line number changes with every edit above it.
                let file = location.split(':').next().unwrap_or_default();
                format!("{file}: {}", numberless(message))
            }
            Verdict::Exhausted { limit, .. } => limit.to_string(),
            Verdict::Nondeterministic => String::new(),
        };
        Some(Signature { rule: outcome.verdict.rule().to_owned(), site })
    }
}

fn site_of(role: Option<Role>) -> &'static str {
    match role {
        None => "a server that is down",
        Some(Role::None) => "a server",
        Some(Role::Follower) => "a follower",
        Some(Role::PreCandidate | Role::Candidate) => "a candidate",
        Some(Role::Leader) => "a leader",
        Some(Role::Learner) => "a learner",
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.site.as_str() {
            "" => f.write_str(&self.rule),
            site => write!(f, "{} at {site}", self.rule),
        }
    }
}
