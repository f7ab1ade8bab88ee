//! What a server owes to clients and to scripts: requests that wait for their entry, reads that wait for their index.

use crate::command::Text;
use whitewater_raft::Payload;
use whitewater_sim::{CLIENTS_MAX, OpId};

/// A request of a client whose entry was proposed here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// Number of the request.
    pub(crate) number: u64,
    /// The attempt to be answered.
    pub(crate) attempt: u64,
    /// Where the entry was put; `None` if it was passed on to the leader.
    pub(crate) place: Option<Place>,
}

/// A place in the log: whatever is committed at that index, the entry is this one only if it has this term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The term.
    pub(crate) term: u64,
    /// The index.
    pub(crate) index: u64,
}

/// A read that waits for its index, or for this index to be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WaitingRead {
    /// The attempt to be answered.
    pub(crate) attempt: u64,
    /// What is read.
    pub(crate) key: Text,
    /// From which applied index on it may be served, once it is known.
    pub(crate) index: Option<u64>,
}

/// An operation that a script gave to the server itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Own {
    /// The operation.
    pub(crate) op: OpId,
    /// Its number.
    pub(crate) number: u64,
    /// Where its entry was put.
    pub(crate) place: Place,
}

const _: () = assert!(CLIENTS_MAX <= 8, "every client has a bit");

/// Everything a server owes. A crash forgets it; clients try again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requests {
    /// By client. A client waits for one request at a time.
    pub(crate) writes: [Option<Waiting>; CLIENTS_MAX],
    /// By client.
    reads: [Option<WaitingRead>; CLIENTS_MAX],
    /// Whose read has its index, a bit each by client.
    indexed: u8,
    /// Operations of scripts.
    pub(crate) own: Vec<Own>,
    /// The last attempt of every client that came in: what comes again was repeated by the network.
    attempts: [u64; CLIENTS_MAX],
}

impl Requests {
    /// Whether an attempt comes in for the first time.
    pub(crate) fn is_new(&mut self, client: usize, attempt: u64) -> bool {
        let new = attempt > self.attempts[client];
        self.attempts[client] = attempt.max(self.attempts[client]);
        new
    }

    /// Takes out a write that waits for the request with this number.
    pub(crate) fn take_write(&mut self, client: usize, number: u64) -> Option<Waiting> {
        self.writes[client].take_if(|waiting| waiting.number == number)
    }

    /// Takes out a write that had its entry at an index where another one was committed: nothing will come of it.
    pub(crate) fn take_overwritten(&mut self, committed: Place) -> Option<(usize, Waiting)> {
        let gone = |waiting: &Waiting| {
            waiting.place.is_some_and(|place| place.index == committed.index && place.term != committed.term)
        };
        let client = self.writes.iter().position(|waiting| waiting.as_ref().is_some_and(gone))?;
        self.writes[client].take().map(|waiting| (client, waiting))
    }

    /// Takes out an own operation whose place was decided, and whether its entry is what was committed there.
    pub(crate) fn take_own(&mut self, committed: Place) -> Option<(Own, bool)> {
        let at = self.own.iter().position(|own| own.place.index == committed.index)?;
        let own = self.own.swap_remove(at);
        Some((own, own.place.term == committed.term))
    }

    /// Forgets everything that has its entry up to `index`, and gives out the operations of scripts among it.
    pub(crate) fn forget_to(&mut self, index: u64, mut give_up: impl FnMut(OpId)) {
        let gone = |place: Place| place.index <= index;
        for waiting in &mut self.writes {
            waiting.take_if(|waiting| waiting.place.is_some_and(gone));
        }
        self.own.retain(|own| {
            if gone(own.place) {
                give_up(own.op);
            }
            !gone(own.place)
        });
    }

    /// A client waits for a read, in place of any earlier one.
    pub(crate) fn await_read(&mut self, client: usize, read: WaitingRead) {
        self.indexed &= !(1 << client);
        self.reads[client] = Some(read);
    }

    /// The core gives a read its index.
    pub(crate) fn read_at(&mut self, context: &[u8], index: u64) {
        let Some((client, attempt)) = read_context(context) else { return };
        if let Some(read) = self.reads[client].as_mut().filter(|read| read.attempt == attempt) {
            read.index.get_or_insert(index);
            self.indexed |= 1 << client;
        }
    }

    /// Takes out a read that may be served when everything up to `applied` is applied.
    #[inline]
    pub(crate) fn take_read(&mut self, applied: u64) -> Option<(usize, WaitingRead)> {
        if self.indexed == 0 {
            return None;
        }
        let due = |read: &WaitingRead| read.index.is_some_and(|index| index <= applied);
        let client = self.reads.iter().position(|read| read.as_ref().is_some_and(due))?;
        self.indexed &= !(1 << client);
        self.reads[client].take().map(|read| (client, read))
    }
}

/// The name a read has for the core.
pub(crate) fn context_of(client: usize, attempt: u64) -> Payload {
    let mut bytes = [client as u8; 9];
    bytes[1..].copy_from_slice(&attempt.to_le_bytes());
    Payload::from(bytes)
}

fn read_context(context: &[u8]) -> Option<(usize, u64)> {
    let (&client, attempt) = context.split_first()?;
    Some((usize::from(client), u64::from_le_bytes(attempt.try_into().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_that_comes_twice_or_late_is_not_new() {
        let mut requests = Requests::default();
        assert!(requests.is_new(0, 1));
        assert!(!requests.is_new(0, 1));
        assert!(requests.is_new(0, 3));
        assert!(!requests.is_new(0, 2));
        assert!(requests.is_new(1, 2), "clients count for themselves");
    }

    #[test]
    fn a_write_is_given_up_only_when_another_entry_was_committed_in_its_place() {
        let place = Place { term: 2, index: 7 };
        let waiting = Waiting { number: 1, attempt: 1, place: Some(place) };
        let mut requests = Requests::default();
        requests.writes[3] = Some(waiting);
        assert_eq!(requests.take_overwritten(place), None);
        assert_eq!(requests.take_overwritten(Place { term: 3, index: 8 }), None);
        assert_eq!(requests.take_overwritten(Place { term: 3, index: 7 }), Some((3, waiting)));
        assert_eq!(requests.writes[3], None);
    }

    #[test]
    fn a_read_is_served_when_its_index_is_applied_and_not_before() {
        let mut requests = Requests::default();
        requests.await_read(1, WaitingRead { attempt: 5, key: Text::new(b"a"), index: None });
        requests.read_at(&context_of(1, 4), 9);
        assert_eq!(requests.take_read(100), None, "the answer to an older attempt says nothing");
        requests.read_at(&context_of(1, 5), 9);
        assert_eq!(requests.take_read(8), None);
        assert_eq!(requests.take_read(9).unwrap().0, 1);
    }
}
