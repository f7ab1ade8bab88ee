//! Every bit of a durable log, flipped one at a time.

use super::bench::{Bench, Op, timing};
use whitewater_sim::Key;
use whitewater_wal::{Options, Wal, WalError};

/// How flipped bits were met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Met {
    /// Put right.
    pub(super) mended: u64,
    /// Refused.
    pub(super) refused: u64,
    /// Of no importance: in what had been given up, or what the snapshot covers.
    pub(super) ignored: u64,
}

/// Flips every bit of every file. The log must say what it said before, or refuse and name the file; the error is
/// the first flip with which it does neither.
pub(super) fn every_bit(options: &Options) -> Result<Met, String> {
    let mut bench = Bench::new(timing(false, 64), Key::default(), options.clone());
    for op in [Op::AppendTwo, Op::Vote, Op::Append, Op::Save, Op::Append, Op::Vote, Op::Append] {
        bench.run(op).expect("it means something").map_err(|error| error.to_string())?;
    }
    let mut model = bench.model().clone();
    model.compact();
    let mut met = Met::default();
    let names: Vec<String> = bench.disk.list().map(str::to_owned).collect();
    for name in names {
        let file = bench.disk.find(&name).expect("the name was just listed");
        for place in 0..bench.disk.len(file) * 8 {
            let mut disk = bench.disk.clone();
            let byte = disk.read(file)[place / 8] ^ 1 << (place % 8);
            disk.write_at(file, place / 8, &[byte]).expect("the disk does not fail");
            let flipped = format!("bit {} of byte {} of {name}", place % 8, place / 8);
            match Wal::open(&mut disk, options.clone()) {
                Ok((wal, recovered)) => {
                    if let Some(wrong) = model.differs(&wal) {
                        return Err(format!("with {flipped} flipped {wrong}"));
                    }
                    *(if recovered.mended.is_empty() { &mut met.ignored } else { &mut met.mended }) += 1;
                }
                Err(WalError::Damaged { file, .. }) if file == name => met.refused += 1,
                Err(error) => return Err(format!("with {flipped} flipped {error}")),
            }
        }
    }
    Ok(met)
}
