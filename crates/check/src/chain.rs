//! Chain hashes of a log, kept as it grows and is cut: "same prefix" is one comparison.

use whitewater_sim::Digester;

/// Term and chain hash of one entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Linked {
    /// The entry's term.
    pub term: u64,
    /// Hash over all entries up to this one.
    pub chain: u64,
}

/// The chain hash after an entry that follows a prefix with hash `before`. `payload` is a hash of the entry's content.
#[inline]
pub fn link(before: u64, term: u64, payload: u64) -> u64 {
    let mut digester = Digester::default();
    digester.word(before);
    digester.word(term);
    digester.word(payload);
    digester.short()
}

/// Entries that are worth taking out at once.
const COMPACTION_MIN: usize = 128;

/// Terms and chain hashes of a log from some index on. The log starts empty, with index 0 and chain hash 0 before it.
#[derive(Clone, Debug, Default)]
pub struct ChainLog {
    /// Index of `entries[dropped]`, and what it holds is the entry before the first.
    base: u64,
    /// Entries in front of the base that were compacted and not yet taken out.
    dropped: usize,
    entries: Vec<Linked>,
}

impl ChainLog {
    /// An empty log.
    pub fn new() -> ChainLog {
        ChainLog::starting_after(0, Linked::default())
    }

    /// A log without entries after `base`, as a snapshot leaves it.
    pub fn starting_after(base: u64, linked: Linked) -> ChainLog {
        let mut log = ChainLog::default();
        log.restart(base, linked);
        log
    }

    /// Forgets everything and starts after `base`.
    pub fn restart(&mut self, base: u64, linked: Linked) {
        self.entries.clear();
        self.entries.push(linked);
        (self.base, self.dropped) = (base, 0);
    }

    /// Index before the first entry.
    #[inline]
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Index of the last entry; the base if there is none.
    #[inline]
    pub fn last_index(&self) -> u64 {
        self.base + (self.entries.len() - self.dropped) as u64 - 1
    }

    /// Term and chain hash of the last entry or the base.
    #[inline]
    pub fn last(&self) -> Linked {
        self.entries[self.entries.len() - 1]
    }

    /// Term and chain hash at `index`, unless it lies before the base or beyond the end.
    #[inline]
    pub fn at(&self, index: u64) -> Option<Linked> {
        let offset = index.checked_sub(self.base)? as usize;
        self.entries.get(self.dropped + offset).copied()
    }

    /// What stands from `index` on, or from the base if that lies behind it, and the index of the first of it.
    #[inline]
    pub fn from(&self, index: u64) -> (u64, &[Linked]) {
        let first = index.max(self.base);
        let offset = self.dropped + (first - self.base) as usize;
        (first, self.entries.get(offset..).unwrap_or_default())
    }

    /// Term at `index`, as [`crate::LogView::term_at`] wants it.
    #[inline]
    pub fn term_at(&self, index: u64) -> Option<u64> {
        self.at(index).map(|linked| linked.term)
    }

    /// Chain hash at `index`, as [`crate::LogView::chain_at`] wants it.
    #[inline]
    pub fn chain_at(&self, index: u64) -> Option<u64> {
        self.at(index).map(|linked| linked.chain)
    }

    /// Adds an entry at `index`, cutting off what was there and beyond. `payload` is a hash of its content.
    /// Panics if the entry leaves a gap or lies before the base.
    pub fn append(&mut self, index: u64, term: u64, payload: u64) {
        assert!(index > self.base && index <= self.last_index() + 1, "entry {index} leaves a gap in a log");
        self.truncate(index - 1);
        let chain = link(self.last().chain, term, payload);
        self.push(Linked { term, chain });
    }

    /// Adds an entry whose chain hash is known.
    #[inline]
    pub fn push(&mut self, linked: Linked) {
        self.entries.push(linked);
    }

    /// Adds entries whose chain hashes are known.
    #[inline]
    pub(crate) fn extend(&mut self, linked: &[Linked]) {
        self.entries.extend_from_slice(linked);
    }

    /// Cuts off everything after `last`. Panics if that lies before the base.
    #[inline]
    pub fn truncate(&mut self, last: u64) {
        assert!(last >= self.base, "a log is not cut before its start");
        self.entries.truncate(self.dropped + (last - self.base) as usize + 1);
    }

    /// Forgets everything before `base`, but keeps what stands there. Amortised constant per entry. Does nothing if it
    /// is forgotten already; panics beyond the end.
    pub fn compact(&mut self, base: u64) {
        let Some(gone) = base.checked_sub(self.base) else { return };
        assert!(base <= self.last_index(), "a log is not compacted beyond its end");
        self.dropped += gone as usize;
        self.base = base;
        if self.dropped > COMPACTION_MIN && self.dropped > self.entries.len() / 2 {
            self.entries.drain(..self.dropped);
            self.dropped = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(terms: &[u64]) -> ChainLog {
        let mut log = ChainLog::new();
        terms.iter().zip(1..).for_each(|(&term, index)| log.append(index, term, index * 7));
        log
    }

    #[test]
    fn equal_prefixes_have_equal_hashes_and_others_differ_from_the_first_difference_on() {
        let (a, b) = (log(&[1, 1, 2, 2]), log(&[1, 1, 3, 3]));
        for index in 0..=4 {
            assert_eq!(a.chain_at(index) == b.chain_at(index), index <= 2, "{index}");
        }
        let mut other = log(&[1]);
        other.append(2, 1, 99);
        assert_ne!(other.chain_at(2), a.chain_at(2));
    }

    #[test]
    fn an_entry_written_over_cuts_off_what_came_after() {
        let mut log = log(&[1, 1, 2, 2]);
        log.append(3, 3, 0);
        assert_eq!((log.last_index(), log.last().term), (3, 3));
        assert_eq!(log.chain_at(4), None);
    }

    #[test]
    fn compaction_keeps_the_entry_before_the_first_and_all_that_follow() {
        let last = 3 * COMPACTION_MIN as u64;
        let whole = log(&vec![1; last as usize]);
        for base in 0..=last {
            let mut log = whole.clone();
            log.compact(base / 2);
            log.compact(base);
            log.compact(0);
            assert_eq!((log.base(), log.last_index()), (base, last));
            for index in [0, base.saturating_sub(1), base, base + 1, last - 1, last, last + 1] {
                let kept = whole.at(index).filter(|_| index >= base);
                assert_eq!(log.at(index), kept, "{index} after {base}");
                let (first, rest) = log.from(index);
                let expected: Vec<_> = (first..=last).filter_map(|index| whole.at(index)).collect();
                assert_eq!((first, rest), (index.max(base), &expected[..]));
            }
            log.append(last + 1, 9, 6);
            assert_eq!(log.term_at(last + 1), Some(9));
            log.truncate(base);
            assert_eq!(log.last(), whole.at(base).unwrap());
        }
    }

    #[test]
    fn a_log_after_a_snapshot_goes_on_with_the_hash_of_the_prefix() {
        let whole = log(&[1, 1, 2, 2, 2]);
        let mut rest = ChainLog::starting_after(3, whole.at(3).unwrap());
        rest.append(4, 2, 28);
        rest.append(5, 2, 35);
        assert_eq!(rest.at(5), whole.at(5));
        assert_eq!(rest.term_at(2), None);
    }
}
