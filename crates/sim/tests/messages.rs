//! Every message of the world itself, as an engineer reads it: panics, limits, claims of a script, and what was not in time.

mod common;

use common::*;
use whitewater_sim::*;

/// Owes something for ever.
struct Debtor;

const DEBT: (&str, &str) = ("debt", "Debts are paid.");

impl Monitor<Toy> for Debtor {
    fn observe(&mut self, _: &Seen<'_, Toy>, _: &Cluster<Toy>) -> Result<(), Violation> {
        Ok(())
    }

    fn owed(&mut self, _: Time, _: &Cluster<Toy>) -> Progress {
        let (rule, claim) = DEBT;
        let message = "n1 owes n2 an answer".to_owned();
        Progress::Waiting(Violation { rule, claim, message, node: Some(n(1)), peer: Some(n(2)) })
    }
}

fn limited(limits: Limits, steps: Vec<Step>) -> Verdict {
    run(&Script { limits, ..short(steps) }).verdict
}

/// A run that hits each limit.
fn limits() -> Vec<Verdict> {
    let most = Limits::default();
    let stopped = step(at(10), Action::Pause(n(1).into()), None);
    vec![
        limited(Limits { events: 50, ..most }, vec![]),
        limited(Limits { queue: 5, ..most }, vec![]),
        limited(Limits { queue: 15, ..most }, vec![stopped]),
        limited(Limits { time: Span::from_millis(100), ..most }, vec![]),
        limited(Limits { steps: 100, ..most }, vec![order(at(5), n(2), "flood")]),
    ]
}

/// A run that breaks each claim a script can make, in each way.
fn claims() -> Vec<Verdict> {
    let leads = |target| Condition::Takes(target, Role::Leader);
    let counts = Condition::Reaches(Target::Node(n(1)), "counter".to_owned(), 1_000_000);
    let expect = |condition, within: Option<u64>| Action::Expect(condition, within.map(Span::from_millis));
    let n3_is_down = step(
        at(5),
        Action::Crash { node: Target::Node(n(3)), losing: Losing::Some, at_call: 0 },
        Some(Trigger::End),
    );
    let broken = |claim: Action| {
        let steps = vec![n3_is_down.clone(), order(at(50), n(1), "lead"), Step::new(at(60), claim)];
        run(&short(steps)).verdict
    };
    vec![
        broken(expect(leads(Target::Node(n(2))), None)),
        broken(expect(leads(Target::Node(n(2))), Some(30))),
        broken(expect(leads(Target::Node(n(3))), None)),
        run(&short(vec![Step::new(at(60), expect(leads(Target::Leader), None))])).verdict,
        broken(expect(counts, None)),
        broken(Action::Never(leads(Target::Any))),
    ]
}

#[test]
fn every_message_of_the_world_says_who_did_what_and_how_much_was_allowed() {
    let owed = World::<Toy, _>::new(&short(vec![]), Manner::default(), Debtor, false).unwrap().run().verdict;
    let panic = run(&short(vec![order(at(5), n(2), "panic")])).verdict;
    let others = [panic, Verdict::Nondeterministic, owed];
    let verdicts: Vec<Verdict> = claims().into_iter().chain(limits()).chain(others).collect();

    let mut names: Vec<&str> = verdicts.iter().map(Verdict::rule).collect();
    names.dedup();
    let of_claims = CLAIM_RULES.map(|(name, _)| name);
    let known: Vec<&str> =
        of_claims.into_iter().chain(["limit", "panic", "nondeterministic", "debt"]).collect();
    assert_eq!(names, known, "each has a run");

    let (mut text, mut before) = (String::new(), "");
    for verdict in verdicts {
        let rule = verdict.rule();
        if rule != before {
            text += &format!("{rule}\n");
            if let Verdict::Violated(violation) = &verdict {
                text += &format!("  claim    {}\n", violation.claim);
            }
        }
        text += &format!("  message  {verdict}\n");
        before = rule;
    }
    insta::assert_snapshot!("messages", text);
}
