//! What a script says about its disks: how long calls take, which of them fail, and whether a disk may be trusted.

use super::DiskTrouble;
use crate::draw::{Draw, Keys, Site};
use crate::fault::{Fault, FaultSet};
use crate::id::{NodeId, SERVERS_MAX};
use crate::time::Span;

/// How disks behave in a run. The default is instant, never fails and never lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskTiming {
    /// Shortest time a sync takes; 0 with [`DiskTiming::high`] 0 completes within the call.
    pub low: Span,
    /// Longest time a sync takes.
    pub high: Span,
    /// Syncs that fail, of 65,536.
    pub failures: u16,
    /// Bytes the medium writes as one. A crash keeps any of the unsynced sectors, one of them perhaps torn. 0 means
    /// that changes reach the medium whole and in order, so that a crash keeps a prefix of them.
    pub sector_bytes: u32,
    /// Shortest time every other call keeps its node busy.
    pub busy_low: Span,
    /// Longest time every other call keeps its node busy.
    pub busy_high: Span,
    /// Syncs that take [`DiskTiming::stall`] longer, of 65,536.
    pub stalls: u16,
    /// How much longer a stalled sync takes.
    pub stall: Span,
    /// Calls that write, rename or remove and fail without a change, of 65,536.
    pub write_failures: u16,
    /// Calls of [`crate::Disk::load`] that fail, of 65,536.
    pub read_failures: u16,
    /// Windows of time in which the disk takes no more bytes, of 65,536. A window lasts 268 ms.
    pub full: u16,
    /// Bytes all files of one disk may have together; 0 means no limit.
    pub capacity_bytes: u64,
    /// What the disk does behind the back of its node.
    pub faults: DiskFaults,
}

/// What no answer of a disk tells. Strikes only the servers of a [`FaultBudget`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskFaults {
    /// Syncs that say they are done and have made nothing durable, of 65,536.
    pub lies: u16,
    /// Writes that only the cache ever has, of 65,536: after a sync and a crash the old bytes are back.
    pub lost_writes: u16,
    /// Writes that go to another place of their file, of 65,536.
    pub misdirected: u16,
    /// Calls of [`crate::Disk::load`] that find one bit of the file flipped, for good, of 65,536.
    pub rot: u16,
    /// Whether every server may be struck. Otherwise a minority is, so that what a quorum has synced keeps a good copy.
    pub everywhere: bool,
}

/// What may be relied on in a run; checks go by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DiskContract {
    /// Every call succeeds, and what a sync has covered is durable.
    Honest,
    /// Calls may fail, and say so.
    Lossy,
    /// The disks of a minority may lose what they said was durable.
    Lying,
    /// The disks of a minority may damage what is durable, in a way a checksum shows.
    Rotten,
    /// Any disk may do anything: nothing but the absence of panics is owed.
    Unlimited,
}

impl DiskFaults {
    /// Whether there is any.
    pub fn any(&self) -> bool {
        let DiskFaults { lies, lost_writes, misdirected, rot, everywhere: _ } = *self;
        lies | lost_writes | misdirected | rot > 0
    }
}

impl DiskTiming {
    /// What may be relied on.
    pub fn contract(&self) -> DiskContract {
        let faults = &self.faults;
        let fails = self.failures | self.write_failures | self.read_failures | self.full;
        if faults.any() && faults.everywhere {
            DiskContract::Unlimited
        } else if faults.lies | faults.lost_writes | faults.misdirected > 0 {
            DiskContract::Lying
        } else if faults.rot > 0 {
            DiskContract::Rotten
        } else if fails > 0 || self.capacity_bytes > 0 {
            DiskContract::Lossy
        } else {
            DiskContract::Honest
        }
    }

    /// Takes this trouble away.
    pub(crate) fn spare(&mut self, trouble: DiskTrouble) {
        let faults = &mut self.faults;
        match trouble {
            DiskTrouble::SlowSyncs => (self.low, self.high) = (Span::ZERO, Span::ZERO),
            DiskTrouble::StalledSyncs => (self.stalls, self.stall) = (0, Span::ZERO),
            DiskTrouble::SlowCalls => (self.busy_low, self.busy_high) = (Span::ZERO, Span::ZERO),
            DiskTrouble::TornSectors => self.sector_bytes = 0,
            DiskTrouble::FailedSyncs => self.failures = 0,
            DiskTrouble::FailedWrites => self.write_failures = 0,
            DiskTrouble::FailedReads => self.read_failures = 0,
            DiskTrouble::FullAtTimes => self.full = 0,
            DiskTrouble::LittleRoom => self.capacity_bytes = 0,
            DiskTrouble::LyingSyncs => faults.lies = 0,
            DiskTrouble::LostWrites => faults.lost_writes = 0,
            DiskTrouble::MisdirectedWrites => faults.misdirected = 0,
            DiskTrouble::Rot => faults.rot = 0,
            DiskTrouble::Everywhere => faults.everywhere = false,
        }
    }

    /// Whether this trouble may come. [`DiskTrouble::Everywhere`] alone is none: something has to strike.
    pub fn has(&self, trouble: DiskTrouble) -> bool {
        let faults = &self.faults;
        match trouble {
            DiskTrouble::SlowSyncs => self.high > Span::ZERO,
            DiskTrouble::StalledSyncs => self.stalls > 0 && self.stall > Span::ZERO,
            DiskTrouble::SlowCalls => self.busy_high > Span::ZERO,
            DiskTrouble::TornSectors => self.sector_bytes > 0,
            DiskTrouble::FailedSyncs => self.failures > 0,
            DiskTrouble::FailedWrites => self.write_failures > 0,
            DiskTrouble::FailedReads => self.read_failures > 0,
            DiskTrouble::FullAtTimes => self.full > 0,
            DiskTrouble::LittleRoom => self.capacity_bytes > 0,
            DiskTrouble::LyingSyncs => faults.lies > 0,
            DiskTrouble::LostWrites => faults.lost_writes > 0,
            DiskTrouble::MisdirectedWrites => faults.misdirected > 0,
            DiskTrouble::Rot => faults.rot > 0,
            DiskTrouble::Everywhere => faults.any() && faults.everywhere,
        }
    }

    /// Checks what types do not.
    ///
    /// # Errors
    /// Says in one sentence which range is the wrong way round.
    pub(crate) fn validate(&self) -> Result<(), String> {
        let ranges = [("sync", self.low, self.high), ("busy", self.busy_low, self.busy_high)];
        match ranges.into_iter().find(|(_, low, high)| low > high) {
            Some((name, low, high)) => Err(format!("{name} {low}..{high}: the first is the longer one")),
            None => Ok(()),
        }
    }

    /// Whether nothing can happen at a call but what was asked for, within the call.
    pub(super) fn is_plain(&self) -> bool {
        let DiskTiming { sector_bytes: _, stall: _, failures, stalls, write_failures, read_failures, .. } =
            *self;
        let never = failures | stalls | write_failures | read_failures | self.full == 0;
        let instant = self.high == Span::ZERO && self.busy_high == Span::ZERO;
        never && instant && self.capacity_bytes == 0 && !self.faults.any()
    }

    /// The same disk without some kinds of faults.
    pub(super) fn without(&self, out: FaultSet) -> DiskTiming {
        let mut timing = *self;
        let off = |fault, field: &mut u16| {
            if out.has(fault) {
                *field = 0;
            }
        };
        off(Fault::SyncFailed, &mut timing.failures);
        off(Fault::CallFailed, &mut timing.write_failures);
        off(Fault::CallFailed, &mut timing.read_failures);
        off(Fault::Full, &mut timing.full);
        off(Fault::Stall, &mut timing.stalls);
        off(Fault::Lie, &mut timing.faults.lies);
        off(Fault::Astray, &mut timing.faults.lost_writes);
        off(Fault::Astray, &mut timing.faults.misdirected);
        off(Fault::Rot, &mut timing.faults.rot);
        if out.has(Fault::Full) {
            timing.capacity_bytes = 0;
        }
        if out.has(Fault::SlowSync) {
            (timing.low, timing.high) = (Span::ZERO, Span::ZERO);
        }
        if out.has(Fault::Busy) {
            (timing.busy_low, timing.busy_high) = (Span::ZERO, Span::ZERO);
        }
        timing
    }

    /// The same disk from the moment on when faults are over: as slow as before, but without failures.
    pub(super) fn healed(&self) -> DiskTiming {
        let DiskTiming { low, high, sector_bytes, busy_low, busy_high, .. } = *self;
        DiskTiming { low, high, sector_bytes, busy_low, busy_high, ..DiskTiming::default() }
    }
}

/// Which servers the [`DiskFaults`] of a script may strike; [`crate::Script::fault_budget`] says it.
///
/// A quorum has a majority of the servers, and fewer than half are ever struck: of whatever a quorum has synced at
/// least one good copy stays. With [`DiskFaults::everywhere`] nothing is kept back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultBudget {
    servers: u32,
}

impl FaultBudget {
    pub(crate) fn draw(seed: u64, servers: usize, faults: DiskFaults) -> FaultBudget {
        let mut budget = FaultBudget::default();
        if !faults.any() {
            return budget;
        }
        let mut positions: Vec<usize> = (0..servers.min(SERVERS_MAX)).collect();
        if !faults.everywhere {
            let mut draw: Draw = Keys::new(seed).key(Site::DISK, u32::MAX).draw(0, 0);
            draw.shuffle(&mut positions);
            positions.truncate(servers.saturating_sub(1) / 2);
        }
        budget.servers = positions.into_iter().fold(0, |servers, position| servers | 1 << position);
        budget
    }

    /// These servers may be struck.
    pub(crate) fn of_nodes(nodes: impl Iterator<Item = NodeId>) -> FaultBudget {
        let servers = nodes.filter(|node| node.is_server());
        FaultBudget { servers: servers.fold(0, |servers, node| servers | 1 << node.position()) }
    }

    /// Whether the disk of a node may be struck. Never that of a client.
    pub fn strikes(&self, node: NodeId) -> bool {
        node.is_server() && self.servers >> node.position() & 1 == 1
    }

    /// The same with this server.
    #[must_use]
    pub(crate) fn with(self, node: NodeId) -> FaultBudget {
        FaultBudget { servers: self.servers | 1 << node.position() }
    }

    /// The disk that a node of the script has.
    pub(crate) fn disk_of(&self, node: NodeId, timing: DiskTiming) -> DiskTiming {
        let faults = if self.strikes(node) { timing.faults } else { DiskFaults::default() };
        DiskTiming { faults, ..timing }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn struck(servers: usize, faults: DiskFaults) -> usize {
        let budget = FaultBudget::draw(7, servers, faults);
        (0..servers).filter(|&position| budget.strikes(NodeId::server(position))).count()
    }

    #[test]
    fn a_minority_is_struck_unless_faults_are_everywhere() {
        let rot = DiskFaults { rot: 1, ..DiskFaults::default() };
        let counts: Vec<usize> = (1..=7).map(|servers| struck(servers, rot)).collect();
        assert_eq!(counts, [0, 0, 1, 1, 2, 2, 3]);
        assert_eq!(struck(5, DiskFaults { everywhere: true, ..rot }), 5);
        assert_eq!(struck(5, DiskFaults { everywhere: true, ..DiskFaults::default() }), 0);
    }

    #[test]
    fn which_servers_are_struck_never_changes_for_a_seed() {
        let rot = DiskFaults { rot: 1, ..DiskFaults::default() };
        let budgets = [1, 2, 3].map(|seed| FaultBudget::draw(seed, 5, rot).servers);
        assert_eq!(budgets, [0b10010, 0b10010, 0b00110]);
    }

    #[test]
    fn the_contract_is_the_weakest_promise_that_is_kept() {
        let timing = DiskTiming::default();
        assert_eq!(timing.contract(), DiskContract::Honest);
        assert_eq!(DiskTiming { failures: 1, ..timing }.contract(), DiskContract::Lossy);
        let mut faults = DiskFaults { rot: 1, ..DiskFaults::default() };
        assert_eq!(DiskTiming { faults, failures: 1, ..timing }.contract(), DiskContract::Rotten);
        faults.lies = 1;
        assert_eq!(DiskTiming { faults, ..timing }.contract(), DiskContract::Lying);
        faults.everywhere = true;
        assert_eq!(DiskTiming { faults, ..timing }.contract(), DiskContract::Unlimited);
    }

    #[test]
    fn each_trouble_alone_makes_the_contract_it_says() {
        let second = Span::from_millis(1_000);
        let plain = DiskTiming::default();
        let faults = DiskFaults::default();
        let unseen = |faults| DiskTiming { faults, ..plain };
        let alone = |trouble| match trouble {
            DiskTrouble::SlowSyncs => DiskTiming { high: second, ..plain },
            DiskTrouble::StalledSyncs => DiskTiming { stalls: 1, stall: second, ..plain },
            DiskTrouble::SlowCalls => DiskTiming { busy_high: second, ..plain },
            DiskTrouble::TornSectors => DiskTiming { sector_bytes: 1, ..plain },
            DiskTrouble::FailedSyncs => DiskTiming { failures: 1, ..plain },
            DiskTrouble::FailedWrites => DiskTiming { write_failures: 1, ..plain },
            DiskTrouble::FailedReads => DiskTiming { read_failures: 1, ..plain },
            DiskTrouble::FullAtTimes => DiskTiming { full: 1, ..plain },
            DiskTrouble::LittleRoom => DiskTiming { capacity_bytes: 1, ..plain },
            DiskTrouble::LyingSyncs => unseen(DiskFaults { lies: 1, ..faults }),
            DiskTrouble::LostWrites => unseen(DiskFaults { lost_writes: 1, ..faults }),
            DiskTrouble::MisdirectedWrites => unseen(DiskFaults { misdirected: 1, ..faults }),
            DiskTrouble::Rot => unseen(DiskFaults { rot: 1, ..faults }),
            DiskTrouble::Everywhere => unseen(DiskFaults { rot: 1, everywhere: true, ..faults }),
        };
        for trouble in DiskTrouble::ALL {
            let timing = alone(trouble);
            assert_eq!(timing.contract(), trouble.contract(), "{trouble:?}");
            let had: Vec<DiskTrouble> = DiskTrouble::ALL.into_iter().filter(|&t| timing.has(t)).collect();
            let expected = match trouble {
                DiskTrouble::Everywhere => vec![DiskTrouble::Rot, trouble],
                _ => vec![trouble],
            };
            assert_eq!(had, expected);
        }
        assert!(DiskTrouble::ALL.into_iter().all(|trouble| !plain.has(trouble)));
    }
}
