//! The synchronous queue: rows of its owner that wait for a quorum, and the rows that confirm, roll back and claim.
//!
//! What happens to it follows from the rows alone, in the order in which a node has them on disk. A leader claims the
//! queue with a row that names its term: everybody confirms what the claim names of the former owner and rolls back the
//! rest. What an owner of an older term writes after that counts for nothing. An owner can give the queue up with a row of
//! its term; then it is nobody's until somebody claims it in a later term.

use crate::bug::{Bug, Planted};
use crate::row::Row;
use std::fmt;
use whitewater_sim::{NodeId, SERVERS_MAX};

/// What a row means to the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Nothing.
    Plain,
    /// A write that waits until a quorum has it.
    Sync,
    /// Rows of `owner` up to `lsn` are confirmed.
    Confirm {
        /// Whose rows.
        owner: NodeId,
        /// The last of them.
        lsn: u32,
    },
    /// The writer of this row owns the queue from here on.
    Promote {
        /// The term in which it leads.
        term: u64,
        /// The former owner and the last of its rows that is confirmed, if there was one.
        former: Option<(NodeId, u32)>,
    },
    /// The writer of this row owns the queue no more, and nobody does.
    Demote {
        /// The term in which it owned the queue.
        term: u64,
        /// The last of its rows that is confirmed.
        lsn: u32,
    },
}

impl Meaning {
    /// What the text of a row means.
    pub fn of(text: &str) -> Meaning {
        let mut words = text.split(' ');
        let place = |word: Option<&str>| {
            let (owner, lsn) = word?.split_once(':')?;
            Some((owner.parse::<NodeId>().ok()?, lsn.parse::<u32>().ok()?))
        };
        match (words.next(), words.next()) {
            (Some("sync"), Some(_)) => Meaning::Sync,
            (Some("confirm"), at) => {
                place(at).map_or(Meaning::Plain, |(owner, lsn)| Meaning::Confirm { owner, lsn })
            }
            (Some("promote"), Some(term)) => match term.parse() {
                Ok(term) => Meaning::Promote { term, former: place(words.next()) },
                Err(_) => Meaning::Plain,
            },
            (Some("demote"), Some(term)) => match (term.parse(), words.next().map(str::parse)) {
                (Ok(term), Some(Ok(lsn))) => Meaning::Demote { term, lsn },
                _ => Meaning::Plain,
            },
            _ => Meaning::Plain,
        }
    }
}

/// The term in which a row claims the queue or gives it up; 0 if it does neither.
pub fn claimed_term(row: &Row) -> u64 {
    match Meaning::of(&row.text) {
        Meaning::Promote { term, .. } | Meaning::Demote { term, .. } => term,
        _ => 0,
    }
}

impl fmt::Display for Meaning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Meaning::Plain | Meaning::Sync => Ok(()),
            Meaning::Confirm { owner, lsn } => write!(f, "confirm {owner}:{lsn}"),
            Meaning::Promote { term, former: None } => write!(f, "promote {term}"),
            Meaning::Promote { term, former: Some((owner, lsn)) } => {
                write!(f, "promote {term} {owner}:{lsn}")
            }
            Meaning::Demote { term, lsn } => write!(f, "demote {term} {lsn}"),
        }
    }
}

/// What became of rows of an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fate {
    /// Whose row.
    pub owner: NodeId,
    /// Its number.
    pub lsn: u32,
    /// Whether it is confirmed; rolled back if not.
    pub confirmed: bool,
}

/// The queue as one node has it.
#[derive(Clone, Debug)]
pub struct Queue {
    planted: Planted,
    owner: Option<NodeId>,
    term: u64,
    /// Who gave it up last, and in which term.
    given_up: Option<(NodeId, u64)>,
    /// For each node the term of its last claim.
    claims: [u64; SERVERS_MAX],
    /// Rows that wait, each with its owner.
    waiting: Vec<(NodeId, u32)>,
    /// For each node the last of its rows that is confirmed.
    confirmed: [u32; SERVERS_MAX],
    /// What was decided about rows, in order.
    fates: Vec<Fate>,
}

impl Queue {
    /// Nobody's, and empty.
    pub fn new(planted: Planted) -> Queue {
        Queue {
            planted,
            owner: None,
            term: 0,
            given_up: None,
            claims: [0; SERVERS_MAX],
            waiting: Vec::new(),
            confirmed: [0; SERVERS_MAX],
            fates: Vec::new(),
        }
    }

    /// Who owns it.
    pub fn owner(&self) -> Option<NodeId> {
        self.owner
    }

    /// The term in which it was claimed last.
    pub fn term(&self) -> u64 {
        self.term
    }

    /// Who gave it up last, and in which term.
    pub fn given_up(&self) -> Option<(NodeId, u64)> {
        self.given_up
    }

    /// The last row that waits, with its owner.
    pub fn last_waiting(&self) -> Option<(NodeId, u32)> {
        self.waiting.last().copied()
    }

    /// Rows that wait, with their owners.
    pub fn waiting(&self) -> impl Iterator<Item = (NodeId, u32)> + '_ {
        self.waiting.iter().copied()
    }

    /// The last confirmed row of a node.
    pub fn confirmed(&self, owner: NodeId) -> u32 {
        self.confirmed[owner.index()]
    }

    /// What was decided about rows, in order.
    pub fn fates(&self) -> &[Fate] {
        &self.fates
    }

    /// How many rows are confirmed.
    pub fn confirmed_count(&self) -> u64 {
        self.fates.iter().filter(|fate| fate.confirmed).count() as u64
    }

    /// Whether a row confirms something for an owner whose claim is over.
    pub fn is_old_confirmation(&self, row: &Row) -> bool {
        let is_old = self.claims[row.origin.index()] < self.term;
        is_old && matches!(Meaning::of(&row.text), Meaning::Confirm { .. })
    }

    /// Whether a row gives the queue up for an owner after whom somebody else has claimed it.
    pub fn is_old_demotion(&self, row: &Row) -> bool {
        matches!(Meaning::of(&row.text), Meaning::Demote { term, .. } if term < self.term)
    }

    /// A row is durable here. Says what there is to remark on it.
    pub fn apply(&mut self, row: &Row) -> Option<&'static str> {
        let origin = row.origin;
        let is_old = self.claims[origin.index()] < self.term;
        match Meaning::of(&row.text) {
            Meaning::Plain => None,
            Meaning::Promote { term, .. } if term <= self.term => Some("an old claim counts for nothing"),
            Meaning::Promote { term, former } => {
                self.claim(origin, term, former);
                Some("the queue has a new owner")
            }
            Meaning::Demote { term, lsn } if term == self.term && self.owner == Some(origin) => {
                self.confirm(origin, lsn);
                self.roll_back();
                self.owner = None;
                self.given_up = Some((origin, term));
                Some("the queue has no owner any more")
            }
            Meaning::Demote { .. } if is_old => Some("of an older term: counts for nothing"),
            Meaning::Demote { .. } => Some("of somebody who does not own the queue: counts for nothing"),
            Meaning::Confirm { .. } if is_old => Some("of an older term: counts for nothing"),
            Meaning::Sync if is_old && self.planted.is(Bug::OldRowsWait) => {
                self.waiting.push((origin, row.lsn));
                None
            }
            Meaning::Sync if is_old => {
                self.fates.push(Fate { owner: origin, lsn: row.lsn, confirmed: false });
                Some("of an older term: counts for nothing")
            }
            Meaning::Sync if self.owner == Some(origin) => {
                self.waiting.push((origin, row.lsn));
                None
            }
            Meaning::Sync => Some("of somebody who does not own the queue: counts for nothing"),
            Meaning::Confirm { owner, lsn } => {
                self.confirm(owner, lsn);
                None
            }
        }
    }

    fn claim(&mut self, origin: NodeId, term: u64, former: Option<(NodeId, u32)>) {
        if let Some((owner, lsn)) = former {
            self.confirm(owner, lsn);
        }
        if !self.planted.is(Bug::NoRollback) {
            self.roll_back();
        }
        (self.owner, self.term) = (Some(origin), term);
        self.claims[origin.index()] = term;
    }

    /// What still waits is rolled back.
    fn roll_back(&mut self) {
        let rolled_back = |(owner, lsn)| Fate { owner, lsn, confirmed: false };
        self.fates.extend(self.waiting.drain(..).map(rolled_back));
    }

    fn confirm(&mut self, owner: NodeId, lsn: u32) {
        let known = &mut self.confirmed[owner.index()];
        *known = (*known).max(lsn);
        let fates = &mut self.fates;
        self.waiting.retain(|&(waits, at)| {
            let confirmed = waits == owner && at <= lsn;
            if confirmed {
                fates.push(Fate { owner, lsn: at, confirmed });
            }
            !confirmed
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(origin: usize, lsn: u32, text: &str) -> Row {
        Row { origin: NodeId::server(origin), lsn, text: text.into() }
    }

    fn queue(rows: &[(usize, u32, &str)]) -> Queue {
        let mut queue = Queue::new(Planted::default());
        for &(origin, lsn, text) in rows {
            queue.apply(&row(origin, lsn, text));
        }
        queue
    }

    fn fates(queue: &Queue) -> Vec<(usize, u32, bool)> {
        queue.fates().iter().map(|fate| (fate.owner.position(), fate.lsn, fate.confirmed)).collect()
    }

    #[test]
    fn a_meaning_reads_back_as_it_is_written() {
        for text in ["confirm n1:3", "promote 2", "promote 7 n2:4", "demote 7 4"] {
            assert_eq!(Meaning::of(text).to_string(), text);
        }
        assert_eq!(Meaning::of("sync x=1"), Meaning::Sync);
        for text in
            ["x=1", "sync", "confirm", "confirm n1", "promote x", "demote", "demote 7", "demote x 4", ""]
        {
            assert_eq!(Meaning::of(text), Meaning::Plain, "{text}");
        }
    }

    #[test]
    fn a_row_waits_until_its_owner_confirms_it() {
        let queue =
            queue(&[(0, 1, "promote 1"), (0, 2, "sync x=1"), (0, 3, "sync x=2"), (0, 4, "confirm n1:2")]);
        assert_eq!((queue.owner(), queue.term()), (Some(NodeId::server(0)), 1));
        assert_eq!(fates(&queue), [(0, 2, true)]);
        assert_eq!(queue.last_waiting(), Some((NodeId::server(0), 3)));
    }

    #[test]
    fn a_claim_confirms_what_it_names_and_rolls_back_the_rest() {
        let queue =
            queue(&[(0, 1, "promote 1"), (0, 2, "sync x=1"), (0, 3, "sync x=2"), (1, 1, "promote 2 n1:2")]);
        assert_eq!(fates(&queue), [(0, 2, true), (0, 3, false)]);
        assert_eq!((queue.owner(), queue.last_waiting()), (Some(NodeId::server(1)), None));
    }

    #[test]
    fn an_owner_that_gives_the_queue_up_confirms_what_it_names_and_leaves_it_to_nobody() {
        let rows = [
            (0, 1, "promote 1"),
            (0, 2, "sync x=1"),
            (0, 3, "sync x=2"),
            (0, 4, "demote 1 2"),
            (0, 5, "sync late=1"),
        ];
        let queue = queue(&rows);
        assert_eq!(fates(&queue), [(0, 2, true), (0, 3, false)]);
        assert_eq!((queue.owner(), queue.term(), queue.last_waiting()), (None, 1, None));
    }

    #[test]
    fn what_nobody_owns_is_claimed_in_a_later_term_only() {
        let given_up = [(0, 1, "promote 1"), (0, 2, "demote 1 0")];
        assert_eq!(queue(&[&given_up[..], &[(1, 1, "promote 1")]].concat()).owner(), None);
        let claimed = queue(&[&given_up[..], &[(1, 1, "promote 2")]].concat());
        assert_eq!((claimed.owner(), claimed.term()), (Some(NodeId::server(1)), 2));
    }

    #[test]
    fn a_demotion_that_comes_behind_a_claim_or_from_somebody_else_counts_for_nothing() {
        let late = Row { origin: NodeId::server(0), lsn: 2, text: "demote 1 0".into() };
        let mut claimed = queue(&[(0, 1, "promote 1"), (1, 1, "promote 2 n1:0"), (1, 2, "sync x=1")]);
        assert!(claimed.is_old_demotion(&late));
        claimed.apply(&late);
        claimed.apply(&row(2, 1, "demote 2 2"));
        assert_eq!(
            (claimed.owner(), claimed.last_waiting()),
            (Some(NodeId::server(1)), Some((NodeId::server(1), 2)))
        );
        assert!(!queue(&[(0, 1, "promote 1")]).is_old_demotion(&late));
    }

    #[test]
    fn what_a_former_owner_writes_counts_for_nothing() {
        let queue = queue(&[
            (0, 1, "promote 1"),
            (1, 1, "promote 2 n1:0"),
            (0, 2, "sync late=1"),
            (0, 3, "confirm n1:2"),
            (0, 4, "promote 1"),
        ]);
        assert_eq!(fates(&queue), [(0, 2, false)]);
        assert_eq!(queue.owner(), Some(NodeId::server(1)));
    }
}
