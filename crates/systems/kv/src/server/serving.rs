//! Serving clients and scripts: proposing, applying, reading, answering.

use super::{Hands, Server};
use crate::bugs::Bug;
use crate::command::{Answer, Operation, Reply, Text};
use crate::marks;
use crate::message::{KvMessage, Outcome, Session, core_id, server};
use crate::options::Reads;
use crate::proposal::{Author, Verb, decode, encode};
use crate::requests::{Own, Place, Waiting, WaitingRead, context_of};
use whitewater_raft::{Entry, EntryKind, Payload, Role};
use whitewater_sim::{NodeId, OpId};

impl Server {
    /// A client asks for an operation.
    pub(super) fn receive_request(
        &mut self,
        from: NodeId,
        session: Session,
        attempt: u64,
        body: Payload,
        fx: &mut Hands<'_>,
    ) {
        if session != self.session {
            fx.send(from, KvMessage::Broken { session, granted: self.session });
            return;
        }
        let client = from.position();
        if !self.requests.is_new(client, attempt) {
            return;
        }
        let proposal = decode(&body).expect("clients send whole operations");
        let (number, key) = (proposal.number, Text::new(proposal.key));
        if proposal.verb == Verb::Get && self.identity.settings.reads == Reads::Index {
            self.read(from, attempt, key, fx);
        } else {
            self.propose(from, Waiting { number, attempt, place: None }, body, fx);
        }
    }

    pub(super) fn refuse(&mut self, client: NodeId, attempt: u64, fx: &mut Hands<'_>) {
        // Who is no member hears of no new leader.
        let leader = server(self.core.leader()).filter(|_| self.members.contains(core_id(self.identity.id)));
        let outcome = Outcome::Refused { leader };
        fx.send(client, KvMessage::Response { attempt, outcome, index: self.applied });
    }

    fn propose(&mut self, client: NodeId, mut waiting: Waiting, body: Payload, fx: &mut Hands<'_>) {
        if self.is_under_way(client, waiting, fx) {
            return;
        }
        if self.core.propose(body).is_err() {
            self.refuse(client, waiting.attempt, fx);
            return;
        }
        waiting.place = self.place_of_last();
        self.requests.writes[client.position()] = Some(waiting);
    }

    /// Whether the entry of an earlier attempt is still in the log: then this one is answered when that is applied.
    pub(super) fn is_under_way(&mut self, client: NodeId, waiting: Waiting, fx: &mut Hands<'_>) -> bool {
        let Some(before) = &mut self.requests.writes[client.position()] else { return false };
        let stands = before.place.is_some_and(|place| self.spine.term_at(place.index) == Some(place.term));
        if before.number != waiting.number || !stands {
            return false;
        }
        before.attempt = waiting.attempt;
        fx.mark(marks::REQUEST_REPEATED);
        true
    }

    /// The end of the log, if this server has just put something there.
    pub(super) fn place_of_last(&self) -> Option<Place> {
        let leads = self.core.role() == Role::Leader;
        leads.then(|| Place { term: self.core.term(), index: self.core.last_index() })
    }

    fn read(&mut self, client: NodeId, attempt: u64, key: Text, fx: &mut Hands<'_>) {
        if server(self.core.leader()).is_none() {
            self.refuse(client, attempt, fx);
            return;
        }
        if self.core.role() != Role::Leader {
            fx.mark(marks::READ_AT_FOLLOWER);
        }
        let slot = client.position();
        self.requests.await_read(slot, WaitingRead { attempt, key, index: None });
        self.core.read_index(context_of(slot, attempt));
    }

    pub(super) fn serve_reads(&mut self, fx: &mut Hands<'_>) {
        while let Some((client, read)) = self.requests.take_read(self.applied) {
            let answer = Answer::Value(self.machine.get(read.key.bytes()));
            self.respond(client, read.attempt, answer, fx);
        }
    }

    fn respond(&mut self, client: usize, attempt: u64, answer: Answer, fx: &mut Hands<'_>) {
        let outcome = Outcome::Done(answer);
        fx.send(NodeId::client(client), KvMessage::Response { attempt, outcome, index: self.applied });
    }

    /// Applies a committed entry and answers whoever waits for it.
    pub(super) fn apply(&mut self, entry: &Entry, fx: &mut Hands<'_>) {
        if self.core.installing_snapshot().is_some_and(|index| entry.index <= index) {
            // The core acts by the membership of a snapshot from when it comes in: an older change on top of it would be
            // wrong. The snapshot has all of this.
            fx.mark(marks::OVERTAKEN_BY_SNAPSHOT);
            return;
        }
        assert_eq!(entry.index, self.applied + 1, "entries are applied in order, each once");
        let keeps_old_state =
            self.core.role() != Role::Leader && self.identity.settings.planted.is(Bug::FollowersKeepOldState);
        let applied = match entry.kind {
            EntryKind::Normal if keeps_old_state => None,
            EntryKind::Normal => self.machine.apply(&entry.data),
            _ => self.apply_change(entry, fx),
        };
        self.applied = entry.index;
        let place = Place { term: entry.term, index: entry.index };
        let mut own_answer = None;
        if let Some(applied) = applied {
            match (applied.author, applied.answer) {
                (Author::Client(client), Some(answer)) => {
                    let client = usize::from(client);
                    if let Some(waiting) = self.requests.take_write(client, applied.number) {
                        self.respond(client, waiting.attempt, answer, fx);
                    }
                }
                (Author::Server(_), answer) => own_answer = answer,
                (Author::Client(_), None) => fx.mark(marks::REQUEST_GIVEN_UP),
            }
        }
        self.settle_overwritten(place, own_answer, fx);
    }

    /// Tells those whose entry was to stand where another one is committed now.
    fn settle_overwritten(&mut self, place: Place, own_answer: Option<Answer>, fx: &mut Hands<'_>) {
        if self.identity.clients > 0
            && let Some((client, waiting)) = self.requests.take_overwritten(place)
        {
            fx.mark(marks::PROPOSAL_OVERWRITTEN);
            if self.identity.settings.planted.is(Bug::AnsweredByIndex) {
                self.respond(client, waiting.attempt, Answer::Written, fx);
            } else {
                self.refuse(NodeId::client(client), waiting.attempt, fx);
            }
        }
        if let Some((own, is_it)) = self.requests.take_own(place) {
            let reply = match own_answer {
                Some(answer) if is_it => Reply::Done(answer),
                _ => Reply::Refused,
            };
            fx.reply(own.op, reply);
        }
    }

    /// Whether there is somebody to hand the leadership to, and a leader to do it.
    pub(super) fn may_transfer(&self, to: NodeId) -> bool {
        to.position() < self.identity.servers && server(self.core.leader()).is_some()
    }

    /// A script wants another server to lead.
    pub(super) fn transfer(&mut self, op: OpId, to: NodeId, fx: &mut Hands<'_>) {
        if !self.may_transfer(to) {
            fx.reply(op, Reply::Declined);
            return;
        }
        self.hand_over(to, fx);
        fx.reply(op, Reply::Transferring);
    }

    /// Hands the leadership over, or asks the leader to.
    pub(super) fn hand_over(&mut self, to: NodeId, fx: &mut Hands<'_>) {
        if to != self.identity.id && self.core.role() == Role::Leader {
            fx.mark(marks::TRANSFER_BEGUN);
        }
        self.core.transfer_leader(core_id(to));
    }

    /// The number of an operation that a script gave to this server.
    pub(super) fn own_number(&self, op: OpId) -> u64 {
        u64::from(self.session) << 32 | u64::from(op.0)
    }

    /// A script asks this server itself; it proposes only if it leads.
    pub(super) fn propose_own(&mut self, op: OpId, operation: &Operation, fx: &mut Hands<'_>) {
        let number = self.own_number(op);
        let body = encode(Author::of(self.identity.id), number, operation);
        let leads = self.core.role() == Role::Leader;
        // Without a leader the core has to refuse it; with another one it would be passed on and could come in twice.
        let passed_on = !leads && self.identity.settings.forwarding && server(self.core.leader()).is_some();
        if passed_on || self.core.propose(body).is_err() {
            fx.reply(op, Reply::Refused);
            return;
        }
        let place = self.place_of_last().expect("only a leader takes a proposal without passing it on");
        self.requests.own.push(Own { op, number, place });
    }
}
