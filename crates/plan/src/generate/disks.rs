//! Disks of a generated plan: what they may be trusted with, and how they are slow, fail, lie and rot.

use super::cluster::permille;
use super::decide::{Decisions, log_span};
use super::moments::pick;
use super::weights as w;
use crate::profile::Disks;
use whitewater_sim::{DiskContract, DiskTiming, DiskTrouble, System, Timing};

/// Gives a plan the disks that its profile allows and its system stands.
pub(super) fn add(
    disk: &mut DiskTiming,
    disks: Disks,
    system: &dyn System,
    timing: Timing,
    decisions: &Decisions,
) {
    let contract = match disks {
        Disks::Ideal => return,
        Disks::UpTo(contract) | Disks::Exactly(contract) => contract,
        Disks::Drawn => pick(&mut decisions.draw("disk-contract", 0), &w::DISK_CONTRACTS),
    };
    let choice = Choice { system, decisions };
    let mut troubles = choice.some(DiskTrouble::of(DiskContract::Honest));
    let lossy = DiskTrouble::of(DiskContract::Lossy);
    troubles.extend(match contract {
        DiskContract::Honest => Vec::new(),
        DiskContract::Lossy if disks == Disks::Exactly(contract) => choice.at_least_one(lossy, contract),
        _ => choice.some(lossy),
    });
    troubles.extend(match contract {
        DiskContract::Honest | DiskContract::Lossy => Vec::new(),
        DiskContract::Lying | DiskContract::Rotten => {
            choice.at_least_one(DiskTrouble::of(contract), contract)
        }
        DiskContract::Unlimited => {
            let unseen = DiskTrouble::of(DiskContract::Lying).chain(DiskTrouble::of(DiskContract::Rotten));
            let mut troubles = choice.at_least_one(unseen, contract);
            troubles.push(DiskTrouble::Everywhere);
            troubles
        }
    });
    troubles.into_iter().for_each(|trouble| bring(disk, trouble, timing, decisions));
}

/// What is chosen among troubles.
struct Choice<'a> {
    system: &'a dyn System,
    decisions: &'a Decisions,
}

impl Choice<'_> {
    /// Those that the system stands and that are on in this run.
    fn some(&self, troubles: impl Iterator<Item = DiskTrouble>) -> Vec<DiskTrouble> {
        let is_on = |trouble: &DiskTrouble| self.decisions.is_on(address(*trouble));
        troubles.filter(|&trouble| self.system.stands(trouble)).filter(is_on).collect()
    }

    /// The same, but one of them is on in any case if the system stands any.
    fn at_least_one(
        &self,
        troubles: impl Iterator<Item = DiskTrouble>,
        contract: DiskContract,
    ) -> Vec<DiskTrouble> {
        let stood: Vec<DiskTrouble> = troubles.filter(|&trouble| self.system.stands(trouble)).collect();
        let on = self.some(stood.iter().copied());
        if !on.is_empty() || stood.is_empty() {
            return on;
        }
        vec![*self.decisions.draw("disk-trouble", contract as u64).pick(&stood)]
    }
}

/// Where the decisions about a trouble have their addresses.
const fn address(trouble: DiskTrouble) -> &'static str {
    match trouble {
        DiskTrouble::SlowSyncs => "sync-latency",
        DiskTrouble::StalledSyncs => "stalls",
        DiskTrouble::SlowCalls => "busy",
        DiskTrouble::TornSectors => "sectors",
        DiskTrouble::FailedSyncs => "sync-failures",
        DiskTrouble::FailedWrites => "write-failures",
        DiskTrouble::FailedReads => "read-failures",
        DiskTrouble::FullAtTimes => "full",
        DiskTrouble::LittleRoom => "capacity",
        DiskTrouble::LyingSyncs => "lies",
        DiskTrouble::LostWrites => "lost-writes",
        DiskTrouble::MisdirectedWrites => "misdirected",
        DiskTrouble::Rot => "rot",
        DiskTrouble::Everywhere => "disk-faults",
    }
}

/// Draws how bad a trouble is.
fn bring(disk: &mut DiskTiming, trouble: DiskTrouble, timing: Timing, decisions: &Decisions) {
    let mut draw = decisions.draw(address(trouble), 0);
    let mut share = |range| permille(&mut draw, range).0;
    let faults = &mut disk.faults;
    match trouble {
        DiskTrouble::SlowSyncs => {
            let longest = timing.election_low.part(w::SYNC_PART);
            disk.high = log_span(&mut draw, w::SYNC_LATENCY_LOW, longest);
        }
        DiskTrouble::StalledSyncs => {
            let (shortest, longest) = (timing.heartbeat, timing.election_high.times(w::STALL_TIMEOUTS));
            disk.stalls = share(w::STALLS_PERMILLE);
            disk.stall = log_span(&mut decisions.draw("stall", 0), shortest, longest);
        }
        DiskTrouble::SlowCalls => {
            disk.busy_high = log_span(&mut draw, w::BUSY_LOW, timing.election_low.part(w::BUSY_PART));
        }
        DiskTrouble::TornSectors => disk.sector_bytes = pick(&mut draw, &w::SECTOR_BYTES),
        DiskTrouble::FailedSyncs => disk.failures = share(w::SYNC_FAILURES_PERMILLE),
        DiskTrouble::FailedWrites => disk.write_failures = share(w::WRITE_FAILURES_PERMILLE),
        DiskTrouble::FailedReads => disk.read_failures = share(w::READ_FAILURES_PERMILLE),
        DiskTrouble::FullAtTimes => disk.full = share(w::FULL_PERMILLE),
        DiskTrouble::LittleRoom => {
            disk.capacity_bytes = draw.log_uniform(w::CAPACITY_BYTES.0, w::CAPACITY_BYTES.1);
        }
        DiskTrouble::LyingSyncs => faults.lies = share(w::LIES_PERMILLE),
        DiskTrouble::LostWrites => faults.lost_writes = share(w::ASTRAY_PERMILLE),
        DiskTrouble::MisdirectedWrites => faults.misdirected = share(w::ASTRAY_PERMILLE),
        DiskTrouble::Rot => faults.rot = share(w::ROT_PERMILLE),
        DiskTrouble::Everywhere => faults.everywhere = true,
    }
}
