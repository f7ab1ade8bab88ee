//! Sessions of a server, and what travels in them.

use super::{Hands, Server, Taken};
use crate::marks;
use crate::message::{KvMessage, Session, core_id, server};
use crate::options::Settings;
use crate::timer::KvTimer;
use whitewater_check::{Refusal, RefusalReason};
use whitewater_raft::{Message, MessageKind, StepError};
use whitewater_sim::NodeId;

/// Empty boxes that are kept for messages to come.
const BOXES_MAX: usize = 64;

impl Server {
    /// Sends a message of the core, if there is a session for it.
    pub(super) fn send(&mut self, message: Message, fx: &mut Hands<'_>) {
        let peer = server(message.to).expect("the core writes to members only");
        match self.outgoing[peer.position()].ready() {
            Some(session) => {
                if message.kind == MessageKind::Snapshot {
                    self.snapshot_sent(peer, fx);
                    if self.goes_in_pieces(&message) {
                        self.stream(peer, &message, fx);
                        return;
                    }
                }
                match message.kind {
                    MessageKind::ReadIndex => fx.mark(marks::READ_PASSED_ON),
                    MessageKind::Propose => fx.mark(marks::PROPOSAL_PASSED_ON),
                    MessageKind::TimeoutNow => fx.mark(marks::TAKEOVER_ORDERED),
                    _ => {}
                }
                let message = self.wrap(message);
                fx.send(peer, KvMessage::Raft { session, message });
            }
            None => {
                if message.kind == MessageKind::Append {
                    fx.mark(marks::APPEND_WITHOUT_SESSION);
                }
                self.core.report_unreachable(message.to);
                if message.kind == MessageKind::Snapshot {
                    fx.mark(marks::SNAPSHOT_LOST);
                    self.core.report_snapshot(message.to, false);
                }
                let lost = KvMessage::Raft { session: 0, message: Box::new(message) };
                fx.discard(peer, lost, "session is not ready");
            }
        }
    }

    /// Puts a message into a box, one that a message came in if there is one.
    fn wrap(&mut self, message: Message) -> Box<Message> {
        match self.boxes.pop() {
            Some(mut wrapped) => {
                *wrapped = message;
                wrapped
            }
            None => Box::new(message),
        }
    }

    pub(super) fn receive_raft(
        &mut self,
        from: NodeId,
        session: Session,
        mut message: Box<Message>,
        fx: &mut Hands<'_>,
    ) {
        if server(message.to) != Some(self.identity.id) {
            fx.mark(marks::NOT_FOR_ME);
            return;
        }
        let granted = self.granted(from);
        if session != granted {
            fx.send(from, KvMessage::Broken { session, granted });
            return;
        }
        if self.only_follows() && !self.heeds(&message, from, fx) {
            return;
        }
        if self.would_stay_out(message.kind) && self.tells_newer_term(&message, from, fx) {
            return;
        }
        if self.is_writing() {
            fx.mark(marks::STEPPED_WHILE_WRITING);
        }
        let kind = message.kind;
        let Message { term, index, reject: rejects, transfer: takes_over, .. } = *message;
        self.taken = Some(Taken { from, kind, term, index, rejects, takes_over });
        if let Some(snapshot) = message.snapshot() {
            self.acknowledge_snapshot(from, snapshot.index, fx);
        }
        let stepped = self.core.step_in_place(&mut message);
        if self.boxes.len() < BOXES_MAX {
            self.boxes.push(message);
        }
        if let Err(error) = stepped {
            fx.note(format_args!("refused: {error}"));
            self.refusals += 1;
            self.last_refusal = Some(Refusal { from, why: reason(kind, &error) });
        }
    }

    /// Whether a newer term than its leader's would keep this server out for ever: without pre-vote and check-quorum the core
    /// tells an older leader nothing but by standing for election, which a server without a vote does not.
    fn would_stay_out(&self, kind: MessageKind) -> bool {
        let Settings { pre_vote, check_quorum, .. } = self.identity.settings;
        let of_leader = matches!(kind, MessageKind::Append | MessageKind::Heartbeat | MessageKind::Snapshot);
        of_leader && !pre_vote && !check_quorum && !self.members.voters.contains(&core_id(self.identity.id))
    }

    /// No answer came from a peer.
    pub(super) fn connect_again(&mut self, peer: NodeId, fx: &mut Hands<'_>) {
        if self.outgoing[peer.position()].is_connecting() {
            self.connect(peer, fx);
        }
    }

    /// Asks a peer for a session, and again if no answer comes.
    pub(super) fn connect(&mut self, peer: NodeId, fx: &mut Hands<'_>) {
        let nonce = self.outgoing[peer.position()].connect();
        fx.send(peer, KvMessage::Connect { nonce });
        let timeout = self.identity.settings.election_timeout();
        fx.set_timer(KvTimer::Connect(peer), timeout.part(2), timeout);
    }

    pub(super) fn session_granted(&mut self, peer: NodeId, nonce: u32, session: Session, fx: &mut Hands<'_>) {
        if self.outgoing[peer.position()].granted(nonce, session) {
            fx.cancel_timer(KvTimer::Connect(peer));
            let Settings { session_start_low: low, session_start_high: high, .. } = self.identity.settings;
            fx.set_timer(KvTimer::SessionReady(peer), low, high);
        }
    }

    pub(super) fn session_started(&mut self, peer: NodeId) {
        // A timer that was held back may come when the session it was for is gone.
        self.outgoing[peer.position()].started();
    }

    /// The peer was restarted and knows nothing of what was sent to it.
    pub(super) fn session_broken(&mut self, peer: NodeId, session: Session, fx: &mut Hands<'_>) {
        if self.outgoing[peer.position()].broken(session) {
            fx.mark(marks::SESSION_BROKEN);
            fx.cancel_timer(KvTimer::SessionReady(peer));
            self.core.report_unreachable(core_id(peer));
            self.stream_broken(peer, fx);
            self.snapshot_lost(peer, fx);
            self.connect(peer, fx);
        }
    }
}

/// Why the core refused a message, in the words of the checks.
fn reason(kind: MessageKind, error: &StepError) -> RefusalReason {
    match error {
        // Whoever passed it on could not know that this server has no leader to offer either.
        StepError::ProposalDropped if kind == MessageKind::Propose => RefusalReason::ForwardedWithoutLeader,
        StepError::ProposalDropped => RefusalReason::Error("a proposal that is none"),
        StepError::PeerNotFound => RefusalReason::ResponseOfStranger,
        StepError::LocalMessage => RefusalReason::Error("a message that only the node itself may send"),
        StepError::MissingSender => RefusalReason::Error("a message without sender"),
        StepError::PositionTooLarge => RefusalReason::Error("a term or index beyond all bounds"),
        StepError::EmptyProposal => RefusalReason::Error("a proposal without entries"),
        StepError::MalformedConfChange => RefusalReason::Error("a configuration change that cannot be read"),
        StepError::MalformedRead => RefusalReason::Error("a read without a name"),
        StepError::MalformedAppend => RefusalReason::Error("entries that do not follow each other"),
        StepError::MalformedSnapshot => RefusalReason::Error("a snapshot that contradicts itself"),
        StepError::ConflictsWithCommitted { .. } => {
            RefusalReason::Error("entries that differ from what is committed")
        }
        StepError::CommitBeyondLog { .. } => RefusalReason::Error("a commit index beyond the end of its log"),
        StepError::AckBeyondLog { .. } => RefusalReason::Error("an acknowledgement of entries it never had"),
        _ => RefusalReason::Error("for another reason"),
    }
}
