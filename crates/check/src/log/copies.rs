//! Copies of one rule that look beside it, so that what it costs can be told from noise.

use super::books::Books;
use super::change::LogChange;
use super::rule::Speaker;
use super::rules::{ElectionRules, LogRules};
use super::speech::hear;
use crate::change::Change;
use crate::log_view::Spoken;
use std::hint::black_box;
use whitewater_sim::Violation;

/// Copies of a rule. What they find the rule itself has found.
#[derive(Clone, Debug)]
pub(super) struct Copies {
    /// Rules that do not look, a bit each: all but the one, or all.
    blind: u64,
    each: Vec<(ElectionRules, LogRules)>,
    broken: Vec<Violation>,
}

impl Copies {
    /// So many copies of the rules, of which those do not look.
    pub(super) fn new(count: u32, blind: u64) -> Copies {
        let each = (0..count).map(|_| Default::default()).collect();
        Copies { blind, each, broken: Vec::new() }
    }

    /// Something is said.
    #[cold]
    pub(super) fn hear(&mut self, said: Spoken, speaker: &Speaker) {
        for _ in &self.each {
            hear(black_box(self.blind), black_box(said), speaker, &mut self.broken);
        }
    }

    /// A server's part in elections has changed.
    #[cold]
    pub(super) fn see_election(&mut self, change: &Change<'_>) {
        for (election, _) in &mut self.each {
            election.wake(black_box(self.blind), change, &mut self.broken);
        }
    }

    /// Something has changed at a server.
    #[cold]
    pub(super) fn see(&mut self, change: &LogChange<'_>, books: &Books) {
        for (_, log) in &mut self.each {
            log.wake(black_box(self.blind), change, books, &mut self.broken);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::log::blinding_tests::{RUNS, run_for};

    #[test]
    fn every_copy_of_a_rule_finds_what_the_rule_finds_if_it_looks_and_none_finds_anything_else() {
        for &(name, violating) in RUNS {
            let found = |look| {
                let mut run = run_for(name);
                run.rules.copy(name, 3, look).unwrap();
                assert_eq!(violating(&mut run).expect_err(name).rule, name);
                let copies = run.rules.copies.as_ref().expect("there are copies");
                copies.broken.iter().map(|violation| violation.rule).collect::<Vec<_>>()
            };
            assert_eq!(found(true), [name; 3]);
            assert!(found(false).is_empty(), "{name}");
        }
    }
}
