//! Grants durable: a vote leaves its node only when no crash can take it back.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use super::vote_kept::VoteFor;
use crate::change::Bits;
use crate::change::Grant;
use whitewater_sim::Violation;

/// A vote is durable before it leaves its node.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GrantsDurable;

impl LogRule for GrantsDurable {
    const NAME: &'static str = "grants-durable";
    const CLAIM: &'static str = "A vote is durable before it leaves its node.";
    const SOURCE: &'static str = "Ongaro's thesis, section 3.8; Specula's VoteSafetyAcrossCrash";
    const WAKES_ON: Bits = Bits::GRANT;

    fn observe(&mut self, change: &LogChange<'_>, books: &Books) -> Result<(), Violation> {
        let (node, election) = (change.election.node, &change.election);
        if books.node(node).forgiven {
            return Ok(());
        }
        for &Grant { term, candidate } in election.grants {
            let durable_term = election.after.durable_term;
            let kept = durable_term > term || durable_term == term && change.durable_vote == Some(candidate);
            if !kept {
                let message = format!(
                    "{node} sends a vote for {candidate} in term {term}, and on its disk is term {durable_term} with {}",
                    VoteFor(change.durable_vote)
                );
                return Self::broken(node, Some(candidate), message);
            }
        }
        Ok(())
    }
}
