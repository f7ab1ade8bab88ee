//! The tail of the log that storage has not confirmed yet.

use crate::entry::{Entry, EntryId};
use crate::state::Snapshot;
use std::rc::Rc;

/// Entries and possibly a snapshot on their way to storage.
///
/// `offset` is the index of the first entry here; everything before it is stable. A part of the entries may be in
/// progress: handed to the owner, not yet confirmed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unstable {
    pub(crate) offset: u64,
    pub(crate) entries: Vec<Entry>,
    pub(crate) snapshot: Option<Rc<Snapshot>>,
    snapshot_in_progress: bool,
    /// Entries before this index are in progress.
    offset_in_progress: u64,
}

impl Unstable {
    pub(crate) fn new(offset: u64) -> Unstable {
        Unstable { offset, offset_in_progress: offset, ..Unstable::default() }
    }

    /// The index of the last entry of the whole log: storage holds everything below `offset`.
    #[inline]
    pub(crate) fn last_index(&self) -> u64 {
        self.offset + self.entries.len() as u64 - 1
    }

    /// The term at `index`, if it is known here.
    #[inline]
    pub(crate) fn term(&self, index: u64) -> Option<u64> {
        if index >= self.offset {
            return self.entries.get((index - self.offset) as usize).map(|entry| entry.term);
        }
        self.snapshot.as_ref().filter(|snapshot| snapshot.index == index).map(|snapshot| snapshot.term)
    }

    /// Entries that were not handed out yet.
    #[inline]
    pub(crate) fn next_entries(&self) -> &[Entry] {
        &self.entries[(self.offset_in_progress - self.offset) as usize..]
    }

    /// The snapshot, unless it was handed out.
    #[inline]
    pub(crate) fn next_snapshot(&self) -> Option<&Rc<Snapshot>> {
        self.snapshot.as_ref().filter(|_| !self.snapshot_in_progress)
    }

    /// Notes that everything here was handed out.
    #[inline]
    pub(crate) fn accept(&mut self) {
        if let Some(last) = self.entries.last() {
            self.offset_in_progress = last.index + 1;
        }
        self.snapshot_in_progress = self.snapshot.is_some();
    }

    /// Takes the confirmation that the log is stable up to `id`.
    ///
    /// Without effect if the entry was overwritten meanwhile: the confirmation is then about another entry that had the
    /// same index.
    #[inline]
    pub(crate) fn stable_to(&mut self, id: EntryId) {
        if id.index < self.offset || self.term(id.index) != Some(id.term) {
            return;
        }
        if id.index == self.last_index() {
            self.entries.clear();
        } else {
            self.entries.drain(..=(id.index - self.offset) as usize);
        }
        self.offset = id.index + 1;
        self.offset_in_progress = self.offset_in_progress.max(self.offset);
    }

    /// Takes the confirmation that the snapshot up to `index` is stable.
    pub(crate) fn stable_snapshot_to(&mut self, index: u64) {
        if self.snapshot.as_ref().is_some_and(|snapshot| snapshot.index == index) {
            self.snapshot = None;
            self.snapshot_in_progress = false;
        }
    }

    /// Starts over behind a snapshot.
    pub(crate) fn restore(&mut self, snapshot: Rc<Snapshot>) {
        self.offset = snapshot.index + 1;
        self.offset_in_progress = self.offset;
        self.entries.clear();
        self.snapshot = Some(snapshot);
        self.snapshot_in_progress = false;
    }

    /// Appends entries, and cuts off what was at or behind the index of the first.
    pub(crate) fn truncate_and_append(&mut self, entries: &[Entry]) {
        let Some(first) = entries.first() else { return };
        self.truncate_from(first.index);
        self.entries.extend_from_slice(entries);
    }

    /// As [`Unstable::truncate_and_append`], for one entry that nobody else needs any more.
    #[inline]
    pub(crate) fn truncate_and_push(&mut self, entry: Entry) {
        self.truncate_from(entry.index);
        self.entries.push(entry);
    }

    /// Cuts off everything from the index `first` on.
    #[inline]
    fn truncate_from(&mut self, first: u64) {
        assert!(first <= self.last_index() + 1, "an append left a gap in the log");
        if first <= self.offset {
            // The stable log is overwritten too, once the owner has stored these.
            self.entries.clear();
            self.offset = first;
            self.offset_in_progress = first;
        } else {
            self.entries.truncate((first - self.offset) as usize);
            self.offset_in_progress = self.offset_in_progress.min(first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(term: u64, index: u64) -> Entry {
        Entry { term, index, ..Entry::default() }
    }

    fn id(term: u64, index: u64) -> EntryId {
        EntryId { term, index }
    }

    fn unstable(entries: &[Entry]) -> Unstable {
        let mut unstable = Unstable::new(entries[0].index);
        unstable.truncate_and_append(entries);
        unstable
    }

    #[test]
    fn the_confirmation_of_an_overwritten_entry_changes_nothing() {
        let mut log = unstable(&[entry(1, 5), entry(1, 6)]);
        log.accept();
        log.truncate_and_append(&[entry(2, 5)]);
        log.stable_to(id(1, 5));
        assert_eq!((log.offset, log.entries.len()), (5, 1));
        log.stable_to(id(2, 5));
        assert_eq!((log.offset, log.entries.len()), (6, 0));
    }

    #[test]
    fn what_is_in_progress_is_not_handed_out_again_until_it_is_overwritten() {
        let mut log = unstable(&[entry(1, 5), entry(1, 6), entry(1, 7)]);
        log.accept();
        assert!(log.next_entries().is_empty());
        log.truncate_and_append(&[entry(1, 8)]);
        assert_eq!(log.next_entries(), [entry(1, 8)]);
        log.accept();
        log.truncate_and_append(&[entry(2, 6)]);
        assert_eq!(log.next_entries(), [entry(2, 6)]);
        assert_eq!(log.entries, [entry(1, 5), entry(2, 6)]);
        log.truncate_and_append(&[entry(3, 3)]);
        assert_eq!((log.offset, log.next_entries()), (3, &[entry(3, 3)][..]));
    }

    #[test]
    fn a_snapshot_replaces_every_entry() {
        let mut log = unstable(&[entry(1, 5)]);
        log.restore(Rc::new(Snapshot { index: 9, term: 2, ..Snapshot::default() }));
        assert_eq!((log.last_index(), log.term(9), log.term(5)), (9, Some(2), None));
        assert!(log.next_snapshot().is_some());
        log.accept();
        assert!(log.next_snapshot().is_none());
        log.stable_to(id(2, 9));
        assert!(log.snapshot.is_some(), "a snapshot is confirmed as such, not as an entry");
        log.stable_snapshot_to(8);
        assert!(log.snapshot.is_some());
        log.stable_snapshot_to(9);
        assert!(log.snapshot.is_none());
    }
}
