//! Safety after every event: what a node sent against its disk, and how it stands against all that was seen before.

use super::{AnnouncedIsDurable, RowsInOrder, RowsKept, VoteNeedsRows};
use crate::message::Announcement;
use crate::vclock::Vclock;
use whitewater_check::{Change, ElectionSafety, Grant, MonotonicTerms, Rule, Shadows, Standing, VoteOnce};
use whitewater_sim::{NodeId, Violation};

/// The rules of safety over one run.
#[derive(Debug, Default)]
pub struct Safety {
    shadows: Shadows,
    election_safety: ElectionSafety,
    vote_once: VoteOnce,
    monotonic_terms: MonotonicTerms,
    rows_in_order: RowsInOrder,
    rows_kept: RowsKept,
    /// The votes that were sent in the step that is looked at.
    grants: Vec<Grant>,
}

impl Safety {
    /// A step of a node begins.
    pub fn begin(&mut self) {
        self.grants.clear();
    }

    /// A node announced something in this step. `durable` is the term and vote it has on disk, if that can be said.
    ///
    /// # Errors
    /// The rule that it breaks.
    #[inline]
    pub fn announced(
        &mut self,
        node: NodeId,
        said: &Announcement,
        durable: Option<(u64, Option<NodeId>)>,
    ) -> Result<(), Violation> {
        if let Some(durable) = durable {
            AnnouncedIsDurable.observe(node, said, durable)?;
        }
        let grant = said.vote.map(|candidate| Grant { term: said.term, candidate });
        // A broadcast says the same to everybody.
        if let Some(grant) = grant.filter(|grant| self.grants.last() != Some(grant)) {
            self.grants.push(grant);
        }
        Ok(())
    }

    /// The step ends with the node's disk dead: what it sent before counts; what it believes does not.
    ///
    /// # Errors
    /// The rule that it breaks.
    pub fn died(&mut self, node: NodeId) -> Result<(), Violation> {
        let standing = self.shadows.of(node);
        let change = self.shadows.change(node, standing, false, &self.grants);
        self.vote_once.wake(&change)
    }

    /// The step ends, and the node stands like this; `fresh` if it started with it. `chain` is the hash over all rows
    /// it has of an origin. Gives what changed.
    ///
    /// # Errors
    /// The rule that it breaks.
    #[inline]
    pub fn stands(
        &mut self,
        node: NodeId,
        standing: Standing,
        vclock: &Vclock,
        chain: impl Fn(NodeId) -> u64,
        fresh: bool,
    ) -> Result<Change<'_>, Violation> {
        let change = self.shadows.change(node, standing, fresh, &self.grants);
        self.election_safety.wake(&change)?;
        self.vote_once.wake(&change)?;
        self.monotonic_terms.wake(&change)?;
        if let Some(candidate) = VoteNeedsRows::choice(&change, fresh) {
            let rows = &self.rows_in_order;
            VoteNeedsRows.observe(node, rows.of(node), candidate, rows.of(candidate))?;
        }
        self.rows_kept.observe(node, vclock, fresh)?;
        self.rows_in_order.observe(node, vclock, chain)?;
        Ok(change)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::node::RelayNode;
    use whitewater_sim::{Role, SERVERS_MAX};

    impl Safety {
        /// Whether it believes of a node what that says of itself.
        pub(in crate::monitor) fn knows(&self, node: NodeId, view: &RelayNode) -> bool {
            let has = view.vclock();
            let is_known = |origin| {
                let rows = view.rows().iter().filter(|row| row.origin == origin);
                let lsn = has.get(origin);
                lsn == 0
                    || self.rows_in_order.chain(origin, lsn) == rows.fold(0, |chain, row| row.chain(chain))
            };
            self.shadows.of(node) == Standing::of(view)
                && self.rows_in_order.of(node) == has
                && self.rows_kept.of(node) == has
                && (0..SERVERS_MAX).map(NodeId::server).all(is_known)
        }
    }

    const N1: NodeId = NodeId::server(0);
    const N2: NodeId = NodeId::server(1);
    const N3: NodeId = NodeId::server(2);

    /// A run as the rules see it, up to the first that is broken.
    #[derive(Default)]
    struct Run {
        safety: Safety,
        broken: Option<Violation>,
    }

    impl Run {
        /// A step without a message; rows are those of `N1`, and hash to their number.
        fn step(self, node: NodeId, standing: Standing, rows: u32) -> Run {
            self.ends(node, standing, rows, u64::from(rows), false)
        }

        /// A start.
        fn start(self, node: NodeId, standing: Standing, rows: u32) -> Run {
            self.ends(node, standing, rows, u64::from(rows), true)
        }

        fn ends(mut self, node: NodeId, standing: Standing, rows: u32, chain: u64, fresh: bool) -> Run {
            let mut vclock = Vclock::default();
            (1..=rows).for_each(|lsn| vclock.follow(N1, lsn));
            let seen = self.safety.stands(node, standing, &vclock, |_| chain, fresh).map(|_| ());
            self.safety.begin();
            self.note(seen)
        }

        /// An announcement of a vote in a term, with that and nothing else on disk.
        fn votes(mut self, node: NodeId, term: u64, vote: NodeId) -> Run {
            let said = Announcement {
                term,
                vote: Some(vote),
                state: Role::Follower,
                vclock: None,
                sees_leader: None,
            };
            let seen = self.safety.announced(node, &said, Some((term, Some(vote))));
            self.note(seen)
        }

        fn note(mut self, seen: Result<(), Violation>) -> Run {
            self.broken = self.broken.or(seen.err());
            self
        }

        fn rule(&self) -> Option<&'static str> {
            self.broken.as_ref().map(|violation| violation.rule)
        }
    }

    fn in_term(term: u64) -> Standing {
        Standing { term, durable_term: term, ..Standing::default() }
    }

    fn leads(term: u64) -> Standing {
        Standing { role: Role::Leader, ..in_term(term) }
    }

    /// A run that breaks each rule of safety, in the order of [`super::super::RelayMonitor::rules`].
    pub(in crate::monitor) fn samples() -> Vec<Violation> {
        let two_leaders = Run::default().step(N1, leads(2), 0).step(N2, leads(2), 0);
        let voted = Run::default().votes(N3, 2, N1).step(N3, in_term(2), 0);
        let two_votes = voted.votes(N3, 2, N2).step(N3, in_term(2), 0);
        let back = Run::default().step(N1, in_term(3), 0).step(N1, in_term(2), 0);
        let mut early = Run::default();
        let said =
            Announcement { term: 2, vote: None, state: Role::Follower, vclock: None, sees_leader: None };
        let seen = early.safety.announced(N1, &said, Some((1, None)));
        let voted = Standing { vote: Some(N2), ..in_term(2) };
        let without_rows = Run::default().step(N1, in_term(1), 1).step(N1, voted, 1);
        let other = Run::default().step(N1, in_term(1), 1).ends(N2, in_term(1), 1, 7, false);
        let lost = Run::default().step(N1, in_term(1), 2).start(N1, in_term(1), 1);
        let runs = [two_leaders, two_votes, back, early.note(seen), without_rows, other, lost];
        runs.into_iter().map(|run| run.broken.expect("each run breaks a rule")).collect()
    }

    /// What those rules that say several things say besides.
    pub(in crate::monitor) fn further() -> Vec<Violation> {
        let start = Run::default().step(N1, in_term(3), 0).start(N1, in_term(2), 0);
        let forgot = Standing { durable_term: 2, ..in_term(3) };
        let disk = Run::default().step(N1, in_term(3), 0).step(N1, forgot, 0);
        let mut early = Run::default();
        let said =
            Announcement { term: 2, vote: Some(N2), state: Role::Follower, vclock: None, sees_leader: None };
        let seen = early.safety.announced(N1, &said, Some((2, Some(N3))));
        let unwritten = Run::default().step(N2, in_term(1), 1);
        let runs = [start, disk, early.note(seen), unwritten];
        runs.into_iter().map(|run| run.broken.expect("each run breaks a rule")).collect()
    }

    #[test]
    fn a_vote_that_left_before_the_disk_died_counts() {
        let mut run = Run::default().votes(N3, 2, N1);
        run.safety.died(N3).unwrap();
        run.safety.begin();
        let mut twice = Run::default().votes(N3, 2, N1).votes(N3, 2, N2);
        assert_eq!(twice.safety.died(N3).unwrap_err().rule, "vote-once");
        let run = run.start(N3, in_term(1), 0).votes(N3, 2, N2).step(N3, in_term(2), 0);
        assert_eq!(run.rule(), Some("vote-once"));
    }

    #[test]
    fn what_is_lawful_breaks_no_rule() {
        let run = Run::default().step(N1, leads(2), 1).step(N2, in_term(2), 1);
        let voted = Standing { vote: Some(N1), ..in_term(3) };
        let run = run.votes(N2, 3, N1).step(N2, voted, 1).step(N1, leads(3), 2).start(N1, in_term(3), 2);
        assert_eq!(run.start(N2, voted, 1).rule(), None);
    }
}
