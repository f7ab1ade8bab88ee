//! Matches grow: while a node leads, what it takes a peer to have never becomes less.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::change::Bits;
use whitewater_sim::{NodeId, SERVERS_MAX, Violation};

/// While a node leads, what it takes a peer to have never becomes less.
#[derive(Clone, Debug, Default)]
pub(crate) struct MatchesGrow {
    /// By leader its term and what it took each peer to have.
    known: [(u64, [u64; SERVERS_MAX]); SERVERS_MAX],
}

impl LogRule for MatchesGrow {
    const NAME: &'static str = "matches-grow";
    const CLAIM: &'static str = "While a node leads, what it takes a peer to have never becomes less.";
    const SOURCE: &'static str = "SandTable's MonotonicMatchIdx, CCF's MonotonicMatchIndexProp";
    const WAKES_ON: Bits = Bits(Bits::MATCH.0 | Bits::MEMBERSHIP.0);

    #[inline]
    fn observe(&mut self, change: &LogChange<'_>, books: &Books) -> Result<(), Violation> {
        let (leader, term) = (change.node, change.is.term);
        let matches = &books.node(leader).matches;
        let (known_term, known) = &mut self.known[leader.position()];
        if *known_term != term {
            (*known_term, *known) = (term, [0; SERVERS_MAX]);
        }
        for (_, membership) in change.memberships {
            // Who comes back starts anew, even if nobody has looked in between.
            let gone = (0..SERVERS_MAX).filter(|&peer| !membership.has(NodeId::server(peer)));
            gone.for_each(|peer| known[peer] = 0);
        }
        let mut peers = change.matched;
        while peers != 0 {
            let peer = peers.trailing_zeros() as usize;
            peers &= peers - 1;
            let (before, now) = (std::mem::replace(&mut known[peer], matches[peer]), matches[peer]);
            let peer = NodeId::server(peer);
            // A server that is no member any more is not tracked, and starts anew if it comes back.
            if now < before && now != 0 && !books.node(peer).forgiven {
                let message = format!(
                    "{leader} leads term {term} and took {peer} to have its log up to {before}, and now only up to {now}"
                );
                return Self::broken(leader, Some(peer), message);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, N2, Run, broken};
    use whitewater_sim::Role;

    fn follows(run: &mut Run, matched: &[u64]) -> Going {
        run.step(N1, |n| n.enter(1, Role::Leader))?;
        run.step(N1, |n| n.append(&[1, 1]))?;
        run.step(N2, |n| {
            n.enter(1, Role::Follower);
            n.append(&[1, 1]);
        })?;
        matched.iter().try_for_each(|&index| run.deliver(N1, N2, |n| n.matches[1] = index))
    }

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        follows(run, &[2, 1])
    }

    #[test]
    fn a_leader_that_takes_back_what_a_peer_has_is_found() {
        assert_eq!(broken(violating), Some(MatchesGrow::NAME));
    }

    #[test]
    fn matches_grow_and_begin_anew_with_another_term_or_for_one_that_left() {
        assert_eq!(broken(|run| follows(run, &[1, 2, 0, 1])), None);
        assert_eq!(
            broken(|run| {
                follows(run, &[2])?;
                run.step(N1, |n| {
                    n.enter(2, Role::Leader);
                    n.matches[1] = 0;
                })?;
                run.deliver(N1, N2, |n| n.matches[1] = 1)
            }),
            None
        );
    }
}
