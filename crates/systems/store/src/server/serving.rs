//! Serving clients and scripts: proposing, applying, reading, answering.

use super::Server;
use crate::command::{Answer, Operation, Reply};
use crate::core::{Core, Entry, REQUEST, ReadId, Shown};
use crate::marks;
use crate::message::{Outcome, StoreMessage};
use crate::node::Hands;
use crate::number::number_of;
use crate::options::Reads;
use crate::place::Place;
use crate::request::encode;
use std::rc::Rc;
use whitewater_sim::{NodeId, OpId, Role};

impl<C: Core> Server<C> {
    /// A client asks for an operation.
    pub(super) fn requested(
        &mut self,
        client: NodeId,
        life: u32,
        attempt: u64,
        body: Rc<[u8]>,
        fx: &mut Hands<'_, C>,
    ) {
        // An attempt that the network brings once more is known as such only in the life that it came to first.
        if life != self.life() {
            fx.send(client, StoreMessage::Broken { life, now: self.life() });
            return;
        }
        let Some(request) = self.owing.new_attempt(client, attempt, &body) else { return };
        let Shown { role, leader, .. } = self.core.shown();
        let leads = role == Role::Leader;
        if let Some(key) = request.read {
            if leader.is_none() {
                self.refuse(client, attempt, fx);
                return;
            }
            if self.settings().reads != Reads::Log {
                let number = self.owing.next_read();
                self.core.read(self.id_of_read(number));
                if !leads {
                    fx.mark(marks::READ_AT_FOLLOWER);
                }
                self.owing.wait_for_read(client, attempt, key);
                return;
            }
        }
        let is_in_log = |place: Place| self.spine.chain.term_at(place.index) == Some(place.term);
        if self.owing.repeat_write(client, attempt, request.number, is_in_log) {
            fx.mark(marks::REQUEST_REPEATED);
            return;
        }
        if !leads && !self.settings().forwarding || !self.propose(body) {
            self.refuse(client, attempt, fx);
            return;
        }
        if !leads {
            fx.mark(marks::FORWARDED);
        }
        self.owing.wait_for_write(client, attempt, request.number, leads.then(|| self.last_place()));
    }

    /// What a read is known by, wherever the core sends it: whose it is, in which life, and the how-manieth.
    fn id_of_read(&self, number: u64) -> ReadId {
        let words = [number_of(self.identity.id), u64::from(self.life()), number];
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// A read has its index.
    pub(super) fn read_at(&mut self, id: &[u8], index: u64, fx: &mut Hands<'_, C>) {
        let number = id.last_chunk().map_or(0, |number| u64::from_le_bytes(*number));
        if self.id_of_read(number) == id {
            if index > self.applied {
                fx.mark(marks::READ_WAITED);
            }
            self.owing.read_at(number, index);
        }
    }

    fn propose(&mut self, data: Rc<[u8]>) -> bool {
        let begun = self.core.propose(data.clone());
        if C::BARE && begun {
            self.bare.keep(self.last_place().index, data);
        }
        begun
    }

    /// The place of what was proposed last.
    fn last_place(&self) -> Place {
        let Shown { term, last_index: index, .. } = self.core.shown();
        Place { term, index }
    }

    fn refuse(&mut self, client: NodeId, attempt: u64, fx: &mut Hands<'_, C>) {
        // Who is no member hears of no new leader.
        let leader = self.core.shown().leader.filter(|_| self.members().has(self.identity.id));
        fx.send(
            client,
            StoreMessage::Response { attempt, outcome: Outcome::Refused { leader }, index: self.applied },
        );
    }

    /// A script asks this server itself; it proposes only if it leads. `None` if the answer comes when it is applied.
    pub(super) fn propose_own(&mut self, op: OpId, operation: &Operation) -> Option<Reply> {
        let number = u64::from(self.life()) << 32 | u64::from(op.0);
        let leads = self.core.shown().role == Role::Leader;
        if !leads || !self.propose(encode(self.identity.id, number, operation)) {
            return Some(Reply::Refused);
        }
        self.owing.wait_for_own(op, self.last_place());
        None
    }

    /// Applies what is committed, up to that index.
    pub(super) fn apply_to(&mut self, index: u64, fx: &mut Hands<'_, C>) {
        while self.applied < index {
            let entry = self.core.log().entry(self.applied + 1).cloned();
            self.apply(&entry.expect("what a core says is committed is in its log"), fx);
        }
    }

    /// Applies a committed entry and answers whoever waits for it.
    fn apply(&mut self, entry: &Entry, fx: &mut Hands<'_, C>) {
        self.applied = entry.index;
        let mut own_answer = None;
        if entry.kind != REQUEST {
            if let Some(steps) = C::change_in(entry) {
                self.core.applied(&steps);
                self.follow_members(fx);
            }
        } else if let Some(applied) = self.machine.apply(&entry.payload) {
            if applied.author.is_server() {
                own_answer = applied.answer;
            } else if let Some(answer) = applied.answer
                && let Some(attempt) = self.owing.take_write(applied.author, applied.number)
            {
                let outcome = Outcome::Done(answer);
                fx.send(applied.author, StoreMessage::Response { attempt, outcome, index: entry.index });
            }
        }
        let place = Place { term: entry.term, index: entry.index };
        if self.identity.clients > 0
            && let Some((client, attempt)) = self.owing.take_overwritten(place)
        {
            fx.mark(marks::PROPOSAL_OVERWRITTEN);
            self.refuse(client, attempt, fx);
        }
        if let Some((op, is_it)) = self.owing.take_own(place) {
            let reply = match own_answer {
                Some(answer) if is_it => Reply::Done(answer),
                _ => Reply::Refused,
            };
            fx.reply(op, reply);
        }
    }

    pub(super) fn serve_reads(&mut self, fx: &mut Hands<'_, C>) {
        while let Some((client, attempt, key)) = self.owing.take_read(self.applied) {
            let outcome = Outcome::Done(Answer::Value(self.machine.get(&key)));
            fx.send(client, StoreMessage::Response { attempt, outcome, index: self.applied });
        }
    }
}
