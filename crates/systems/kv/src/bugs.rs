//! Bugs that can be planted in the store: those of its core, those of its log and those of the server, each by its id.
//!
//! Without the feature `mutants` no server is given one, and every guard compiles to what it would be without this file.

/// One removed guard of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bug {
    /// A server that has lost its log votes before its peers have given it back (M15).
    VotesWithoutLog,
    /// A leader goes on with its heartbeats while its disk stands still (T05).
    HeardWithoutDisk,
    /// Only a leader changes its state machine; for all others an entry is applied as soon as it is committed.
    FollowersKeepOldState,
    /// A write counts as done when any entry is committed at its index (L19).
    AnsweredByIndex,
}

/// The bug a server was given, if any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Planted(Option<Bug>);

impl Planted {
    /// The bug with that id.
    #[cfg(feature = "mutants")]
    pub(crate) fn named(id: Option<&str>) -> Planted {
        Planted(id.and_then(of_server))
    }

    /// None, in a build without bugs.
    #[cfg(not(feature = "mutants"))]
    pub(crate) fn named(_: Option<&str>) -> Planted {
        Planted(None)
    }

    /// Whether this guard is left out.
    #[inline]
    pub(crate) fn is(self, bug: Bug) -> bool {
        cfg!(feature = "mutants") && self.0 == Some(bug)
    }
}

/// Ids of the bugs that can be planted.
#[cfg(feature = "mutants")]
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
    "M15",
    "L10",
    "L11",
    "L14",
    "L19",
    "R05",
    "R06",
    "R07",
    "R14",
    "R17",
    "R25",
    "S02",
    "S05",
    "T05",
    "wraft-118",
    "wal-reply-before-sync",
    "wal-retry-after-failed-sync",
    "wal-rename-without-directory-sync",
    "wal-rename-before-sync",
    "wal-second-append-durable-first",
    "wal-two-writes",
    "wal-old-snapshot-removed-early",
    "wal-snapshot-without-restore",
    "wal-cache-not-truncated",
    "wal-tail-comes-back",
    "redisraft-14",
    "E09-restarted",
    "L11-restarted",
    "L19-restarted",
    "R07-restarted",
    "S05-restarted",
];

/// What ends the id of a bug, of the core or of the server itself, that a server has only once it was restarted: the guard
/// is there from the first start, and recovery forgets to put it up again.
#[cfg(feature = "mutants")]
const ONCE_RESTARTED: &str = "-restarted";

/// The bug of the core with that id.
#[cfg(feature = "mutants")]
pub(crate) fn of_core(id: &str) -> Option<whitewater_raft::Bug> {
    whitewater_raft::Bug::from_id(id.strip_suffix(ONCE_RESTARTED).unwrap_or(id))
}

/// Whether a server has the bug with that id only once it was restarted.
#[cfg(feature = "mutants")]
pub(crate) fn waits_for_restart(id: &str) -> bool {
    id.ends_with(ONCE_RESTARTED)
}

/// The bug of a server with that id.
#[cfg(feature = "mutants")]
fn of_server(id: &str) -> Option<Bug> {
    match id.strip_suffix(ONCE_RESTARTED).unwrap_or(id) {
        "T05" => Some(Bug::HeardWithoutDisk),
        "M15" => Some(Bug::VotesWithoutLog),
        "redisraft-14" => Some(Bug::FollowersKeepOldState),
        "L19" => Some(Bug::AnsweredByIndex),
        _ => None,
    }
}

/// The bug of the log with that id.
#[cfg(feature = "mutants")]
pub(crate) fn of_log(id: &str) -> Option<whitewater_wal::Bug> {
    use whitewater_wal::Bug;
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
        "wal-tail-comes-back" => Bug::TailComesBack,
        _ => return None,
    })
}

#[cfg(all(test, feature = "mutants"))]
mod tests {
    use super::*;

    #[test]
    fn every_id_names_one_bug() {
        for id in ALL {
            let places = [of_core(id).is_some(), of_log(id).is_some(), of_server(id).is_some()];
            assert_eq!(places.into_iter().filter(|is| *is).count(), 1, "{id}");
        }
    }
}
