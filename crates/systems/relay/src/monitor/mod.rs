//! The rules over this system: elections and rows after every event, progress once faults are over.

mod durable;
mod needless;
mod owed;
mod queue;
mod rows;
mod safety;
#[cfg(test)]
mod samples_tests;
mod votes;

pub use durable::AnnouncedIsDurable;
pub use needless::NeedlessElection;
pub use owed::{Debts, Owed};
pub use queue::QueueRules;
pub use rows::{RowsInOrder, RowsKept};
pub use safety::Safety;
pub use votes::VoteNeedsRows;

use crate::command::{Command, Reply};
use crate::node::RelayNode;
use crate::settings::Settings;
use whitewater_check::{ElectionSafety, ElectionView, MonotonicTerms, Rule, Standing, VoteOnce, majority};
use whitewater_sim::{
    Cluster, Effect, Figures, Monitor, NodeId, Phase, Progress, SLOTS, Script, Seen, Span, Time, Violation,
    What,
};

/// Claims of the rules that are not rules over elections of any Raft.
pub mod claims {
    /// Name and claim.
    pub type Claim = (&'static str, &'static str);
    /// See [`super::AnnouncedIsDurable`].
    pub const ANNOUNCED_IS_DURABLE: Claim =
        ("announced-is-durable", "A node announces no term and no vote that a crash could take from it.");
    /// See [`super::VoteNeedsRows`].
    pub const VOTE_NEEDS_ROWS: Claim =
        ("vote-needs-rows", "A node chooses only a candidate that has every row it has itself.");
    /// See [`super::RowsInOrder`].
    pub const ROWS_IN_ORDER: Claim =
        ("rows-in-order", "A node has of each origin an unbroken beginning of what that origin wrote.");
    /// See [`super::RowsKept`].
    pub const ROWS_KEPT: Claim = ("rows-kept", "A row that is durable on a node stays there.");
    /// See [`super::Debts`].
    pub const LEADER_ELECTED: Claim = (
        "leader-elected",
        "Once faults are over, a connected majority with an electable candidate has a leader.",
    );
    /// See [`super::Debts`].
    pub const FOLLOWER_CATCHES_UP: Claim =
        ("follower-catches-up", "A live follower that is connected to the leader applies its rows.");
    /// See [`super::QueueRules`].
    pub const CONFIRMED_KEPT: Claim =
        ("confirmed-kept", "A row that one node confirms is rolled back by none.");
    /// See [`super::QueueRules`].
    pub const TERM_BEFORE_CLAIM: Claim =
        ("term-before-claim", "A node knows of a term before the queue is claimed in it.");
    /// See [`super::QueueRules`].
    pub const CLAIMED_BEFORE_WRITTEN: Claim =
        ("claimed-before-written", "Only the owner of the queue writes what waits in it.");
    /// See [`super::QueueRules`].
    pub const GIVEN_UP_KEPT: Claim =
        ("given-up-kept", "Whoever has given up the queue in a term leads no more in it.");
    /// See [`super::Debts`].
    pub const QUEUE_DRAINS: Claim =
        ("queue-drains", "Once faults are over, what waits in the queue is confirmed or rolled back.");
    /// See [`super::NeedlessElection`].
    pub const NO_NEEDLESS_ELECTION: Claim =
        ("no-needless-election", "Once faults are over, a node that hears its leader calls no election.");
}

/// All rules over one run.
#[derive(Debug)]
pub struct RelayMonitor {
    generations: [u32; SLOTS],
    safety: Safety,
    needless: NeedlessElection,
    debts: Debts,
    queue: QueueRules,
    figures: Figures,
}

impl RelayMonitor {
    /// For a run of `script`.
    pub fn new(settings: &Settings, script: &Script) -> RelayMonitor {
        RelayMonitor {
            generations: [0; SLOTS],
            safety: Safety::default(),
            needless: NeedlessElection::new(settings, script),
            debts: Debts::new(settings, script),
            queue: QueueRules::default(),
            figures: Figures::default(),
        }
    }

    /// Every rule with its claim.
    pub fn rules() -> Vec<claims::Claim> {
        let (safety, once) = (ElectionSafety::default(), VoteOnce::default());
        vec![
            (safety.name(), safety.claim()),
            (once.name(), once.claim()),
            (MonotonicTerms.name(), MonotonicTerms.claim()),
            claims::ANNOUNCED_IS_DURABLE,
            claims::VOTE_NEEDS_ROWS,
            claims::ROWS_IN_ORDER,
            claims::ROWS_KEPT,
            claims::LEADER_ELECTED,
            claims::FOLLOWER_CATCHES_UP,
            claims::NO_NEEDLESS_ELECTION,
            claims::CONFIRMED_KEPT,
            claims::TERM_BEFORE_CLAIM,
            claims::CLAIMED_BEFORE_WRITTEN,
            claims::GIVEN_UP_KEPT,
            claims::QUEUE_DRAINS,
        ]
    }

    /// Looks at what a node sent and answered. `durable` is what it has on disk, if that can be said.
    fn collect(
        &mut self,
        node: NodeId,
        effects: &[Effect<RelayNode>],
        durable: Option<(u64, Option<NodeId>)>,
    ) -> Result<(), Violation> {
        self.safety.begin();
        for effect in effects {
            match effect {
                Effect::Send { message, .. } => {
                    if let Some(said) = message.body.announcement() {
                        self.safety.announced(node, said, durable)?;
                    }
                }
                Effect::Reply { reply: Reply::Written(_), .. } => self.figures.acknowledged_writes += 1,
                _ => {}
            }
        }
        Ok(())
    }
}

impl Monitor<RelayNode> for RelayMonitor {
    fn observe(&mut self, seen: &Seen<'_, RelayNode>, cluster: &Cluster<RelayNode>) -> Result<(), Violation> {
        if let Some(overdue) = self.debts.overdue() {
            return Err(overdue);
        }
        let node = seen.node;
        let Some(view) = cluster.view(node).filter(|_| !matches!(seen.what, What::Crashed)) else {
            self.needless.forget(node);
            self.debts.forget(node);
            return Ok(());
        };
        let durable = (!seen.died).then(|| (view.durable_term(), view.durable_vote()));
        self.collect(node, seen.effects, durable)?;
        if seen.died {
            return self.safety.died(node);
        }
        let generation = std::mem::replace(&mut self.generations[node.index()], view.generation());
        let booted = matches!(seen.what, What::Booted);
        let fresh = booted || generation != view.generation();
        let (standing, chain) = (Standing::of(view), |origin| view.chain(origin));
        let change = self.safety.stands(node, standing, view.vclock(), chain, fresh)?;
        if fresh {
            self.needless.forget(node);
        }
        self.needless.observe(seen, &change, view, cluster)?;
        self.debts.observe(node, &change, fresh, seen.time);
        self.queue.observe(node, view, standing, fresh)?;
        Ok(())
    }

    fn begin(
        &mut self,
        phase: Phase,
        now: Time,
        cluster: &Cluster<RelayNode>,
        inject: &mut Vec<(NodeId, Command)>,
    ) {
        self.needless.begin(now);
        self.debts.begin(now);
        // Whoever leads from now on writes a row of its own first, so that there always is one that must arrive.
        let text = if phase == Phase::Cycled { "cycled=1" } else { "settled=1" };
        let up = cluster.servers().filter(|&node| cluster.is_up(node));
        inject.extend(up.map(|node| (node, Command::LeadWith(text.to_owned()))));
    }

    fn owed(&mut self, now: Time, cluster: &Cluster<RelayNode>) -> Progress {
        match self.debts.owed(now, cluster) {
            Owed::Paid => Progress::Done,
            Owed::Nothing(because) => {
                self.figures.owe_nothing(because);
                Progress::Done
            }
            Owed::Waiting(violation) => Progress::Waiting(violation),
        }
    }

    fn figures(&self) -> Figures {
        self.figures
    }
}

/// Whether `count` of `servers` are a majority.
fn is_majority(count: usize, servers: usize) -> bool {
    count >= majority(servers)
}

/// For reading: nobody needs the nanoseconds.
fn rounded(span: Span) -> Span {
    Span::from_millis(span.nanos().div_ceil(1_000_000))
}
