//! Planted bugs: named ways to remove one guard, so that a test can prove its net holds fish.
//!
//! A bug is chosen by [`Config::bug`](crate::Config) and lives at the guard it removes. Without the feature
//! `mutants` the type does not exist, and every guard compiles to what it would be without this file.

/// One removed guard.
#[cfg(feature = "mutants")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bug {
    /// A leader that is asked to campaign tries to, and trips over the assertion that forbids it.
    SeedE1,
    /// A snapshot that is temporarily unavailable is fatal.
    SeedE2,
    /// A compacted entry is read as term 0 and no entries instead of asking for a snapshot.
    SeedE3,
    /// The window of appends in flight has no limit.
    SeedE4,
    /// An entry larger than the message limit is not sent at all.
    SeedE5,
    /// An append from before the commit index is examined instead of acknowledged.
    SeedE6,
    /// Reports about snapshots are ignored.
    SeedE7,
    /// An acknowledgement does not send the appends that waited for it.
    SeedE8,
    /// A heartbeat response does not revive replication.
    SeedE9,
    /// A heartbeat waits for one tick more than its interval.
    SeedE10,
    /// A leader does not wait for an answer to a probe or a snapshot.
    SeedE11,
    /// A proposal without a leader is fatal.
    SeedE12,
    /// A granted vote may be sent before it is durable.
    E04,
    /// An append that is shorter than the log removes the suffix although nothing conflicts.
    R06,
    /// The commit index is acknowledged by half of the voters instead of a majority.
    R14,
}

#[cfg(feature = "mutants")]
impl Bug {
    /// Every bug the core can plant, in the order of their ids.
    pub const ALL: [Bug; 15] = [
        Bug::SeedE1,
        Bug::SeedE2,
        Bug::SeedE3,
        Bug::SeedE4,
        Bug::SeedE5,
        Bug::SeedE6,
        Bug::SeedE7,
        Bug::SeedE8,
        Bug::SeedE9,
        Bug::SeedE10,
        Bug::SeedE11,
        Bug::SeedE12,
        Bug::E04,
        Bug::R06,
        Bug::R14,
    ];

    /// The id of the bug in the catalogue, such as `seed-e1`.
    pub fn id(self) -> &'static str {
        match self {
            Bug::SeedE1 => "seed-e1",
            Bug::SeedE2 => "seed-e2",
            Bug::SeedE3 => "seed-e3",
            Bug::SeedE4 => "seed-e4",
            Bug::SeedE5 => "seed-e5",
            Bug::SeedE6 => "seed-e6",
            Bug::SeedE7 => "seed-e7",
            Bug::SeedE8 => "seed-e8",
            Bug::SeedE9 => "seed-e9",
            Bug::SeedE10 => "seed-e10",
            Bug::SeedE11 => "seed-e11",
            Bug::SeedE12 => "seed-e12",
            Bug::E04 => "E04",
            Bug::R06 => "R06",
            Bug::R14 => "R14",
        }
    }

    /// The bug with this id, if the core has one.
    pub fn from_id(id: &str) -> Option<Bug> {
        Bug::ALL.into_iter().find(|bug| bug.id() == id)
    }
}

/// The bug a node was given: nothing at all without the feature `mutants`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Planted {
    #[cfg(feature = "mutants")]
    pub(crate) bug: Option<Bug>,
}

/// Whether the named bug is planted: the constant `false` without the feature `mutants`.
macro_rules! planted {
    ($planted:expr, $bug:ident) => {{
        #[cfg(feature = "mutants")]
        let planted = $planted.bug == Some($crate::bug::Bug::$bug);
        #[cfg(not(feature = "mutants"))]
        let planted = {
            let _ = &$planted;
            false
        };
        planted
    }};
}
pub(crate) use planted;
