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
    /// A vote is granted whatever log the candidate has.
    E08,
    /// Of two logs the longer one counts as more recent, whatever the terms of their last entries.
    E09,
    /// A log counts as recent only if neither its last term nor its last index is lower.
    E11,
    /// A refused pre-vote does not tell the candidate of a higher term.
    E19,
    /// Who thinks itself a learner gives nobody its vote, whatever the candidate knows.
    LearnersAbstain,
    /// A new leader takes a change of the membership although it has one that is not committed.
    M01,
    /// A leader that has taken over in a joint configuration never leaves it.
    M12,
    /// A leader that is answered from a higher term takes the answer for a sign that it is followed.
    L10,
    /// A leader that has told another node to take over goes on trusting its lease.
    L08,
    /// A leader confirms its reads to itself.
    L11,
    /// A transfer that has failed is never given up.
    L14,
    /// Heartbeats carry the leader's commit index also to followers that have less.
    R05,
    /// An append fits if there is an entry before it, whatever the term of that.
    R07,
    /// Appends of an older term are taken.
    R17,
    /// A confirmation that entries are durable is taken for those that have replaced them.
    R25,
    /// A snapshot sets the term back to that of its last entry.
    S02,
    /// A snapshot that ends within the log is taken for a part of it, whatever the term there.
    S05,
    /// Behind a compacted log an append has nothing in it, and its commit index counts for whatever a follower has.
    WRaft118,
    /// A leader commits entries of older terms by counting who has them.
    Figure8,
    /// An append that is shorter than the log removes the suffix although nothing conflicts.
    R06,
    /// The commit index is acknowledged by half of the voters instead of a majority.
    R14,
}

#[cfg(feature = "mutants")]
impl Bug {
    /// Every bug the core can plant, in the order of their ids.
    pub const ALL: [Bug; 34] = [
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
        Bug::E08,
        Bug::E09,
        Bug::E11,
        Bug::E19,
        Bug::Figure8,
        Bug::L08,
        Bug::LearnersAbstain,
        Bug::M01,
        Bug::M12,
        Bug::L10,
        Bug::L11,
        Bug::L14,
        Bug::R05,
        Bug::R06,
        Bug::R07,
        Bug::R14,
        Bug::R17,
        Bug::R25,
        Bug::S02,
        Bug::S05,
        Bug::WRaft118,
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
            Bug::E08 => "E08",
            Bug::E09 => "E09",
            Bug::E11 => "E11",
            Bug::E19 => "E19",
            Bug::Figure8 => "figure-8",
            Bug::L08 => "L08",
            Bug::LearnersAbstain => "learners-abstain",
            Bug::M01 => "M01",
            Bug::M12 => "M12",
            Bug::L10 => "L10",
            Bug::L11 => "L11",
            Bug::L14 => "L14",
            Bug::R05 => "R05",
            Bug::R07 => "R07",
            Bug::R17 => "R17",
            Bug::R25 => "R25",
            Bug::S02 => "S02",
            Bug::S05 => "S05",
            Bug::WRaft118 => "wraft-118",
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

/// Whether the named bug is planted, or one of several: the constant `false` without the feature `mutants`.
macro_rules! planted {
    ($planted:expr, $($bug:ident)|+) => {{
        #[cfg(feature = "mutants")]
        let planted = matches!($planted.bug, Some($($crate::bug::Bug::$bug)|+));
        #[cfg(not(feature = "mutants"))]
        let planted = {
            let _ = &$planted;
            false
        };
        planted
    }};
}
pub(crate) use planted;
