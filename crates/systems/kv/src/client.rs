//! A client: carries out one operation after the other, tries again elsewhere, and says what came of it.
//!
//! A request keeps its number over all attempts, so that it is carried out at most once. It is refused for sure only if
//! every attempt at it was refused; if one was left unanswered, what came of the request is unknown.

use crate::command::{Answer, Command, Operation, Reply};
use crate::marks;
use crate::message::{KvMessage, Outcome, Session};
use crate::options::Settings;
use crate::order::Order;
use crate::proposal::{Author, encode};
use crate::server::Hands;
use crate::timer::KvTimer;
use std::collections::VecDeque;
use std::fmt;
use whitewater_raft::Payload;
use whitewater_sim::{Boot, DrawSite, Input, NodeId, OpId, Span};

/// Operations a client lets wait; more are refused at once, unless it is to insist on them.
const QUEUE_MAX: usize = 16;
/// Attempts at an operation on which a client insists.
const INSISTING: u32 = u32::MAX;
/// Attempts at an order: one that is out of turn is not worth keeping others waiting.
const ORDER_ATTEMPTS_MAX: u32 = 4;

/// An operation that waits for its turn.
#[derive(Clone, Debug)]
struct Wish {
    op: OpId,
    task: Task,
    attempts_max: u32,
}

/// What it is to do.
#[derive(Clone, Debug)]
enum Task {
    Operate(Operation),
    Order(Order),
}

/// What it asks a server for.
#[derive(Clone, Debug)]
enum Asking {
    /// An operation, as an entry of the log.
    Body(Payload),
    /// An order, with the number of the request.
    Order(u64, Order),
}

/// The operation that is going on.
#[derive(Clone, Debug)]
struct Current {
    op: OpId,
    asking: Asking,
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
    /// The incarnation of every server, as far as known.
    sessions: Vec<Session>,
    /// Where in the log the last answer came from.
    place: u64,
}

impl Client {
    pub(crate) fn boot(boot: &Boot<'_, Settings>, fx: &mut Hands<'_>) -> Client {
        let first = fx.draw(DrawSite::new("first-server"), 0, boot.servers as u64 - 1);
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
            sessions: vec![0; boot.servers],
            place: 0,
        }
    }

    /// Up to where the server that answered last had applied its log when it did.
    pub(crate) fn place(&self) -> u64 {
        self.place
    }

    /// Whether it has nothing left to do.
    pub fn is_idle(&self) -> bool {
        self.current.is_none() && self.waiting.is_empty()
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

    /// Whether it has something to order, or has ordered it and was not answered.
    pub(crate) fn has_orders(&self) -> bool {
        let now = self.current.as_ref().is_some_and(|current| matches!(current.asking, Asking::Order(..)));
        now || self.waiting.iter().any(|wish| matches!(wish.task, Task::Order(_)))
    }

    pub(crate) fn handle(&mut self, input: Input<crate::node::KvNode>, fx: &mut Hands<'_>) {
        match input {
            Input::Command { op, command: Command::Operate(operation) } => {
                self.ask(Wish { op, task: Task::Operate(operation), attempts_max: self.attempts_max }, fx);
            }
            Input::Command { op, command: Command::Insist(operation) } => {
                self.ask(Wish { op, task: Task::Operate(operation), attempts_max: INSISTING }, fx);
            }
            Input::Command { op, command: Command::Order(order) } => {
                let attempts_max = self.attempts_max.min(ORDER_ATTEMPTS_MAX);
                self.ask(Wish { op, task: Task::Order(order), attempts_max }, fx);
            }
            Input::Command { op, command: Command::Abandon } => self.abandon(op, fx),
            Input::Command { op, command: Command::Campaign | Command::Control(_) } => {
                fx.reply(op, Reply::Declined);
            }
            Input::Timeout(_) => self.time_is_up(fx),
            Input::Deliver { message: KvMessage::Response { attempt, outcome, index }, .. } => {
                self.place = index;
                self.answered(attempt, outcome, fx);
            }
            Input::Deliver { from, message: KvMessage::Broken { session, granted } } => {
                self.broken(from, session, granted, fx);
            }
            Input::Deliver { .. } => unreachable!("servers answer clients and send them nothing else"),
            Input::Synced(_) | Input::SyncFailed(_) => unreachable!("a client keeps nothing on its disk"),
        }
    }

    fn ask(&mut self, wish: Wish, fx: &mut Hands<'_>) {
        if self.waiting.len() >= QUEUE_MAX && wish.attempts_max < INSISTING {
            fx.mark(marks::CLIENT_BUSY);
            fx.reply(wish.op, Reply::Refused);
            return;
        }
        self.waiting.push_back(wish);
        self.begin_next(fx);
    }

    /// Gives up every order, whatever may become of it.
    fn abandon(&mut self, op: OpId, fx: &mut Hands<'_>) {
        self.waiting.retain(|wish| {
            let is_order = matches!(wish.task, Task::Order(_));
            if is_order {
                fx.reply(wish.op, Reply::Refused);
            }
            !is_order
        });
        fx.reply(op, Reply::Abandoned);
        if self.has_orders() {
            self.finish(Reply::Unknown, fx);
        }
    }

    fn begin_next(&mut self, fx: &mut Hands<'_>) {
        if self.current.is_some() {
            return;
        }
        let Some(Wish { op, task, attempts_max }) = self.waiting.pop_front() else { return };
        self.number += 1;
        let elsewhere =
            self.reads_anywhere && matches!(&task, Task::Operate(operation) if !operation.is_write());
        let target =
            if elsewhere { NodeId::server(self.number as usize % self.servers) } else { self.believed };
        self.current = Some(Current {
            op,
            asking: match task {
                Task::Operate(operation) => {
                    Asking::Body(encode(Author::of(self.id), self.number, &operation))
                }
                Task::Order(order) => Asking::Order(self.number, order),
            },
            target,
            elsewhere,
            attempts_left: attempts_max,
            doubtful: false,
            pausing: false,
        });
        self.attempt(target, fx);
    }

    /// Makes the next attempt, unless all have been made.
    fn attempt(&mut self, target: NodeId, fx: &mut Hands<'_>) {
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
        let (session, attempt) = (self.sessions[target.position()], self.attempt);
        let message = match &current.asking {
            Asking::Body(body) => KvMessage::Request { session, attempt, body: body.clone() },
            Asking::Order(number, order) => {
                KvMessage::Order { session, attempt, number: *number, order: order.clone() }
            }
        };
        fx.send(target, message);
        fx.set_timer(KvTimer::Attempt, self.election_timeout, self.election_timeout.times(2));
    }

    fn time_is_up(&mut self, fx: &mut Hands<'_>) {
        let Some(current) = &mut self.current else { return };
        current.doubtful |= !current.pausing;
        let next = if current.pausing { current.target } else { self.next_in_turn() };
        self.attempt(next, fx);
    }

    fn answered(&mut self, attempt: u64, outcome: Outcome, fx: &mut Hands<'_>) {
        if attempt != self.attempt {
            return;
        }
        let Some(current) = self.current.as_mut().filter(|current| !current.pausing) else { return };
        match outcome {
            Outcome::Done(answer) => {
                if answer == Answer::Changed {
                    fx.mark(marks::CHANGE_ANSWERED);
                }
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
    fn pause(&mut self, fx: &mut Hands<'_>) {
        let next = self.next_in_turn();
        let Some(current) = &mut self.current else { return };
        current.pausing = true;
        current.target = next;
        fx.set_timer(KvTimer::Attempt, self.election_timeout.part(4), self.election_timeout.part(2));
    }

    /// The server was restarted. An earlier incarnation may have taken the request on.
    fn broken(&mut self, from: NodeId, session: Session, granted: Session, fx: &mut Hands<'_>) {
        let known = &mut self.sessions[from.position()];
        if session != *known {
            return;
        }
        *known = granted.max(session + 1);
        let Some(current) = &mut self.current else { return };
        if current.target == from && !current.pausing {
            current.doubtful = true;
            self.attempt(from, fx);
        }
    }

    fn finish(&mut self, reply: Reply, fx: &mut Hands<'_>) {
        let Some(current) = self.current.take() else { return };
        fx.cancel_timer(KvTimer::Attempt);
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
