//! Log terms: the terms in a log never fall, and none is above the term of its node.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::chain::Linked;
use crate::change::Bits;
use whitewater_sim::Violation;

/// The terms in a log never fall, and none is above the term of its node.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LogTerms;

impl LogRule for LogTerms {
    const NAME: &'static str = "log-terms";
    const CLAIM: &'static str = "The terms in a log never fall, and none is above the term of its node.";
    const SOURCE: &'static str = "CCF's MonoLogInv";
    const WAKES_ON: Bits = Bits(Bits::LOG_APPENDED.0 | Bits::TERM.0);

    #[inline]
    fn observe(&mut self, change: &LogChange<'_>, books: &Books) -> Result<(), Violation> {
        let (node, log) = (change.node, &books.node(change.node).log);
        let mut previous = log.term_at(change.kept).unwrap_or(0);
        let (first_index, entries) = log.from(change.kept + 1);
        for (index, &Linked { term, .. }) in (first_index..).zip(entries) {
            if term < previous {
                let message = format!("{node} has entry {index} of term {term} after one of term {previous}");
                return Self::broken(node, None, message);
            }
            previous = term;
        }
        let (last, term) = (log.last().term, change.is.term);
        if last > term {
            let message = format!("{node} is in term {term} and its last entry is of term {last}");
            return Self::broken(node, None, message);
        }
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, Run, broken};
    use whitewater_sim::Role;

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        run.step(N1, |n| {
            n.enter(3, Role::Follower);
            n.append(&[2, 1]);
        })
    }

    #[test]
    fn a_term_that_falls_within_a_log_is_found() {
        assert_eq!(broken(violating), Some(LogTerms::NAME));
    }

    #[test]
    fn terms_that_stay_or_rise_are_lawful() {
        assert_eq!(
            broken(|run| {
                run.step(N1, |n| {
                    n.enter(3, Role::Follower);
                    n.append(&[1, 1, 3]);
                })
            }),
            None
        );
    }

    #[test]
    fn an_entry_of_a_term_that_its_node_has_not_reached_is_found() {
        assert_eq!(broken(|run| run.step(N1, |n| n.append(&[1]))), Some(LogTerms::NAME));
    }
}
