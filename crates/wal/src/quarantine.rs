//! A new beginning after damage: nothing of the old log counts but the highest term that can be read in it.

use crate::damage::frames;
use crate::entry::HardState;
use crate::error::WalError;
use crate::format::{Body, segment_name, segment_number};
use crate::state::Record;
use crate::wal::{Durability, Garbage, Options, Wal};
use whitewater_sim::Disk;

impl Wal {
    /// Begins an empty log in place of one that [`Wal::open`] has found damaged. Until [`Wal::end_quarantine`] every
    /// open says so: the owner may have voted and acknowledged entries that it no longer knows of, so it must not
    /// take part in decisions before peers have given it its data back. The term goes on from the highest that a
    /// whole frame speaks of. The old files go as soon as the new log is durable.
    ///
    /// # Errors
    /// As [`Wal::append`].
    pub fn quarantine(disk: &mut Disk, options: Options) -> Result<(Wal, Durability), WalError> {
        let mut wal = Wal::new(options);
        let names: Vec<String> = disk.list().map(str::to_owned).collect();
        let newest = names.iter().filter_map(|name| segment_number(name)).max().unwrap_or(0);
        let mut term = 0;
        for number in names.iter().filter_map(|name| segment_number(name)) {
            let file = disk.find(&segment_name(number)).expect("the name was just listed");
            // A segment that cannot be read has nothing to say.
            term = disk.load(file).map_or(term, |bytes| highest_term(bytes).max(term));
        }
        // A gap in the numbers: whatever of the old segments comes back was given up.
        wal.next_segment = newest + 2;
        let old =
            names.into_iter().filter(|name| segment_number(name).is_some() || name.starts_with("snapshot"));
        wal.garbage = old.map(|name| Garbage { name, after: 1 }).collect();
        let hard_state = Some(HardState { term, ..HardState::default() });
        // The first frame says it as well: a crash may keep that one and lose the one behind it.
        (wal.state.hard_state.term, wal.state.quarantined) = (term, true);
        let mut record = Record { hard_state, quarantined: Some(true), ..Record::default() };
        let durability = wal.write(disk, &mut record, true)?;
        Ok((wal, durability))
    }
}

/// The highest term that any whole frame in `bytes` speaks of.
fn highest_term(bytes: &[u8]) -> u64 {
    let terms = frames(bytes).map(|(_, _, body)| match body {
        Body::Beginning(beginning) => beginning.hard_state.term.max(beginning.last.term),
        Body::Record(record) => {
            let entries =
                record.suffix.iter().flat_map(|suffix| suffix.entries.iter().map(|entry| entry.term));
            entries.chain(record.hard_state.map(|hard_state| hard_state.term)).max().unwrap_or(0)
        }
    });
    terms.max().unwrap_or(0)
}
