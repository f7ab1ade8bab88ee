//! Abstract step: what a server does is what the abstract Raft lets it do, or does not show there.
//!
//! Stepped beside the run, woken by change, in constant time per change and entry. The quorums of elections and commits are
//! claims of rules of their own; every other guard is asked here.

use super::books::Books;
use super::change::LogChange;
use super::rule::LogRule;
use crate::abstract_raft::{Position, may_enter, may_lead_with, may_learn, may_take_over, may_vote};
use crate::chain::{ChainLog, Linked};
use crate::change::Bits;
use whitewater_sim::{NodeId, Role, Violation};

/// Terms whose leaders' logs are remembered, and candidacies.
const MEMORY: usize = 64;

/// Something about elections changed.
const ELECTION: Bits = Bits(Bits::BOOT.0 | Bits::TERM.0 | Bits::VOTE.0 | Bits::ROLE.0);
/// The log changed.
const LOG: Bits = Bits(Bits::LOG_APPENDED.0 | Bits::LOG_TRUNCATED.0);

/// Each step of a server is a step of the abstract Raft, or none.
#[derive(Clone, Debug, Default)]
pub(crate) struct AbstractStep {
    /// The highest term that anybody has come into.
    highest: u64,
    /// Candidates with their terms, and where their logs ended.
    stood: Vec<(u64, NodeId, Position)>,
    /// By term what its leader has written, the latest last.
    leaders: Vec<Written>,
    /// A leader died in the middle of a step: what it has committed nobody knows.
    is_unsure: bool,
    /// Servers, a bit each, whose log is shown as it was some time ago: behind a snapshot that is being stored.
    behind: u16,
}

/// What the leader of a term has written.
#[derive(Clone, Debug)]
struct Written {
    term: u64,
    log: ChainLog,
    /// It may have written more than it has shown.
    is_open: bool,
}

impl LogRule for AbstractStep {
    const NAME: &'static str = "abstract-step";
    const CLAIM: &'static str = "What a server does in a step, an abstract Raft could do: stand, vote, lead, append, take over, commit.";
    const SOURCE: &'static str = "Ongaro's raft.tla; the refinement of etcd's and CCF's trace validation";
    const WAKES_ON: Bits = Bits(ELECTION.0 | LOG.0 | Bits::COMMIT.0);

    #[inline]
    fn observe(&mut self, change: &LogChange<'_>, books: &Books) -> Result<(), Violation> {
        let mut flaw = None;
        if change.bits.meets(ELECTION) {
            flaw = self.elections(change, books);
        }
        let is_news = change.is.role == Role::Leader && change.bits.meets(ELECTION);
        if change.bits.meets(LOG) || is_news {
            let is_late = self.shows_late(change);
            flaw = flaw.or_else(|| self.logs(change, books).filter(|_| !is_late));
        }
        if change.bits.meets(Bits::COMMIT) {
            flaw = flaw.or_else(|| self.commits(change));
        }
        match flaw {
            // What a server does whose disk betrayed it is not its own doing.
            Some((peer, message)) if !books.node(change.node).forgiven => {
                Self::broken(change.node, peer, message)
            }
            _ => Ok(()),
        }
    }
}

/// The other server concerned, and what is wrong.
type Flaw = Option<(Option<NodeId>, String)>;

impl AbstractStep {
    fn elections(&mut self, change: &LogChange<'_>, books: &Books) -> Flaw {
        let (node, was, is) = (change.node, change.was, change.is);
        let booted = change.bits.meets(Bits::BOOT);
        let stands = matches!(is.role, Role::Candidate | Role::Leader);
        let highest = self.highest;
        self.highest = highest.max(is.term);
        // In one step time may pass for several timeouts: it stands in each term on the way.
        let highest = if stands { highest.max(is.term.saturating_sub(1)) } else { highest };
        if !booted && is.term > was.term && !may_enter(is.term, highest, stands) {
            let message = format!(
                "{node} comes into term {}, and nobody has stood for election in a term beyond {highest}",
                is.term
            );
            return Some((None, message));
        }
        let log = &books.node(node).log;
        let own = (log.last().term, log.last_index());
        if booted {
            // What it forgot in a crash it may do once more, with another log.
            self.stood.retain(|&(term, by, _)| by != node || term <= is.term);
        }
        let begins = stands && change.is_whole && (is.term > was.term || was.role != Role::Candidate);
        if begins && is.role == Role::Candidate {
            if self.stood.len() == MEMORY {
                self.stood.drain(..MEMORY / 2);
            }
            self.stood.push((is.term, node, own));
        }
        let voted = is.vote.filter(|&vote| vote != node && (was.vote, was.term) != (Some(vote), is.term));
        let stable = change.is_whole && !change.bits.meets(LOG);
        let candidate = voted.filter(|_| !booted && stable && !is_of_leader(change))?;
        let stood = self.stood.iter().rev().find(|(term, by, _)| (*term, *by) == (is.term, candidate));
        let &(_, _, stood) = stood.filter(|(_, _, stood)| !may_vote(own, *stood))?;
        let message = format!(
            "{node} chooses {candidate} in term {}, whose log ended with entry {} of term {}, and its own ends with entry {} \
             of term {}",
            is.term, stood.1, stood.0, own.1, own.0
        );
        Some((Some(candidate), message))
    }

    /// Whether a change of a log happened earlier, in an earlier term perhaps, and is shown now: what is stored of a log
    /// comes up bit by bit after a snapshot, up to the step in which all of it is there.
    fn shows_late(&mut self, change: &LogChange<'_>) -> bool {
        let bit = 1 << change.node.position();
        let was_behind = self.behind & bit != 0 && !change.bits.meets(Bits::BOOT);
        if change.is_whole {
            self.behind &= !bit;
        } else {
            self.behind |= bit;
        }
        was_behind || !change.is_whole
    }

    fn logs(&mut self, change: &LogChange<'_>, books: &Books) -> Flaw {
        let (node, is) = (change.node, change.is);
        let log = &books.node(node).log;
        let (before, kept) = (change.before.last_index, change.kept);
        // A snapshot took the place of the log, in whatever term it came: what is in it is committed.
        let restarted = change.before.first_index != change.after.first_index;
        let booted = change.bits.meets(Bits::BOOT);
        if is.role == Role::Leader {
            let (first, added) = log.from(kept + 1);
            let is_own = first == kept + 1 && added.iter().all(|entry| entry.term == is.term);
            self.write(is.term, log, change.after.commit);
            if booted || restarted || may_lead_with(before, kept, is_own) {
                return None;
            }
            let message = format!(
                "{node} leads term {} and had {before} entries, of which {kept} are left, and what it adds is{} all of its \
                 term",
                is.term,
                if is_own { "" } else { " not" }
            );
            return Some((None, message));
        }
        if booted || restarted || !change.bits.meets(LOG) {
            return None;
        }
        let last = log.last_index();
        let written = self.leaders.iter().rev().find(|written| written.term == is.term);
        // Of a term whose leader was never seen nothing is known, not even that it conflicts with anything.
        let is_leaders = written.is_none_or(|written| written.may_have(last, log.last(), books));
        let removed = books.node(node).removed;
        let differs =
            |written: &Written| removed.is_some_and(|entry| written.differs(kept + 1, entry, books));
        if may_take_over(before, kept, last, is_leaders, written.is_some_and(differs)) {
            return None;
        }
        let message = if last == kept {
            format!(
                "{node} has {last} of the {before} entries it had, and the leader of term {} has no others in place of the \
                 rest",
                is.term
            )
        } else {
            format!(
                "{node} is in term {} and its log ends with entry {last} of term {}, which is not what the leader of \
                 term {} has written there",
                is.term,
                log.last().term,
                is.term
            )
        };
        Some((is.leader.filter(|&leader| leader != node), message))
    }

    fn commits(&self, change: &LogChange<'_>) -> Flaw {
        let (node, commit, known) = (change.node, change.after.commit, change.committed_known);
        let led = change.was.role == Role::Leader || change.is.role == Role::Leader;
        // That it has what they have is what `committed-agree` says.
        if led || self.is_unsure || change.bits.meets(Bits::BOOT) || may_learn(commit, known, true) {
            return None;
        }
        let message = format!(
            "{node} does not lead and commits entry {commit}, and leaders have committed up to {known}"
        );
        Some((change.is.leader.filter(|&leader| leader != node), message))
    }

    /// Follows what the leader of a term has written.
    fn write(&mut self, term: u64, log: &ChainLog, commit: u64) {
        if self.leaders.last().is_none_or(|written| written.term < term) {
            if self.leaders.len() == MEMORY {
                self.leaders.drain(..MEMORY / 2);
            }
            self.leaders.push(Written { term, log: log.clone(), is_open: false });
            return;
        }
        let Some(written) = self.leaders.iter_mut().rev().find(|written| written.term == term) else {
            return;
        };
        let next = written.log.last_index() + 1;
        if next <= log.last_index() {
            match log.from(next) {
                (first, added) if first == next => written.log.extend(added),
                // It is all committed, and known from there.
                _ => return written.log = log.clone(),
            }
        }
        if commit <= written.log.last_index() {
            written.log.compact(commit);
        }
    }

    /// A server died in the middle of a step in which it may have done more than was seen; it has spoken of a term.
    pub(super) fn lose_sight(&mut self, was: (Role, u64), spoken_term: u64) {
        self.highest = self.highest.max(spoken_term);
        if was.0 == Role::Leader {
            self.is_unsure = true;
            let of = |written: &&mut Written| written.term == was.1;
            self.leaders.iter_mut().filter(of).for_each(|written| written.is_open = true);
        }
    }
}

/// Whether a server took whom it follows for whom it chose: some write that down in the same place.
fn is_of_leader(change: &LogChange<'_>) -> bool {
    change.is.vote == change.is.leader && !change.bits.meets(Bits::GRANT)
}

impl Written {
    /// The chain hash of what was written at an index; what is committed may be known from others.
    #[inline]
    fn chain_at(&self, index: u64, books: &Books) -> Option<u64> {
        self.log.chain_at(index).or_else(|| {
            if index < self.log.base() { books.gold.at(index).map(|linked| linked.chain) } else { None }
        })
    }

    /// Whether something was written at an index of which nobody knows what it is, or may have been.
    fn is_unknown(&self, index: u64) -> bool {
        self.is_open || index <= self.log.last_index()
    }

    /// Whether this entry was written at an index, as far as anybody knows.
    fn may_have(&self, index: u64, entry: Linked, books: &Books) -> bool {
        self.chain_at(index, books).map_or_else(|| self.is_unknown(index), |chain| chain == entry.chain)
    }

    /// Whether another entry than this was written at an index, as far as anybody knows.
    fn differs(&self, index: u64, entry: Linked, books: &Books) -> bool {
        self.chain_at(index, books).map_or_else(|| self.is_unknown(index), |chain| chain != entry.chain)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::testing::{Going, N1, N2, N3, Run};
    use crate::log_view::Spoken;

    fn broken(run: impl FnOnce(&mut Run) -> Going) -> Option<&'static str> {
        run(&mut Run::without_short_cuts()).err().map(|violation| violation.rule)
    }

    /// n1 leads with two entries, which n2 has as well.
    fn led(run: &mut Run) -> Going {
        run.step(N1, |n| n.enter(1, Role::Candidate))?;
        run.step(N1, |n| {
            n.role = Role::Leader;
            n.append(&[1, 1]);
        })?;
        run.step(N2, |n| {
            n.enter(1, Role::Follower);
            n.append(&[1, 1]);
        })
    }

    /// n3 stands and leads term 2 with these entries behind what it had.
    fn takes_over(run: &mut Run, terms: &[u64]) -> Going {
        run.step(N3, |n| n.enter(2, Role::Candidate))?;
        run.step(N3, |n| {
            n.role = Role::Leader;
            n.append(terms);
        })
    }

    /// A follower lets go of an entry that nobody replaces.
    pub(in crate::log) fn violating(run: &mut Run) -> Going {
        led(run)?;
        run.step(N2, |n| n.cut(1))
    }

    #[test]
    fn entries_go_only_where_others_take_their_place() {
        assert_eq!(broken(violating), Some(AbstractStep::NAME));
        let replaced = broken(|run| {
            led(run)?;
            takes_over(run, &[2])?;
            run.step(N2, |n| {
                n.enter(2, Role::Follower);
                n.cut(0);
                n.append(&[2]);
            })
        });
        assert_eq!(replaced, None);
        let crashed = broken(|run| {
            led(run)?;
            run.step(N2, |n| n.durable_index = 1)?;
            run.crash(N2);
            run.boot(N2, |_| {})
        });
        assert_eq!(crashed, None, "a crash may take what was not durable");
    }

    #[test]
    fn what_conflicts_may_go_before_what_takes_its_place_is_there() {
        let cuts = |written: &[u64], kept: u64| {
            broken(|run| {
                led(run)?;
                takes_over(run, written)?;
                run.step(N2, |n| n.enter(2, Role::Follower))?;
                run.step(N2, |n| n.cut(kept))
            })
        };
        assert_eq!(cuts(&[2, 2], 0), None);
        assert_eq!(cuts(&[2], 0), None);
        assert_eq!(cuts(&[2, 2], 1), None, "bit by bit");
        assert_eq!(cuts(&[2], 1), Some(AbstractStep::NAME), "the leader has nothing there");
        assert_eq!(cuts(&[], 0), Some(AbstractStep::NAME), "the leader has nothing at all");
        let shorter = broken(|run| {
            led(run)?;
            run.step(N3, |n| {
                n.enter(1, Role::Follower);
                n.append(&[1]);
            })?;
            takes_over(run, &[])?;
            run.step(N2, |n| n.enter(2, Role::Follower))?;
            run.step(N2, |n| n.cut(1))
        });
        assert_eq!(
            shorter,
            Some(AbstractStep::NAME),
            "the leader's log is shorter, and conflicts with nothing"
        );
    }

    #[test]
    fn a_log_that_the_leader_of_the_term_never_wrote_is_found() {
        let taking = |term: u64| {
            broken(|run| {
                led(run)?;
                takes_over(run, &[])?;
                run.rules.blind("leader-longest").unwrap();
                run.step(N2, |n| {
                    n.enter(term, Role::Follower);
                    n.append(&[1]);
                })
            })
        };
        assert_eq!(taking(2), Some(AbstractStep::NAME));
        let stays = broken(|run| {
            led(run)?;
            run.step(N1, |n| n.append(&[1]))?;
            run.step(N2, |n| n.append(&[1]))
        });
        assert_eq!(stays, None);
    }

    #[test]
    fn a_log_that_comes_up_late_is_not_held_against_the_leader_of_today() {
        let comes_up = |hidden: u64| {
            broken(|run| {
                led(run)?;
                takes_over(run, &[2])?;
                run.step(N2, |n| n.enter(2, Role::Follower))?;
                run.rules.blind("leader-longest").unwrap();
                // n1 had written it in term 1; it was stored behind a snapshot, and shows now.
                run.step(N2, |n| {
                    n.hidden = hidden;
                    n.append(&[1]);
                })?;
                run.step(N2, |n| {
                    n.hidden = 0;
                    n.append(&[1]);
                })
            })
        };
        assert_eq!(comes_up(1), None);
        assert_eq!(comes_up(0), Some(AbstractStep::NAME));
    }

    #[test]
    fn a_term_comes_into_being_only_when_somebody_stands_in_it() {
        let enter = |term: u64, role| {
            broken(|run| {
                run.step(N1, |n| n.enter(1, Role::Candidate))?;
                run.step(N2, |n| n.enter(term, role))
            })
        };
        assert_eq!(enter(1, Role::Follower), None);
        assert_eq!(enter(2, Role::Candidate), None);
        assert_eq!(enter(2, Role::Follower), Some(AbstractStep::NAME));
        assert_eq!(enter(3, Role::Candidate), None, "time may pass for several timeouts");
        assert_eq!(enter(3, Role::Follower), Some(AbstractStep::NAME));
    }

    #[test]
    fn a_vote_goes_to_a_log_that_is_at_least_as_new() {
        let votes = |own: &[u64]| {
            broken(|run| {
                led(run)?;
                run.step(N2, |n| n.enter(2, Role::Candidate))?;
                run.step(N3, |n| {
                    n.enter(1, Role::Follower);
                    n.append(own);
                })?;
                run.say(N3, Spoken::Grant { to: N2, term: 2 }, |n| {
                    n.enter(2, Role::Follower);
                    n.choose(N2);
                })
            })
        };
        assert_eq!(votes(&[1, 1]), None);
        assert_eq!(votes(&[1]), None);
        let longer = broken(|run| {
            led(run)?;
            run.step(N3, |n| n.enter(2, Role::Candidate))?;
            run.say(N2, Spoken::Grant { to: N3, term: 2 }, |n| {
                n.enter(2, Role::Follower);
                n.choose(N3);
            })
        });
        assert_eq!(longer, Some(AbstractStep::NAME));
    }

    #[test]
    fn a_candidacy_that_a_crash_took_away_may_come_again_with_another_log() {
        let votes = |crashes: bool| {
            broken(|run| {
                led(run)?;
                run.step(N3, |n| n.enter(1, Role::Follower))?;
                run.step(N3, |n| {
                    n.enter(2, Role::Candidate);
                    n.durable_term = 1;
                })?;
                if crashes {
                    run.crash(N3);
                    run.boot(N3, |n| n.enter(1, Role::Follower))?;
                }
                run.step(N3, |n| n.append(&[1, 1]))?;
                // It passes through term 2 within one step.
                run.step(N3, |n| n.enter(3, Role::Candidate))?;
                run.say(N2, Spoken::Grant { to: N3, term: 2 }, |n| {
                    n.enter(2, Role::Follower);
                    n.choose(N3);
                })
            })
        };
        assert_eq!(votes(true), None);
        assert_eq!(votes(false), Some(AbstractStep::NAME));
    }

    #[test]
    fn a_leader_begins_with_the_log_it_had_and_entries_of_its_own() {
        let begins = |cut: u64, terms: &[u64]| {
            broken(|run| {
                led(run)?;
                run.step(N2, |n| n.enter(2, Role::Candidate))?;
                run.step(N2, |n| {
                    n.role = Role::Leader;
                    n.cut(cut);
                    n.append(terms);
                })
            })
        };
        assert_eq!(begins(2, &[2]), None);
        assert_eq!(begins(1, &[2]), Some(AbstractStep::NAME));
    }

    #[test]
    fn who_follows_commits_only_what_leaders_have() {
        let commits = |leader_commit: u64| {
            broken(|run| {
                led(run)?;
                run.rules.blind("committed-on-quorum").unwrap();
                run.step(N1, |n| n.commit = leader_commit)?;
                run.step(N2, |n| n.commit = 2)
            })
        };
        assert_eq!(commits(2), None);
        assert_eq!(commits(1), Some(AbstractStep::NAME));
    }
}
