//! Scenarios as snapshots hold them: one text per variant, and whether it is what was expected.

use crate::run::{missed, run};
use crate::trace_text;
use whitewater_plan::{Expect, Scenario};
use whitewater_sim::{NodeId, Outcome, System, Verdict};

/// Runs one variant of a scenario and gives its text trace with the recorded outcome. The text holds no hash, no time
/// of day and no path, so it changes only with behaviour.
///
/// # Errors
/// There is no such variant, the plan cannot be run, or a step never happened although nothing kept it from it; the text says which.
pub fn scenario_text(
    system: &dyn System,
    scenario: &Scenario,
    variant: &str,
) -> Result<(String, Outcome), String> {
    let found = scenario.variant(variant).ok_or_else(|| {
        let names: Vec<&str> = scenario.variants.iter().map(|v| v.name.as_str()).collect();
        format!("`{}` has no variant `{variant}`; there are {}", scenario.name, names.join(", "))
    })?;
    let plan = scenario.plan(found);
    let outcome = run(system, &plan, true)?;
    if let Some(first) = missed(&plan, &outcome).into_iter().next() {
        return Err(format!("`{} @{variant}`: {first}", scenario.name));
    }
    let title = format!("{} @{variant}", scenario.name);
    Ok((trace_text::render(&plan, &outcome, &title), outcome))
}

/// Whether a run ended as expected. One of which nobody can say whether it is linearizable has not passed.
///
/// # Errors
/// Says in one sentence what was expected and what came.
pub fn meets(expect: &Expect, outcome: &Outcome) -> Result<(), String> {
    let (verdict, undecided) = (&outcome.verdict, outcome.figures.undecided);
    let place = verdict.node();
    match (expect, verdict) {
        (Expect::Pass, Verdict::Pass) if undecided > 0 => Err(format!(
            "expected to pass, but it is not known within the budget whether some order explains what clients saw of \
             {undecided} of its keys"
        )),
        (Expect::Pass, Verdict::Pass) => Ok(()),
        (Expect::Violates { rule, node }, found) if found.rule() == rule && *node == place => Ok(()),
        (Expect::Pass, found) => Err(format!("expected to pass, but {}: {found}", found.rule())),
        (Expect::Violates { rule, node }, found) => {
            let at = |node: Option<NodeId>| node.map_or("no node".to_owned(), |node| node.to_string());
            let came = match found {
                Verdict::Pass => String::from("it passed"),
                found => format!("came {} at {}: {found}", found.rule(), at(place)),
            };
            Err(format!("expected to violate {rule} at {}, but {came}", at(*node)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traces::{n, outcome, stranded};
    use whitewater_sim::{Trace, Violation};

    #[test]
    fn a_verdict_meets_its_expectation_by_rule_and_by_node() {
        let meets = |expect: &Expect, verdict: &Verdict| {
            super::meets(expect, &outcome(Trace::default(), verdict.clone()))
        };
        let violated = Verdict::Violated(stranded(n(2), n(1)));
        let expect = |rule: &str, node| Expect::Violates { rule: rule.into(), node };
        assert_eq!(meets(&Expect::Pass, &Verdict::Pass), Ok(()));
        assert_eq!(meets(&expect("follower-applies", Some(n(2))), &violated), Ok(()));
        let elsewhere = meets(&expect("follower-applies", Some(n(3))), &violated).unwrap_err();
        assert!(
            elsewhere
                .starts_with("expected to violate follower-applies at n3, but came follower-applies at n2")
        );
        assert!(meets(&expect("follower-applies", None), &violated).unwrap_err().contains("at no node, but"));
        let nowhere = Verdict::Violated(Violation { node: None, ..stranded(n(2), n(1)) });
        assert_eq!(meets(&expect("follower-applies", None), &nowhere), Ok(()));
        assert!(meets(&expect("follower-applies", Some(n(2))), &nowhere).is_err());
        assert!(meets(&expect("election-safety", None), &violated).is_err());
        assert!(meets(&Expect::Pass, &violated).unwrap_err().contains("follower-applies"));
        assert!(meets(&expect("vote-once", None), &Verdict::Pass).unwrap_err().contains("passed"));
        let panic = Verdict::Crashed { node: n(1), message: String::new(), location: String::new() };
        assert_eq!(meets(&expect("panic", Some(n(1))), &panic), Ok(()));
        assert!(meets(&expect("panic", Some(n(2))), &panic).is_err());
    }
    #[test]
    fn a_run_of_which_nobody_knows_whether_it_is_linearizable_has_not_passed() {
        let undecided = |verdict| {
            let mut outcome = outcome(Trace::default(), verdict);
            outcome.figures.undecided = 2;
            outcome
        };
        let why = meets(&Expect::Pass, &undecided(Verdict::Pass)).unwrap_err();
        assert!(why.contains("not known within the budget") && why.contains("2 of its keys"), "{why}");
        let rule = "follower-applies".to_owned();
        let violated = undecided(Verdict::Violated(stranded(n(2), n(1))));
        assert_eq!(meets(&Expect::Violates { rule, node: Some(n(2)) }, &violated), Ok(()));
    }
}
