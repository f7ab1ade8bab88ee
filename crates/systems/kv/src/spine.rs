//! The spine of a log: term and chain hash of every entry, durable or not, so that equal prefixes are told in one
//! comparison.

use crate::machine::mix;
use crate::proposal::entry_word;
use whitewater_check::{ChainLog, Linked};
use whitewater_raft::{Entry, EntryKind};

/// Terms and chain hashes, by index, from the last snapshot or compaction on.
#[derive(Clone, Debug)]
pub(crate) struct Spine {
    log: ChainLog,
    /// Indexes of the entries that change the membership, in order.
    changes: Vec<u64>,
}

impl Spine {
    /// A spine without entries behind that position.
    pub(crate) fn behind(index: u64, term: u64, chain: u64) -> Spine {
        Spine { log: ChainLog::starting_after(index, Linked { term, chain }), changes: Vec::new() }
    }

    /// Forgets everything before an index, but keeps what stands there.
    pub(crate) fn compact(&mut self, index: u64) {
        self.log.compact(index);
        self.changes.retain(|&change| change > index);
    }

    /// Indexes of the entries that change the membership, in order.
    #[inline]
    pub(crate) fn changes(&self) -> &[u64] {
        &self.changes
    }

    fn truncate(&mut self, last: u64) {
        self.log.truncate(last);
        while self.changes.last().is_some_and(|&change| change > last) {
            self.changes.pop();
        }
    }

    /// Index before the first entry.
    #[inline]
    pub(crate) fn base(&self) -> u64 {
        self.log.base()
    }

    /// Index of the last entry; the base if there is none.
    #[inline]
    pub(crate) fn last(&self) -> u64 {
        self.log.last_index()
    }

    /// Term of an entry, from the base on.
    #[inline]
    pub(crate) fn term_at(&self, index: u64) -> Option<u64> {
        self.log.term_at(index)
    }

    /// A hash over all entries up to an index, from the base on.
    #[inline]
    pub(crate) fn chain_at(&self, index: u64) -> Option<u64> {
        self.log.chain_at(index)
    }

    /// Both of these.
    #[inline]
    pub(crate) fn at(&self, index: u64) -> Option<Linked> {
        self.log.at(index)
    }

    /// Follows the unstable tail of a core: entries that are there already cost a comparison of the last. Gives the lowest
    /// index at which anything was written or cut off.
    #[inline]
    pub(crate) fn follow(&mut self, tail: &[Entry]) -> Option<u64> {
        let last = tail.last()?;
        if self.last() == last.index && self.term_at(last.index) == Some(last.term) {
            // The tail grows at its end or is replaced from some index on, with entries of a higher term.
            return None;
        }
        let known = |entry: &Entry| self.term_at(entry.index) == Some(entry.term);
        // New entries are few and stand at the end.
        let mut fresh = tail.len();
        while fresh > 0 && !known(&tail[fresh - 1]) {
            fresh -= 1;
        }
        if fresh == tail.len() {
            // The tail is a prefix of what was here.
            self.truncate(last.index);
            return Some(last.index + 1);
        }
        tail[fresh..].iter().for_each(|entry| self.write(entry));
        Some(tail[fresh].index)
    }

    /// Takes over entries that follow what is here or replace it, unless what is here is newer.
    pub(crate) fn take_over(&mut self, entries: &[Entry]) {
        let base = self.log.base();
        for entry in entries.iter().filter(|entry| entry.index > base) {
            let here = self.term_at(entry.index.min(self.last()));
            if entry.index > self.last() + 1 || here.is_none_or(|here| here > entry.term) {
                return;
            }
            if self.term_at(entry.index) != Some(entry.term) {
                self.write(entry);
            }
        }
    }

    /// Adds an entry, cutting off what was there and behind it.
    pub(crate) fn write(&mut self, entry: &Entry) {
        let before = entry.index - 1;
        assert!(before <= self.last(), "entries leave a gap in the log");
        self.truncate(before);
        if entry.kind != EntryKind::Normal {
            self.changes.push(entry.index);
        }
        let content = mix(entry.term << 2 | entry.kind as u64, entry_word(entry));
        let chain = mix(self.log.last().chain, content);
        self.log.push(Linked { term: entry.term, chain });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(entries: &[Entry]) -> Spine {
        let mut spine = Spine::behind(0, 0, 0);
        entries.iter().for_each(|entry| spine.write(entry));
        spine
    }

    fn entry(term: u64, index: u64) -> Entry {
        Entry { term, index, ..Entry::proposal(EntryKind::Normal, format!("{term}/{index} data")) }
    }

    #[test]
    fn equal_entries_have_equal_chains_whenever_they_came() {
        let entries: Vec<Entry> = (1..=5).map(|index| entry(1, index)).collect();
        let whole = of(&entries);
        let mut grown = Spine::behind(0, 0, 0);
        for end in 1..=5 {
            grown.follow(&entries[..end]);
        }
        assert_eq!(whole.chain_at(5), grown.chain_at(5));
    }

    #[test]
    fn entries_of_a_higher_term_replace_what_stood_there() {
        let mut spine = of(&[entry(1, 1), entry(1, 2), entry(1, 3)]);
        let before = spine.chain_at(2);
        assert_eq!(spine.follow(&[entry(2, 2)]), Some(2));
        assert_eq!((spine.last(), spine.term_at(2), spine.term_at(3)), (2, Some(2), None));
        assert_ne!(spine.chain_at(2), before);
        assert_eq!(spine.follow(&[entry(2, 2)]), None);
    }

    #[test]
    fn what_was_stored_late_is_taken_over_unless_newer_entries_are_shown() {
        let mut spine = of(&[entry(1, 1), entry(2, 2)]);
        spine.take_over(&[entry(1, 2), entry(1, 3)]);
        assert_eq!((spine.last(), spine.term_at(2)), (2, Some(2)));
        spine.take_over(&[entry(2, 2), entry(2, 3)]);
        assert_eq!((spine.last(), spine.term_at(3)), (3, Some(2)));
        spine.take_over(&[entry(3, 3)]);
        assert_eq!((spine.last(), spine.term_at(3)), (3, Some(3)));
        spine.take_over(&[entry(3, 5)]);
        assert_eq!(spine.last(), 3);
    }

    #[test]
    fn a_tail_that_was_cut_takes_what_stood_behind_it_away() {
        let mut spine = of(&[entry(1, 1), entry(1, 2), entry(1, 3)]);
        assert_eq!(spine.follow(&[entry(1, 2)]), Some(3));
        assert_eq!(spine.last(), 2);
    }

    #[test]
    fn changes_of_the_membership_are_known_until_they_are_cut_off_or_given_up() {
        let mut spine = of(&[entry(1, 1)]);
        for index in [2, 4] {
            spine.write(&Entry { kind: EntryKind::ConfChangeV2, ..entry(1, index) });
            spine.write(&entry(1, index + 1));
        }
        assert_eq!(spine.changes(), [2, 4]);
        spine.compact(2);
        assert_eq!(spine.changes(), [4]);
        spine.follow(&[entry(2, 4)]);
        assert_eq!(spine.changes(), []);
    }

    #[test]
    fn a_spine_behind_a_snapshot_goes_on_with_its_chain() {
        let entries: Vec<Entry> = (1..=5).map(|index| entry(1, index)).collect();
        let whole = of(&entries);
        let mut behind = Spine::behind(3, 1, whole.chain_at(3).unwrap());
        behind.follow(&entries[3..]);
        assert_eq!((behind.chain_at(5), behind.base()), (whole.chain_at(5), 3));
        assert_eq!(behind.chain_at(2), None);
    }

    #[test]
    fn a_difference_anywhere_shows_in_every_later_chain() {
        let mut other = entry(1, 1);
        other.data = "else".into();
        let (one, two) = (of(&[entry(1, 1), entry(1, 2)]), of(&[other, entry(1, 2)]));
        assert_ne!(one.chain_at(2), two.chain_at(2));
    }
}
