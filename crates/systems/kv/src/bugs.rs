//! Bugs that can be planted in the store: those of its core, and those of its log, each by its id.

use whitewater_wal::Bug;

/// Ids of the bugs that can be planted.
pub(crate) const ALL: &[&str] = &[
    "seed-e1",
    "seed-e2",
    "seed-e3",
    "seed-e4",
    "seed-e5",
    "seed-e6",
    "seed-e7",
    "seed-e8",
    "seed-e9",
    "seed-e10",
    "seed-e11",
    "seed-e12",
    "E04",
    "E08",
    "E09",
    "E11",
    "E19",
    "figure-8",
    "L08",
    "learners-abstain",
    "M01",
    "M12",
    "L10",
    "L11",
    "L14",
    "R05",
    "R06",
    "R07",
    "R14",
    "R17",
    "R25",
    "S02",
    "wal-reply-before-sync",
    "wal-retry-after-failed-sync",
    "wal-rename-without-directory-sync",
    "wal-rename-before-sync",
    "wal-second-append-durable-first",
    "wal-two-writes",
    "wal-old-snapshot-removed-early",
    "wal-snapshot-without-restore",
    "wal-cache-not-truncated",
];

/// The bug of the log with that id.
pub(crate) fn of_log(id: &str) -> Option<Bug> {
    Some(match id {
        "wal-reply-before-sync" => Bug::ReplyBeforeSync,
        "wal-retry-after-failed-sync" => Bug::RetryAfterFailedSync,
        "wal-rename-without-directory-sync" => Bug::RenameWithoutDirectorySync,
        "wal-rename-before-sync" => Bug::RenameBeforeSync,
        "wal-second-append-durable-first" => Bug::SecondAppendDurableFirst,
        "wal-two-writes" => Bug::TwoWrites,
        "wal-old-snapshot-removed-early" => Bug::OldSnapshotRemovedEarly,
        "wal-snapshot-without-restore" => Bug::SnapshotWithoutRestore,
        "wal-cache-not-truncated" => Bug::CacheNotTruncated,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_names_one_bug() {
        for id in ALL {
            let core = whitewater_raft::Bug::from_id(id).is_some();
            assert_ne!(core, of_log(id).is_some(), "{id}");
        }
    }
}
