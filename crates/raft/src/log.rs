//! The log as the core sees it: stable storage, the unstable tail, and how far it is committed and applied.

use crate::bug::{Planted, planted};
use crate::entry::{Entries, Entry, EntryId, encoded_size_bytes, fitting};
use crate::error::{StepError, StorageError};
use crate::state::Snapshot;
use crate::storage::Storage;
use crate::unstable::Unstable;
use std::cell::Cell;
use std::rc::Rc;

/// The log of one node.
///
/// `applied <= applying <= committed <= last index` holds at all times.
#[derive(Debug)]
pub(crate) struct Log<S> {
    pub(crate) storage: S,
    pub(crate) unstable: Unstable,
    /// The largest index known to be on a quorum.
    pub(crate) committed: u64,
    /// The largest index handed to the application.
    pub(crate) applying: u64,
    /// The largest index the application confirmed.
    pub(crate) applied: u64,
    /// How many bytes of entries the application may hold unconfirmed.
    applying_size_max_bytes: u64,
    applying_size_bytes: u64,
    applying_paused: bool,
    /// Reading committed entries failed: nothing to hand out until the next input.
    pub(crate) reading_failed: bool,
    /// The last answer of the storage, used while it cannot answer.
    first_index: Cell<u64>,
    /// Entries on their way from storage into a message.
    scratch: Vec<Entry>,
    pub(crate) planted: Planted,
}

impl<S: Storage> Log<S> {
    pub(crate) fn new(storage: S, applying_size_max_bytes: u64) -> Result<Log<S>, StorageError> {
        let first_index = storage.first_index()?;
        let last_index = storage.last_index()?;
        assert!(first_index >= 1, "a storage starts at index 1 or later");
        assert!(first_index <= last_index + 1, "a storage ends where it starts or later");
        let start = first_index - 1;
        Ok(Log {
            storage,
            unstable: Unstable::new(last_index + 1),
            committed: start,
            applying: start,
            applied: start,
            applying_size_max_bytes,
            applying_size_bytes: 0,
            applying_paused: false,
            reading_failed: false,
            first_index: Cell::new(first_index),
            scratch: Vec::new(),
            planted: Planted::default(),
        })
    }

    pub(crate) fn first_index(&self) -> u64 {
        if let Some(snapshot) = &self.unstable.snapshot {
            return snapshot.index + 1;
        }
        if let Ok(index) = self.storage.first_index() {
            self.first_index.set(index);
        }
        self.first_index.get()
    }

    pub(crate) fn last_index(&self) -> u64 {
        self.unstable.last_index()
    }

    /// The position of the last entry. Term 0 if the storage cannot say: such a node wins no election.
    pub(crate) fn last_id(&self) -> EntryId {
        let index = self.last_index();
        EntryId { term: self.term(index).unwrap_or(0), index }
    }

    /// The term of the entry at `index`.
    pub(crate) fn term(&self, index: u64) -> Result<u64, StorageError> {
        // The tail knows most of what is asked for, without a word to the storage.
        if let Some(term) = self.unstable.term(index) {
            return Ok(term);
        }
        if index > self.last_index() {
            return Err(StorageError::Unavailable);
        }
        if index + 1 < self.first_index() {
            return Err(StorageError::Compacted);
        }
        self.storage.term(index)
    }

    pub(crate) fn matches(&self, id: EntryId) -> bool {
        self.term(id.index) == Ok(id.term)
    }

    /// Whether a log that ends at `theirs` is at least as recent as this one (Raft paper, section 5.4.1).
    pub(crate) fn is_up_to_date(&self, theirs: EntryId) -> bool {
        let ours = self.last_id();
        if planted!(self.planted, E09) {
            return theirs.index >= ours.index;
        }
        if planted!(self.planted, E11) {
            return theirs.term >= ours.term && theirs.index >= ours.index;
        }
        (theirs.term, theirs.index) >= (ours.term, ours.index)
    }

    /// Whether the entry at `index` belongs to `term`: cheap enough to guard every commit.
    pub(crate) fn maybe_commit(&mut self, index: u64, term: u64) -> bool {
        // A leader commits by counting only entries of its own term (Raft paper, section 5.4.2).
        let is_own = |log: &Self| log.matches(EntryId { term, index }) || planted!(log.planted, Figure8);
        if index > self.committed && is_own(self) {
            self.committed = index;
            return true;
        }
        false
    }

    /// Entries up to this one are durable, unless others have replaced them.
    pub(crate) fn entries_stored(&mut self, last: EntryId) {
        let mut last = last;
        if planted!(self.planted, R25) {
            last.term = self.unstable.term(last.index).unwrap_or(last.term);
        }
        self.unstable.stable_to(last);
    }

    /// Raises the commit index, never lowers it.
    pub(crate) fn commit_to(&mut self, commit: u64) -> Result<(), StepError> {
        if commit > self.committed {
            let last_index = self.last_index();
            if commit > last_index {
                return Err(StepError::CommitBeyondLog { commit, last_index });
            }
            self.committed = commit;
        }
        Ok(())
    }

    /// Writes entries behind, or over, what is not committed.
    pub(crate) fn append(&mut self, entries: Entries) {
        assert!(entries.first().is_none_or(|first| first.index > self.committed));
        match entries {
            Entries::One(entry) => self.unstable.truncate_and_push(entry),
            several => self.unstable.truncate_and_append(&several),
        }
    }

    /// Appends what a leader sent behind `previous`; `Ok(None)` if `previous` is not in this log.
    ///
    /// The result is the index up to which the log now equals the leader's.
    pub(crate) fn maybe_append(
        &mut self,
        previous: EntryId,
        entries: Entries,
        commit: u64,
    ) -> Result<Option<u64>, StepError> {
        let blind = planted!(self.planted, R07) && previous.index <= self.last_index();
        if !self.matches(previous) && !blind {
            return Ok(None);
        }
        let last_new = previous.index + entries.len() as u64;
        let conflict = if previous.index == self.last_index() {
            0
        } else {
            entries.iter().take_while(|entry| self.matches(entry.id())).count()
        };
        if let Some(entry) = entries.get(conflict) {
            if entry.index <= self.committed {
                return Err(StepError::ConflictsWithCommitted {
                    index: entry.index,
                    committed: self.committed,
                });
            }
            if conflict == 0 {
                self.append(entries);
            } else {
                self.unstable.truncate_and_append(&entries[conflict..]);
            }
        } else if planted!(self.planted, R06)
            && last_new < self.last_index()
            && previous.index >= self.committed
        {
            self.append(entries);
        }
        // What stands behind it may be none of the leader's.
        let known = if planted!(self.planted, WRaft118) { self.last_index() } else { last_new };
        self.commit_to(commit.min(known))?;
        Ok(Some(last_new))
    }

    /// The largest position at or before `index` whose term is at most `term`: the logs may agree there.
    ///
    /// Term 0 in the result means that the term at this position is not known.
    pub(crate) fn find_conflict_by_term(&self, mut index: u64, term: u64) -> EntryId {
        while index > 0 {
            match self.term(index) {
                Ok(ours) if ours <= term => return EntryId { term: ours, index },
                Ok(_) => index -= 1,
                Err(_) => return EntryId { term: 0, index },
            }
        }
        EntryId::default()
    }

    /// The entries from `low` on, within `size_max_bytes` but at least one; none beyond the end.
    pub(crate) fn entries_from(&mut self, low: u64, size_max_bytes: u64) -> Result<Entries, StorageError> {
        let high = self.last_index() + 1;
        if low >= high {
            return Ok(Entries::Empty);
        }
        if low >= self.unstable.offset {
            let tail = &self.unstable.entries[(low - self.unstable.offset) as usize..];
            return Ok(Entries::from_slice(&tail[..fitting(tail, size_max_bytes)]));
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        let read = self.slice_into(low, high, size_max_bytes, &mut scratch);
        let entries = read.map(|()| Entries::take_from(&mut scratch));
        scratch.clear();
        self.scratch = scratch;
        entries
    }

    /// Appends the entries `[low, high)` to `into`, within `size_max_bytes` but at least one.
    pub(crate) fn slice_into(
        &self,
        low: u64,
        high: u64,
        size_max_bytes: u64,
        into: &mut Vec<Entry>,
    ) -> Result<(), StorageError> {
        assert!(low <= high && high <= self.last_index() + 1);
        if low < self.first_index() {
            return Err(StorageError::Compacted);
        }
        let offset = self.unstable.offset;
        let start = into.len();
        if low < offset {
            let cut = high.min(offset);
            self.storage.entries(low, cut, size_max_bytes, into)?;
            let read = &into[start..];
            assert!(read.first().is_some_and(|entry| entry.index == low), "a storage returned other entries");
            // Fewer than asked for: the limit is reached, and the next entry is not ours to add.
            if (read.len() as u64) < cut - low {
                return Ok(());
            }
        }
        if high > offset {
            let used = encoded_size_bytes(&into[start..]);
            let from = low.max(offset);
            let tail = &self.unstable.entries[(from - offset) as usize..(high - offset) as usize];
            let count = fitting(tail, size_max_bytes.saturating_sub(used));
            // `fitting` lets one entry pass whatever its size; behind others it has to respect the limit.
            let first_fits = into.len() == start
                || tail.first().is_some_and(|entry| used + entry.encoded_size_bytes() <= size_max_bytes);
            if first_fits {
                into.extend_from_slice(&tail[..count]);
            }
        }
        Ok(())
    }

    /// The largest index that may be handed to the application.
    fn appliable_index(&self, allow_unstable: bool) -> u64 {
        if allow_unstable { self.committed } else { self.committed.min(self.unstable.offset - 1) }
    }

    /// Whether there are committed entries to hand out.
    pub(crate) fn has_next_committed(&self, allow_unstable: bool) -> bool {
        !self.applying_paused
            && !self.reading_failed
            // Entries behind a snapshot make no sense before the snapshot.
            && self.unstable.snapshot.is_none()
            && self.applying < self.appliable_index(allow_unstable)
    }

    /// Reads the next committed entries for the application.
    pub(crate) fn next_committed_into(&mut self, allow_unstable: bool, into: &mut Vec<Entry>) {
        if !self.has_next_committed(allow_unstable) {
            return;
        }
        let high = self.appliable_index(allow_unstable) + 1;
        let size_max_bytes = self.applying_size_max_bytes.saturating_sub(self.applying_size_bytes);
        self.reading_failed = self.slice_into(self.applying + 1, high, size_max_bytes, into).is_err();
    }

    /// Notes that entries up to `index`, of this encoded size, were handed to the application.
    pub(crate) fn accept_applying(&mut self, index: u64, size_bytes: u64, allow_unstable: bool) {
        assert!(index <= self.committed, "entries were handed out that are not committed");
        self.applying = index;
        self.applying_size_bytes += size_bytes;
        // Paused when the limit is reached, or when the entries end early because the next one would pass it.
        self.applying_paused = self.applying_size_bytes >= self.applying_size_max_bytes
            || index < self.appliable_index(allow_unstable);
    }

    /// Takes the confirmation that entries up to `index`, of this encoded size, were applied.
    pub(crate) fn applied_to(&mut self, index: u64, size_bytes: u64) -> Result<(), StepError> {
        let index = index.max(self.applied);
        if index > self.committed {
            return Err(StepError::AppliedBeyondCommit { applied: index, committed: self.committed });
        }
        self.applied = index;
        self.applying = self.applying.max(index);
        self.applying_size_bytes = self.applying_size_bytes.saturating_sub(size_bytes);
        self.applying_paused = self.applying_size_bytes >= self.applying_size_max_bytes;
        Ok(())
    }

    /// Whether a configuration change is committed and not applied. True if the storage cannot say.
    pub(crate) fn has_unapplied_conf_change(&mut self) -> bool {
        let mut page = std::mem::take(&mut self.scratch);
        let mut low = self.applied + 1;
        let mut found = false;
        while low <= self.committed && !found {
            page.clear();
            let read = self.slice_into(low, self.committed + 1, self.applying_size_max_bytes, &mut page);
            found = read.is_err()
                || page.is_empty()
                || page.iter().any(|entry| entry.kind != crate::entry::EntryKind::Normal);
            low += page.len() as u64;
        }
        page.clear();
        self.scratch = page;
        found
    }

    /// Replaces the whole log by a snapshot.
    pub(crate) fn restore(&mut self, snapshot: Rc<Snapshot>) {
        assert!(snapshot.index > self.committed);
        self.committed = snapshot.index;
        self.unstable.restore(snapshot);
    }
}
