//! Fingerprints of failures: one number for those that have one cause, whatever seed found them.

use crate::causes::causes;
use crate::nearest::nearer;
use crate::run::run;
use crate::shrink::Shrunk;
use crate::signature::Signature;
use crate::words::nameless;
use std::fmt;
use whitewater_plan::Plan;
use whitewater_sim::draw::name_hash;
use whitewater_sim::{EventKind, Outcome, Role, Subject, System, Trace, TraceEvent, Verdict};

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

    /// The fingerprint of a failure that was shrunk: the skeleton of what is left, or of a failure nearer to the cause that
    /// came up on the way.
    ///
    /// # Errors
    /// The plan cannot be run; the text says why.
    pub fn fine(system: &dyn System, shrunk: &Shrunk) -> Result<Fingerprint, String> {
        Ok(Fingerprint::of_skeleton(&Fingerprint::skeleton(system, shrunk)?))
    }

    /// What [`Fingerprint::fine`] takes for the same, in lines to read: what two failures that should have one fingerprint
    /// differ in.
    ///
    /// # Errors
    /// The plan cannot be run; the text says why.
    pub fn skeleton(system: &dyn System, shrunk: &Shrunk) -> Result<Vec<String>, String> {
        let (plan, signature) = match nearer(shrunk) {
            Some(slip) => (&slip.plan, &slip.signature),
            None => (&shrunk.plan, &shrunk.signature),
        };
        Ok(skeleton(plan, signature, &run(system, plan, true)?))
    }

    /// The fingerprint of a skeleton.
    pub fn of_skeleton(bones: &[String]) -> Fingerprint {
        Fingerprint::of_text(&bones.join("\n"))
    }
}

/// What is left of a shrunk failure without names, numbers and times: the rule and its site, what is said to be wrong, and
/// the end of the causal chain - the last message that was taken in, with the roles of both ends, whether it came again, or
/// the start of a node that had crashed.
///
/// Two seeds find one bug by different accidents, and the plans that are left differ in what those accidents need: here a
/// lost message, there a late one. What they have in common is how the rule was broken in the end.
fn skeleton(plan: &Plan, signature: &Signature, outcome: &Outcome) -> Vec<String> {
    let mut bones = vec![plan.system.clone(), signature.to_string()];
    // A panic or a limit says itself where it comes from.
    let Verdict::Violated(violation) = &outcome.verdict else { return bones };
    bones.push(main_clause(&violation.message));
    let last = outcome.trace.as_ref().and_then(|trace| {
        let chain = trace.violation.map(|violation| causes(trace, violation)).unwrap_or_default();
        let mut events = chain.into_iter().skip(1).filter_map(|id| trace.event(id));
        events.find_map(|event| bone(trace, event))
    });
    bones.extend(last.filter(|last| !last.is_empty()));
    bones
}

/// What a sentence says in the main, of whomever and however many: a rule with several claims says something else of each.
fn main_clause(message: &str) -> String {
    let clause = nameless(message.split([',', ';']).next().unwrap_or_default());
    let mut words: Vec<&str> = clause.split_whitespace().collect();
    // However many nodes are listed.
    words.dedup();
    words.join(" ")
}

/// What an event of the chain adds to the skeleton, perhaps nothing; none if it only passes on what came before, as timers do.
fn bone(trace: &Trace, event: &TraceEvent) -> Option<String> {
    let role = |role: Option<Role>| role.map_or('-', Role::letter);
    match (event.kind, event.subject) {
        (EventKind::Recv, Some(subject)) => {
            let sender = role(trace.event(event.cause).and_then(|sent| sent.role));
            let is_leader = event.role == Some(Role::Leader);
            let mut before = trace.events.iter().take_while(|earlier| earlier.id < event.id);
            // For who counts answers, a copy and a second answer that says the same are one thing.
            let comes_again = before.any(|earlier| {
                let says_the_same = is_leader && earlier.node == event.node && same(earlier, subject);
                earlier.kind == EventKind::Recv && (earlier.cause == event.cause || says_the_same)
            });
            let again = if comes_again { " again" } else { "" };
            // A leader counts and commits with whatever comes next, be it from its own disk; who follows does what it is told.
            Some(match (is_leader, comes_again) {
                (true, false) => String::new(),
                (true, true) => "L takes a message again".to_owned(),
                (false, _) => format!("{} takes {} of {sender}{again}", role(event.role), subject.name),
            })
        }
        (EventKind::Boot, _) => {
            let crashed =
                |e: &TraceEvent| e.kind == EventKind::Crash && e.node == event.node && e.id < event.id;
            trace.events.iter().any(crashed).then(|| String::from("starts after a crash"))
        }
        (EventKind::Crash, _) => Some(String::from("crashes")),
        _ => None,
    }
}

/// Whether an event is about a message that says the same.
fn same(event: &TraceEvent, subject: Subject) -> bool {
    event.subject.is_some_and(|other| {
        let of = |s: Subject| (s.from, s.to, s.name, s.key, s.term);
        of(other) == of(subject)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traces::{Sketch, n, outcome, plan, stranded};
    use whitewater_sim::EventId;

    #[test]
    fn a_fingerprint_cannot_be_taken_for_a_seed() {
        let signature = Signature { rule: "vote-once".into(), site: "a follower".into() };
        let text = Fingerprint::coarse("kv", &signature).to_string();
        assert!(text.starts_with("F-") && text.len() == 12, "{text}");
        assert!(whitewater_plan::parse_seed(&text).is_err());
    }

    /// The fingerprint of a run in which a vote that comes once, or twice, breaks a rule at a leader.
    fn of_votes(times: usize, voter: usize, before: usize) -> Fingerprint {
        of_answers(Role::Follower, before, |sketch, asked| {
            let sent = sketch.send(asked, n(voter), n(1), "Vote", 1);
            (0..times).map(|_| sketch.receive(sent, "granted")).last().expect("it comes")
        })
    }

    /// The fingerprint of a run in which n1 has a role and the last of some answers breaks a rule.
    fn of_answers(
        role: Role,
        before: usize,
        answers: impl FnOnce(&mut Sketch, EventId) -> EventId,
    ) -> Fingerprint {
        let mut sketch = Sketch::new();
        for _ in 0..before {
            sketch.timer(n(3), "heartbeat");
        }
        let asked = sketch.timer(n(1), "election");
        sketch.role(n(1), role);
        let taken = answers(&mut sketch, asked);
        let violation = sketch.violation_at_once(taken, n(1));
        assert!(violation > taken);
        let ends = outcome(sketch.trace(), Verdict::Violated(stranded(n(1), n(2))));
        let signature = Signature { rule: "elected-by-quorum".into(), site: "a leader".into() };
        Fingerprint::of_skeleton(&skeleton(&plan(), &signature, &ends))
    }

    #[test]
    fn names_of_nodes_and_what_happens_beside_the_chain_change_no_fingerprint() {
        assert_eq!(of_votes(1, 2, 0), of_votes(1, 3, 5));
    }

    #[test]
    fn a_message_that_comes_again_is_another_cause() {
        assert_ne!(of_votes(1, 2, 0), of_votes(2, 2, 0));
    }

    #[test]
    fn a_leader_that_counts_an_answer_and_one_that_hears_from_its_disk_are_alike() {
        let answered = of_answers(Role::Leader, 0, |sketch, asked| {
            let sent = sketch.send(asked, n(2), n(1), "Ack", 1);
            sketch.receive(sent, "")
        });
        let alone = of_answers(Role::Leader, 0, |_, asked| asked);
        assert_eq!(answered, alone);
    }

    #[test]
    fn what_is_wrong_counts_and_of_whom_and_of_how_many_does_not() {
        let said = "n3 has 2 of the 3 entries it had, and the leader of term 1 has no others";
        assert_eq!(main_clause(said), main_clause("n12 has 39 of the 40 entries it had, and nothing else"));
        assert_ne!(main_clause(said), main_clause("n1 chooses n3 in term 4, whose log ended before"));
        assert_eq!(main_clause("n1 n2 n3 are up, and"), main_clause("n4 n5 are up; n6 is not"));
    }

    #[test]
    fn who_counts_answers_hears_a_copy_and_a_second_answer_that_says_the_same_alike() {
        let with = |copied: bool, second: u64| {
            of_answers(Role::Leader, 0, |sketch, asked| {
                let one = sketch.send(asked, n(2), n(1), "Vote", 1);
                let other = if copied { one } else { sketch.send(asked, n(2), n(1), "Vote", second) };
                sketch.receive(one, "granted");
                sketch.receive(other, "granted")
            })
        };
        assert_eq!(with(true, 1), with(false, 1));
        assert_ne!(with(false, 1), with(false, 2));
    }
}
