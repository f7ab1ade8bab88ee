//! The shadow of one node's log: terms and chain hashes as of its last event, followed in constant time per entry.

use super::change::LogStanding;
use crate::chain::{ChainLog, Linked};
use crate::log_view::LogView;
use whitewater_sim::SERVERS_MAX;

/// An entry that was cut off a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Removed {
    /// Its index.
    pub(crate) index: u64,
    /// What it was.
    pub(crate) linked: Linked,
}

/// What is remembered of one node.
#[derive(Clone, Debug)]
pub(crate) struct Shadow {
    pub(crate) standing: LogStanding,
    /// The log; of a crashed node the part that was durable.
    pub(crate) log: ChainLog,
    /// Match indexes of a leader by position of the peer.
    pub(crate) matches: [u64; SERVERS_MAX],
    pub(crate) is_up: bool,
    /// Set while a node is down whose disk died in the middle of a step: it may hold more, less or later than is known.
    pub(crate) uncertain: bool,
    /// Set for a node whose disk lost what it had promised to keep: nothing about its durability is claimed any more.
    pub(crate) forgiven: bool,
}

impl Default for Shadow {
    fn default() -> Shadow {
        Shadow {
            standing: LogStanding::default(),
            log: ChainLog::new(),
            matches: [0; SERVERS_MAX],
            is_up: false,
            uncertain: false,
            forgiven: false,
        }
    }
}

impl Shadow {
    /// Forgets what a crash may take.
    pub(crate) fn crash(&mut self) {
        self.is_up = false;
        let durable = self.standing.durable_index.clamp(self.log.base(), self.log.last_index());
        self.log.truncate(durable);
        self.matches = [0; SERVERS_MAX];
        self.standing.last_index = durable;
        self.standing.last_chain = self.log.last().chain;
        self.standing.refusals = 0;
    }

    /// Begins a new life.
    pub(crate) fn boot(&mut self) {
        if self.is_up {
            self.crash();
        }
        (self.is_up, self.uncertain) = (true, false);
    }

    /// The disk died in the middle of a step: what was committed is all that is certain to be there.
    pub(crate) fn die(&mut self) {
        self.uncertain = true;
        self.standing.durable_index = self.standing.durable_index.min(self.standing.commit);
    }

    /// Follows the log of a node; says up to where it is as it was, and what was cut off first.
    #[inline]
    pub(crate) fn follow<V: LogView + ?Sized>(
        &mut self,
        view: &V,
        after: &LogStanding,
    ) -> (u64, Option<Removed>) {
        let last = self.log.last_index();
        if last == after.last_index && self.log.last().chain == after.last_chain {
            return (last, None);
        }
        self.follow_changed(view, after)
    }

    fn follow_changed<V: LogView + ?Sized>(
        &mut self,
        view: &V,
        after: &LogStanding,
    ) -> (u64, Option<Removed>) {
        let last = self.log.last_index();
        let floor = after.first_index.saturating_sub(1);
        let lowest = self.log.base().max(floor);
        let mut kept = last.min(after.last_index);
        while kept > lowest && view.chain_at(kept) != self.log.chain_at(kept) {
            kept -= 1;
        }
        let mut removed = None;
        if kept < lowest || view.chain_at(kept) != self.log.chain_at(kept) {
            // A snapshot took the place of the log, or the node shows less than it was known to have.
            let linked = linked_at(view, floor);
            removed = self.log.at(floor + 1).map(|linked| Removed { index: floor + 1, linked });
            self.log.restart(floor, linked);
            kept = floor;
        } else if kept < last {
            removed = self.log.at(kept + 1).map(|linked| Removed { index: kept + 1, linked });
            self.log.truncate(kept);
        }
        for index in kept + 1..=after.last_index {
            self.log.push(linked_at(view, index));
        }
        self.log.compact(floor);
        (kept, removed)
    }
}

fn linked_at<V: LogView + ?Sized>(view: &V, index: u64) -> Linked {
    let term = view.term_at(index).expect("a log knows the term of each entry it has");
    let chain = view.chain_at(index).expect("a log knows the hash of each prefix it has");
    Linked { term, chain }
}
