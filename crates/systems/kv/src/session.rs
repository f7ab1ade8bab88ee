//! Transport sessions: a server can send to a peer once the peer has granted a session and the session has started.
//!
//! A session belongs to one incarnation of the peer: what is sent in an older one is refused, and the sender has to
//! connect again. What the core sends meanwhile is lost at the sender, as in real transports.

use crate::message::Session;

/// Where a session stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SessionState {
    /// The peer has been asked and has not answered.
    Connecting,
    /// The peer has granted the session, and it is being set up.
    Starting(Session),
    /// Messages can be sent.
    Ready(Session),
}

/// One direction to one peer, as its sender keeps it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing {
    state: SessionState,
    /// Number of the latest question.
    nonce: u32,
    /// A snapshot is under way, and the peer has not said that it came.
    pub(crate) carries_snapshot: bool,
}

impl Outgoing {
    /// Nothing was asked yet.
    pub(crate) fn new() -> Outgoing {
        Outgoing { state: SessionState::Connecting, nonce: 0, carries_snapshot: false }
    }

    /// The session to send in, if there is one.
    #[inline]
    pub(crate) fn ready(&self) -> Option<Session> {
        match self.state {
            SessionState::Ready(session) => Some(session),
            _ => None,
        }
    }

    /// Asks anew. Gives the number of the question.
    pub(crate) fn connect(&mut self) -> u32 {
        self.state = SessionState::Connecting;
        self.nonce += 1;
        self.nonce
    }

    /// The peer has granted a session. True if that was the answer to the latest question: now it starts.
    pub(crate) fn granted(&mut self, nonce: u32, session: Session) -> bool {
        let answers = self.state == SessionState::Connecting && nonce == self.nonce;
        if answers {
            self.state = SessionState::Starting(session);
        }
        answers
    }

    /// The time a session takes to start is over, if one is starting.
    pub(crate) fn started(&mut self) {
        if let SessionState::Starting(session) = self.state {
            self.state = SessionState::Ready(session);
        }
    }

    /// Whether the peer was asked and has not answered.
    pub(crate) fn is_connecting(&self) -> bool {
        self.state == SessionState::Connecting
    }

    /// The peer says that a session is gone. True if it is the present one: connect again.
    pub(crate) fn broken(&mut self, session: Session) -> bool {
        match self.state {
            SessionState::Starting(present) | SessionState::Ready(present) => present == session,
            SessionState::Connecting => false,
        }
    }
}

impl Default for Outgoing {
    fn default() -> Outgoing {
        Outgoing::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_carries_nothing_before_it_has_started() {
        let mut outgoing = Outgoing::new();
        let nonce = outgoing.connect();
        assert_eq!(outgoing.ready(), None);
        assert!(outgoing.granted(nonce, 4));
        assert_eq!(outgoing.ready(), None);
        outgoing.started();
        assert_eq!(outgoing.ready(), Some(4));
    }

    #[test]
    fn only_the_answer_to_the_latest_question_counts() {
        let mut outgoing = Outgoing::new();
        let old = outgoing.connect();
        let new = outgoing.connect();
        assert!(!outgoing.granted(old, 4));
        assert!(outgoing.granted(new, 5));
        assert!(!outgoing.granted(new, 5), "a second copy of the answer starts nothing");
    }

    #[test]
    fn news_about_an_older_session_does_not_break_the_present_one() {
        let mut outgoing = Outgoing::new();
        let nonce = outgoing.connect();
        outgoing.granted(nonce, 2);
        outgoing.started();
        assert!(!outgoing.broken(1));
        assert!(outgoing.broken(2));
    }
}
