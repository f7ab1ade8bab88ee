//! Vote kept: a vote that was sent stands as long as its term, also over a restart.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::change::Bits;
use crate::change::Grant;
use std::collections::BTreeMap;
use std::fmt;
use whitewater_sim::{NodeId, Role, SERVERS_MAX, Violation};

/// A node that is in a term in which it sent a vote still has that vote: while it runs, and when it starts.
///
/// Some write down whom they follow in the place of whom they chose: when a term has its leader, a choice in it decides
/// nothing any more.
#[derive(Clone, Debug, Default)]
pub(crate) struct VoteKept {
    /// The newest vote that each node sent, by position.
    sent: [Option<Grant>; SERVERS_MAX],
    /// Who has led each term.
    leaders: BTreeMap<u64, NodeId>,
}

impl LogRule for VoteKept {
    const NAME: &'static str = "vote-kept";
    const CLAIM: &'static str = "A node that is in a term in which it sent a vote still has that vote.";
    const SOURCE: &'static str = "Specula's VoteSafetyAcrossCrash";
    const WAKES_ON: Bits = Bits(Bits::GRANT.0 | Bits::BOOT.0 | Bits::ROLE.0 | Bits::VOTE.0);

    #[inline]
    fn observe(&mut self, change: &LogChange<'_>, books: &Books) -> Result<(), Violation> {
        let (node, is) = (change.node, *change.is);
        if is.role == Role::Leader {
            self.leaders.entry(is.term).or_insert(node);
        }
        if let Some(Grant { term, candidate }) = self.sent[node.position()] {
            let follows = is.vote.is_some() && is.vote == self.leaders.get(&term).copied();
            let booted = change.bits.meets(Bits::BOOT);
            let changed = is.term == term && is.vote != Some(candidate) && !follows;
            // Only a start shows a term that went back: a process that died and is not up again shows nothing of what it had.
            let lost = booted && (changed || is.term < term) || change.bits.meets(Bits::VOTE) && changed;
            if lost && !books.node(node).forgiven {
                let now = VoteFor(is.vote);
                let message = match booted {
                    true => format!(
                        "{node} sent a vote for {candidate} in term {term} and starts in term {} with {now}",
                        is.term
                    ),
                    false => format!("{node} has {now} in term {term}, in which it sent one for {candidate}"),
                };
                return Self::broken(node, Some(candidate), message);
            }
        }
        self.remember(node, change.grants);
        Ok(())
    }
}

impl VoteKept {
    /// The newest vote that a node sent.
    pub(super) fn sent(&self, node: NodeId) -> Option<Grant> {
        self.sent[node.position()]
    }

    /// Forgets the votes of a node.
    pub(super) fn forget(&mut self, node: NodeId) {
        self.sent[node.position()] = None;
    }

    /// Remembers the votes that a node sent.
    pub(super) fn remember(&mut self, node: NodeId, grants: &[Grant]) {
        let sent = &mut self.sent[node.position()];
        let newest = grants.iter().max_by_key(|grant| grant.term);
        *sent = newest.copied().into_iter().chain(*sent).max_by_key(|grant| grant.term);
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

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, N2, N3, Run, broken};
    use crate::log_view::Spoken;
    use whitewater_sim::Role;

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        run.say(N1, Spoken::Grant { to: N2, term: 2 }, |n| {
            n.enter(2, Role::Follower);
            n.choose(N2);
        })?;
        run.crash(N1);
        run.boot(N1, |n| (n.vote, n.durable_vote) = (None, None))
    }

    #[test]
    fn a_start_that_has_forgotten_the_vote_it_sent_is_found() {
        assert_eq!(broken(violating), Some(VoteKept::NAME));
    }

    #[test]
    fn the_leader_of_the_term_may_stand_in_the_place_of_whoever_was_chosen() {
        let replaced = |elected: bool| {
            move |run: &mut Run| {
                run.say(N1, Spoken::Grant { to: N2, term: 2 }, |n| {
                    n.enter(2, Role::Follower);
                    n.choose(N2);
                })?;
                let role = if elected { Role::Leader } else { Role::Candidate };
                run.step(N3, |n| n.enter(2, role))?;
                run.crash(N1);
                run.boot(N1, |n| n.choose(N3))
            }
        };
        assert_eq!(broken(replaced(false)), Some(VoteKept::NAME));
        assert_eq!(broken(replaced(true)), None);
    }

    #[test]
    fn a_start_may_forget_a_vote_that_was_not_sent_and_know_a_later_term() {
        assert_eq!(
            broken(|run| {
                run.step(N1, |n| {
                    n.enter(2, Role::Follower);
                    n.vote = Some(N2);
                })?;
                run.crash(N1);
                run.boot(N1, |n| n.vote = None)?;
                run.say(N1, Spoken::Grant { to: N2, term: 2 }, |n| n.choose(N2))?;
                run.step(N1, |n| n.enter(3, Role::Follower))?;
                run.crash(N1);
                run.boot(N1, |_| {})
            }),
            None
        );
    }

    #[test]
    fn a_vote_that_goes_while_its_term_lasts_is_found_at_once() {
        let changed = |sent: bool, term: u64, vote: Option<_>| {
            broken(move |run| {
                run.say(N1, Spoken::Grant { to: if sent { N2 } else { N1 }, term: 2 }, |n| {
                    n.enter(2, Role::Follower);
                    n.choose(if sent { N2 } else { N1 });
                })?;
                run.step(N1, |n| {
                    n.enter(term, Role::Follower);
                    n.vote = vote;
                })
            })
        };
        assert_eq!(changed(true, 2, None), Some(VoteKept::NAME));
        assert_eq!(changed(true, 2, Some(N3)), Some(VoteKept::NAME));
        assert_eq!(changed(true, 3, None), None);
    }

    #[test]
    fn a_vote_that_left_before_the_disk_died_is_not_forgotten_either() {
        let dies = |kept: bool| {
            move |run: &mut Run| {
                run.rules.died(N1, [Spoken::Grant { to: N2, term: 2 }])?;
                run.crash(N1);
                run.boot(N1, |n| {
                    n.enter(2, Role::Follower);
                    n.vote = kept.then_some(N2);
                })
            }
        };
        assert_eq!(broken(dies(false)), Some(VoteKept::NAME));
        assert_eq!(broken(dies(true)), None);
    }
}
