//! The shadow of one node's log: terms and chain hashes as of its last event, followed in constant time per entry.

use super::change::LogStanding;
use crate::chain::{ChainLog, Linked};
use crate::log_view::LogView;
use crate::membership::Membership;
use whitewater_sim::SERVERS_MAX;

/// What is remembered of one node.
#[derive(Clone, Debug)]
pub(crate) struct Shadow {
    pub(crate) standing: LogStanding,
    /// The log; of a crashed node the part that was durable.
    pub(crate) log: ChainLog,
    /// The first entry that was cut off when the log last changed, if any was and it is known.
    pub(crate) removed: Option<Linked>,
    /// Match indexes of a leader by position of the peer.
    pub(crate) matches: [u64; SERVERS_MAX],
    /// Snapshots that a leader waits for its peers to have, by position of the peer.
    pub(crate) awaited: [Option<u64>; SERVERS_MAX],
    pub(crate) is_up: bool,
    /// The membership as the node last saw it; nobody votes in it if memberships never change.
    pub(crate) membership: Membership,
    /// How many of the memberships of its present life were looked at.
    pub(crate) memberships_seen: usize,
    /// Set while a node is down whose disk died in the middle of a step: it may hold more, less or later than is known.
    pub(crate) uncertain: bool,
    /// Up to where the log was durable before the step in which the disk died, or was said to be in it, while the node is
    /// down.
    pub(crate) durable_before: u64,
    /// Index and chain of the last entry that was durable before that step, if it is known.
    pub(crate) kept_before: Option<(u64, u64)>,
    /// Set for a node whose disk lost what it had promised to keep: nothing about its durability is claimed any more.
    pub(crate) forgiven: bool,
}

impl Default for Shadow {
    fn default() -> Shadow {
        Shadow {
            standing: LogStanding::default(),
            log: ChainLog::new(),
            removed: None,
            matches: [0; SERVERS_MAX],
            awaited: [None; SERVERS_MAX],
            is_up: false,
            membership: Membership::default(),
            memberships_seen: 0,
            uncertain: false,
            durable_before: 0,
            kept_before: None,
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
        (self.is_up, self.uncertain, self.durable_before, self.kept_before) = (true, false, 0, None);
        self.memberships_seen = 0;
    }

    /// The disk died in the middle of a step: what was committed is all that is certain to be there.
    pub(crate) fn die(&mut self) {
        self.uncertain = true;
        let durable = self.standing.durable_index;
        self.durable_before = self.durable_before.max(durable);
        self.kept_before = self.kept_before.max(self.log.chain_at(durable).map(|chain| (durable, chain)));
        self.standing.durable_index = self.standing.durable_index.min(self.standing.commit);
    }

    /// Forgets what is committed and durable: it is the same everywhere, and no lawful step asks for it again.
    #[inline]
    pub(crate) fn forget_committed(&mut self) {
        let settled = self.standing.commit.min(self.standing.durable_index);
        if settled <= self.log.last_index() {
            self.log.compact(settled);
        }
    }

    /// Follows the log of a node; says up to where it is as it was.
    #[inline]
    pub(crate) fn follow<V: LogView + ?Sized>(&mut self, view: &V, after: &LogStanding) -> u64 {
        let last = self.log.last_index();
        if last == after.last_index && self.log.last().chain == after.last_chain {
            return last;
        }
        self.follow_changed(view, after)
    }

    fn follow_changed<V: LogView + ?Sized>(&mut self, view: &V, after: &LogStanding) -> u64 {
        let last = self.log.last_index();
        let floor = after.first_index.saturating_sub(1);
        let lowest = self.log.base().max(floor);
        let mut kept = last.min(after.last_index);
        while kept > lowest && view.chain_at(kept) != self.log.chain_at(kept) {
            kept -= 1;
        }
        let whole = kept >= lowest && view.chain_at(kept) == self.log.chain_at(kept);
        if !whole {
            // A snapshot took the place of the log, or the node has lost what was committed.
            kept = floor;
        }
        self.removed = self.log.at(kept + 1);
        if !whole {
            self.log.restart(floor, linked_at(view, floor));
        } else if kept < last {
            self.log.truncate(kept);
        }
        for index in kept + 1..=after.last_index {
            self.log.push(linked_at(view, index));
        }
        self.log.compact(floor);
        kept
    }
}

#[inline]
fn linked_at<V: LogView + ?Sized>(view: &V, index: u64) -> Linked {
    view.linked_at(index).expect("a log knows term and hash of each entry and prefix it has")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::testing::Toy;
    use whitewater_sim::Draw;

    /// The longest common prefix, the slow way.
    fn common(a: &ChainLog, b: &ChainLog) -> u64 {
        let last = a.last_index().min(b.last_index());
        (0..=last).rev().find(|&index| a.at(index) == b.at(index)).unwrap()
    }

    #[test]
    fn a_shadow_follows_any_cut_and_any_growth() {
        for seed in 0..300u64 {
            let mut draw = Draw::from_value(seed);
            let (mut toy, mut shadow) = (Toy::new(), Shadow::default());
            for term in 1..60 {
                let before = toy.log.clone();
                toy.cut(draw.within(before.last_index().saturating_sub(3), before.last_index()));
                let terms = vec![term - draw.within(0, 1); draw.within(0, 4) as usize];
                toy.append(&terms);
                let after = LogStanding::of(&toy);
                assert_eq!(shadow.follow(&toy, &after), common(&before, &toy.log));
                let whole = (0..=after.last_index).all(|index| shadow.log.at(index) == toy.log.at(index));
                assert!(whole && shadow.log.last_index() == after.last_index);
            }
        }
    }

    #[test]
    fn a_shadow_that_forgot_what_is_settled_still_sees_the_same_cuts_behind_it() {
        for seed in 0..300u64 {
            let mut draw = Draw::from_value(seed);
            let (mut toy, mut shadow) = (Toy::new(), Shadow::default());
            for term in 1..60 {
                let before = toy.log.clone();
                toy.cut(draw.within(toy.commit, before.last_index()));
                let terms = vec![term; draw.within(0, 4) as usize];
                toy.append(&terms);
                toy.commit = draw.within(toy.commit, toy.log.last_index());
                shadow.standing = LogStanding::of(&toy);
                assert_eq!(shadow.follow(&toy, &LogStanding::of(&toy)), common(&before, &toy.log));
                shadow.forget_committed();
                assert_eq!(shadow.log.base(), toy.commit);
            }
        }
    }
}
