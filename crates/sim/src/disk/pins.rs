//! Decisions of a disk that are pinned, and those that were made: by what they are about and the number of the call.

use super::Disk;
use super::fate::address;
use std::collections::{BTreeMap, BTreeSet};

/// What a disk decides, by the names that pins use.
pub const DISK_DECISIONS: &[&str] = &NAMES;

const NAMES: [&str; 14] = [
    "sync-fails",
    "sync-time",
    "stalls",
    "busy",
    "write-fails",
    "read-fails",
    "full",
    "lies",
    "write-lost",
    "write-astray",
    "write-astray-to",
    "rots",
    "rots-at",
    "cache-keeps",
];

const ADDRESSES: [u64; 14] = [
    address::SYNC_FAILS,
    address::SYNC_TIME,
    address::STALL,
    address::BUSY,
    address::WRITE_FAILS,
    address::READ_FAILS,
    address::FULL,
    address::LIE,
    address::LOST_WRITE,
    address::MISDIRECTED,
    address::MISDIRECTED_TO,
    address::ROT,
    address::ROT_PLACE,
    address::CACHE_KEEPS,
];

/// Whether a decision is one about what no answer of a disk tells.
pub(crate) fn is_deceit(what: &str) -> bool {
    matches!(what, "lies" | "write-lost" | "write-astray" | "rots")
}

/// The pins of one disk.
#[derive(Clone, Debug, Default)]
pub(crate) struct DiskPins {
    /// Whether nothing is drawn.
    fixed: bool,
    values: BTreeMap<(u64, u64), u64>,
    met: BTreeSet<(u64, u64)>,
    tape: Option<BTreeMap<(u64, u64), u64>>,
}

/// What became of the pins of a disk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pinned {
    /// Those that were met: what and number.
    pub(crate) met: Vec<(&'static str, u64)>,
    /// Decisions that were made, if they are written down: what, number and value.
    pub(crate) made: Vec<(&'static str, u64, u64)>,
}

impl DiskPins {
    /// The decision at an address: pinned, or else as drawn, or as it usually is if nothing is drawn.
    pub(super) fn decide(&mut self, address: u64, number: u64, drawn: u64, usual: u64) -> u64 {
        let place = (address, number);
        let value = match self.values.get(&place) {
            Some(&value) => {
                self.met.insert(place);
                value
            }
            None if self.fixed => usual,
            None => drawn,
        };
        if let Some(tape) = self.tape.as_mut().filter(|_| value != usual) {
            tape.insert(place, value);
        }
        value
    }
}

impl Disk {
    /// Pins decisions of this disk; `record` writes down all that are made.
    pub(crate) fn pin<'a>(
        &mut self,
        pins: impl Iterator<Item = (&'a str, u64, u64)>,
        fixed: bool,
        record: bool,
    ) {
        let address = |what: &str| Some(ADDRESSES[NAMES.iter().position(|name| *name == what)?]);
        let values = pins.filter_map(|(what, number, value)| Some(((address(what)?, number), value)));
        let values: BTreeMap<_, _> = values.collect();
        let draws_nothing = self.plain || !fixed;
        if draws_nothing && values.is_empty() && !record {
            return;
        }
        let tape = record.then(BTreeMap::new);
        self.pins = Some(Box::new(DiskPins { fixed, values, met: BTreeSet::new(), tape }));
        self.plain = self.plain && self.is_unpinned();
    }

    /// Whether nothing is pinned; a disk on which nothing can happen need not ask then.
    pub(super) fn is_unpinned(&self) -> bool {
        self.pins.as_ref().is_none_or(|pins| pins.values.is_empty())
    }

    /// What became of its pins, and the decisions that were written down.
    pub(crate) fn pinned(&self) -> Pinned {
        let Some(pins) = &self.pins else { return Pinned::default() };
        let name = |address: u64| NAMES[ADDRESSES.iter().position(|a| *a == address).expect("listed")];
        let met = pins.met.iter().map(|&(address, number)| (name(address), number)).collect();
        let made = pins.tape.iter().flatten();
        let made = made.map(|(&(address, number), &value)| (name(address), number, value)).collect();
        Pinned { met, made }
    }
}
