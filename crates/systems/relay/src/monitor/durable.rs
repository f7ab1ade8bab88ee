//! What is announced is durable: no crash takes back a term or a vote that others have heard of.

use super::claims;
use crate::message::Announcement;
use whitewater_sim::{NodeId, Violation};

/// A node announces no term and no vote that a crash could take from it.
#[derive(Clone, Copy, Debug)]
pub struct AnnouncedIsDurable;

impl AnnouncedIsDurable {
    /// Looks at what `node` said, with the term and vote it has on disk by then.
    ///
    /// # Errors
    /// It said more than that.
    #[inline]
    pub fn observe(
        self,
        node: NodeId,
        said: &Announcement,
        (term, vote): (u64, Option<NodeId>),
    ) -> Result<(), Violation> {
        let is_vote_durable = said.term < term || said.vote.is_none() || said.vote == vote;
        if said.term <= term && is_vote_durable {
            return Ok(());
        }
        let of =
            |vote: Option<NodeId>| vote.map_or("no vote".to_owned(), |vote| format!("a vote for {vote}"));
        let message = format!(
            "{node} announces term {} and {}, and has term {term} and {} on disk",
            said.term,
            of(said.vote),
            of(vote),
        );
        let (rule, claim) = claims::ANNOUNCED_IS_DURABLE;
        Err(Violation { rule, claim, message, node: Some(node), peer: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whitewater_sim::Role;

    const N1: NodeId = NodeId::server(0);
    const N2: NodeId = NodeId::server(1);

    fn passes(said: (u64, Option<NodeId>), durable: (u64, Option<NodeId>)) -> bool {
        let said = Announcement {
            term: said.0,
            vote: said.1,
            state: Role::Follower,
            vclock: None,
            sees_leader: None,
        };
        AnnouncedIsDurable.observe(N2, &said, durable).is_ok()
    }

    #[test]
    fn a_term_or_vote_that_is_announced_before_it_is_durable_is_found() {
        assert!(!passes((2, None), (1, None)));
        assert!(!passes((1, Some(N1)), (1, None)));
        assert!(!passes((1, Some(N1)), (1, Some(N2))));
    }

    #[test]
    fn what_is_on_disk_or_older_may_be_announced() {
        assert!(passes((1, Some(N1)), (1, Some(N1))));
        assert!(passes((1, None), (1, Some(N1))));
        assert!(passes((1, Some(N2)), (2, Some(N1))));
    }
}
