//! What a run says, as words: equal runs have equal prints, in whatever process they were made.

use serde::{Deserialize, Serialize};
use whitewater_sim::Outcome;

/// Everything two runs of one seed must have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Print {
    /// The seed.
    pub seed: u64,
    /// The plan, as the name of its system and a hash of its text.
    pub plan: String,
    /// What nodes saw and did.
    pub hash: String,
    /// How the run ended.
    pub verdict: String,
    /// Messages that reached a node that was up.
    pub deliveries: u64,
    /// When it ended, and everything that was counted, by name.
    pub counters: Vec<(String, String)>,
    /// Situations that were met, in order.
    pub marks: Vec<String>,
}

impl Print {
    /// What an outcome says.
    pub(super) fn of(seed: u64, plan: String, outcome: &Outcome) -> Print {
        let mut counters = vec![
            ("time".to_owned(), outcome.time.nanos().to_string()),
            ("unfired".to_owned(), format!("{:?}", outcome.unfired)),
        ];
        counters.extend(fields(&format!("{:?}", outcome.counters)));
        counters.extend(fields(&format!("{:?}", outcome.figures)));
        let faults = outcome.counters.faults();
        counters.extend(faults.iter().map(|(fault, bites)| (format!("fault {fault}"), bites.to_string())));
        Print {
            seed,
            plan,
            hash: outcome.hash.to_string(),
            verdict: outcome.verdict.to_string(),
            deliveries: outcome.counters.deliveries,
            counters,
            marks: outcome.marks.iter().map(|&mark| mark.to_owned()).collect(),
        }
    }

    /// A run that gave no outcome.
    pub(super) fn broken(seed: u64, plan: String, why: String) -> Print {
        Print { seed, plan, verdict: why, ..Print::default() }
    }

    /// What differs: its name, as it is in this print, as it is in the other.
    pub fn differences(&self, other: &Print) -> Vec<(&'static str, String, String)> {
        let mut parts = Vec::new();
        let mut compare = |name, ours: &str, theirs: &str| {
            if ours != theirs {
                parts.push((name, ours.to_owned(), theirs.to_owned()));
            }
        };
        compare("plan", &self.plan, &other.plan);
        compare("hash", &self.hash, &other.hash);
        compare("verdict", &self.verdict, &other.verdict);
        let named = |(name, value): &(String, String)| format!("{name} {value}");
        let only = |one: &Print, than: &Print| -> String {
            let told = one.counters.iter().filter(|counter| !than.counters.contains(counter)).map(named);
            told.collect::<Vec<_>>().join(", ")
        };
        compare("counters", &only(self, other), &only(other, self));
        compare("marks", &self.marks.join(" "), &other.marks.join(" "));
        parts
    }
}

/// The numbers among the fields of a struct as its `Debug` shows it, by name, with those of structs inside of it.
fn fields(text: &str) -> impl Iterator<Item = (String, String)> {
    let parts = text.split(['{', '}', ',']).filter_map(|part| part.trim().split_once(": "));
    let numbers = parts.filter(|(_, value)| value.trim().parse::<u64>().is_ok());
    numbers.map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use whitewater_sim::Counters;

    #[test]
    fn every_counter_has_a_name_and_a_value() {
        let counters = Counters { sent: 7, restarts: 9, ..Counters::default() };
        let fields: Vec<_> = fields(&format!("{counters:?}")).collect();
        for (name, value) in [("sent", "7"), ("restarts", "9"), ("rotten", "0")] {
            assert!(fields.contains(&(name.to_owned(), value.to_owned())), "{name}: {fields:?}");
        }
    }

    #[test]
    fn prints_differ_in_what_differs_alone() {
        let counters = |sent: &str| vec![("sent".to_owned(), sent.to_owned())];
        let one = Print { hash: "1".into(), counters: counters("3"), ..Print::default() };
        let other = Print { counters: counters("4"), ..one.clone() };
        assert_eq!(one.differences(&one), []);
        assert_eq!(one.differences(&other), [("counters", "sent 3".into(), "sent 4".into())]);
        let third =
            Print { hash: "2".into(), verdict: "pass".into(), marks: vec!["m".into()], ..one.clone() };
        let named: Vec<_> = one.differences(&third).into_iter().map(|(name, ..)| name).collect();
        assert_eq!(named, ["hash", "verdict", "marks"]);
    }
}
