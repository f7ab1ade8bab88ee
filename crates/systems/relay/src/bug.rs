//! Planted bugs: guards that later releases brought, each of which can be left out by its id.
//!
//! Without the feature `mutants` the type has no values a run could have, and every guard compiles to what it would be
//! without this file.

/// One removed guard. The number is that of the issue or change in which the original was mended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// A relay sends the row that claims the queue in a term before it has told that term (gh-6754).
    RowsBeforeTerm,
    /// A vote is not judged again once everything written before it is durable (gh-7253).
    EarlyVote,
    /// An acknowledgement is counted before the term that comes with it is looked at (gh-7253).
    AckBeforeTerm,
    /// A leader takes on writes before it has claimed the queue (gh-12333).
    WritesBeforeClaim,
    /// A claim of the queue leaves what it does not confirm waiting instead of rolling it back (gh-5445).
    NoRollback,
    /// A leader that resigns while another node writes its election state trips over an assertion (gh-6129).
    ResignDuringWrite,
    /// A candidate that is made a voter while it writes its election state trips over an assertion (gh-8169).
    ModeDuringWrite,
    /// A connection to the leader that breaks calls an election, whoever else can be reached (gh-8433).
    ElectionOnDisconnect,
    /// A node without elections goes on saying that it sees a leader (gh-12018).
    BlindWitness,
    /// An election counts as split although somebody can still win with exactly a quorum (gh-8698).
    SplitTooSoon,
    /// A node that is promoted by hand calls the next election as soon as it hears of another term.
    PromoteForever,
    /// Relays go on with their heartbeats while the thread that leads hangs (gh-7512).
    HeartbeatsOfTheDead,
    /// A candidate that is told of somebody who sees the leader waits for ever (gh-10836).
    WitnessStopsCandidate,
    /// A claim of the queue waits until what its node has in the queue is on the disk, and keeps that from getting there
    /// (gh-12205).
    ClaimWaitsForQueue,
    /// A confirmation that comes again, behind a claim, is taken for the work of a second leader (gh-9138).
    OldConfirmSplitsBrain,
    /// A row that gives the queue up, and comes behind a claim, is taken for the work of a second leader (gh-7286).
    OldDemoteSplitsBrain,
    /// What an owner of an older term writes after a claim waits in the queue as if it owned it (gh-7253).
    OldRowsWait,
    /// The end of the write of a confirmation is missed by an owner that has resigned meanwhile (gh-7253).
    ConfirmMissedWhenFenced,
    /// A leader whose log could not be written gives up what was to be written, and leads on (gh-9399).
    LeadsWithoutLog,
}

/// Ids with their bugs.
#[cfg(feature = "mutants")]
const TABLE: [(&str, Bug); 19] = [
    ("gh-6754", Bug::RowsBeforeTerm),
    ("gh-7253-early-vote", Bug::EarlyVote),
    ("gh-7253-ack-before-term", Bug::AckBeforeTerm),
    ("gh-12333", Bug::WritesBeforeClaim),
    ("gh-5445", Bug::NoRollback),
    ("gh-6129", Bug::ResignDuringWrite),
    ("gh-8169", Bug::ModeDuringWrite),
    ("gh-8433", Bug::ElectionOnDisconnect),
    ("gh-12018", Bug::BlindWitness),
    ("gh-8698", Bug::SplitTooSoon),
    ("promote-for-ever", Bug::PromoteForever),
    ("gh-7512", Bug::HeartbeatsOfTheDead),
    ("gh-10836", Bug::WitnessStopsCandidate),
    ("gh-12205", Bug::ClaimWaitsForQueue),
    ("gh-9138", Bug::OldConfirmSplitsBrain),
    ("gh-7286", Bug::OldDemoteSplitsBrain),
    ("gh-7253-old-rows", Bug::OldRowsWait),
    ("gh-7253-fenced-confirm", Bug::ConfirmMissedWhenFenced),
    ("gh-9399", Bug::LeadsWithoutLog),
];

/// Ids of the bugs that can be planted.
#[cfg(feature = "mutants")]
pub(crate) const IDS: &[&str] = &{
    let mut ids = [""; TABLE.len()];
    let mut at = 0;
    while at < TABLE.len() {
        ids[at] = TABLE[at].0;
        at += 1;
    }
    ids
};

/// Ids of the bugs that can be planted: none in a build without them.
#[cfg(not(feature = "mutants"))]
pub(crate) const IDS: &[&str] = &[];

/// The bug a node was given, if any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Planted(Option<Bug>);

impl Planted {
    /// The bug with that id.
    #[cfg(feature = "mutants")]
    pub(crate) fn named(id: Option<&str>) -> Planted {
        Planted(id.and_then(|id| TABLE.iter().find(|(known, _)| *known == id)).map(|(_, bug)| *bug))
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
