//! Next beyond match: what a leader sends a peer next lies behind what it takes the peer to have.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::change::Bits;
use whitewater_sim::{NodeId, Violation};

/// The next entry that a leader sends a peer lies behind what it takes the peer to have.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NextBeyondMatch;

impl LogRule for NextBeyondMatch {
    const NAME: &'static str = "next-beyond-match";
    const CLAIM: &'static str =
        "The next entry that a leader sends a peer lies behind what it takes the peer to have.";
    const SOURCE: &'static str =
        "SandTable's NextIdxGtMatchIdx and NextIdxGtZero; CCF's MatchIndexLowerBoundSentIndexInv";
    const WAKES_ON: Bits = Bits::MATCH;

    #[inline]
    fn observe(&mut self, change: &LogChange<'_>, books: &Books) -> Result<(), Violation> {
        if change.repeating == 0 {
            return Ok(());
        }
        let (leader, term) = (change.node, change.is.term);
        let peer = NodeId::server(change.repeating.trailing_zeros() as usize);
        let message = format!(
            "{leader} leads term {term}, takes {peer} to have its log up to entry {} and does not go on behind that",
            books.node(leader).matches[peer.position()]
        );
        Self::broken(leader, Some(peer), message)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, N2, Run, broken};
    use whitewater_sim::Role;

    fn goes_on(run: &mut Run, next: u64) -> Going {
        for node in [N1, N2] {
            run.step(node, |n| {
                n.enter(1, if node == N1 { Role::Leader } else { Role::Follower });
                n.append(&[1, 1]);
            })?;
        }
        run.deliver(N1, N2, |n| (n.matches[1], n.nexts[1]) = (2, Some(next)))
    }

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        goes_on(run, 2)
    }

    #[test]
    fn a_leader_that_would_send_what_its_peer_has_is_found() {
        assert_eq!(broken(violating), Some(NextBeyondMatch::NAME));
        assert_eq!(broken(|run| goes_on(run, 3)), None);
    }

    #[test]
    fn a_leader_that_goes_back_behind_what_its_peer_has_is_found_though_its_match_stays() {
        let goes_back = |next| {
            move |run: &mut Run| {
                goes_on(run, 3)?;
                run.deliver(N1, N2, |n| n.nexts[1] = Some(next))
            }
        };
        assert_eq!(broken(goes_back(1)), Some(NextBeyondMatch::NAME));
        assert_eq!(broken(goes_back(0)), Some(NextBeyondMatch::NAME));
        assert_eq!(broken(goes_back(4)), None);
    }
}
