//! Whom a server owes an answer: requests that wait for their entry, reads that wait for their index.

use crate::place::Place;
use crate::request::{Verb, decode};
use whitewater_sim::{CLIENTS_MAX, NodeId, OpId};

/// A request that has come.
pub(crate) struct Asked {
    /// Its number.
    pub(crate) number: u64,
    /// The key, if it is a read.
    pub(crate) read: Option<Box<[u8]>>,
}

#[derive(Clone, Copy, Debug)]
struct Write {
    number: u64,
    attempt: u64,
    /// Where the entry was put; `None` if it was passed on to the leader.
    place: Option<Place>,
}

#[derive(Clone, Debug)]
struct Read {
    /// What the core knows it by.
    asked: u64,
    attempt: u64,
    key: Box<[u8]>,
    /// From which applied index on it may be served, once it is known.
    index: Option<u64>,
}

/// Everything a server owes. A crash forgets it; clients try again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Owing {
    writes: [Option<Write>; CLIENTS_MAX],
    reads: [Option<Read>; CLIENTS_MAX],
    /// Operations of scripts.
    own: Vec<(OpId, Place)>,
    /// The last attempt of every client that came in: what comes again was repeated by the network.
    attempts: [u64; CLIENTS_MAX],
    reads_asked: u64,
}

impl Owing {
    /// The request in an attempt, if it comes in for the first time.
    pub(crate) fn new_attempt(&mut self, client: NodeId, attempt: u64, body: &[u8]) -> Option<Asked> {
        let last = &mut self.attempts[client.position()];
        if attempt <= *last {
            return None;
        }
        *last = attempt;
        let request = decode(body).expect("clients send whole requests");
        let read = (request.verb == Verb::Get).then(|| Box::from(request.key));
        Some(Asked { number: request.number, read })
    }

    /// A number for the next read.
    pub(crate) fn next_read(&mut self) -> u64 {
        self.reads_asked += 1;
        self.reads_asked
    }

    /// The read that was asked for last belongs to this attempt.
    pub(crate) fn wait_for_read(&mut self, client: NodeId, attempt: u64, key: Box<[u8]>) {
        let read = Read { asked: self.reads_asked, attempt, key, index: None };
        self.reads[client.position()] = Some(read);
    }

    /// A read has its index.
    pub(crate) fn read_at(&mut self, asked: u64, index: u64) {
        let read = self.reads.iter_mut().flatten().find(|read| read.asked == asked);
        if let Some(read) = read {
            read.index.get_or_insert(index);
        }
    }

    /// Takes out a read that may be served when everything up to `applied` is applied.
    pub(crate) fn take_read(&mut self, applied: u64) -> Option<(NodeId, u64, Box<[u8]>)> {
        let due = |read: &Read| read.index.is_some_and(|index| index <= applied);
        let client = self.reads.iter().position(|read| read.as_ref().is_some_and(due))?;
        self.reads[client].take().map(|read| (NodeId::client(client), read.attempt, read.key))
    }

    /// Whether the entry of an earlier attempt at that request is still in the log: then this one waits for it.
    pub(crate) fn repeat_write(
        &mut self,
        client: NodeId,
        attempt: u64,
        number: u64,
        is_in_log: impl Fn(Place) -> bool,
    ) -> bool {
        let Some(write) = &mut self.writes[client.position()] else { return false };
        let same = write.number == number && write.place.is_some_and(is_in_log);
        if same {
            write.attempt = attempt;
        }
        same
    }

    pub(crate) fn wait_for_write(&mut self, client: NodeId, attempt: u64, number: u64, place: Option<Place>) {
        self.writes[client.position()] = Some(Write { number, attempt, place });
    }

    /// Takes out a write that waits for the request with this number, and gives its attempt.
    pub(crate) fn take_write(&mut self, client: NodeId, number: u64) -> Option<u64> {
        let write = self.writes[client.position()].take_if(|write| write.number == number);
        write.map(|write| write.attempt)
    }

    /// Takes out a write that had its entry at an index where another one was committed: nothing will come of it.
    pub(crate) fn take_overwritten(&mut self, committed: Place) -> Option<(NodeId, u64)> {
        let gone = |write: &Write| {
            write.place.is_some_and(|place| place.index == committed.index && place.term != committed.term)
        };
        let client = self.writes.iter().position(|write| write.as_ref().is_some_and(gone))?;
        self.writes[client].take().map(|write| (NodeId::client(client), write.attempt))
    }

    pub(crate) fn wait_for_own(&mut self, op: OpId, place: Place) {
        self.own.push((op, place));
    }

    /// Takes out an own operation whose place was decided, and whether its entry is what was committed there.
    pub(crate) fn take_own(&mut self, committed: Place) -> Option<(OpId, bool)> {
        let at = self.own.iter().position(|(_, place)| place.index == committed.index)?;
        let (op, place) = self.own.swap_remove(at);
        Some((op, place.term == committed.term))
    }

    /// Forgets everything that has its entry up to `index`, and gives out the operations of scripts among it.
    pub(crate) fn forget_to(&mut self, index: u64, mut give_up: impl FnMut(OpId)) {
        for write in &mut self.writes {
            write.take_if(|write| write.place.is_some_and(|place| place.index <= index));
        }
        self.own.retain(|(op, place)| {
            let gone = place.index <= index;
            if gone {
                give_up(*op);
            }
            !gone
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENT: NodeId = NodeId::client(3);

    #[test]
    fn a_write_is_given_up_only_when_another_entry_was_committed_in_its_place() {
        let place = Place { term: 2, index: 7 };
        let mut owing = Owing::default();
        owing.wait_for_write(CLIENT, 5, 1, Some(place));
        assert_eq!(owing.take_overwritten(place), None);
        assert_eq!(owing.take_overwritten(Place { term: 3, index: 8 }), None);
        assert_eq!(owing.take_overwritten(Place { term: 3, index: 7 }), Some((CLIENT, 5)));
        assert_eq!(owing.take_write(CLIENT, 1), None);
    }

    #[test]
    fn a_read_is_served_when_its_index_is_applied_and_not_before() {
        let mut owing = Owing::default();
        let asked = owing.next_read();
        owing.wait_for_read(CLIENT, 5, Box::from(&b"a"[..]));
        owing.read_at(asked + 1, 3);
        assert_eq!(owing.take_read(100), None, "the index of another read says nothing");
        owing.read_at(asked, 9);
        assert_eq!(owing.take_read(8), None);
        assert_eq!(owing.take_read(9), Some((CLIENT, 5, Box::from(&b"a"[..]))));
    }
}
