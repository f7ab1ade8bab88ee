//! A client: carries out one operation after the other, tries again elsewhere, and says what came of it.
//!
//! A request keeps its number over all attempts, so that it is carried out at most once. It is refused for sure only if
//! every attempt at it was refused; if one was left unanswered, what came of the request is unknown.

use crate::command::{Command, Operation, Reply};
use crate::core::Core;
use crate::marks;
use crate::message::{Outcome, StoreMessage};
use crate::node::{Hands, StoreNode};
use crate::options::Settings;
use crate::request::encode;
use crate::timer::StoreTimer;
use std::collections::VecDeque;
use std::fmt;
use std::rc::Rc;
use whitewater_sim::draw::name_hash;
use whitewater_sim::{Boot, Input, NodeId, OpId, Span};

/// Operations a client lets wait; more are refused at once, unless it is to insist on them.
const QUEUE_MAX: usize = 16;

/// An operation that waits for its turn.
#[derive(Clone, Debug)]
struct Wish {
    op: OpId,
    operation: Operation,
    insists: bool,
}

/// The operation that is going on.
#[derive(Clone, Debug)]
struct Current {
    op: OpId,
    body: Rc<[u8]>,
    target: NodeId,
    /// It need not be carried out by the leader.
    elsewhere: bool,
    attempts_left: u32,
    /// An attempt was left without an answer.
    doubtful: bool,
    /// It waits for its next attempt, not for an answer.
    pausing: bool,
}

/// A client.
#[derive(Debug)]
pub struct Client {
    id: NodeId,
    servers: usize,
    election_timeout: Span,
    attempts_max: u32,
    /// Reads go to any server.
    reads_anywhere: bool,
    waiting: VecDeque<Wish>,
    current: Option<Current>,
    /// Number of the latest request.
    number: u64,
    /// Number of the latest attempt, over all requests.
    attempt: u64,
    /// Who probably leads.
    believed: NodeId,
    /// Whom it asks next if nobody tells it who leads: everybody in turn, as what servers say of others may be old.
    turn: NodeId,
    /// The life every server is in, as far as known.
    lives: Vec<u32>,
    /// Up to where the server that answered last had applied its log when it did.
    place: u64,
}

impl Client {
    pub(crate) fn boot<C: Core>(boot: &Boot<'_, Settings>, fx: &mut Hands<'_, C>) -> Client {
        let first = fx.draw(name_hash("first-server"), 0, boot.servers as u64 - 1);
        let first = NodeId::server(first as usize);
        Client {
            id: boot.id,
            servers: boot.servers,
            election_timeout: boot.options.election_timeout(),
            attempts_max: boot.options.client_attempts,
            reads_anywhere: boot.options.read_at_any,
            waiting: VecDeque::new(),
            current: None,
            number: 0,
            attempt: 0,
            believed: first,
            turn: first,
            lives: vec![0; boot.servers],
            place: 0,
        }
    }

    /// Up to where the server that answered last had applied its log when it did.
    pub(crate) fn place(&self) -> u64 {
        self.place
    }

    /// The operation that it is carrying out.
    #[inline]
    pub(crate) fn current(&self) -> Option<OpId> {
        self.current.as_ref().map(|current| current.op)
    }

    /// Requests that are under way or wait for their turn.
    pub fn open_requests(&self) -> usize {
        usize::from(self.current.is_some()) + self.waiting.len()
    }

    pub(crate) fn handle<C: Core>(&mut self, input: Input<StoreNode<C>>, fx: &mut Hands<'_, C>) {
        match input {
            Input::Command { op, command: Command::Operate(operation) } => {
                self.ask(Wish { op, operation, insists: false }, fx);
            }
            Input::Command { op, command: Command::Insist(operation) } => {
                self.ask(Wish { op, operation, insists: true }, fx);
            }
            Input::Command { op, .. } => fx.reply(op, Reply::Declined),
            Input::Timeout(_) => self.time_is_up(fx),
            Input::Deliver { message: StoreMessage::Response { attempt, outcome, index }, .. } => {
                self.place = index;
                self.answered(attempt, outcome, fx);
            }
            Input::Deliver { from, message: StoreMessage::Broken { life, now } } => {
                self.broken(from, life, now, fx);
            }
            // Servers send clients nothing else, and a client keeps nothing on its disk.
            Input::Deliver { .. } | Input::Synced(_) | Input::SyncFailed(_) => {}
        }
    }

    fn ask<C: Core>(&mut self, wish: Wish, fx: &mut Hands<'_, C>) {
        if self.waiting.len() >= QUEUE_MAX && !wish.insists {
            fx.mark(marks::CLIENT_BUSY);
            fx.reply(wish.op, Reply::Refused);
            return;
        }
        self.waiting.push_back(wish);
        self.begin_next(fx);
    }

    fn begin_next<C: Core>(&mut self, fx: &mut Hands<'_, C>) {
        if self.current.is_some() {
            return;
        }
        let Some(Wish { op, operation, insists }) = self.waiting.pop_front() else { return };
        self.number += 1;
        let elsewhere = self.reads_anywhere && matches!(operation, Operation::Get(_));
        let target =
            if elsewhere { NodeId::server(self.number as usize % self.servers) } else { self.believed };
        self.current = Some(Current {
            op,
            body: encode(self.id, self.number, &operation),
            target,
            elsewhere,
            attempts_left: if insists { u32::MAX } else { self.attempts_max },
            doubtful: false,
            pausing: false,
        });
        self.attempt(target, fx);
    }

    /// Makes the next attempt, unless all have been made.
    fn attempt<C: Core>(&mut self, target: NodeId, fx: &mut Hands<'_, C>) {
        let Some(current) = &mut self.current else { return };
        if current.attempts_left == 0 {
            let reply = if current.doubtful { Reply::Unknown } else { Reply::Refused };
            self.finish(reply, fx);
            return;
        }
        current.attempts_left -= 1;
        current.target = target;
        current.pausing = false;
        self.attempt += 1;
        let life = self.lives[target.position()];
        fx.send(target, StoreMessage::Request { life, attempt: self.attempt, body: current.body.clone() });
        fx.set_timer(StoreTimer::Attempt, self.election_timeout, self.election_timeout.times(2));
    }

    fn time_is_up<C: Core>(&mut self, fx: &mut Hands<'_, C>) {
        let Some(current) = &mut self.current else { return };
        current.doubtful |= !current.pausing;
        let next = if current.pausing { current.target } else { self.next_in_turn() };
        self.attempt(next, fx);
    }

    fn answered<C: Core>(&mut self, attempt: u64, outcome: Outcome, fx: &mut Hands<'_, C>) {
        if attempt != self.attempt {
            return;
        }
        let Some(current) = self.current.as_mut().filter(|current| !current.pausing) else { return };
        match outcome {
            Outcome::Done(answer) => {
                if !current.elsewhere {
                    self.believed = current.target;
                }
                self.finish(Reply::Done(answer), fx);
            }
            Outcome::Refused { leader: Some(leader) } if leader != current.target => self.attempt(leader, fx),
            Outcome::Refused { .. } => self.pause(fx),
        }
    }

    /// Nobody leads, as it seems: waits before it tries the next server.
    fn pause<C: Core>(&mut self, fx: &mut Hands<'_, C>) {
        let next = self.next_in_turn();
        let Some(current) = &mut self.current else { return };
        (current.pausing, current.target) = (true, next);
        fx.set_timer(StoreTimer::Attempt, self.election_timeout.part(4), self.election_timeout.part(2));
    }

    /// The server was started again. In its life before it may have taken the request on.
    fn broken<C: Core>(&mut self, from: NodeId, life: u32, now: u32, fx: &mut Hands<'_, C>) {
        let known = &mut self.lives[from.position()];
        if life != *known {
            return;
        }
        *known = now;
        let Some(current) = &mut self.current else { return };
        if current.target == from && !current.pausing {
            current.doubtful = true;
            self.attempt(from, fx);
        }
    }

    fn finish<C: Core>(&mut self, reply: Reply, fx: &mut Hands<'_, C>) {
        let Some(current) = self.current.take() else { return };
        fx.cancel_timer(StoreTimer::Attempt);
        fx.reply(current.op, reply);
        self.begin_next(fx);
    }

    fn next_in_turn(&mut self) -> NodeId {
        self.turn = NodeId::server((self.turn.position() + 1) % self.servers);
        self.turn
    }

    pub(crate) fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} requests, {} waiting", self.number, self.waiting.len())
    }
}
