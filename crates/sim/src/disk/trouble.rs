//! The ways in which a disk can be worse than instant and perfect, one by one: what a system says it stands.

use super::DiskContract;

/// One way in which a disk can be worse than one whose calls are instant, succeed, and reach the medium in order.
///
/// A system says by [`crate::System::stands`] which of them it survives; plans draw no other. Without any of them a
/// crash still loses what was not synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DiskTrouble {
    /// Syncs take time: [`super::DiskTiming::high`].
    SlowSyncs,
    /// Some syncs take much longer: [`super::DiskTiming::stalls`].
    StalledSyncs,
    /// Every other call takes time, and its node is busy meanwhile: [`super::DiskTiming::busy_high`].
    SlowCalls,
    /// A crash keeps any of the unsynced sectors, one of them perhaps torn: [`super::DiskTiming::sector_bytes`].
    TornSectors,
    /// Syncs fail: [`super::DiskTiming::failures`].
    FailedSyncs,
    /// Calls that write fail: [`super::DiskTiming::write_failures`].
    FailedWrites,
    /// Loads fail: [`super::DiskTiming::read_failures`].
    FailedReads,
    /// The disk is full for a while: [`super::DiskTiming::full`].
    FullAtTimes,
    /// There is an end to the room: [`super::DiskTiming::capacity_bytes`].
    LittleRoom,
    /// Syncs say they are done and are not: [`super::DiskFaults::lies`].
    LyingSyncs,
    /// Writes never reach the medium: [`super::DiskFaults::lost_writes`].
    LostWrites,
    /// Writes go to another place: [`super::DiskFaults::misdirected`].
    MisdirectedWrites,
    /// Bits flip: [`super::DiskFaults::rot`].
    Rot,
    /// What a disk does unseen may strike every server: [`super::DiskFaults::everywhere`].
    Everywhere,
}

impl DiskTrouble {
    /// Every one there is.
    pub const ALL: [DiskTrouble; 14] = [
        DiskTrouble::SlowSyncs,
        DiskTrouble::StalledSyncs,
        DiskTrouble::SlowCalls,
        DiskTrouble::TornSectors,
        DiskTrouble::FailedSyncs,
        DiskTrouble::FailedWrites,
        DiskTrouble::FailedReads,
        DiskTrouble::FullAtTimes,
        DiskTrouble::LittleRoom,
        DiskTrouble::LyingSyncs,
        DiskTrouble::LostWrites,
        DiskTrouble::MisdirectedWrites,
        DiskTrouble::Rot,
        DiskTrouble::Everywhere,
    ];

    /// What may still be relied on in a run that has this trouble and no worse.
    pub const fn contract(self) -> DiskContract {
        match self {
            DiskTrouble::SlowSyncs
            | DiskTrouble::StalledSyncs
            | DiskTrouble::SlowCalls
            | DiskTrouble::TornSectors => DiskContract::Honest,
            DiskTrouble::FailedSyncs
            | DiskTrouble::FailedWrites
            | DiskTrouble::FailedReads
            | DiskTrouble::FullAtTimes
            | DiskTrouble::LittleRoom => DiskContract::Lossy,
            DiskTrouble::LyingSyncs | DiskTrouble::LostWrites | DiskTrouble::MisdirectedWrites => {
                DiskContract::Lying
            }
            DiskTrouble::Rot => DiskContract::Rotten,
            DiskTrouble::Everywhere => DiskContract::Unlimited,
        }
    }

    /// Every trouble that makes this the contract.
    pub fn of(contract: DiskContract) -> impl Iterator<Item = DiskTrouble> {
        DiskTrouble::ALL.into_iter().filter(move |trouble| trouble.contract() == contract)
    }
}
