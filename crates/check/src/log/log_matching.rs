//! Log matching: two entries with one index and one term stand after the same prefix, in any two logs of the run.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::chain::Linked;
use crate::change::Bits;
use std::collections::BTreeMap;
use whitewater_sim::Violation;

/// Logs that have an entry of the same index and term are equal up to it.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogMatching {
    /// Index of the first of `firsts`.
    start: u64,
    /// For each index the entry that anybody had there first.
    firsts: Vec<Linked>,
    /// Chain hashes of entries of other terms, by index and term.
    others: BTreeMap<(u64, u64), u64>,
}

impl LogRule for LogMatching {
    const NAME: &'static str = "log-matching";
    const CLAIM: &'static str = "Logs that have an entry of the same index and term are equal up to it.";
    const SOURCE: &'static str = "Ongaro's thesis, figure 3.2; etcd's and CCF's LogMatchingInv";
    const WAKES_ON: Bits = Bits::LOG_APPENDED;

    #[inline]
    fn observe(&mut self, change: &LogChange<'_>, books: &Books) -> Result<(), Violation> {
        let node = change.node;
        let (first_index, entries) = books.node(node).log.from(change.kept + 1);
        if self.knows(first_index, entries) {
            return Ok(());
        }
        for (index, &linked) in (first_index..).zip(entries) {
            let first = self.first(index, linked);
            if first.chain != linked.chain {
                let message = format!(
                    "{node} has an entry {index} of term {} that differs from another of the same index and term, \
                     itself or in what comes before it",
                    linked.term
                );
                return Self::broken(node, None, message);
            }
        }
        Ok(())
    }
}

impl LogMatching {
    /// Whether these entries were seen first, as they are in most steps; those that nobody has seen yet are remembered.
    #[inline]
    fn knows(&mut self, first_index: u64, entries: &[Linked]) -> bool {
        let Some(offset) = first_index.checked_sub(self.start).map(|offset| offset as usize) else {
            return false;
        };
        if offset == self.firsts.len() && !self.firsts.is_empty() {
            self.firsts.extend_from_slice(entries);
            return true;
        }
        self.firsts.get(offset..offset + entries.len()).is_some_and(|known| known == entries)
    }

    /// The first entry seen with this index and term: `linked` itself if it is new.
    #[inline]
    fn first(&mut self, index: u64, linked: Linked) -> Linked {
        if self.firsts.is_empty() {
            self.start = index;
        }
        let known = index.checked_sub(self.start).map(|offset| offset as usize);
        match known.and_then(|offset| self.firsts.get(offset)) {
            Some(first) if first.term == linked.term => *first,
            None if known == Some(self.firsts.len()) => {
                self.firsts.push(linked);
                linked
            }
            // Another term, or an index outside what was seen without a gap.
            _ => {
                let chain = *self.others.entry((index, linked.term)).or_insert(linked.chain);
                Linked { chain, ..linked }
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, N2, N3, Run, broken};
    use whitewater_sim::Role;

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        run.step(N1, |n| {
            n.enter(2, Role::Follower);
            n.append(&[1, 2]);
        })?;
        run.step(N2, |n| {
            n.enter(2, Role::Follower);
            n.log.append(1, 1, 99);
        })
    }

    #[test]
    fn two_entries_of_one_index_and_term_that_differ_are_found() {
        assert_eq!(broken(violating), Some(LogMatching::NAME));
    }

    #[test]
    fn equal_entries_and_entries_of_other_terms_are_lawful() {
        assert_eq!(
            broken(|run| {
                run.step(N1, |n| {
                    n.enter(2, Role::Follower);
                    n.append(&[1, 2]);
                })?;
                run.step(N2, |n| {
                    n.enter(3, Role::Follower);
                    n.append(&[1, 3]);
                })?;
                run.step(N3, |n| {
                    n.enter(3, Role::Follower);
                    n.append(&[1, 3]);
                })
            }),
            None
        );
    }

    #[test]
    fn equal_entries_after_different_prefixes_are_found() {
        let after = |terms: &'static [u64]| {
            move |run: &mut Run| {
                run.step(N1, |n| {
                    n.enter(3, Role::Follower);
                    n.append(&[1, 3]);
                })?;
                run.step(N2, |n| {
                    n.enter(3, Role::Follower);
                    n.append(terms);
                })
            }
        };
        assert_eq!(broken(after(&[2, 3])), Some(LogMatching::NAME));
        assert_eq!(broken(after(&[2, 2])), None);
    }
}
