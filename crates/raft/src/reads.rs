//! Reads that wait for a quorum to confirm that the leader still leads.
//!
//! Every read gets the next sequence number of this leader. Heartbeats carry the number of the last read that waits,
//! responses return it, and a quorum of responses with number n confirms every read up to n: one round of heartbeats
//! serves all reads that were queued before it (Raft thesis, section 6.4). Sequence numbers are local to the leader
//! and its term, so two reads with the same context are never mistaken for each other.

use crate::entry::Entry;
use crate::identity::NodeId;
use crate::quorum::Joint;
use std::collections::VecDeque;

/// A read that waits: who asked, and the entry that names the read.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    /// The node that asked.
    pub(crate) from: NodeId,
    /// The single entry of the request; its data is the caller's context.
    pub(crate) entry: Entry,
}

/// The reads of one leadership.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reads {
    /// Reads that arrived before the leader committed an entry of its own term.
    parked: Vec<Read>,
    /// Reads that wait for a quorum, each with the commit index at its arrival.
    waiting: VecDeque<(u64, Read)>,
    /// The sequence number of the last read ever queued; `waiting` holds the last ones without gaps.
    last_sequence: u64,
    /// The largest sequence number each node has confirmed.
    acks: Vec<(NodeId, u64)>,
}

impl Reads {
    pub(crate) fn reset(&mut self) {
        self.parked.clear();
        self.waiting.clear();
        self.last_sequence = 0;
        self.acks.clear();
    }

    pub(crate) fn park(&mut self, read: Read) {
        self.parked.push(read);
    }

    pub(crate) fn take_parked(&mut self) -> Vec<Read> {
        std::mem::take(&mut self.parked)
    }

    /// Queues a read and returns its sequence number.
    pub(crate) fn queue(&mut self, commit: u64, read: Read) -> u64 {
        self.waiting.push_back((commit, read));
        self.last_sequence += 1;
        self.last_sequence
    }

    /// The sequence number heartbeats have to carry; 0 if no read waits.
    #[inline]
    pub(crate) fn pending_sequence(&self) -> u64 {
        if self.waiting.is_empty() { 0 } else { self.last_sequence }
    }

    /// Notes that a node confirmed all reads up to `sequence`.
    pub(crate) fn ack(&mut self, from: NodeId, sequence: u64) {
        // A number that was never given out confirms nothing.
        if sequence > self.last_sequence {
            return;
        }
        match self.acks.iter_mut().find(|(id, _)| *id == from) {
            Some((_, acked)) => *acked = sequence.max(*acked),
            None => self.acks.push((from, sequence)),
        }
    }

    /// Takes the next read that a quorum has confirmed, with the index it may be served at.
    pub(crate) fn take_confirmed(&mut self, voters: &Joint) -> Option<(u64, Read)> {
        if self.waiting.is_empty() {
            return None;
        }
        let acked = |id| self.acks.iter().find(|(acker, _)| *acker == id).map(|&(_, sequence)| sequence);
        let confirmed = voters.committed_index(acked);
        let first = self.last_sequence - self.waiting.len() as u64 + 1;
        if confirmed < first { None } else { self.waiting.pop_front() }
    }

    /// How many reads wait, parked ones included.
    #[inline]
    pub(crate) fn count(&self) -> usize {
        self.parked.len() + self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quorum::Majority;

    fn read(from: NodeId) -> Read {
        Read { from, entry: Entry::default() }
    }

    #[test]
    fn one_round_of_responses_confirms_every_read_queued_before_it() {
        let voters = Joint { incoming: Majority::new(vec![1, 2, 3]), ..Joint::default() };
        let mut reads = Reads::default();
        reads.queue(10, read(1));
        let sequence = reads.queue(11, read(2));
        reads.queue(12, read(3));
        reads.ack(1, 3);
        assert!(reads.take_confirmed(&voters).is_none());
        reads.ack(2, sequence);
        assert_eq!(reads.take_confirmed(&voters).unwrap().0, 10);
        assert_eq!(reads.take_confirmed(&voters).unwrap().0, 11);
        assert!(reads.take_confirmed(&voters).is_none());
        assert_eq!(reads.count(), 1);
    }

    #[test]
    fn a_number_that_was_never_given_out_confirms_nothing() {
        let voters = Joint { incoming: Majority::new(vec![1]), ..Joint::default() };
        let mut reads = Reads::default();
        reads.queue(10, read(1));
        reads.ack(1, 99);
        assert!(reads.take_confirmed(&voters).is_none());
    }
}
