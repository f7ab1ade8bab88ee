//! Every state of a disk that a crash may leave, for tests that try them all.

use super::directory::Names;
use super::{Disk, FileId, medium};
use std::collections::BTreeSet;

/// All legal states of one disk after a crash, by number.
///
/// Directory and files are independent of each other, so the states are all combinations of the names with what may
/// be left of each file that a name leads to.
#[derive(Clone, Debug)]
pub struct CrashStates {
    disk: Disk,
    names: Vec<Names>,
    files: Vec<(FileId, Vec<Vec<u8>>)>,
}

impl CrashStates {
    pub(super) fn new(disk: &Disk, cut_bytes: usize) -> CrashStates {
        let sector_bytes = disk.timing.sector_bytes as usize;
        let pending = disk.directory.pending();
        assert!(pending <= 16, "{pending} changes of names are too many to try every subset");
        let names: BTreeSet<Names> = match sector_bytes {
            0 => (0..=pending).map(|keep| disk.directory.after_crash(|at| at < keep)).collect(),
            _ => {
                (0..1_u32 << pending).map(|set| disk.directory.after_crash(|at| set >> at & 1 == 1)).collect()
            }
        };
        let reachable: BTreeSet<FileId> = names.iter().flatten().map(|&(_, file)| file).collect();
        let files = reachable.into_iter().filter_map(|id| {
            let file = &disk.files[id.0 as usize];
            (file.dirty() > 0).then(|| (id, medium::all(file, sector_bytes, cut_bytes)))
        });
        let files = files.collect();
        let mut left = disk.clone();
        left.forget();
        CrashStates { disk: left, names: names.into_iter().collect(), files }
    }

    /// Number of states; each is there once.
    pub fn count(&self) -> u64 {
        self.files.iter().fold(self.names.len() as u64, |count, (_, states)| count * states.len() as u64)
    }

    /// The disk in state `number`, ready for a restart. Panics from [`CrashStates::count`] on.
    pub fn choose(&self, number: u64) -> Disk {
        assert!(number < self.count(), "state {number} of {}", self.count());
        let mut disk = self.disk.clone();
        let mut rest = number;
        let mut pick = |choices: usize| {
            let choice = rest % choices as u64;
            rest /= choices as u64;
            choice as usize
        };
        disk.directory.set(self.names[pick(self.names.len())].clone());
        for (id, states) in &self.files {
            let file = &mut disk.files[id.0 as usize];
            file.bytes.clone_from(&states[pick(states.len())]);
            file.settled();
        }
        for file in &mut disk.files {
            file.drop_cache();
        }
        disk
    }

    /// Every state in turn.
    pub fn iter(&self) -> impl Iterator<Item = Disk> {
        (0..self.count()).map(|number| self.choose(number))
    }
}
