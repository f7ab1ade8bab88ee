//! Vote kept: a restart finds the vote that was sent.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::change::Bits;
use crate::change::Grant;
use std::fmt;
use whitewater_sim::{NodeId, SERVERS_MAX, Violation};

/// A node that starts in a term in which it sent a vote still has that vote.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct VoteKept {
    /// The newest vote that each node sent, by position.
    sent: [Option<Grant>; SERVERS_MAX],
}

impl LogRule for VoteKept {
    const NAME: &'static str = "vote-kept";
    const CLAIM: &'static str = "A node that starts in a term in which it sent a vote still has that vote.";
    const SOURCE: &'static str = "Specula's VoteSafetyAcrossCrash";
    const WAKES_ON: Bits = Bits(Bits::GRANT.0 | Bits::BOOT.0);

    fn observe(&mut self, change: &LogChange<'_>, books: &Books) -> Result<(), Violation> {
        let (node, is) = (change.election.node, change.election.after);
        let sent = &mut self.sent[node.position()];
        if let Some(Grant { term, candidate }) = *sent {
            let lost = is.term < term || is.term == term && is.vote != Some(candidate);
            if change.election.bits.meets(Bits::BOOT) && lost && !books.node(node).forgiven {
                let message = format!(
                    "{node} sent a vote for {candidate} in term {term} and starts in term {} with {}",
                    is.term,
                    VoteFor(is.vote)
                );
                return Self::broken(node, Some(candidate), message);
            }
        }
        let newest = change.election.grants.iter().max_by_key(|grant| grant.term);
        *sent = newest.copied().into_iter().chain(*sent).max_by_key(|grant| grant.term);
        Ok(())
    }
}

/// A vote or none, in words.
pub(crate) struct VoteFor(pub(crate) Option<NodeId>);

impl fmt::Display for VoteFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(node) => write!(f, "a vote for {node}"),
            None => f.write_str("no vote"),
        }
    }
}
