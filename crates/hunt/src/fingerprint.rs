//! Fingerprints of failures: one number for those that have one cause, whatever seed found them.

use crate::signature::Signature;
use std::collections::BTreeSet;
use std::fmt;
use whitewater_plan::Plan;
use whitewater_sim::draw::name_hash;
use whitewater_sim::{Action, Decision, Fate, Outcome};

/// What stands for a failure among others: `F-` and ten hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fingerprint(u64);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "F-{:010x}", self.0)
    }
}

impl Fingerprint {
    fn of_text(text: &str) -> Fingerprint {
        Fingerprint(name_hash(text) >> 24)
    }

    /// The fingerprint of a failure that was not shrunk: its rule and site.
    pub fn coarse(system: &str, signature: &Signature) -> Fingerprint {
        Fingerprint::of_text(&format!("{system} {signature}"))
    }

    /// The fingerprint of a failure that was found around another one, by the number of the neighbour.
    pub fn around(signature: &Signature, number: u64) -> Fingerprint {
        Fingerprint::of_text(&format!("around {number} {signature}"))
    }

    /// The fingerprint of a failure that was shrunk: the skeleton of what is left.
    pub fn fine(plan: &Plan, signature: &Signature, outcome: &Outcome) -> Fingerprint {
        Fingerprint::of_text(&skeleton(plan, signature, outcome).join("\n"))
    }
}

/// What a shrunk failure is made of, without names, numbers and times: the rule, the kinds of its faults, and what is
/// unusual about its options.
fn skeleton(plan: &Plan, signature: &Signature, _: &Outcome) -> Vec<String> {
    let mut parts = BTreeSet::new();
    for step in &plan.script.steps {
        let part = match &step.action {
            Action::Crash { .. } | Action::CrashAfter { .. } => "crash",
            Action::Roll { .. } => "roll",
            Action::Rewind(_) => "rewind",
            Action::Pause(_) | Action::Slow { .. } => "slow",
            Action::Clock { .. } => "clock",
            Action::Partition(_)
            | Action::Topology { .. }
            | Action::Cut { .. }
            | Action::Drop(_)
            | Action::Choke(..)
            | Action::Corrupt(..)
            | Action::Lossy(..) => "cut",
            Action::Clog { .. } | Action::Hold(_) | Action::Delay(..) | Action::Jitter { .. } => "late",
            Action::Duplicate(..) | Action::Replay(..) => "twice",
            Action::Misdeliver(..) => "astray",
            Action::Operate { .. } => continue,
            Action::Expect(..) | Action::Never(_) => "claim",
        };
        parts.insert(part.to_owned());
    }
    for pin in &plan.script.pins {
        parts.insert(match &pin.decision {
            Decision::Message { fate: Fate::Lost, .. } => "cut".to_owned(),
            Decision::Message { fate: Fate::Arrives { again: Some(_), .. }, .. } => "twice".to_owned(),
            Decision::Message { fate: Fate::Arrives { at: Some(_), .. }, .. } => "astray".to_owned(),
            Decision::Message { .. } => "late".to_owned(),
            Decision::Crash { .. } => "crash".to_owned(),
            Decision::Disk { what, .. } => what.clone(),
            Decision::Timer { .. } | Decision::Draw { .. } => continue,
        });
    }
    let head = match signature.rule.as_str() {
        // A panic or a limit says itself where it comes from.
        "panic" | "limit" => return vec![plan.system.clone(), signature.to_string()],
        rule => format!("{} {rule}", plan.system),
    };
    [head].into_iter().chain(parts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_cannot_be_taken_for_a_seed() {
        let signature = Signature { rule: "vote-once".into(), site: "a follower".into() };
        let text = Fingerprint::coarse("kv", &signature).to_string();
        assert!(text.starts_with("F-") && text.len() == 12, "{text}");
        assert!(whitewater_plan::parse_seed(&text).is_err());
    }
}
