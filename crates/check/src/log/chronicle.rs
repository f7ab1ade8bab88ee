//! What the log led to and servers asked for: memberships, votes, orders to take over, terms stood for and led.

use crate::change::Grant;
use crate::membership::Membership;
use whitewater_sim::{NodeId, SERVERS_MAX};

/// The memberships that the log leads to, as the first server to apply each change had them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chronicle {
    /// Each with the index from which it holds; indexes rise.
    changes: Vec<(u64, Membership)>,
    /// Index up to which somebody has applied entries.
    known_to: u64,
    /// Entries in front of a snapshot that nobody was seen to apply, first and last: it was made in the step in which the
    /// disk of its maker died.
    unseen: Vec<(u64, u64)>,
}

impl Chronicle {
    /// The membership behind the entry at `index`, if it is known.
    #[inline]
    pub(crate) fn at(&self, index: u64) -> Option<Membership> {
        if index > self.known_to || self.unseen.iter().any(|&(first, last)| (first..=last).contains(&index)) {
            return None;
        }
        self.changes.iter().rev().find(|&&(from, _)| from <= index).map(|&(_, membership)| membership)
    }

    /// The last membership, with the index from which it holds.
    pub(crate) fn last(&self) -> Option<(u64, Membership)> {
        self.changes.last().copied()
    }

    /// Whether a membership holds from an entry on in front of which there are others that nobody was seen to apply.
    /// `from_snapshot` is the entry from which a membership holds that came with a snapshot.
    #[inline]
    pub(crate) fn skips_to(&self, index: u64, from_snapshot: Option<u64>) -> bool {
        from_snapshot == Some(index) && index > self.known_to + 1
    }

    /// Takes over what a server that has applied entries up to `applied` knows of memberships.
    #[inline]
    pub(crate) fn extend(&mut self, news: &[(u64, Membership)], from_snapshot: Option<u64>, applied: u64) {
        for &(index, membership) in news {
            if self.skips_to(index, from_snapshot) {
                self.unseen.push((self.known_to + 1, index - 1));
            }
            if self.changes.is_empty() || index > self.known_to {
                self.changes.push((index, membership));
            }
        }
        self.known_to = self.known_to.max(applied);
    }
}

/// Orders to take over.
#[derive(Clone, Debug, Default)]
pub(crate) struct Orders {
    /// The term of who gave the order, and who got it.
    given: Vec<(u64, NodeId)>,
}

impl Orders {
    /// A leader tells somebody to take over.
    pub(crate) fn remember(&mut self, term: u64, to: NodeId) {
        if !self.has(term, to) {
            self.given.push((term, to));
        }
    }

    /// Whether a leader of that term has told this node to take over.
    pub(crate) fn has(&self, term: u64, to: NodeId) -> bool {
        self.given.contains(&(term, to))
    }
}

/// Terms in which somebody asked for votes, or had others follow.
#[derive(Clone, Debug)]
pub(crate) struct Requests {
    /// By position, terms in which a node stood for election or led, as they came.
    stood: Vec<Vec<u64>>,
    /// By position, terms in which a node led.
    led: Vec<Vec<u64>>,
    /// The highest of them.
    highest_led: u64,
}

impl Default for Requests {
    fn default() -> Requests {
        Requests { stood: vec![Vec::new(); SERVERS_MAX], led: vec![Vec::new(); SERVERS_MAX], highest_led: 0 }
    }
}

impl Requests {
    /// A node stands for election.
    pub(crate) fn stands(&mut self, node: NodeId, term: u64) {
        note_term(&mut self.stood[node.position()], term);
    }

    /// A node leads.
    pub(crate) fn leads(&mut self, node: NodeId, term: u64) {
        self.stands(node, term);
        note_term(&mut self.led[node.position()], term);
        self.highest_led = self.highest_led.max(term);
    }

    /// The highest term that anybody has led.
    #[inline]
    pub(crate) fn highest_led(&self) -> u64 {
        self.highest_led
    }

    /// Whether a node has stood for election in a term.
    pub(crate) fn has_stood(&self, node: NodeId, term: u64) -> bool {
        self.stood[node.position()].iter().rev().any(|&stood| stood == term)
    }

    /// Whether a node has led a term.
    #[inline]
    pub(crate) fn has_led(&self, node: NodeId, term: u64) -> bool {
        self.led[node.position()].iter().rev().any(|&led| led == term)
    }
}

fn note_term(terms: &mut Vec<u64>, term: u64) {
    if terms.last() != Some(&term) {
        terms.push(term);
    }
}

/// Votes that were sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ballots {
    /// Term, candidate and who voted for it, a bit each by position.
    cast: Vec<(u64, NodeId, u16)>,
}

impl Ballots {
    /// Remembers the votes that a server sent.
    pub(crate) fn remember(&mut self, voter: NodeId, grants: &[Grant]) {
        let bit = 1 << voter.position();
        for &Grant { term, candidate } in grants {
            match self.cast.iter_mut().rev().find(|(t, c, _)| (*t, *c) == (term, candidate)) {
                Some((_, _, voters)) => *voters |= bit,
                None => self.cast.push((term, candidate, bit)),
            }
        }
    }

    /// Who voted for a candidate in a term.
    pub(crate) fn votes(&self, term: u64, candidate: NodeId) -> u16 {
        let cast = self.cast.iter().rev().find(|&&(t, c, _)| (t, c) == (term, candidate));
        cast.map_or(0, |&(_, _, voters)| voters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_membership_holds_from_its_entry_on_as_far_as_somebody_has_applied() {
        let membership = |voters| Membership { voters, ..Membership::default() };
        let mut chronicle = Chronicle::default();
        assert_eq!(chronicle.at(0), None);
        chronicle.extend(&[(0, membership(1))], Some(0), 0);
        chronicle.extend(&[(4, membership(2))], None, 6);
        chronicle.extend(&[(0, membership(9)), (5, membership(9))], None, 6);
        assert_eq!(chronicle.at(3), Some(membership(1)));
        assert_eq!(chronicle.at(6), Some(membership(2)));
        assert_eq!(chronicle.at(7), None);
        assert_eq!(chronicle.last(), Some((4, membership(2))), "what is known already is not written again");
        chronicle.extend(&[(9, membership(3))], Some(9), 9);
        assert_eq!([6, 7, 8, 9].map(|index| chronicle.at(index).is_some()), [true, false, false, true]);
    }

    #[test]
    fn who_has_led_has_stood_for_election_and_not_the_other_way_round() {
        let node = NodeId::server(1);
        let mut requests = Requests::default();
        requests.stands(node, 3);
        requests.leads(node, 5);
        requests.stands(node, 6);
        assert!([3, 5, 6].iter().all(|&term| requests.has_stood(node, term)) && !requests.has_stood(node, 4));
        assert!(requests.has_led(node, 5) && !requests.has_led(node, 3) && !requests.has_led(node, 6));
        assert!(!requests.has_stood(NodeId::server(0), 3));
        requests.leads(node, 4);
        assert_eq!(requests.highest_led(), 5);
    }

    #[test]
    fn votes_count_for_their_term_and_candidate() {
        let (voter, candidate) = (NodeId::server(1), NodeId::server(0));
        let mut ballots = Ballots::default();
        ballots.remember(voter, &[Grant { term: 3, candidate }]);
        ballots.remember(candidate, &[Grant { term: 3, candidate }]);
        assert_eq!(ballots.votes(3, candidate), 0b11);
        assert_eq!((ballots.votes(2, candidate), ballots.votes(3, voter)), (0, 0));
    }
}
