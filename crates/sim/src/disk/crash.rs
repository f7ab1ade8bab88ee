//! What a crash does to a disk: it keeps a drawn, legal part of what was not synced.

use super::{CrashLoss, CrashStates, Disk, medium};
use crate::draw::Draw;

impl Disk {
    /// What the draws of a crash start from.
    pub(crate) fn crash_bits(&self, incarnation: u32) -> u64 {
        self.key.at(3, u64::from(incarnation))
    }

    /// A crash: a part of what was not synced survives, as `draw` says, or with `lose_all` nothing of it. The disk is
    /// then ready for a restart.
    pub fn crash(&mut self, draw: &mut Draw, lose_all: bool) -> CrashLoss {
        let mut loss = CrashLoss::default();
        let sector_bytes = self.timing.sector_bytes as usize;
        for file in &mut self.files {
            let dirty = file.dirty() as u64;
            let lost = if dirty > 0 && sector_bytes > 0 && !lose_all {
                medium::crash(file, sector_bytes, draw)
            } else {
                let keep = if lose_all || dirty == 0 { 0 } else { draw.below(dirty + 1) };
                let bytes = file.undo_to(keep as usize);
                file.settled();
                CrashLoss { bytes, changes: dirty - keep }
            };
            loss.changes += lost.changes + file.drop_cache();
            loss.bytes += lost.bytes;
        }
        self.crash_names(draw, lose_all, &mut loss);
        self.forget();
        loss
    }

    /// Makes everything durable. For runs in which a crash is to lose nothing.
    pub(crate) fn keep_all(&mut self) {
        for file in &mut self.files {
            file.undo_to(file.dirty());
            file.settled();
        }
        self.directory.sync();
    }

    /// Forgets everything: the server gets an empty disk. Only after a crash.
    pub(crate) fn wipe(&mut self) {
        self.files.clear();
        self.held.clear();
        self.directory = super::Directory::default();
        self.replaced = true;
    }

    /// Puts everything back to where it was on `earlier`, of which what was not synced is lost. Only after a crash.
    pub(crate) fn rewind(&mut self, mut earlier: Disk) {
        earlier.crash(&mut Draw::from_value(0), true);
        (self.files, self.held, self.directory) = (earlier.files, earlier.held, earlier.directory);
        self.replaced = true;
    }

    fn crash_names(&mut self, draw: &mut Draw, lose_all: bool, loss: &mut CrashLoss) {
        let dirty = self.directory.pending();
        if dirty == 0 {
            return;
        }
        let mut kept = 0;
        let in_order = if lose_all { 0 } else { draw.below(dirty as u64 + 1) as usize };
        let any_order = self.timing.sector_bytes > 0 && !lose_all && draw.chance(1, 2);
        let names = self.directory.after_crash(|position| {
            let keeps = if any_order { draw.chance(1, 2) } else { position < in_order };
            kept += u64::from(keeps);
            keeps
        });
        loss.changes += dirty as u64 - kept;
        self.directory.set(names);
    }

    /// A crash ends every sync under way and brings a dead disk back.
    pub(super) fn forget(&mut self) {
        self.waiting.clear();
        self.asked.clear();
        self.die_at_call = None;
        self.dead = false;
        self.busy = crate::time::Span::ZERO;
    }

    /// Every state a crash at this moment may leave, each once: for tests that try them all. A torn sector is cut at
    /// multiples of `cut_bytes`; 0 tears none. What faults would add is left out. Their number is the product of what
    /// each file and the names may be, so keep little unsynced. Panics with more than 16 unsynced changes of names.
    pub fn crash_states(&self, cut_bytes: usize) -> CrashStates {
        CrashStates::new(self, cut_bytes)
    }
}
