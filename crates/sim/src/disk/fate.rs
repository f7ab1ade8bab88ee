//! What a disk does besides what it is asked for: time it takes, calls that fail, room that runs out, lies, rot.
//!
//! Every decision is drawn at the number of its call, so none shifts another.

use super::{Disk, DiskError, DiskTiming, FileId, PendingSync, SyncFate};
use crate::draw::{scale, spread};
use crate::fault::FaultSet;
use crate::time::{Span, Time};

/// Pieces of memory that are kept for files to come.
const SPARE_MAX: usize = 8;

/// Addresses of decisions under a disk's key. Numbers are never reused: they are part of what a seed means.
pub(super) mod address {
    pub(in crate::disk) const SYNC_FAILS: u64 = 1;
    pub(in crate::disk) const SYNC_TIME: u64 = 2;
    // 3 is what a crash keeps.
    pub(in crate::disk) const STALL: u64 = 4;
    pub(in crate::disk) const BUSY: u64 = 5;
    pub(in crate::disk) const WRITE_FAILS: u64 = 6;
    pub(in crate::disk) const READ_FAILS: u64 = 7;
    pub(in crate::disk) const FULL: u64 = 8;
    pub(in crate::disk) const LIE: u64 = 9;
    pub(in crate::disk) const LOST_WRITE: u64 = 10;
    pub(in crate::disk) const MISDIRECTED: u64 = 11;
    pub(in crate::disk) const MISDIRECTED_TO: u64 = 12;
    pub(in crate::disk) const ROT: u64 = 13;
    pub(in crate::disk) const ROT_PLACE: u64 = 14;
    pub(in crate::disk) const CACHE_KEEPS: u64 = 15;
}

/// Windows in which a disk is full last 2 to this power nanoseconds: 268 ms.
const FULL_WINDOW_LOG2: u32 = 28;

impl Disk {
    /// Whether something happens at a call, or whatever else it is numbered by.
    fn happens(&mut self, address: u64, number: u64, share: u16) -> bool {
        let drawn = share > 0 && scale(self.key.at(address, number), 65_536) < u64::from(share);
        match &mut self.pins {
            None => drawn,
            Some(pins) => pins.decide(address, number, u64::from(drawn), 0) != 0,
        }
    }

    /// A time from a range.
    fn time(&mut self, address: u64, low: Span, high: Span) -> Span {
        let drawn = spread(self.key.at(address, self.calls), low.nanos(), high.nanos());
        Span::from_nanos(match &mut self.pins {
            None => drawn,
            Some(pins) => pins.decide(address, self.calls, drawn, low.nanos()),
        })
    }

    /// Bits that decide where something happens.
    fn place(&mut self, address: u64, number: u64) -> u64 {
        let drawn = self.key.at(address, number);
        match &mut self.pins {
            None => drawn,
            Some(pins) => pins.decide(address, number, drawn, 0),
        }
    }

    /// Counts a failure.
    #[cold]
    pub(super) fn failed(&mut self) -> DiskError {
        self.counts.failed += 1;
        DiskError::Failed
    }

    /// Adds the time of a call that is over when it returns.
    pub(super) fn take_time(&mut self) {
        let (low, high) = (self.timing.busy_low, self.timing.busy_high);
        if high > Span::ZERO {
            self.busy = self.busy + self.time(address::BUSY, low, high);
        }
    }

    /// Decides whether a call may write `growth` more bytes.
    pub(super) fn before_write(&mut self, growth: usize) -> Result<(), DiskError> {
        if self.plain {
            return Ok(());
        }
        self.take_time();
        if self.happens(address::WRITE_FAILS, self.calls, self.timing.write_failures) {
            return Err(self.failed());
        }
        if growth > 0 && self.is_full(growth) {
            self.counts.full += 1;
            return Err(DiskError::Full);
        }
        Ok(())
    }

    fn is_full(&mut self, growth: usize) -> bool {
        let DiskTiming { full, capacity_bytes, .. } = self.timing;
        let window = self.now.nanos() >> FULL_WINDOW_LOG2;
        if self.happens(address::FULL, window, full) {
            return true;
        }
        capacity_bytes > 0 && self.used_bytes() + growth as u64 > capacity_bytes
    }

    fn used_bytes(&self) -> u64 {
        self.directory.names().iter().map(|&(_, file)| self.len(file) as u64).sum()
    }

    /// The write that comes now may never reach its place, or reach another.
    pub(super) fn misplace(&mut self, file: FileId, offset: usize, length: usize) {
        let faults = self.timing.faults;
        let misdirected = self.happens(address::MISDIRECTED, self.calls, faults.misdirected);
        let lost = misdirected || self.happens(address::LOST_WRITE, self.calls, faults.lost_writes);
        if length == 0 || !lost {
            return;
        }
        self.counts.astray += 1;
        let bits = self.place(address::MISDIRECTED_TO, self.calls);
        let file = &mut self.files[file.0 as usize];
        let went_to = misdirected.then(|| scale(bits, file.bytes.len() as u64 + 1) as usize);
        let old = file.bytes[offset..file.bytes.len().min(offset + length)].to_vec();
        file.misplace(offset, &old, length, went_to);
    }

    pub(super) fn fate_of_sync(&mut self) -> SyncFate {
        if self.failing > 0 || self.happens(address::SYNC_FAILS, self.calls, self.timing.failures) {
            SyncFate::Fails
        } else if self.happens(address::LIE, self.calls, self.timing.faults.lies) {
            self.counts.lied += 1;
            SyncFate::Lies
        } else {
            SyncFate::Done
        }
    }

    pub(super) fn time_of_sync(&mut self) -> Span {
        let (low, high) = (self.timing.low, self.timing.high);
        let time = self.time(address::SYNC_TIME, low, high);
        let stalls = self.happens(address::STALL, self.calls, self.timing.stalls);
        self.counts.stalled += u64::from(stalls);
        let stall = if stalls { self.timing.stall } else { Span::ZERO };
        time + stall
    }

    /// A sync has failed: what it was to make durable is lost, and what was written to the file since. A disk with sectors may
    /// go on showing it until the cache is dropped. A later sync of the file that is under way fails as well. Where another sync
    /// has made everything durable meanwhile, nothing is lost: so an earlier life of a process takes nothing from a later one.
    pub(super) fn lose_dirty(&mut self, sync: PendingSync) {
        self.counts.syncs_failed += 1;
        if !self.files[sync.file.0 as usize].is_dirty_at(sync.changes) {
            return;
        }
        let cache_keeps =
            self.timing.sector_bytes > 0 && self.place(address::CACHE_KEEPS, sync.changes) & 1 == 1;
        self.files[sync.file.0 as usize].lose_dirty(cache_keeps);
        for later in self.waiting.iter_mut().chain(&mut self.asked) {
            if later.file == sync.file && later.changes >= sync.changes {
                later.fate = SyncFate::Fails;
            }
        }
    }

    pub(super) fn before_load(&mut self, file: FileId) -> Result<(), DiskError> {
        self.take_time();
        if self.happens(address::READ_FAILS, self.calls, self.timing.read_failures) {
            return Err(self.failed());
        }
        let rots = self.happens(address::ROT, self.calls, self.timing.faults.rot);
        let bits = if rots { self.place(address::ROT_PLACE, self.calls) } else { 0 };
        let file = &mut self.files[file.0 as usize];
        file.drop_cache();
        if rots && !file.bytes.is_empty() && file.dirty() == 0 {
            self.counts.rotten += 1;
            let place = scale(bits, file.bytes.len() as u64 * 8);
            file.bytes[(place / 8) as usize] ^= 1 << (place % 8);
        }
        Ok(())
    }

    /// Gives back the bytes of files that no name leads to any more.
    pub(super) fn free_nameless(&mut self) {
        let (names, files, spare) = (self.directory.names(), &mut self.files, &mut self.spare);
        self.held.retain(|&held| {
            let named = names.iter().any(|&(_, file)| file == held);
            if !named {
                let mut memory = std::mem::take(&mut files[held.0 as usize]).into_memory();
                if spare.len() < SPARE_MAX {
                    memory.clear();
                    spare.push(memory);
                }
            }
            named
        });
    }

    /// What time it is, for faults that last.
    #[inline]
    pub(crate) fn set_now(&mut self, now: Time) {
        self.now = now;
    }

    /// Time the calls since the last question have taken.
    #[inline]
    pub(crate) fn take_busy(&mut self) -> Span {
        std::mem::take(&mut self.busy)
    }

    /// Leaves some kinds of faults out from now on.
    pub(crate) fn leave_out(&mut self, faults: FaultSet) {
        self.timing = self.timing.without(faults);
        self.look_again();
    }

    /// One more step of the script makes every sync fail from now on, those under way as well; or one less does.
    pub(crate) fn fail_syncs(&mut self, begins: bool) {
        if begins {
            self.failing += 1;
            self.waiting.iter_mut().chain(&mut self.asked).for_each(|sync| sync.fate = SyncFate::Fails);
        } else {
            self.failing -= 1;
        }
        self.look_again();
    }

    fn look_again(&mut self) {
        self.plain = self.timing.is_plain() && self.failing == 0 && self.is_unpinned();
    }

    /// Faults are over: the disk is as slow as before, and otherwise as it should be.
    pub(crate) fn heal(&mut self) {
        self.timing = self.timing.healed();
        self.look_again();
    }
}
