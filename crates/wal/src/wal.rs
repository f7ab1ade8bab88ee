//! The log while it is in use: appends, syncs, segments, compaction.

use crate::bug::Bug;
use crate::entry::{Entry, HardState, Snapshot};
use crate::error::WalError;
use crate::format::{put_beginning, put_record, segment_name};
use crate::saving::Saving;
use crate::state::{Beginning, Mark, Record, State, Suffix};
use std::borrow::Cow;
use std::collections::VecDeque;
use whitewater_sim::{Disk, DiskError, FileId, Sync, Ticket};

/// How a log is kept.
#[derive(Clone, Debug)]
pub struct Options {
    segment_bytes: usize,
    bug: Option<Bug>,
}

/// When data is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "what is not durable must not be promised to anybody"]
pub enum Durability {
    /// It is.
    Now,
    /// When this ticket comes back and [`Wal::synced`] has been told.
    After(Ticket),
}

/// What the return of a ticket means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a snapshot may go on with another ticket"]
pub enum Synced {
    /// What waited for the ticket is durable, and everything written to the log before.
    Done,
    /// It was one step of storing a snapshot; what waited for this ticket now waits for that.
    Next(Durability),
    /// The ticket is not one of this log.
    Unknown,
}

/// A file of frames.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub(crate) number: u64,
    pub(crate) file: FileId,
    /// Highest index of an entry in it that is still meant.
    pub(crate) highest: u64,
    /// Number of its first frame, 0 if it was found on the disk.
    pub(crate) begins: u64,
}

/// A sync of the newest segment under way.
#[derive(Clone, Copy, Debug)]
struct PendingSync {
    ticket: Ticket,
    /// The newest frame it covers.
    covers: u64,
}

/// A file to remove as soon as a frame is durable.
#[derive(Clone, Debug)]
pub(crate) struct Garbage {
    pub(crate) name: String,
    pub(crate) after: u64,
}

/// What recovery has put right in memory. The next write puts it into a new segment, together with what it was
/// made for; until then it stays as it was found, so that a crash in between changes nothing.
#[derive(Clone, Debug)]
pub(crate) struct Resume {
    /// What was in force before the first frame that was put right.
    pub(crate) beginning: Beginning,
    /// Checksum and number of the frame before.
    pub(crate) chain: u64,
    pub(crate) written: u64,
    /// What has come since.
    pub(crate) records: Vec<Record<'static>>,
}

/// A write-ahead log with a snapshot, on one disk.
#[derive(Clone, Debug)]
pub struct Wal {
    options: Options,
    pub(crate) state: State,
    /// Oldest first; the newest is written to.
    pub(crate) segments: VecDeque<Segment>,
    /// Whether the next frame begins a new segment.
    pub(crate) closed: bool,
    pub(crate) next_segment: u64,
    /// Number of the newest frame.
    pub(crate) written: u64,
    /// Number of the newest frame that is durable.
    pub(crate) durable: u64,
    /// Number of the frame that brought the snapshot into force.
    pub(crate) marked: u64,
    /// Checksum of the newest frame.
    pub(crate) chain: u64,
    syncs: VecDeque<PendingSync>,
    pub(crate) saving: Option<Saving>,
    pub(crate) garbage: Vec<Garbage>,
    pub(crate) resume: Option<Resume>,
    poisoned: bool,
    /// Whether what was recovered is being synced.
    pub(crate) opening: bool,
    buffer: Vec<u8>,
}

impl Default for Options {
    fn default() -> Options {
        Options::new(64 * 1024)
    }
}

impl Options {
    /// A segment is closed as soon as it has `segment_bytes` and everything in it is durable.
    pub fn new(segment_bytes: usize) -> Options {
        Options { segment_bytes, bug: None }
    }

    /// Plants a bug.
    #[cfg(feature = "mutants")]
    pub fn plant(self, bug: Bug) -> Options {
        Options { bug: Some(bug), ..self }
    }

    #[inline]
    pub(crate) fn has(&self, bug: Bug) -> bool {
        cfg!(feature = "mutants") && self.bug == Some(bug)
    }
}

impl Wal {
    pub(crate) fn new(options: Options) -> Wal {
        Wal {
            options,
            state: State::default(),
            segments: VecDeque::new(),
            closed: true,
            next_segment: 1,
            written: 0,
            durable: 0,
            marked: 0,
            chain: 0,
            syncs: VecDeque::new(),
            saving: None,
            garbage: Vec::new(),
            resume: None,
            poisoned: false,
            opening: false,
            buffer: Vec::new(),
        }
    }

    /// The hard state as it was given last, durable or not.
    #[inline]
    pub fn hard_state(&self) -> HardState {
        self.state.hard_state
    }

    /// Index of the first entry that is there; one more than [`Wal::last_index`] if there is none.
    #[inline]
    pub fn first_index(&self) -> u64 {
        self.state.base.index + 1
    }

    /// Index of the last entry, that of the snapshot if none came after it, or 0.
    #[inline]
    pub fn last_index(&self) -> u64 {
        self.state.last_index()
    }

    /// Term of the entry at `index`. Known also for the entry before the first and for the snapshot.
    #[inline]
    pub fn term(&self, index: u64) -> Option<u64> {
        self.state.term(index)
    }

    /// The entry at `index`, from memory.
    #[inline]
    pub fn entry(&self, index: u64) -> Option<&Entry> {
        self.state.entry(index)
    }

    /// The entries from `low` on and before `high`, from memory; fewer if not all are there.
    #[inline]
    pub fn entries(&self, low: u64, high: u64) -> impl ExactSizeIterator<Item = &Entry> + Clone {
        self.state.entries(low, high)
    }

    /// The snapshot in force.
    #[inline]
    pub fn snapshot(&self) -> Option<&Snapshot> {
        self.state.snapshot.as_ref()
    }

    /// Index of the last entry that the snapshot in force covers once that snapshot is durable, 0 until then: how much can
    /// be given up.
    #[inline]
    pub fn covered_index(&self) -> u64 {
        if self.marked <= self.durable { self.state.mark.index } else { 0 }
    }

    /// Whether the data was found damaged and not repaired since, see [`Wal::quarantine`].
    pub fn is_quarantined(&self) -> bool {
        self.state.quarantined
    }

    /// Whether a sync has failed, so that only a restart helps.
    pub fn is_poisoned(&self) -> bool {
        self.poisoned
    }

    /// Appends a hard state and entries as one frame: after a crash both are there or neither. The entries replace
    /// whatever the log has from the index of their first on. With nothing to append it does what
    /// [`Wal::flush`] does.
    ///
    /// # Errors
    /// [`WalError::Disk`]: nothing has changed. [`WalError::SyncFailed`]: the log is poisoned. [`WalError::Gap`],
    /// [`WalError::Busy`], [`WalError::Poisoned`].
    pub fn append(
        &mut self,
        disk: &mut Disk,
        hard_state: Option<HardState>,
        entries: &[Entry],
    ) -> Result<Durability, WalError> {
        let suffix = entries.first().map(|first| self.suffix(first.index, Cow::Borrowed(entries)));
        self.append_record(disk, &mut Record { hard_state, suffix, ..Record::default() })
    }

    /// As [`Wal::append`], with entries that nobody else needs: they are taken out, and the memory they were in is left.
    ///
    /// # Errors
    /// As [`Wal::append`]; `entries` may be empty then.
    pub fn append_taken(
        &mut self,
        disk: &mut Disk,
        hard_state: Option<HardState>,
        entries: &mut Vec<Entry>,
    ) -> Result<Durability, WalError> {
        let first = entries.first().map(|first| first.index);
        let suffix = first.map(|first| self.suffix(first, Cow::Owned(std::mem::take(entries))));
        let mut record = Record { hard_state, suffix, ..Record::default() };
        let appended = self.append_record(disk, &mut record);
        if let Some(Suffix { entries: Cow::Owned(memory), .. }) = record.suffix {
            *entries = memory;
            entries.clear();
        }
        appended
    }

    fn append_record(&mut self, disk: &mut Disk, record: &mut Record<'_>) -> Result<Durability, WalError> {
        self.refuse_if_busy()?;
        let Record { hard_state, suffix, .. } = record;
        if hard_state.is_none() && suffix.is_none() {
            return self.flush(disk);
        }
        if self.options.has(Bug::TwoWrites) && hard_state.is_some() && suffix.is_some() {
            let suffix = suffix.take();
            let _ = self.write(disk, &mut Record { suffix, ..Record::default() }, false)?;
        }
        self.write(disk, record, true)
    }

    /// Appends a hard state without asking for it to be durable: a crash may lose it, up to the next append or flush.
    /// For a commit index that has moved, which peers can tell again; never for a term or a vote.
    ///
    /// # Errors
    /// As [`Wal::append`].
    pub fn note(&mut self, disk: &mut Disk, hard_state: HardState) -> Result<(), WalError> {
        self.refuse_if_busy()?;
        let mut record = Record { hard_state: Some(hard_state), ..Record::default() };
        self.write(disk, &mut record, false).map(|_| ())
    }

    /// Makes durable whatever is not, and says when it is.
    ///
    /// # Errors
    /// [`WalError::SyncFailed`], [`WalError::Poisoned`].
    pub fn flush(&mut self, disk: &mut Disk) -> Result<Durability, WalError> {
        if self.poisoned {
            return Err(WalError::Poisoned);
        }
        match self.syncs.iter().find(|sync| sync.covers == self.written) {
            _ if self.durable == self.written => Ok(Durability::Now),
            Some(sync) => Ok(Durability::After(sync.ticket)),
            None => self.sync(disk, false),
        }
    }

    /// Removes the entries from `from` on, without others in their place.
    ///
    /// # Errors
    /// As [`Wal::append`].
    pub fn truncate(&mut self, disk: &mut Disk, from: u64) -> Result<Durability, WalError> {
        self.refuse_if_busy()?;
        let suffix = Some(self.suffix(from, Cow::Borrowed(&[])));
        self.write(disk, &mut Record { suffix, ..Record::default() }, true)
    }

    /// Ends a quarantine: peers have given the node its data back.
    ///
    /// # Errors
    /// As [`Wal::append`].
    pub fn end_quarantine(&mut self, disk: &mut Disk) -> Result<Durability, WalError> {
        self.refuse_if_busy()?;
        self.write(disk, &mut Record { quarantined: Some(false), ..Record::default() }, true)
    }

    pub(crate) fn suffix<'a>(&self, first: u64, entries: Cow<'a, [Entry]>) -> Suffix<'a> {
        let previous_term = first.checked_sub(1).and_then(|index| self.term(index)).unwrap_or_default();
        Suffix { first, previous_term, entries }
    }

    /// A ticket has come back: what it covered is durable.
    ///
    /// # Errors
    /// Going on with a snapshot may fail as [`Wal::append`] does.
    pub fn synced(&mut self, disk: &mut Disk, ticket: Ticket) -> Result<Synced, WalError> {
        if self.poisoned {
            return Err(WalError::Poisoned);
        }
        if self.saving.as_ref().is_some_and(|saving| saving.waits_for(ticket)) {
            return self.snapshot_written(disk).map(Synced::Next);
        }
        let Some(position) = self.syncs.iter().position(|sync| sync.ticket == ticket) else {
            return Ok(Synced::Unknown);
        };
        // Tickets may come back in any order, and each covers everything written before it was asked for.
        let sync = self.syncs.remove(position).expect("it was just found");
        self.now_durable(disk, sync.covers);
        Ok(Synced::Done)
    }

    /// A ticket has come back with a failure. Whatever it covered may be lost, so the log takes nothing more. False
    /// if the ticket is not one of this log.
    pub fn sync_failed(&mut self, disk: &mut Disk, ticket: Ticket) -> bool {
        let saves = self.saving.as_ref().is_some_and(|saving| saving.waits_for(ticket));
        let ours = saves || self.syncs.iter().any(|sync| sync.ticket == ticket);
        if ours && self.options.has(Bug::RetryAfterFailedSync) {
            self.syncs.retain(|sync| sync.ticket != ticket);
            let _ = self.sync(disk, true);
            return true;
        }
        self.poisoned |= ours;
        ours
    }

    /// Gives up the entries up to `up_to`, and every segment that holds no later one once the newest segment has durably
    /// begun; until then the segments stay for the next call.
    ///
    /// # Errors
    /// [`WalError::NotCovered`] unless a durable snapshot covers them. [`WalError::Disk`] if a segment cannot be
    /// removed; the next call tries again.
    pub fn compact(&mut self, disk: &mut Disk, up_to: u64) -> Result<(), WalError> {
        if self.poisoned {
            return Err(WalError::Poisoned);
        }
        let covered = self.covered_index();
        if up_to > covered {
            return Err(WalError::NotCovered { asked: up_to, covered });
        }
        self.state.forget_to(up_to);
        // Where the newest one begins stands what was in force before it. Until that is durable, it is nowhere else.
        let begun = self.segments.back().is_some_and(|newest| newest.begins <= self.durable);
        let mut removed = false;
        while begun && self.segments.len() > 1 && self.segments[0].highest <= up_to {
            let file = segment_name(self.segments[0].number);
            match disk.remove(&file) {
                Ok(()) | Err(DiskError::NotFound) => self.segments.pop_front(),
                Err(error) => return Err(WalError::Disk { call: "remove", file, error }),
            };
            removed = true;
        }
        if removed {
            // Not for safety - segments that come back are covered by the snapshot - but for the room they take.
            let file = segment_name(self.segments[0].number);
            disk.sync_dir().map_err(|error| WalError::Disk { call: "sync of names before", file, error })?;
        }
        Ok(())
    }

    pub(crate) fn refuse_if_busy(&self) -> Result<(), WalError> {
        if self.poisoned {
            return Err(WalError::Poisoned);
        }
        match &self.saving {
            _ if self.opening => Err(WalError::Busy),
            Some(saving) if saving.restores() => Err(WalError::Busy),
            _ => Ok(()),
        }
    }

    /// Writes one record as one frame, in a new segment if the present one is full.
    pub(crate) fn write(
        &mut self,
        disk: &mut Disk,
        record: &mut Record<'_>,
        sync: bool,
    ) -> Result<Durability, WalError> {
        self.state.follows(record).map_err(|(expected, found)| WalError::Gap { expected, found })?;
        let begins = self.begins_segment(disk);
        let (file, number) = match self.segments.back() {
            Some(segment) if !begins => (segment.file, segment.number),
            _ => (disk.open(&segment_name(self.next_segment)), self.next_segment),
        };
        let end = self.encode(begins, number, record);
        disk.append(file, &self.buffer).map_err(|error| WalError::Disk {
            call: "append to",
            file: segment_name(number),
            error,
        })?;

        let first = self.resume.as_ref().map_or(self.written, |resume| resume.written) + 1;
        (self.chain, self.written) = end;
        if begins {
            (self.closed, self.next_segment) = (false, number + 1);
            self.segments.push_back(Segment { number, file, highest: 0, begins: first });
        }
        for resumed in self.resume.take().iter().flat_map(|resume| &resume.records) {
            self.note_record(resumed);
            self.marked = if resumed.mark.is_some() { self.written } else { self.marked };
        }
        self.note_record(record);
        self.state.take_over(record, self.options.has(Bug::CacheNotTruncated));
        if begins && disk.sync_dir().is_err() {
            return Err(self.poison(number));
        }
        match sync && !self.options.has(Bug::ReplyBeforeSync) {
            true => self.sync(disk, false),
            false => Ok(Durability::Now),
        }
    }

    /// Makes the bytes of the frames to write; says what checksum and number the last of them has.
    fn encode(&mut self, begins: bool, segment: u64, record: &Record<'_>) -> (u64, u64) {
        self.buffer.clear();
        let (mut chain, mut written) = (self.chain, self.written);
        let mut resumed: &[Record<'static>] = &[];
        if let Some(resume) = &self.resume {
            (chain, written, resumed) = (resume.chain, resume.written, &resume.records);
        }
        if begins {
            let beginning = match &self.resume {
                Some(resume) => Beginning { segment, ..resume.beginning },
                None => self.state.beginning(segment),
            };
            written += 1;
            chain = put_beginning(&mut self.buffer, (chain, written, self.durable), &beginning);
        }
        for record in resumed.iter().chain([record]) {
            written += 1;
            chain = put_record(&mut self.buffer, (chain, written, self.durable), record);
        }
        (chain, written)
    }

    fn begins_segment(&self, disk: &Disk) -> bool {
        let full = self.segments.back().is_none_or(|s| disk.len(s.file) >= self.options.segment_bytes);
        // A sync covers one file. While frames of the old segment are not durable, a frame in a new one could be
        // durable before them.
        self.closed
            || full && (self.durable == self.written || self.options.has(Bug::SecondAppendDurableFirst))
    }

    /// Keeps the account of what the newest segment holds.
    pub(crate) fn note_record(&mut self, record: &Record<'_>) {
        if let (true, Some(mark)) = (record.restore, record.mark) {
            self.segments.iter_mut().for_each(|segment| segment.highest = segment.highest.min(mark.index));
        }
        let segment = self.segments.back_mut().expect("a segment is being written");
        let last = record.suffix.as_ref().and_then(|suffix| suffix.entries.last());
        segment.highest = segment.highest.max(last.map_or(0, |entry| entry.index));
    }

    pub(crate) fn sync(&mut self, disk: &mut Disk, again: bool) -> Result<Durability, WalError> {
        let segment = self.segments.back().expect("something was written");
        let (file, number) = (segment.file, segment.number);
        match disk.sync(file) {
            Ok(Sync::Done) => {
                self.now_durable(disk, self.written);
                Ok(Durability::Now)
            }
            Ok(Sync::Pending(ticket)) => {
                self.syncs.push_back(PendingSync { ticket, covers: self.written });
                Ok(Durability::After(ticket))
            }
            Err(_) if self.options.has(Bug::RetryAfterFailedSync) && !again => self.sync(disk, true),
            Err(_) => Err(self.poison(number)),
        }
    }

    pub(crate) fn poison(&mut self, segment: u64) -> WalError {
        self.poisoned = true;
        WalError::SyncFailed { file: segment_name(segment) }
    }

    pub(crate) fn now_durable(&mut self, disk: &mut Disk, number: u64) {
        self.durable = self.durable.max(number);
        self.opening &= self.durable < self.written;
        if self.garbage.is_empty() {
            return;
        }
        let durable = self.durable;
        // What cannot be removed now is garbage still; nothing depends on its being gone.
        self.garbage.retain(|garbage| {
            garbage.after > durable
                || !matches!(disk.remove(&garbage.name), Ok(()) | Err(DiskError::NotFound))
        });
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    pub(crate) fn mark(&self) -> Mark {
        self.state.mark
    }
}
