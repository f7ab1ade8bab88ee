//! Snapshots in pieces: one goes out when the one before has come, and again if nothing is heard of it.
//!
//! What has come of a snapshot is forgotten by a crash of either side: its sender reports a failure to the core then, and the
//! core sends another one.

use super::{Hands, Server};
use crate::marks;
use crate::message::{KvMessage, Session};
use crate::timer::KvTimer;
use std::rc::Rc;
use whitewater_raft::{Extra, Message, Payload, Role, Snapshot};
use whitewater_sim::NodeId;

/// How often a piece is sent again before the snapshot is given up.
const REPEATS_MAX: u8 = 2;

/// A snapshot on its way to a peer.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    /// The message of the core, its snapshot without data.
    head: Box<Message>,
    data: Payload,
    /// Bytes that have come, as far as the peer has said.
    come: usize,
    repeats: u8,
}

/// A snapshot on its way from a peer.
#[derive(Clone, Debug)]
pub(super) struct Arriving {
    name: (u64, u64, u64),
    bytes: Vec<u8>,
}

/// What tells snapshots apart: the term they are sent in, and where they end.
fn name_of(head: &Message) -> (u64, u64, u64) {
    let snapshot = head.snapshot().expect("a head has a snapshot");
    (head.term, snapshot.term, snapshot.index)
}

/// A message of the core with other data in its snapshot.
fn with_data(head: &Message, data: Payload) -> Message {
    let snapshot = head.snapshot().expect("a head has a snapshot");
    let snapshot = Snapshot { conf_state: snapshot.conf_state.clone(), data, ..*snapshot.as_ref() };
    let extra = Some(Box::new(Extra { snapshot: Some(Rc::new(snapshot)), ..Extra::default() }));
    Message { extra, ..head.clone() }
}

impl Server {
    /// Whether a snapshot goes in pieces.
    pub(super) fn goes_in_pieces(&self, message: &Message) -> bool {
        let most = self.identity.settings.piece_bytes;
        most > 0 && message.snapshot().is_some_and(|snapshot| snapshot.data.len() > most)
    }

    /// Begins to send a snapshot in pieces.
    pub(super) fn stream(&mut self, peer: NodeId, message: &Message, fx: &mut Hands<'_>) {
        fx.mark(marks::SNAPSHOT_IN_PIECES);
        let data = message.snapshot().expect("it is a snapshot").data.clone();
        let head = Box::new(with_data(message, Payload::EMPTY));
        self.streams[peer.position()] = Some(Stream { head, data, come: 0, repeats: 0 });
        self.send_piece(peer, fx);
    }

    fn send_piece(&mut self, peer: NodeId, fx: &mut Hands<'_>) {
        let Some(session) = self.outgoing[peer.position()].ready() else { return };
        let Some(stream) = &self.streams[peer.position()] else { return };
        let end = stream.data.len().min(stream.come + self.identity.settings.piece_bytes);
        let piece = KvMessage::Piece {
            session,
            head: stream.head.clone(),
            offset: stream.come as u32,
            total: stream.data.len() as u32,
            bytes: Payload::from(&stream.data[stream.come..end]),
        };
        fx.send(peer, piece);
    }

    /// A piece has come.
    pub(super) fn piece_came(&mut self, from: NodeId, piece: Piece, fx: &mut Hands<'_>) {
        let Piece { session, head, offset, total, bytes } = piece;
        let name = name_of(&head);
        let is_coming = self.arriving[from.position()].as_ref().is_some_and(|arriving| arriving.name == name);
        if !is_coming && name.2 <= self.core.commit_index() {
            // It is here already, and the word of that was lost: the core says so once more.
            self.receive_raft(from, session, head, fx);
            return;
        }
        let slot = &mut self.arriving[from.position()];
        if offset == 0 && slot.as_ref().is_none_or(|arriving| arriving.name != name) {
            *slot = Some(Arriving { name, bytes: Vec::new() });
        }
        let Some(arriving) = slot.as_mut().filter(|arriving| arriving.name == name) else { return };
        if arriving.bytes.len() == offset as usize {
            arriving.bytes.extend_from_slice(&bytes);
        }
        let come = arriving.bytes.len() as u32;
        fx.send(from, KvMessage::Come { session, index: name.2, bytes: come });
        if come == total {
            let whole = slot.take().expect("it is there").bytes;
            let message = Box::new(with_data(&head, Payload::from(whole)));
            self.receive_raft(from, session, message, fx);
        }
    }

    /// A peer says how much of a snapshot it has.
    pub(super) fn piece_acknowledged(
        &mut self,
        peer: NodeId,
        session: Session,
        (index, bytes): (u64, u32),
        fx: &mut Hands<'_>,
    ) {
        if self.outgoing[peer.position()].ready() != Some(session) {
            return;
        }
        let leads = self.core.role() == Role::Leader;
        let (slot, term) = (&mut self.streams[peer.position()], self.core.term());
        let Some(stream) = slot.as_mut().filter(|stream| name_of(&stream.head).2 == index) else { return };
        if !leads || stream.head.term != term {
            // Nobody waits for it any more.
            *slot = None;
            return;
        }
        if bytes as usize <= stream.come {
            return;
        }
        (stream.come, stream.repeats) = (bytes as usize, 0);
        if stream.come < stream.data.len() {
            self.send_piece(peer, fx);
        } else {
            *slot = None;
        }
        self.await_snapshot(peer, fx);
    }

    /// Nothing was heard of a snapshot for a while. Sends its last piece again; false if there is none, or if it was sent
    /// often enough.
    pub(super) fn repeat_piece(&mut self, peer: NodeId, fx: &mut Hands<'_>) -> bool {
        let Some(stream) = &mut self.streams[peer.position()] else { return false };
        if stream.repeats >= REPEATS_MAX {
            fx.mark(marks::STREAM_GIVEN_UP);
            return false;
        }
        stream.repeats += 1;
        fx.mark(marks::PIECE_LOST);
        self.send_piece(peer, fx);
        self.await_snapshot(peer, fx);
        true
    }

    /// The peer was restarted: what has come to it is gone.
    pub(super) fn stream_broken(&mut self, peer: NodeId, fx: &mut Hands<'_>) {
        if self.streams[peer.position()].take().is_some() {
            fx.mark(marks::STREAM_BROKEN);
        }
    }

    /// Waits for news of a snapshot.
    pub(super) fn await_snapshot(&self, peer: NodeId, fx: &mut Hands<'_>) {
        let timeout = self.identity.settings.election_timeout();
        fx.set_timer(KvTimer::Snapshot(peer), timeout, timeout.times(2));
    }
}

/// A piece of a snapshot, as it comes.
pub(super) struct Piece {
    pub(super) session: Session,
    pub(super) head: Box<Message>,
    pub(super) offset: u32,
    pub(super) total: u32,
    pub(super) bytes: Payload,
}
