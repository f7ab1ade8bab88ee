//! What a log says, in memory: the same rules apply to a record when it is written and when it is read back.

use crate::entry::{Entry, HardState, Snapshot};
use std::borrow::Cow;
use std::collections::vec_deque::{self, VecDeque};

/// Which snapshot is in force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) index: u64,
    pub(crate) term: u64,
}

/// Everything one frame changes; it takes effect as a whole, in the order of the fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record<'a> {
    pub(crate) hard_state: Option<HardState>,
    pub(crate) quarantined: Option<bool>,
    /// A snapshot comes into force.
    pub(crate) mark: Option<Mark>,
    /// The log before the marked snapshot is given up, and begins behind it.
    pub(crate) restore: bool,
    pub(crate) suffix: Option<Suffix<'a>>,
}

/// Entries that replace whatever the log has from their first on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Suffix<'a> {
    /// Index of the first.
    pub(crate) first: u64,
    /// Term of the entry before it.
    pub(crate) previous_term: u64,
    pub(crate) entries: Cow<'a, [Entry]>,
}

/// Where a segment begins: what is in force before its first record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Beginning {
    pub(crate) segment: u64,
    pub(crate) hard_state: HardState,
    pub(crate) quarantined: bool,
    pub(crate) mark: Mark,
    /// The last entry of the log.
    pub(crate) last: Mark,
}

/// What the log says.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    pub(crate) hard_state: HardState,
    pub(crate) quarantined: bool,
    pub(crate) mark: Mark,
    pub(crate) snapshot: Option<Snapshot>,
    /// The entry before the first.
    pub(crate) base: Mark,
    pub(crate) entries: VecDeque<Entry>,
}

impl State {
    pub(crate) fn begin(&mut self, beginning: &Beginning) {
        let Beginning { segment: _, hard_state, quarantined, mark, last } = *beginning;
        *self = State { hard_state, quarantined, mark, base: last, ..State::default() };
    }

    #[inline]
    pub(crate) fn last_index(&self) -> u64 {
        self.base.index + self.entries.len() as u64
    }

    #[inline]
    pub(crate) fn entry(&self, index: u64) -> Option<&Entry> {
        self.entries.get(index.checked_sub(self.base.index + 1)? as usize)
    }

    /// The entries from `low` on and before `high` that are there.
    #[inline]
    pub(crate) fn entries(&self, low: u64, high: u64) -> vec_deque::Iter<'_, Entry> {
        let place = |index: u64| {
            let place = index.saturating_sub(self.base.index + 1);
            usize::try_from(place).unwrap_or(usize::MAX).min(self.entries.len())
        };
        let end = place(high);
        self.entries.range(place(low).min(end)..end)
    }

    /// Term of the entry at `index`, that before the first included.
    #[inline]
    pub(crate) fn term(&self, index: u64) -> Option<u64> {
        match index {
            _ if index == self.base.index => Some(self.base.term),
            _ if index == self.mark.index => Some(self.mark.term),
            _ => self.entry(index).map(|entry| entry.term),
        }
    }

    pub(crate) fn last(&self) -> Mark {
        let index = self.last_index();
        Mark { index, term: self.term(index).expect("the last entry or the one before the first is there") }
    }

    /// Whether `suffix` follows what is there.
    pub(crate) fn follows(&self, record: &Record<'_>) -> Result<(), (u64, u64)> {
        let Some(suffix) = &record.suffix else { return Ok(()) };
        let last = match (record.restore, record.mark) {
            (true, Some(mark)) => mark.index,
            _ => self.last_index(),
        };
        if suffix.first > last + 1 || suffix.first == 0 {
            return Err((last + 1, suffix.first));
        }
        let expected = suffix.first..;
        match suffix.entries.iter().zip(expected).find(|(entry, expected)| entry.index != *expected) {
            Some((entry, expected)) => Err((expected, entry.index)),
            None => Ok(()),
        }
    }

    /// Lets a record that [`State::follows`] take effect. With `keep_overwritten` entries that are replaced stay:
    /// that is a bug to plant.
    pub(crate) fn apply(&mut self, record: &Record<'_>, keep_overwritten: bool) {
        let Some(next) = self.make_room(record, keep_overwritten) else { return };
        let entries = record.suffix.iter().flat_map(|suffix| suffix.entries.iter());
        self.entries.extend(entries.filter(|entry| entry.index >= next).cloned());
    }

    /// As [`State::apply`], but entries that are the record's own are taken out of it.
    pub(crate) fn take_over(&mut self, record: &mut Record<'_>, keep_overwritten: bool) {
        match &mut record.suffix {
            Some(Suffix { entries: Cow::Owned(_), .. }) => {}
            _ => return self.apply(record, keep_overwritten),
        }
        let next = self.make_room(record, keep_overwritten);
        if let (Some(next), Some(Suffix { entries: Cow::Owned(entries), .. })) = (next, &mut record.suffix) {
            self.entries.extend(entries.drain(..).filter(|entry| entry.index >= next));
        }
    }

    /// Lets everything take effect but the entries that a record adds; says from which index on it adds some.
    fn make_room(&mut self, record: &Record<'_>, keep_overwritten: bool) -> Option<u64> {
        self.hard_state = record.hard_state.unwrap_or(self.hard_state);
        self.quarantined = record.quarantined.unwrap_or(self.quarantined);
        if let Some(mark) = record.mark {
            self.mark = mark;
            if record.restore {
                self.base = mark;
                self.entries.clear();
            }
        }
        let suffix = record.suffix.as_ref()?;
        if suffix.first <= self.base.index {
            self.base = Mark { index: suffix.first - 1, term: suffix.previous_term };
            self.entries.clear();
        } else if !keep_overwritten {
            self.entries.truncate((suffix.first - self.base.index - 1) as usize);
        }
        Some(self.last_index() + 1)
    }

    /// Forgets entries up to `index`.
    pub(crate) fn forget_to(&mut self, index: u64) {
        while self.base.index < index {
            let Some(first) = self.entries.pop_front() else { return };
            self.base = Mark { index: first.index, term: first.term };
        }
    }

    pub(crate) fn beginning(&self, segment: u64) -> Beginning {
        let State { hard_state, quarantined, mark, .. } = *self;
        Beginning { segment, hard_state, quarantined, mark, last: self.last() }
    }
}
