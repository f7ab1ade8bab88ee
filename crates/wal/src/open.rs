//! Recovery: reads a log back after a start, keeps what was durable, and says what it could not keep.

use crate::bug::Bug;
use crate::damage::{flaw, proof_of_durability};
use crate::entry::{Entry, HardState};
use crate::error::WalError;
use crate::format::{Body, HEAD_BYTES, Head, read_frame, segment_name, segment_number};
use crate::state::Record;
use crate::wal::{Durability, Garbage, Options, Resume, Segment, Wal};
use whitewater_sim::{Disk, FileId};

/// What was found on a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// The hard state.
    pub hard_state: HardState,
    /// Index of the first entry; one more than the last if there is none.
    pub first_index: u64,
    /// Index of the last entry or the snapshot, 0 if there is neither.
    pub last_index: u64,
    /// Index and term of the snapshot.
    pub snapshot: Option<(u64, u64)>,
    /// What was there and does not count.
    pub dropped: Vec<Dropped>,
    /// What was damaged and could be put right.
    pub mended: Vec<Mended>,
    /// Whether an earlier damage has not been repaired by peers yet.
    pub quarantined: bool,
}

/// Bytes that were found and do not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Name of the file.
    pub file: String,
    /// Where they began, in bytes.
    pub offset: u64,
    /// How many.
    pub bytes: u64,
    /// Why.
    pub why: Why,
}

/// Why bytes do not count. None of them was durable, or they were no longer needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The end of the log is not whole: a crash came before its sync.
    TornTail,
    /// A snapshot that never came into force.
    UnfinishedSnapshot,
    /// Something that was given up earlier.
    Leftover,
}

/// A bit that was flipped back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mended {
    /// Name of the file.
    pub file: String,
    /// Which byte.
    pub offset: u64,
    /// Which bit of it, 0 to 7.
    pub bit: u8,
}

/// What recovery has collected so far.
#[derive(Default)]
struct Report {
    dropped: Vec<Dropped>,
    mended: Vec<Mended>,
}

/// A segment as it was read.
struct Read {
    number: u64,
    file: FileId,
    bytes: Vec<u8>,
}

impl Wal {
    /// Opens the log on `disk` after a start; on an empty disk an empty one. It makes no storage call but reading: a
    /// tail that was never durable stays where it is, and the next frame begins a new segment, which says where the
    /// log goes on. Overwriting the tail would be wrong: until the next sync a crash could put a frame together from
    /// old sectors and new ones.
    ///
    /// What it reports counts as durable, so call it after a crash, when nothing is left that only a cache has.
    ///
    /// # Errors
    /// [`WalError::Damaged`] names file and byte where something that was durable is not what was written.
    /// [`WalError::Disk`] if a call failed; trying again may help.
    pub fn open(disk: &mut Disk, options: Options) -> Result<(Wal, Recovered), WalError> {
        let mut wal = Wal::new(options);
        let mut report = Report::default();
        let mut numbers: Vec<u64> = disk.list().filter_map(segment_number).collect();
        numbers.sort_unstable();
        wal.next_segment = numbers.last().map_or(1, |last| last + 1);
        // Segments are removed from the oldest on; one that is followed by a gap was meant to be gone.
        let gaps = numbers.windows(2).rposition(|pair| pair[0] + 1 != pair[1]);
        let run = numbers.split_off(gaps.map_or(0, |gap| gap + 1));
        let mut segments = run.iter().map(|&number| read(disk, number)).collect::<Result<Vec<Read>, _>>()?;
        wal.read_segments(&mut segments, &mut report)?;
        wal.check_ends(&run)?;
        wal.load_snapshot(disk)?;
        if let Some(resume) = &wal.resume {
            (wal.chain, wal.written, wal.closed) = (resume.chain, resume.written, true);
        }
        wal.durable = wal.written;
        wal.collect_garbage(disk, &numbers, &mut report);
        let recovered = Recovered {
            hard_state: wal.hard_state(),
            first_index: wal.first_index(),
            last_index: wal.last_index(),
            snapshot: wal.snapshot().map(|snapshot| (snapshot.index, snapshot.term)),
            dropped: report.dropped,
            mended: report.mended,
            quarantined: wal.is_quarantined(),
        };
        Ok((wal, recovered))
    }

    /// Opens the log for a process that starts again while the machine went on: what is read may be in a cache only, so
    /// it is synced first. As long as the durability is not reached nothing may be promised on account of what was
    /// recovered, and [`Wal::append`] answers [`WalError::Busy`].
    ///
    /// # Errors
    /// As [`Wal::open`], and [`WalError::SyncFailed`].
    pub fn reopen(disk: &mut Disk, options: Options) -> Result<(Wal, Recovered, Durability), WalError> {
        let (mut wal, recovered) = Wal::open(disk, options)?;
        // A segment was durable before the one behind it began, so only the last can be in a cache; but the names of
        // all can.
        let Some(last) = wal.segments.back().map(|segment| segment.number) else {
            return Ok((wal, recovered, Durability::Now));
        };
        if disk.sync_dir().is_err() {
            return Err(wal.poison(last));
        }
        wal.durable = 0;
        let durability = wal.sync(disk, false)?;
        wal.opening = durability != Durability::Now;
        Ok((wal, recovered, durability))
    }

    fn check_ends(&self, run: &[u64]) -> Result<(), WalError> {
        let damaged = |number: Option<&u64>, what| {
            let file = segment_name(*number.expect("an empty log has neither base nor snapshot"));
            Err(WalError::Damaged { file, offset: 0, what })
        };
        if self.written == 0 && run.first().is_some_and(|&first| first > 1) {
            // Only the very first segment may be unfinished with nothing before it. A quarantine that was not finished
            // leaves this, too; what it was to replace is damaged.
            return damaged(run.first(), "no log begins there");
        }
        if self.state.base.index > self.mark().index {
            return damaged(run.first(), "entries before it are missing, and no snapshot covers them");
        }
        if self.state.last_index() < self.mark().index {
            return damaged(run.last(), "the log ends before the snapshot in force");
        }
        Ok(())
    }

    /// Takes frame after frame, and decides about every place where none follows.
    fn read_segments(&mut self, segments: &mut [Read], report: &mut Report) -> Result<(), WalError> {
        let (mut position, mut at) = (0, 0);
        while let Some(segment) = segments.get(position) {
            if let Some((head, body)) = self.frame_at(segment, at) {
                self.take_frame(segment, &head, body, !report.mended.is_empty());
                at += HEAD_BYTES + head.length;
            } else if at > 0 && at == segment.bytes.len() {
                (position, at) = (position + 1, 0);
            } else if let Some(next) = self.continuation(segments, position) {
                self.drop_tails(&segments[..next], (position, at), Why::Leftover, report);
                (position, at) = (next, 0);
            } else if proves_durability(&segments[position..], at, self.written) {
                let (file, what) = (segment_name(segment.number), flaw(&segment.bytes[at..], 0, false).what);
                return Err(WalError::Damaged { file, offset: at as u64, what });
            } else if let Some((flipped, place)) = self.flipped(segments, position, at) {
                mend(&mut segments[flipped], place, report);
            } else {
                self.drop_tails(segments, (position, at), Why::TornTail, report);
                return Ok(());
            }
        }
        Ok(())
    }

    /// The frame at a place, if it is right in itself and follows what came before.
    fn frame_at(&self, segment: &Read, at: usize) -> Option<(Head, Body)> {
        let bytes = &segment.bytes[at..];
        let frame = read_frame(bytes).or_else(|| self.unchecked(bytes));
        frame.filter(|(head, body)| self.fits(segment.number, at == 0, head, body))
    }

    /// The segment behind `position` that was begun when the log ended where it has been read to.
    fn continuation(&self, segments: &[Read], position: usize) -> Option<usize> {
        (position + 1..segments.len()).find(|&later| self.frame_at(&segments[later], 0).is_some())
    }

    /// A bit which, flipped back, lets the log go on: here, or where a later segment begins.
    fn flipped(&self, segments: &[Read], position: usize, at: usize) -> Option<(usize, usize)> {
        let starts = (position..segments.len()).zip(std::iter::once(at).chain(std::iter::repeat(0)));
        starts.into_iter().find_map(|(segment, at)| {
            let bit = flaw(&segments[segment].bytes[at..], self.chain, self.written == 0).bit?;
            Some((segment, at * 8 + bit))
        })
    }

    /// Leaves out what stands from a place on to the last of `segments`.
    fn drop_tails(&mut self, segments: &[Read], from: (usize, usize), why: Why, report: &mut Report) {
        let (position, at) = from;
        for (Read { number, file, bytes }, at) in
            segments[position..].iter().zip(std::iter::once(at).chain(std::iter::repeat(0)))
        {
            if at == 0 {
                self.segments.push_back(Segment { number: *number, file: *file, highest: 0, begins: 0 });
            }
            if at < bytes.len() {
                let (file, offset, bytes) = (segment_name(*number), at as u64, (bytes.len() - at) as u64);
                report.dropped.push(Dropped { file, offset, bytes, why });
            }
        }
        self.closed = true;
    }

    /// Whether a frame that is right in itself is right in its place.
    fn fits(&self, segment: u64, begins: bool, head: &Head, body: &Body) -> bool {
        let follows = self.options().has(Bug::ChainIgnored)
            || head.previous == self.chain && head.number == self.written + 1;
        match body {
            Body::Beginning(beginning) => {
                begins && beginning.segment == segment && (follows || self.written == 0)
            }
            Body::Record(record) => !begins && follows && self.state.follows(record).is_ok(),
        }
    }

    /// The frame whatever its checksum: a bug to plant.
    fn unchecked(&self, bytes: &[u8]) -> Option<(Head, Body)> {
        if !self.options().has(Bug::ChecksumIgnored) {
            return None;
        }
        let head = crate::format::read_head(bytes)?;
        Some((head, crate::format::read_body(&bytes[HEAD_BYTES..HEAD_BYTES + head.length])?))
    }

    /// Entries behind those that a record replaces: with the bug planted they come back.
    fn behind(&self, record: &Record<'_>) -> Vec<Entry> {
        let comes_back = self.options().has(Bug::TailComesBack) && !record.restore;
        match &record.suffix {
            Some(suffix) if comes_back && suffix.first > self.state.base.index => {
                let next = suffix.first + suffix.entries.len() as u64;
                self.state.entries(next, u64::MAX).cloned().collect()
            }
            _ => Vec::new(),
        }
    }

    /// Lets a frame take effect. From the first one on that was `mended` the log will be written anew.
    fn take_frame(&mut self, segment: &Read, head: &Head, body: Body, mended: bool) {
        if mended && self.written > 0 {
            self.resume_here();
        }
        match body {
            Body::Beginning(beginning) => {
                if self.written == 0 {
                    self.state.begin(&beginning);
                }
                let Read { number, file, .. } = *segment;
                self.segments.push_back(Segment { number, file, highest: 0, begins: 0 });
                self.closed = false;
            }
            Body::Record(mut record) => {
                self.note_record(&record);
                if record.mark.is_some() {
                    self.marked = head.number;
                }
                let behind = self.behind(&record);
                if let Some(resume) = &mut self.resume {
                    self.state.apply(&record, false);
                    resume.records.push(record);
                } else {
                    self.state.take_over(&mut record, false);
                }
                self.state.entries.extend(behind);
            }
        }
        (self.written, self.chain) = (head.number, head.checksum);
        if mended {
            self.resume_here();
        }
    }

    fn resume_here(&mut self) {
        if self.resume.is_none() {
            let (beginning, chain, written) = (self.state.beginning(0), self.chain, self.written);
            self.resume = Some(Resume { beginning, chain, written, records: Vec::new() });
        }
    }

    /// Files that do not count go as soon as the next frame is durable.
    fn collect_garbage(&mut self, disk: &Disk, leftovers: &[u64], report: &mut Report) {
        let in_force = (self.mark().index > 0).then(|| crate::format::snapshot_name(self.mark()));
        let unfinished = disk.list().filter(|name| name.starts_with("snapshot"));
        let unfinished = unfinished.filter(|name| Some(*name) != in_force.as_deref());
        let names = leftovers.iter().map(|&number| (segment_name(number), Why::Leftover));
        let names = names.chain(unfinished.map(|name| {
            let older = name < in_force.as_deref().unwrap_or_default();
            (name.to_owned(), if older { Why::Leftover } else { Why::UnfinishedSnapshot })
        }));
        for (name, why) in names {
            let bytes = disk.find(&name).map_or(0, |file| disk.len(file)) as u64;
            report.dropped.push(Dropped { file: name.clone(), offset: 0, bytes, why });
            self.garbage.push(Garbage { name, after: self.written + 1 });
        }
    }
}

fn read(disk: &mut Disk, number: u64) -> Result<Read, WalError> {
    let name = segment_name(number);
    let file = disk.find(&name).expect("the name was just listed");
    match disk.load(file) {
        Ok(bytes) => Ok(Read { number, file, bytes: bytes.to_vec() }),
        Err(error) => Err(WalError::Disk { call: "read", file: name, error }),
    }
}

/// Whether anything from a place on proves that a frame later than number `last` was durable.
fn proves_durability(segments: &[Read], at: usize, last: u64) -> bool {
    let starts = std::iter::once(at).chain(std::iter::repeat(0));
    segments.iter().zip(starts).any(|(segment, at)| proof_of_durability(&segment.bytes[at..], last))
}

/// Flips a bit back, in memory.
fn mend(segment: &mut Read, place: usize, report: &mut Report) {
    let (offset, bit) = (place / 8, (place % 8) as u8);
    segment.bytes[offset] ^= 1 << bit;
    report.mended.push(Mended { file: segment_name(segment.number), offset: offset as u64, bit });
}
