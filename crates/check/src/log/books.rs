//! What the rules know of the whole run: the shadow of every node and the committed prefix.

use super::chronicle::{Ballots, Chronicle, Orders, Requests};
use super::shadow::Shadow;
use crate::chain::{ChainLog, Linked};
use crate::change::Shadows;
use whitewater_sim::{NodeId, Role, SERVERS_MAX};

/// The prefix that is committed, as the first node to commit each entry had it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gold {
    /// Empty until the first commit; then it starts where the log of the first committing node did.
    log: Option<ChainLog>,
    /// For each term in which something was committed, the last index committed in it; both rise.
    terms: Vec<(u64, u64)>,
}

impl Gold {
    /// Index of the last committed entry, 0 if there is none.
    #[inline]
    pub(crate) fn last_index(&self) -> u64 {
        self.log.as_ref().map_or(0, ChainLog::last_index)
    }

    /// The committed entry at `index`, if it is known.
    #[inline]
    pub(crate) fn at(&self, index: u64) -> Option<Linked> {
        self.log.as_ref()?.at(index)
    }

    /// The last index committed in a term before `term`, 0 if there is none.
    pub(crate) fn committed_before(&self, term: u64) -> u64 {
        self.terms.iter().rev().find(|&&(t, _)| t < term).map_or(0, |&(_, index)| index)
    }

    /// Takes over what a node in `term` has committed beyond what is known.
    pub(crate) fn extend(&mut self, source: &ChainLog, commit: u64, term: u64) {
        let commit = commit.min(source.last_index());
        if commit <= self.last_index() {
            return;
        }
        let base = source.base();
        let log = match &mut self.log {
            // What lies between was committed unseen: start anew behind it.
            Some(log) if log.last_index() >= base => log,
            gap => gap.insert(ChainLog::starting_after(base, source.at(base).expect("a log has its base"))),
        };
        let (first, entries) = source.from(log.last_index() + 1);
        // Base and end lie on either side of them.
        log.extend(&entries[..(commit + 1 - first) as usize]);
        match self.terms.last_mut() {
            Some((last, index)) if *last >= term => *index = commit,
            _ => self.terms.push((term, commit)),
        }
    }
}

/// What the rules know of the whole run.
#[derive(Clone, Debug)]
pub(crate) struct Books {
    pub(crate) nodes: Vec<Shadow>,
    pub(crate) elections: Shadows,
    pub(crate) gold: Gold,
    pub(crate) chronicle: Chronicle,
    pub(crate) ballots: Ballots,
    pub(crate) orders: Orders,
    pub(crate) requests: Requests,
}

impl Books {
    pub(crate) fn new() -> Books {
        Books {
            nodes: vec![Shadow::default(); SERVERS_MAX],
            elections: Shadows::default(),
            gold: Gold::default(),
            chronicle: Chronicle::default(),
            ballots: Ballots::default(),
            orders: Orders::default(),
            requests: Requests::default(),
        }
    }

    #[inline]
    pub(crate) fn node(&self, node: NodeId) -> &Shadow {
        &self.nodes[node.position()]
    }

    /// Nodes that are up and lead, with their terms.
    pub(crate) fn leaders(&self) -> impl Iterator<Item = (NodeId, u64)> + '_ {
        (0..SERVERS_MAX).filter(|&n| self.nodes[n].is_up).map(NodeId::server).filter_map(|node| {
            let standing = self.elections.of(node);
            (standing.role == Role::Leader).then_some((node, standing.term))
        })
    }

    /// Index up to which a node's log is the committed one, looking no further than `index`. For messages only.
    #[cold]
    pub(crate) fn agreement(&self, node: NodeId, index: u64) -> u64 {
        let log = &self.node(node).log;
        let agrees = |&index: &u64| self.gold.at(index).is_some_and(|gold| log.at(index) == Some(gold));
        (0..=index).rev().find(agrees).unwrap_or(0)
    }

    /// The highest term that is certain to be the node's: of a node that is down, the durable one.
    pub(crate) fn term(&self, node: NodeId) -> u64 {
        let standing = self.elections.of(node);
        if self.node(node).is_up { standing.term } else { standing.durable_term }
    }
}
