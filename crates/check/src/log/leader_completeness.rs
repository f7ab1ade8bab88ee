//! Leader completeness: what was committed in a term is in the log of every leader of a later term.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::change::Bits;
use whitewater_sim::{NodeId, Role, Violation};

/// An entry committed in a term is in the log of every leader of a later term.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LeaderCompleteness;

impl LogRule for LeaderCompleteness {
    const NAME: &'static str = "leader-completeness";
    const CLAIM: &'static str = "An entry committed in a term is in the log of every leader of a later term.";
    const SOURCE: &'static str = "Ongaro's thesis, figure 3.2; etcd's and CCF's LeaderCompletenessInv";
    const WAKES_ON: Bits = Bits(Bits::COMMIT.0 | Bits::ROLE.0 | Bits::TERM.0);

    #[inline]
    fn observe(&mut self, change: &LogChange<'_>, books: &Books) -> Result<(), Violation> {
        let (node, is) = (change.node, *change.is);
        let was = *change.was;
        if is.role == Role::Leader && (was.role != Role::Leader || was.term != is.term) {
            Self::check(books, node, is.term)?;
        }
        if books.gold.last_index() > change.committed_known && books.requests.highest_led() > is.term {
            for (leader, term) in books.leaders().filter(|&(leader, term)| leader != node && term > is.term) {
                Self::check(books, leader, term)?;
            }
        }
        Ok(())
    }
}

impl LeaderCompleteness {
    /// Whether the leader of `term` has all that was committed before that term.
    fn check(books: &Books, leader: NodeId, term: u64) -> Result<(), Violation> {
        let index = books.gold.committed_before(term);
        let log = &books.node(leader).log;
        let Some(committed) = books.gold.at(index) else { return Ok(()) };
        if index < log.base() || log.at(index).is_some_and(|own| own.chain == committed.chain) {
            return Ok(());
        }
        let message = format!(
            "{leader} leads term {term} and its log, which ends at {}, lacks entries up to {index} that were committed \
             in earlier terms",
            log.last_index()
        );
        Self::broken(leader, None, message)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, N2, Run, broken};

    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        run.step(N1, |n| n.enter(1, Role::Leader))?;
        run.step(N1, |n| {
            n.append(&[1]);
            n.commit = 1;
        })?;
        run.step(N2, |n| n.enter(2, Role::Leader))
    }

    #[test]
    fn a_leader_without_an_entry_committed_in_an_earlier_term_is_found() {
        assert_eq!(broken(violating), Some(LeaderCompleteness::NAME));
    }

    #[test]
    fn a_leader_needs_what_is_committed_and_no_more() {
        assert_eq!(
            broken(|run| {
                run.step(N1, |n| n.enter(1, Role::Leader))?;
                run.step(N1, |n| {
                    n.append(&[1, 1]);
                    n.commit = 1;
                })?;
                run.step(N2, |n| {
                    n.enter(1, Role::Follower);
                    n.append(&[1]);
                })?;
                run.step(N2, |n| n.enter(2, Role::Leader))
            }),
            None
        );
    }

    #[test]
    fn a_leader_of_an_earlier_term_that_learns_late_of_its_election_owes_nothing() {
        assert_eq!(
            broken(|run| {
                run.step(N1, |n| n.enter(2, Role::Leader))?;
                run.step(N1, |n| {
                    n.append(&[2]);
                    n.commit = 1;
                })?;
                run.step(N2, |n| n.enter(1, Role::Leader))
            }),
            None
        );
    }

    #[test]
    fn an_entry_that_an_old_leader_commits_behind_the_back_of_a_newer_one_is_found() {
        let commits = |old: &'static [u64]| {
            move |run: &mut Run| {
                run.step(N2, |n| {
                    n.enter(1, Role::Follower);
                    n.append(old);
                })?;
                run.step(N1, |n| n.enter(1, Role::Leader))?;
                run.step(N2, |n| n.enter(2, Role::Leader))?;
                run.step(N1, |n| {
                    n.append(&[1]);
                    n.commit = 1;
                })
            }
        };
        assert_eq!(broken(commits(&[])), Some(LeaderCompleteness::NAME));
        assert_eq!(broken(commits(&[1])), None);
        let crashed = broken(|run| {
            run.step(N2, |n| n.enter(2, Role::Leader))?;
            run.crash(N2);
            run.step(N1, |n| n.enter(1, Role::Leader))?;
            run.step(N1, |n| {
                n.append(&[1]);
                n.commit = 1;
            })
        });
        assert_eq!(crashed, None);
    }
}
