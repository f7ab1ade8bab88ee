//! Which searches together cover a log: syncs that are over at once, take time, or fail; long and short segments.

use super::bench::{Op, Search, Tried, timing};
use whitewater_sim::{DiskTiming, Key, Keys, Site};
use whitewater_wal::Options;

/// With syncs under way much more may be unsynced at once, so scripts are made of fewer operations.
const UNDER_WAY: [Op; 7] =
    [Op::Append, Op::Overwrite, Op::Save, Op::Install, Op::Compact, Op::Settle, Op::SettleNewest];

/// What the log looks like when a script begins.
fn beginnings(tickets: bool) -> [&'static [Op]; 3] {
    match tickets {
        false => [&[], &[Op::AppendTwo, Op::Append], &[Op::AppendTwo, Op::Save, Op::Append, Op::Overwrite]],
        true => [
            &[],
            &[Op::AppendTwo, Op::Settle, Op::Append, Op::Settle],
            &[Op::AppendTwo, Op::Save, Op::Settle, Op::Append, Op::Overwrite, Op::Settle],
        ],
    }
}

/// All scripts of up to eight storage calls, from three beginnings.
pub(super) fn eight_calls(tickets: bool, options: Options) -> impl Iterator<Item = Search> {
    beginnings(tickets).into_iter().map(move |before| Search {
        timing: timing(tickets, if tickets { 128 } else { 64 }),
        key: Key::default(),
        options: options.clone(),
        alphabet: if tickets { &UNDER_WAY } else { &Op::SYNCED },
        before,
        calls: 8,
        ops: 8,
        cut_bytes: if tickets { 64 } else { 32 },
    })
}

/// Scripts of up to four operations, some of which are not synced before later ones are.
pub(super) fn notes(options: Options) -> impl Iterator<Item = Search> {
    std::iter::once(Search {
        timing: timing(false, 128),
        key: Key::default(),
        options,
        alphabet: &[Op::Append, Op::Commit, Op::Overwrite, Op::Vote],
        before: &[],
        calls: 12,
        ops: 4,
        cut_bytes: 0,
    })
}

/// Scripts of three operations on disks where one sync in three fails.
pub(super) fn failing_syncs(tickets: bool, options: Options) -> impl Iterator<Item = Search> {
    (0..24).map(move |entity| Search {
        timing: DiskTiming { failures: 65_536_u32.div_ceil(3) as u16, ..timing(tickets, 128) },
        key: Keys::new(1).key(Site::DISK, entity),
        options: options.clone(),
        alphabet: &[Op::Append, Op::AppendTwo, Op::Save, Op::Settle],
        before: &[],
        calls: 20,
        ops: 3,
        cut_bytes: 0,
    })
}

/// Runs searches until one finds something wrong.
pub(super) fn run(searches: impl Iterator<Item = Search>, tried: &mut Tried) -> Result<(), String> {
    for search in searches {
        search.run(tried)?;
    }
    Ok(())
}
