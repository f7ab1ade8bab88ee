//! The receiving end of a connection: datagrams come in any order, what they say is handed on in the order it was said.
//!
//! There is no repetition of what was lost: a gap that does not close breaks the connection, as a stalled stream would.

use crate::message::Body;

/// Most datagrams that wait behind a gap.
const WAITING_MAX: usize = 64;

/// What became of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It was the next one: [`Inbound::take`] has something.
    Next,
    /// One before it is missing.
    Early,
    /// It came before.
    Repeated,
    /// Too many wait behind the gap.
    Overflow,
}

/// The receiving end of one connection.
#[derive(Clone, Debug, Default)]
pub struct Inbound {
    next: u32,
    waiting: Vec<(u32, Body)>,
}

impl Inbound {
    /// A datagram arrives.
    pub fn arrive(&mut self, number: u32, body: Body) -> Arrival {
        let known = self.waiting.iter().any(|(waiting, _)| *waiting == number);
        if number < self.next || known {
            return Arrival::Repeated;
        }
        if self.waiting.len() >= WAITING_MAX {
            return Arrival::Overflow;
        }
        self.waiting.push((number, body));
        if number == self.next { Arrival::Next } else { Arrival::Early }
    }

    /// What was said next, once everything before it has been taken.
    pub fn take(&mut self) -> Option<Body> {
        let at = self.waiting.iter().position(|(number, _)| *number == self.next)?;
        self.next += 1;
        Some(self.waiting.swap_remove(at).1)
    }

    /// Whether something waits behind a gap.
    pub fn has_gap(&self) -> bool {
        !self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vclock::Vclock;

    fn body() -> Body {
        Body::Ack(Vclock::default(), None)
    }

    #[test]
    fn what_overtook_waits_and_what_came_twice_is_dropped() {
        let mut inbound = Inbound::default();
        assert_eq!(inbound.arrive(1, Body::Heartbeat), Arrival::Early);
        assert_eq!(inbound.take(), None);
        assert_eq!(inbound.arrive(1, Body::Heartbeat), Arrival::Repeated);
        assert_eq!(inbound.arrive(0, body()), Arrival::Next);
        assert_eq!(inbound.take(), Some(body()));
        assert_eq!(inbound.take(), Some(Body::Heartbeat));
        assert_eq!(inbound.take(), None);
        assert!(!inbound.has_gap());
        assert_eq!(inbound.arrive(0, body()), Arrival::Repeated);
    }

    #[test]
    fn what_waits_behind_a_gap_is_bounded() {
        let mut inbound = Inbound::default();
        for number in 1..=WAITING_MAX as u32 {
            assert_eq!(inbound.arrive(number, Body::Heartbeat), Arrival::Early);
        }
        assert!(inbound.has_gap());
        assert_eq!(inbound.arrive(200, Body::Heartbeat), Arrival::Overflow);
    }
}
