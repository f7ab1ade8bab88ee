//! Match truth: a leader takes no peer's durable log for longer than it is.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::change::Bits;
use whitewater_sim::{NodeId, Violation};

/// What a leader takes a peer to have is in the peer's durable log.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MatchTruth;

impl LogRule for MatchTruth {
    const NAME: &'static str = "match-truth";
    const CLAIM: &'static str = "What a leader takes a peer to have is in the peer's durable log.";
    const SOURCE: &'static str = "Stronger than CCF's and SandTable's monotonic match index";
    const WAKES_ON: Bits = Bits::MATCH;

    #[inline]
    fn observe(&mut self, change: &LogChange<'_>, books: &Books) -> Result<(), Violation> {
        let leader = change.node;
        let (shadow, term) = (books.node(leader), change.is.term);
        let mut peers = change.matched;
        while peers != 0 {
            let peer = peers.trailing_zeros() as usize;
            peers &= peers - 1;
            let (index, other) = (shadow.matches[peer], &books.nodes[peer]);
            let peer = NodeId::server(peer);
            // A peer of a later term may have cut off by now what it had acknowledged.
            if index == 0 || other.forgiven || other.uncertain || books.term(peer) > term {
                continue;
            }
            let durable = other.standing.durable_index;
            // What was compacted away was committed, and so the same everywhere.
            let compacted = index < other.log.base() || index < shadow.log.base();
            if index > durable || !compacted && other.log.chain_at(index) != shadow.log.chain_at(index) {
                let message = format!(
                    "{leader} leads term {term} and takes {peer} to have its log up to {index}, and {peer} has {} on disk",
                    if index > durable {
                        format!("entries up to {durable}")
                    } else {
                        "other entries".to_owned()
                    }
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

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        run.step(N1, |n| n.enter(1, Role::Leader))?;
        run.step(N1, |n| n.append(&[1, 1]))?;
        run.step(N2, |n| {
            n.enter(1, Role::Follower);
            n.append(&[1]);
        })?;
        run.deliver(N1, N2, |n| n.matches[1] = 2)
    }

    #[test]
    fn a_leader_that_counts_on_entries_a_peer_does_not_have_is_found() {
        assert_eq!(broken(violating), Some(MatchTruth::NAME));
    }

    #[test]
    fn a_peer_of_the_same_term_has_what_it_acknowledged_even_after_a_crash() {
        assert_eq!(
            broken(|run| {
                run.step(N1, |n| n.enter(1, Role::Leader))?;
                run.step(N1, |n| n.append(&[1, 1]))?;
                run.step(N2, |n| {
                    n.enter(1, Role::Follower);
                    n.append(&[1]);
                })?;
                run.crash(N2);
                run.deliver(N1, N2, |n| n.matches[1] = 1)
            }),
            None
        );
    }

    #[test]
    fn a_peer_of_a_later_term_may_have_cut_off_what_it_acknowledged() {
        assert_eq!(
            broken(|run| {
                run.step(N1, |n| n.enter(1, Role::Leader))?;
                run.step(N1, |n| n.append(&[1, 1]))?;
                run.step(N2, |n| {
                    n.enter(1, Role::Follower);
                    n.append(&[1, 1]);
                })?;
                run.step(N2, |n| {
                    n.enter(2, Role::Follower);
                    n.cut(1);
                })?;
                run.deliver(N1, N2, |n| n.matches[1] = 2)
            }),
            None
        );
    }

    #[test]
    fn entries_that_are_not_durable_do_not_count() {
        let counts = |durable_index| {
            move |run: &mut Run| {
                run.step(N1, |n| n.enter(1, Role::Leader))?;
                run.step(N1, |n| n.append(&[1, 1]))?;
                run.step(N2, |n| {
                    n.enter(1, Role::Follower);
                    n.append(&[1, 1]);
                    n.durable_index = durable_index;
                })?;
                run.step(N1, |n| n.matches[1] = 2)
            }
        };
        assert_eq!(broken(counts(1)), Some(MatchTruth::NAME));
        assert_eq!(broken(counts(2)), None);
    }
}
