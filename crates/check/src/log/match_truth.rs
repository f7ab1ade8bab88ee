//! Match truth: a leader takes no peer's durable log for longer than it is.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::change::Bits;
use whitewater_sim::{NodeId, SERVERS_MAX, Violation};

/// What a leader takes a peer to have is in the peer's durable log.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MatchTruth;

impl LogRule for MatchTruth {
    const NAME: &'static str = "match-truth";
    const CLAIM: &'static str = "What a leader takes a peer to have is in the peer's durable log.";
    const SOURCE: &'static str = "Stronger than CCF's and SandTable's monotonic match index";
    const WAKES_ON: Bits = Bits::MATCH;

    fn observe(&mut self, change: &LogChange<'_>, books: &Books) -> Result<(), Violation> {
        let leader = change.election.node;
        let (shadow, term) = (books.node(leader), change.election.after.term);
        for peer in (0..SERVERS_MAX).filter(|&p| change.matched & 1 << p != 0).map(NodeId::server) {
            let (index, other) = (shadow.matches[peer.position()], books.node(peer));
            // A peer of a later term may have cut off by now what it had acknowledged.
            if index == 0 || other.forgiven || books.term(peer) > term {
                continue;
            }
            let durable = other.standing.durable_index;
            // What was compacted away was committed, and so the same everywhere.
            let compacted = index < other.log.base() || index < shadow.log.base();
            let same = compacted || other.log.chain_at(index) == shadow.log.chain_at(index);
            if index > durable || !same {
                let message = format!(
                    "{leader} leads term {term} and takes {peer} to have its log up to {index}, and {peer} has {} on disk",
                    if index > durable { format!("entries up to {durable}") } else { "others".to_owned() }
                );
                return Self::broken(leader, Some(peer), message);
            }
        }
        Ok(())
    }
}
