//! A node's disk: files of bytes on which nothing is durable before it is synced.
//!
//! Every change is kept as an undo until a sync covers it (`file`, `directory`). A crash keeps any legal part of what
//! was not synced (`medium`; `states` lists them all). A sync with latency is a [`Ticket`] that comes back as an
//! input; every other call is over when it returns and keeps its node busy for as long as it takes. What a disk does
//! besides, such as failing, filling up or lying, is drawn call by call (`fate`).

mod crash;
mod description;
mod directory;
mod fate;
mod file;
mod medium;
mod pins;
mod states;
mod trouble;

pub use description::{DiskContract, DiskFaults, DiskTiming, FaultBudget};
pub use pins::DISK_DECISIONS;
pub(crate) use pins::{Pinned, is_deceit};
pub use states::CrashStates;
pub use trouble::DiskTrouble;

use crate::draw::Key;
use crate::time::{Span, Time};
use directory::Directory;
use file::File;
use std::fmt;

/// Names a sync that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(pub u32);

impl fmt::Display for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// A file of one disk, as [`Disk::open`] gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileId(u32);

/// What a sync says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// Everything written to the file so far is durable.
    Done,
    /// It takes time: [`crate::Input::Synced`] or [`crate::Input::SyncFailed`] will bring this ticket back.
    Pending(Ticket),
}

/// What a storage call may answer instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskError {
    /// The call failed and changed nothing; after a failed sync the dirty data is lost.
    Failed,
    /// No file has that name.
    NotFound,
    /// The place lies outside the file.
    OutOfRange,
    /// There is no room for more bytes; the call changed nothing.
    Full,
}

impl fmt::Display for DiskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DiskError::Failed => "the disk reports an error",
            DiskError::NotFound => "no such file",
            DiskError::OutOfRange => "outside the file",
            DiskError::Full => "the disk is full",
        })
    }
}

impl std::error::Error for DiskError {}

/// A sync under way: it covers the changes made before it was asked for.
#[derive(Clone, Copy, Debug)]
struct PendingSync {
    ticket: Ticket,
    delay: Span,
    fate: SyncFate,
    file: FileId,
    changes: u64,
}

/// How a sync ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SyncFate {
    Done,
    Fails,
    /// Says that it is done.
    Lies,
}

/// What a crash did to a disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CrashLoss {
    /// Bytes that had been written and are gone or restored.
    pub bytes: u64,
    /// Changes that were undone, wholly or in part.
    pub changes: u64,
}

/// What a disk did besides what it was asked for, as numbers of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskCounts {
    /// Syncs that failed.
    pub syncs_failed: u64,
    /// Other calls that failed.
    pub failed: u64,
    /// Writes refused for want of room.
    pub full: u64,
    /// Syncs that took longer than a sync takes.
    pub stalled: u64,
    /// Syncs that lied.
    pub lied: u64,
    /// Writes that never reached their place.
    pub astray: u64,
    /// Bits that flipped.
    pub rotten: u64,
}

impl DiskCounts {
    /// Whether it did anything that none of its answers told.
    #[inline]
    pub fn is_false(&self) -> bool {
        self.lied | self.astray | self.rotten > 0
    }

    /// Adds the counts of another disk.
    pub(crate) fn add(&mut self, other: DiskCounts) {
        let DiskCounts { syncs_failed, failed, full, stalled, lied, astray, rotten } = other;
        self.syncs_failed += syncs_failed;
        self.failed += failed;
        self.full += full;
        self.stalled += stalled;
        self.lied += lied;
        self.astray += astray;
        self.rotten += rotten;
    }
}

/// The disk of one node.
#[derive(Clone, Debug, Default)]
pub struct Disk {
    directory: Directory,
    files: Vec<File>,
    /// Files that may hold something, so that nobody has to look at all there ever were.
    held: Vec<FileId>,
    /// Memory of files that are gone, for those to come.
    spare: Vec<Vec<u8>>,
    timing: DiskTiming,
    /// Whether nothing but what is asked for can happen; a copy of what it is made of.
    plain: bool,
    key: Key,
    calls: u64,
    die_at_call: Option<u64>,
    dead: bool,
    tickets: u32,
    asked: Vec<PendingSync>,
    waiting: Vec<PendingSync>,
    /// Time that calls have taken and nobody has waited for yet.
    busy: Span,
    now: Time,
    counts: DiskCounts,
    /// Steps of the script that make every sync fail now.
    failing: u32,
    /// Whether it was ever emptied or put back to an earlier moment.
    replaced: bool,
    /// Decisions that are pinned or written down; none in a campaign.
    pins: Option<Box<pins::DiskPins>>,
}

impl Disk {
    /// An empty disk. Whatever its description leaves open follows from `key` and the number of the call.
    pub fn new(timing: DiskTiming, key: Key) -> Disk {
        Disk { timing, plain: timing.is_plain(), key, ..Disk::default() }
    }

    /// Opens a file by name, making an empty one if there is none. A new file's name is durable after the first
    /// [`Disk::sync`] of the file or a [`Disk::sync_dir`].
    pub fn open(&mut self, name: &str) -> FileId {
        if let Some(file) = self.find(name) {
            return file;
        }
        let file = FileId(self.files.len() as u32);
        self.files.push(File::of_memory(self.spare.pop().unwrap_or_default()));
        self.held.push(file);
        if self.call() {
            self.take_time();
            self.directory.create(name, file);
        }
        file
    }

    /// The file of that name.
    pub fn find(&self, name: &str) -> Option<FileId> {
        self.directory.find(name)
    }

    /// Names of all files, oldest name first.
    pub fn list(&self) -> impl Iterator<Item = &str> {
        self.directory.names().iter().map(|(name, _)| &**name)
    }

    /// Adds bytes at the end of a file.
    ///
    /// # Errors
    /// [`DiskError::Failed`] or [`DiskError::Full`]; nothing has changed.
    #[inline]
    pub fn append(&mut self, file: FileId, bytes: &[u8]) -> Result<(), DiskError> {
        if self.call() {
            if !self.plain {
                self.before_write(bytes.len())?;
                self.misplace(file, self.len(file), bytes.len());
            }
            self.files[file.0 as usize].append(bytes);
        }
        Ok(())
    }

    /// Overwrites bytes from `offset` on, lengthening the file if they reach beyond its end.
    ///
    /// # Errors
    /// [`DiskError::OutOfRange`] if `offset` lies beyond the end; [`DiskError::Failed`] or [`DiskError::Full`].
    /// Nothing has changed.
    pub fn write_at(&mut self, file: FileId, offset: usize, bytes: &[u8]) -> Result<(), DiskError> {
        if offset > self.len(file) {
            return Err(DiskError::OutOfRange);
        }
        if self.call() {
            if !self.plain {
                self.before_write((offset + bytes.len()).saturating_sub(self.len(file)))?;
                self.misplace(file, offset, bytes.len());
            }
            self.files[file.0 as usize].write_at(offset, bytes);
        }
        Ok(())
    }

    /// Cuts a file to `length` bytes.
    ///
    /// # Errors
    /// [`DiskError::OutOfRange`] if the file is shorter; [`DiskError::Failed`]. Nothing has changed.
    pub fn truncate(&mut self, file: FileId, length: usize) -> Result<(), DiskError> {
        if length > self.len(file) {
            return Err(DiskError::OutOfRange);
        }
        if self.call() {
            self.before_write(0)?;
            self.files[file.0 as usize].truncate(length);
        }
        Ok(())
    }

    /// Gives a file another name, replacing the file that had it. Durable after [`Disk::sync_dir`], on its own: a
    /// crash may keep it and lose what was written to the file before.
    ///
    /// # Errors
    /// [`DiskError::NotFound`] if there is no file `from`; [`DiskError::Failed`]. Nothing has changed.
    pub fn rename(&mut self, from: &str, to: &str) -> Result<(), DiskError> {
        let file = self.find(from).ok_or(DiskError::NotFound)?;
        if self.call() {
            self.before_write(0)?;
            self.directory.rename(from, to, file);
        }
        Ok(())
    }

    /// Takes a file's name away. Durable after [`Disk::sync_dir`]; the bytes of a file without a name are gone then.
    ///
    /// # Errors
    /// [`DiskError::NotFound`] if there is no such file; [`DiskError::Failed`]. Nothing has changed.
    pub fn remove(&mut self, name: &str) -> Result<(), DiskError> {
        let file = self.find(name).ok_or(DiskError::NotFound)?;
        if self.call() {
            self.before_write(0)?;
            self.directory.remove(name, file);
        }
        Ok(())
    }

    /// Makes what was written to a file so far durable, at once or with a ticket.
    ///
    /// # Errors
    /// [`DiskError::Failed`]: the dirty data is lost, and the next sync will say `Done`. Never retry and go on.
    #[inline]
    pub fn sync(&mut self, file: FileId) -> Result<Sync, DiskError> {
        if !self.call() {
            return Ok(Sync::Done);
        }
        if !self.plain {
            return self.sync_with_fate(file);
        }
        let file_state = &mut self.files[file.0 as usize];
        file_state.synced(file_state.changes());
        self.directory.file_synced(file);
        Ok(Sync::Done)
    }

    #[cold]
    fn sync_with_fate(&mut self, file: FileId) -> Result<Sync, DiskError> {
        let (fate, delay) = (self.fate_of_sync(), self.time_of_sync());
        let changes = self.files[file.0 as usize].changes();
        let sync = PendingSync { ticket: Ticket(self.tickets), delay, fate, file, changes };
        if delay > Span::ZERO {
            self.tickets += 1;
            self.asked.push(sync);
            return Ok(Sync::Pending(sync.ticket));
        }
        self.finish(sync);
        if fate == SyncFate::Fails { Err(DiskError::Failed) } else { Ok(Sync::Done) }
    }

    /// Makes the names of all files durable. Keeps the node busy for as long as a sync takes.
    ///
    /// # Errors
    /// [`DiskError::Failed`]: the names may still go back to what they were.
    pub fn sync_dir(&mut self) -> Result<(), DiskError> {
        if !self.call() {
            return Ok(());
        }
        if !self.plain {
            self.busy = self.busy + self.time_of_sync();
            match self.fate_of_sync() {
                SyncFate::Done => {}
                SyncFate::Fails => {
                    self.counts.syncs_failed += 1;
                    return Err(DiskError::Failed);
                }
                SyncFate::Lies => return Ok(()),
            }
        }
        self.directory.sync();
        self.free_nameless();
        Ok(())
    }

    /// The bytes of a file as the node sees them, with everything written, durable or not. For bytes that the node
    /// has at hand: no storage call, takes no time, never fails.
    pub fn read(&self, file: FileId) -> &[u8] {
        &self.files[file.0 as usize].bytes
    }

    /// Reads a file from the medium: a storage call, which may fail and takes time. What only the cache had is gone.
    ///
    /// # Errors
    /// [`DiskError::Failed`]; the next call may succeed.
    pub fn load(&mut self, file: FileId) -> Result<&[u8], DiskError> {
        if self.call() {
            if self.plain {
                // It may be plain only since faults are over.
                self.files[file.0 as usize].drop_cache();
            } else {
                self.before_load(file)?;
            }
        }
        Ok(&self.files[file.0 as usize].bytes)
    }

    /// Every file with its bytes, by name.
    pub(crate) fn files(&self) -> Vec<(String, Vec<u8>)> {
        let names = self.directory.names().iter();
        names.map(|(name, file)| (name.to_string(), self.read(*file).to_vec())).collect()
    }

    /// The length of a file in bytes.
    pub fn len(&self, file: FileId) -> usize {
        self.files[file.0 as usize].bytes.len()
    }

    /// Changes that are not durable yet, over all files and names.
    pub fn dirty_changes(&self) -> u64 {
        (self.files.iter().map(File::dirty).sum::<usize>() + self.directory.pending()) as u64
    }

    /// Storage calls made so far.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// What the disk did besides what it was asked for.
    pub fn counts(&self) -> DiskCounts {
        self.counts
    }

    /// Whether it did anything that none of its answers told, or was emptied or put back to an earlier moment.
    #[inline]
    pub(crate) fn is_false(&self) -> bool {
        self.replaced || self.counts.is_false()
    }

    /// Whether the disk has died under its node, see [`Disk::die_after`].
    pub fn is_dead(&self) -> bool {
        self.dead
    }

    /// Lets the disk die at its `calls`-th call from now on: that call and all later ones do nothing until a crash.
    pub fn die_after(&mut self, calls: u64) {
        self.die_at_call = Some(self.calls + calls.max(1));
    }

    /// Lets the disk die now: nothing that its node still does in this step takes place.
    pub(crate) fn die(&mut self) {
        self.dead = true;
    }

    /// Takes [`Disk::die_after`] back.
    pub fn die_never(&mut self) {
        self.die_at_call = None;
    }

    /// Counts a call; false if it no longer happens.
    #[inline]
    fn call(&mut self) -> bool {
        self.calls += 1;
        if self.die_at_call.is_some_and(|at| self.calls >= at) {
            self.dead = true;
        }
        !self.dead
    }

    /// Syncs asked for in the step that just ended, with the time each takes.
    pub fn take_asked(&mut self) -> impl Iterator<Item = (Ticket, Span)> {
        self.waiting.extend_from_slice(&self.asked);
        self.asked.drain(..).map(|sync| (sync.ticket, sync.delay))
    }

    pub(crate) fn has_asked(&self) -> bool {
        !self.asked.is_empty()
    }

    /// A ticket is due. `None` if a crash has forgotten it; else whether the sync says it has succeeded.
    pub fn complete(&mut self, ticket: Ticket) -> Option<bool> {
        let position = self.waiting.iter().position(|s| s.ticket == ticket)?;
        let sync = self.waiting.remove(position);
        self.finish(sync);
        Some(sync.fate != SyncFate::Fails)
    }

    fn finish(&mut self, sync: PendingSync) {
        match sync.fate {
            SyncFate::Done => {
                self.files[sync.file.0 as usize].synced(sync.changes);
                self.directory.file_synced(sync.file);
            }
            SyncFate::Fails => self.lose_dirty(sync),
            SyncFate::Lies => {}
        }
    }
}

#[cfg(test)]
mod tests;
