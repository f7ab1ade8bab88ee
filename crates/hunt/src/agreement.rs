//! How well two ways to sort the same things agree: the adjusted Rand index.

use std::collections::BTreeMap;

/// The adjusted Rand index of two ways to sort things, in thousandths: 1000 if they agree wholly, about 0 if one says nothing
/// about the other. `one` and `other` hold the names of the classes of each thing, in the same order.
///
/// From: L. Hubert and P. Arabie, Comparing partitions, 1985.
///
/// # Panics
/// The two are not about equally many things.
pub fn agreement(one: &[String], other: &[String]) -> i64 {
    assert_eq!(one.len(), other.len(), "both sort the same things");
    let both: Vec<(&str, &str)> = one.iter().zip(other).map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let together = pairs_within(both.iter());
    let (in_one, in_other) = (pairs_within(one.iter()), pairs_within(other.iter()));
    let all = pairs(one.len() as i64).max(1);
    // Everything times twice the number of pairs, so that nothing is rounded before the end.
    let expected = 2 * in_one * in_other;
    let best = (in_one + in_other) * all;
    if best == expected { 1_000 } else { 1_000 * (2 * together * all - expected) / (best - expected) }
}

fn pairs(count: i64) -> i64 {
    count * (count - 1) / 2
}

/// Pairs of things in the same class.
fn pairs_within<T: Ord>(classes: impl Iterator<Item = T>) -> i64 {
    let mut counts = BTreeMap::new();
    classes.for_each(|class| *counts.entry(class).or_insert(0_i64) += 1);
    counts.into_values().map(pairs).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(text: &str) -> Vec<String> {
        text.chars().map(String::from).collect()
    }

    #[test]
    fn sorting_alike_agrees_wholly_whatever_the_classes_are_called() {
        assert_eq!(agreement(&classes("aabbcc"), &classes("xxyyzz")), 1_000);
        assert_eq!(agreement(&classes("aaa"), &classes("xxx")), 1_000);
    }

    #[test]
    fn sorting_by_something_else_agrees_no_better_than_chance() {
        assert!(agreement(&classes("abababab"), &classes("xxyyxxyy")) < 100);
        assert_eq!(agreement(&classes("aabb"), &classes("xxxx")), 0);
    }

    #[test]
    fn one_thing_in_the_wrong_class_costs_something() {
        // Of 10 pairs 4 are together in the one, 6 in the other, 3 in both: (3 - 2.4) / (5 - 2.4).
        assert_eq!(agreement(&classes("aaabb"), &classes("xxxxy")), 230);
    }
}
