//! A node's disk: files of bytes on which nothing is durable before it is synced.
//!
//! Every change is kept as an undo until a sync covers it. A crash undoes what was not synced, from the newest back,
//! as far as the world draws. A sync with latency is a [`Ticket`] that comes back as an input.

use crate::draw::{Draw, Key, scale, spread};
use crate::time::Span;
use std::collections::VecDeque;
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
}

impl fmt::Display for DiskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DiskError::Failed => "the disk reports an error",
            DiskError::NotFound => "no such file",
            DiskError::OutOfRange => "outside the file",
        })
    }
}

impl std::error::Error for DiskError {}

/// How a disk behaves in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskTiming {
    /// Shortest time a sync takes; 0 with [`DiskTiming::high`] 0 completes within the call.
    pub low: Span,
    /// Longest time a sync takes.
    pub high: Span,
    /// Syncs that fail, of 65,536.
    pub failures: u16,
}

#[derive(Clone, Debug)]
enum Undo {
    Append { length: usize },
    Write { offset: usize, old: Vec<u8>, length: usize },
    Truncate { tail: Vec<u8> },
}

#[derive(Clone, Debug, Default)]
struct File {
    bytes: Vec<u8>,
    undo: VecDeque<Undo>,
    /// Changes made since the file exists, undone ones not counted.
    changes: u64,
}

/// A sync under way: it covers the changes made before it was asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingSync {
    pub(crate) ticket: Ticket,
    pub(crate) delay: Span,
    pub(crate) fails: bool,
    file: FileId,
    changes: u64,
}

/// What a crash did to a disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CrashLoss {
    /// Bytes that had been written and are gone or restored.
    pub bytes: u64,
    /// Changes that were undone.
    pub changes: u64,
}

/// The disk of one node.
#[derive(Clone, Debug, Default)]
pub struct Disk {
    names: Vec<(String, FileId)>,
    names_undo: VecDeque<Vec<(String, FileId)>>,
    files: Vec<File>,
    timing: DiskTiming,
    key: Key,
    calls: u64,
    die_at_call: Option<u64>,
    dead: bool,
    tickets: u32,
    asked: Vec<PendingSync>,
    waiting: Vec<PendingSync>,
}

impl Disk {
    /// An empty disk.
    pub fn new(timing: DiskTiming, key: Key) -> Disk {
        Disk { timing, key, ..Disk::default() }
    }

    /// Opens a file by name, making an empty one if there is none. A new file's name is durable after the first
    /// [`Disk::sync`] of the file or a [`Disk::sync_dir`].
    pub fn open(&mut self, name: &str) -> FileId {
        if let Some(file) = self.find(name) {
            return file;
        }
        let file = FileId(self.files.len() as u32);
        self.files.push(File::default());
        if self.call() {
            self.names_undo.push_back(self.names.clone());
            self.names.push((name.to_owned(), file));
        }
        file
    }

    /// The file of that name.
    pub fn find(&self, name: &str) -> Option<FileId> {
        self.names.iter().find(|(n, _)| n == name).map(|&(_, file)| file)
    }

    /// Names of all files, oldest name first.
    pub fn list(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|(name, _)| name.as_str())
    }

    /// Adds bytes at the end of a file.
    pub fn append(&mut self, file: FileId, bytes: &[u8]) -> Result<(), DiskError> {
        if self.call() {
            let file = &mut self.files[file.0 as usize];
            file.change(Undo::Append { length: file.bytes.len() });
            file.bytes.extend_from_slice(bytes);
        }
        Ok(())
    }

    /// Overwrites bytes from `offset` on, lengthening the file if they reach beyond its end.
    ///
    /// # Errors
    /// [`DiskError::OutOfRange`] if `offset` lies beyond the end.
    pub fn write_at(&mut self, file: FileId, offset: usize, bytes: &[u8]) -> Result<(), DiskError> {
        if offset > self.len(file) {
            return Err(DiskError::OutOfRange);
        }
        if self.call() {
            let file = &mut self.files[file.0 as usize];
            let length = file.bytes.len();
            let end = offset + bytes.len();
            let old = file.bytes[offset..end.min(length)].to_vec();
            file.change(Undo::Write { offset, old, length });
            file.bytes.resize(length.max(end), 0);
            file.bytes[offset..end].copy_from_slice(bytes);
        }
        Ok(())
    }

    /// Cuts a file to `length` bytes.
    ///
    /// # Errors
    /// [`DiskError::OutOfRange`] if the file is shorter.
    pub fn truncate(&mut self, file: FileId, length: usize) -> Result<(), DiskError> {
        if length > self.len(file) {
            return Err(DiskError::OutOfRange);
        }
        if self.call() {
            let file = &mut self.files[file.0 as usize];
            let tail = file.bytes.split_off(length);
            file.change(Undo::Truncate { tail });
        }
        Ok(())
    }

    /// Gives a file another name, replacing the file that had it. Durable after [`Disk::sync_dir`].
    ///
    /// # Errors
    /// [`DiskError::NotFound`] if there is no file `from`.
    pub fn rename(&mut self, from: &str, to: &str) -> Result<(), DiskError> {
        let file = self.find(from).ok_or(DiskError::NotFound)?;
        if self.call() {
            self.names_undo.push_back(self.names.clone());
            self.names.retain(|(name, _)| name != from && name != to);
            self.names.push((to.to_owned(), file));
        }
        Ok(())
    }

    /// Takes a file's name away. Durable after [`Disk::sync_dir`].
    ///
    /// # Errors
    /// [`DiskError::NotFound`] if there is no such file.
    pub fn remove(&mut self, name: &str) -> Result<(), DiskError> {
        self.find(name).ok_or(DiskError::NotFound)?;
        if self.call() {
            self.names_undo.push_back(self.names.clone());
            self.names.retain(|(n, _)| n != name);
        }
        Ok(())
    }

    /// Makes what was written to a file so far durable, at once or with a ticket.
    ///
    /// # Errors
    /// [`DiskError::Failed`]: the dirty data is lost, and the next sync will say `Done`. Never retry and go on.
    pub fn sync(&mut self, file: FileId) -> Result<Sync, DiskError> {
        if !self.call() {
            return Ok(Sync::Done);
        }
        let changes = self.files[file.0 as usize].changes;
        let bits = self.key.at(1, self.calls);
        let fails = scale(bits, 65_536) < u64::from(self.timing.failures);
        let delay = spread(self.key.at(2, self.calls), self.timing.low.nanos(), self.timing.high.nanos());
        let sync = PendingSync {
            ticket: Ticket(self.tickets),
            delay: Span::from_nanos(delay),
            fails,
            file,
            changes,
        };
        if delay > 0 {
            self.tickets += 1;
            self.asked.push(sync);
            return Ok(Sync::Pending(sync.ticket));
        }
        self.finish(sync);
        if fails { Err(DiskError::Failed) } else { Ok(Sync::Done) }
    }

    /// Makes the names of all files durable.
    ///
    /// # Errors
    /// [`DiskError::Failed`]: the names may go back to what they were.
    pub fn sync_dir(&mut self) -> Result<(), DiskError> {
        if self.call() {
            self.names_undo.clear();
        }
        Ok(())
    }

    /// The bytes of a file, as the node sees them: with everything written, durable or not.
    pub fn read(&self, file: FileId) -> &[u8] {
        &self.files[file.0 as usize].bytes
    }

    /// The length of a file in bytes.
    pub fn len(&self, file: FileId) -> usize {
        self.files[file.0 as usize].bytes.len()
    }

    /// Bytes that were written but are not durable yet, over all files.
    pub fn dirty_changes(&self) -> u64 {
        self.files.iter().map(|f| f.undo.len() as u64).sum::<u64>() + self.names_undo.len() as u64
    }

    /// Storage calls made so far.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.dead
    }

    /// Lets the disk die at its `calls`-th call from now on: that call and all later ones do nothing.
    pub(crate) fn die_after(&mut self, calls: u64) {
        self.die_at_call = Some(self.calls + calls.max(1));
    }

    /// From now on no sync fails any more: faults are over.
    pub(crate) fn heal(&mut self) {
        self.timing.failures = 0;
    }

    /// Takes [`Disk::die_after`] back.
    pub(crate) fn die_never(&mut self) {
        self.die_at_call = None;
    }

    /// What the draws of a crash start from.
    pub(crate) fn crash_bits(&self, incarnation: u32) -> u64 {
        self.key.at(3, u64::from(incarnation))
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

    /// Syncs asked for in the step that just ended.
    pub(crate) fn take_asked(&mut self) -> impl Iterator<Item = PendingSync> {
        self.waiting.extend_from_slice(&self.asked);
        self.asked.drain(..)
    }

    pub(crate) fn has_asked(&self) -> bool {
        !self.asked.is_empty()
    }

    /// A ticket is due. `None` if a crash has forgotten it; else whether the sync succeeded.
    pub(crate) fn complete(&mut self, ticket: Ticket) -> Option<bool> {
        let position = self.waiting.iter().position(|s| s.ticket == ticket)?;
        let sync = self.waiting.remove(position);
        self.finish(sync);
        Some(!sync.fails)
    }

    fn finish(&mut self, sync: PendingSync) {
        let file = &mut self.files[sync.file.0 as usize];
        if sync.fails {
            while !file.undo.is_empty() {
                file.undo_newest();
            }
            return;
        }
        let newer = file.changes.saturating_sub(sync.changes) as usize;
        while file.undo.len() > newer {
            file.undo.pop_front();
        }
        self.names_undo.clear();
    }

    /// A crash: of what was not synced the oldest part survives, as much as `draw` says.
    pub(crate) fn crash(&mut self, draw: &mut Draw, lose_all: bool) -> CrashLoss {
        let mut loss = CrashLoss::default();
        for file in &mut self.files {
            let dirty = file.undo.len() as u64;
            let keep = if lose_all || dirty == 0 { 0 } else { draw.below(dirty + 1) };
            while file.undo.len() as u64 > keep {
                loss.bytes += file.undo_newest();
                loss.changes += 1;
            }
            file.undo.clear();
        }
        let dirty = self.names_undo.len() as u64;
        if dirty > 0 {
            let keep = if lose_all { 0 } else { draw.below(dirty + 1) };
            if keep < dirty {
                self.names = std::mem::take(&mut self.names_undo[keep as usize]);
                loss.changes += dirty - keep;
            }
            self.names_undo.clear();
        }
        self.waiting.clear();
        self.asked.clear();
        self.die_at_call = None;
        self.dead = false;
        loss
    }
}

impl File {
    fn change(&mut self, undo: Undo) {
        self.changes += 1;
        self.undo.push_back(undo);
    }

    /// Takes the newest change back and says how many bytes it had touched.
    fn undo_newest(&mut self) -> u64 {
        self.changes -= 1;
        match self.undo.pop_back().expect("there is a change to undo") {
            Undo::Append { length } => {
                let lost = self.bytes.len() - length;
                self.bytes.truncate(length);
                lost as u64
            }
            Undo::Write { offset, old, length } => {
                let end = self.bytes.len().min(offset + old.len());
                self.bytes.truncate(length.max(end));
                self.bytes[offset..offset + old.len()].copy_from_slice(&old);
                self.bytes.truncate(length);
                old.len() as u64
            }
            Undo::Truncate { tail } => {
                self.bytes.extend_from_slice(&tail);
                tail.len() as u64
            }
        }
    }
}

#[cfg(test)]
#[path = "disk_tests.rs"]
mod tests;
