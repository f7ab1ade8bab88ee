//! Votes by rows: a node chooses only a candidate that has every row it has itself.

use super::claims;
use crate::vclock::Vclock;
use whitewater_check::Change;
use whitewater_sim::{NodeId, Violation};

/// A node chooses only a candidate that has every row it has, counted for each origin by itself.
#[derive(Clone, Copy, Debug)]
pub struct VoteNeedsRows;

impl VoteNeedsRows {
    /// Whom a node has newly chosen, other than itself; a start chooses nobody.
    pub fn choice(change: &Change<'_>, fresh: bool) -> Option<NodeId> {
        let (before, after) = (change.before, change.after);
        let is_new = !fresh && (before.vote, before.term) != (after.vote, after.term);
        after.vote.filter(|&vote| is_new && vote != change.node)
    }

    /// Looks at the choice of `node`, which had `has` on disk before it chose. `candidate_has` is the most the candidate ever
    /// had on disk: rows stay.
    ///
    /// # Errors
    /// The candidate lacks rows.
    pub fn observe(
        self,
        node: NodeId,
        has: &Vclock,
        candidate: NodeId,
        candidate_has: &Vclock,
    ) -> Result<(), Violation> {
        if candidate_has.covers(has) {
            return Ok(());
        }
        let message = format!(
            "{node} votes for {candidate} and has rows {has}, of which {candidate} with {candidate_has} lacks {}",
            candidate_has.missing_from(has)
        );
        let (rule, claim) = claims::VOTE_NEEDS_ROWS;
        Err(Violation { rule, claim, message, node: Some(node), peer: Some(candidate) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whitewater_check::{Shadows, Standing};

    const N1: NodeId = NodeId::server(0);
    const N2: NodeId = NodeId::server(1);

    fn rows(of: &[NodeId]) -> Vclock {
        let mut vclock = Vclock::default();
        of.iter().for_each(|&origin| vclock.follow(origin, 1));
        vclock
    }

    #[test]
    fn a_vote_for_a_candidate_that_lacks_a_row_of_anybody_is_found() {
        assert!(VoteNeedsRows.observe(N1, &rows(&[N1]), N2, &rows(&[N2])).is_err());
        assert!(VoteNeedsRows.observe(N1, &rows(&[N1]), N2, &rows(&[N1, N2])).is_ok());
    }

    #[test]
    fn a_vote_that_is_found_on_disk_or_that_stays_is_no_new_choice() {
        let mut shadows = Shadows::default();
        let standing = Standing { term: 2, vote: Some(N2), ..Standing::default() };
        assert_eq!(VoteNeedsRows::choice(&shadows.change(N1, standing, true, &[]), true), None);
        assert_eq!(VoteNeedsRows::choice(&shadows.change(N1, standing, false, &[]), false), None);
        let next = Standing { term: 3, ..standing };
        assert_eq!(VoteNeedsRows::choice(&shadows.change(N1, next, false, &[]), false), Some(N2));
    }
}
