//! Settings of disks: how long calls take, which of them fail, how much room there is, what a disk does unseen.

use super::LineError;
use super::print::{print_range, print_ratio};
use super::read::Reader;
use std::fmt;
use whitewater_sim::{DiskFaults, DiskTiming, Ratio, Span};

/// One setting of the disks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DiskSetting {
    Sync(Span, Span),
    SyncFailures(Ratio),
    Sectors { bytes: u32 },
    Busy(Span, Span),
    Stalls(Ratio, Span),
    WriteFailures(Ratio),
    ReadFailures(Ratio),
    Full(Ratio),
    Capacity { bytes: u64 },
    Lies(Ratio),
    LostWrites(Ratio),
    Misdirected(Ratio),
    Rot(Ratio),
    DiskFaults { everywhere: bool },
}

impl DiskSetting {
    /// The settings of disks in the order they are written in, those that say nothing among them.
    pub(super) fn all_of(disk: &DiskTiming) -> [DiskSetting; 14] {
        let DiskTiming {
            low,
            high,
            failures,
            sector_bytes,
            busy_low,
            busy_high,
            stalls,
            stall,
            write_failures,
            read_failures,
            full,
            capacity_bytes,
            faults,
        } = *disk;
        let DiskFaults { lies, lost_writes, misdirected, rot, everywhere } = faults;
        [
            DiskSetting::Sync(low, high),
            DiskSetting::SyncFailures(Ratio(failures)),
            DiskSetting::Sectors { bytes: sector_bytes },
            DiskSetting::Busy(busy_low, busy_high),
            DiskSetting::Stalls(Ratio(stalls), stall),
            DiskSetting::WriteFailures(Ratio(write_failures)),
            DiskSetting::ReadFailures(Ratio(read_failures)),
            DiskSetting::Full(Ratio(full)),
            DiskSetting::Capacity { bytes: capacity_bytes },
            DiskSetting::Lies(Ratio(lies)),
            DiskSetting::LostWrites(Ratio(lost_writes)),
            DiskSetting::Misdirected(Ratio(misdirected)),
            DiskSetting::Rot(Ratio(rot)),
            DiskSetting::DiskFaults { everywhere },
        ]
    }

    /// Whether it says what holds without it.
    pub(super) fn says_nothing(self) -> bool {
        let mut disk = DiskTiming::default();
        self.apply(&mut disk);
        disk == DiskTiming::default()
    }

    /// The word it begins with.
    pub(super) const fn name(self) -> &'static str {
        match self {
            DiskSetting::Sync(..) => "sync",
            DiskSetting::SyncFailures(_) => "sync-failures",
            DiskSetting::Sectors { .. } => "sectors",
            DiskSetting::Busy(..) => "busy",
            DiskSetting::Stalls(..) => "stalls",
            DiskSetting::WriteFailures(_) => "write-failures",
            DiskSetting::ReadFailures(_) => "read-failures",
            DiskSetting::Full(_) => "full",
            DiskSetting::Capacity { .. } => "capacity",
            DiskSetting::Lies(_) => "lies",
            DiskSetting::LostWrites(_) => "lost-writes",
            DiskSetting::Misdirected(_) => "misdirected",
            DiskSetting::Rot(_) => "rot",
            DiskSetting::DiskFaults { .. } => "disk-faults",
        }
    }

    /// Writes it into a description of disks.
    pub(super) fn apply(self, disk: &mut DiskTiming) {
        let faults = &mut disk.faults;
        match self {
            DiskSetting::Sync(low, high) => (disk.low, disk.high) = (low, high),
            DiskSetting::SyncFailures(Ratio(parts)) => disk.failures = parts,
            DiskSetting::Sectors { bytes } => disk.sector_bytes = bytes,
            DiskSetting::Busy(low, high) => (disk.busy_low, disk.busy_high) = (low, high),
            DiskSetting::Stalls(Ratio(parts), stall) => (disk.stalls, disk.stall) = (parts, stall),
            DiskSetting::WriteFailures(Ratio(parts)) => disk.write_failures = parts,
            DiskSetting::ReadFailures(Ratio(parts)) => disk.read_failures = parts,
            DiskSetting::Full(Ratio(parts)) => disk.full = parts,
            DiskSetting::Capacity { bytes } => disk.capacity_bytes = bytes,
            DiskSetting::Lies(Ratio(parts)) => faults.lies = parts,
            DiskSetting::LostWrites(Ratio(parts)) => faults.lost_writes = parts,
            DiskSetting::Misdirected(Ratio(parts)) => faults.misdirected = parts,
            DiskSetting::Rot(Ratio(parts)) => faults.rot = parts,
            DiskSetting::DiskFaults { everywhere } => faults.everywhere = everywhere,
        }
    }
}

/// What stands behind its name.
impl fmt::Display for DiskSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            DiskSetting::Sync(low, high) | DiskSetting::Busy(low, high) => {
                f.write_str(&print_range(low, high))
            }
            DiskSetting::Sectors { bytes } => write!(f, "{bytes}"),
            DiskSetting::Capacity { bytes } => write!(f, "{bytes}"),
            DiskSetting::Stalls(ratio, stall) => write!(f, "{} of {stall}", print_ratio(ratio)),
            DiskSetting::DiskFaults { everywhere: true } => f.write_str(EVERYWHERE),
            DiskSetting::DiskFaults { everywhere: false } => f.write_str(MINORITY),
            DiskSetting::SyncFailures(ratio)
            | DiskSetting::WriteFailures(ratio)
            | DiskSetting::ReadFailures(ratio)
            | DiskSetting::Full(ratio)
            | DiskSetting::Lies(ratio)
            | DiskSetting::LostWrites(ratio)
            | DiskSetting::Misdirected(ratio)
            | DiskSetting::Rot(ratio) => f.write_str(&print_ratio(ratio)),
        }
    }
}

/// Every server's disk may be struck.
const EVERYWHERE: &str = "everywhere";
/// The disks of a minority may be struck, as they may without the setting.
const MINORITY: &str = "minority";

impl Reader<'_> {
    /// The rest of a setting of disks, behind its name.
    pub(super) fn disk_setting(&mut self, name: &str) -> Result<DiskSetting, LineError> {
        Ok(match name {
            "sync" => self.range().map(|(low, high)| DiskSetting::Sync(low, high))?,
            "sync-failures" => DiskSetting::SyncFailures(self.ratio()?),
            "sectors" => {
                let bytes = self.number("their size in bytes", 1, u64::from(u32::MAX))?;
                DiskSetting::Sectors { bytes: bytes as u32 }
            }
            "busy" => self.range().map(|(low, high)| DiskSetting::Busy(low, high))?,
            "stalls" => {
                let ratio = self.ratio()?;
                self.keyword("of", "how much longer such a sync takes, as in `stalls 1/1000 of 2s`")?;
                DiskSetting::Stalls(ratio, self.span()?)
            }
            "write-failures" => DiskSetting::WriteFailures(self.ratio()?),
            "read-failures" => DiskSetting::ReadFailures(self.ratio()?),
            "full" => DiskSetting::Full(self.ratio()?),
            "capacity" => DiskSetting::Capacity { bytes: self.number("the room in bytes", 1, u64::MAX)? },
            "lies" => DiskSetting::Lies(self.ratio()?),
            "lost-writes" => DiskSetting::LostWrites(self.ratio()?),
            "misdirected" => DiskSetting::Misdirected(self.ratio()?),
            "rot" => DiskSetting::Rot(self.ratio()?),
            _ => self.whom_faults_strike()?,
        })
    }

    fn whom_faults_strike(&mut self) -> Result<DiskSetting, LineError> {
        let example = format!("`disk-faults {EVERYWHERE}`, or `disk-faults {MINORITY}` as without the line");
        let word = self.word("whom they strike", &example)?;
        match word.text.as_str() {
            EVERYWHERE => Ok(DiskSetting::DiskFaults { everywhere: true }),
            MINORITY => Ok(DiskSetting::DiskFaults { everywhere: false }),
            other => {
                let message = format!("disk faults do not strike `{other}`");
                Err(self.words.wrong(&word, message, format!("write {example}")))
            }
        }
    }
}
