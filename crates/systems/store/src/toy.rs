//! A Raft as short as one can be, with flaws to choose from: what tests around any Raft are made with.

use crate::core::{Core, Entry, HardState, Order, REQUEST, Seat, Shown, Todo};
use crate::log::Log;
use crate::number::{number_of, server_of};
use crate::paper::{Kind, Message};
use crate::place::Place;
use std::rc::Rc;
use whitewater_check::RefusalReason;
use whitewater_sim::{NodeId, OptionSpec, Role, SERVERS_MAX, Values};

/// The kind of the entry with which a leader opens its term.
const TERM: u8 = 1;

/// A server. It takes no input before its disk is done, so that what it acts by is durable.
pub(crate) struct Toy {
    id: NodeId,
    voters: u16,
    flaw: String,
    log: Log,
    term: u64,
    vote: Option<NodeId>,
    role: Role,
    leader: Option<NodeId>,
    /// Up to where entries are committed, and up to where they are so and durable.
    known: u64,
    committed: u64,
    votes: u16,
    matches: [u64; SERVERS_MAX],
    /// Ticks since it heard of its leader or began to stand for election, and how many it waits for.
    ticks: u64,
    timeout: u64,
    wants_timeout: bool,
    is_changed: bool,
    fresh: Vec<Entry>,
    outbox: Vec<(NodeId, Message)>,
}

impl Toy {
    fn bit(&self) -> u16 {
        1 << self.id.position()
    }

    fn last(&self) -> Place {
        let index = self.log.last();
        let kept = Place { term: self.log.term(index).unwrap_or(0), index };
        self.fresh.last().map_or(kept, |entry| Place { term: entry.term, index: entry.index })
    }

    fn peers(&self) -> impl Iterator<Item = NodeId> + use<> {
        let others = self.voters & !self.bit();
        (0..SERVERS_MAX).filter(move |position| others >> position & 1 == 1).map(NodeId::server)
    }

    fn say(&mut self, to: NodeId, message: Message) {
        self.outbox.push((to, Message { term: self.term, ..message }));
    }

    fn enter(&mut self, term: u64, role: Role, vote: Option<NodeId>) {
        (self.term, self.role, self.vote, self.leader) = (term, role, vote, None);
        (self.is_changed, self.wants_timeout, self.ticks) = (true, true, 0);
    }

    fn stand(&mut self) {
        self.enter(self.term + 1, Role::Candidate, Some(self.id));
        self.votes = self.bit();
        let place = self.last();
        let call = Message { kind: Kind::VoteCall, place, ..Message::default() };
        self.peers().for_each(|peer| self.say(peer, call.clone()));
    }

    fn append(&mut self, kind: u8, payload: Rc<[u8]>) {
        let index = self.last().index + 1;
        self.fresh.push(Entry { index, term: self.term, kind, payload });
    }

    /// Sends all that a peer is not known to have.
    fn lead(&mut self, peer: NodeId) {
        let index = self.matches[peer.position()];
        let place = Place { term: self.log.term(index).expect("nothing is compacted"), index };
        let entries = self.log.entries(index + 1, self.log.last() + 1).cloned().collect();
        let call =
            Message { kind: Kind::AppendCall, place, commit: self.known, entries, ..Message::default() };
        self.say(peer, call);
    }

    fn follow(&mut self, leader: NodeId, message: Message) {
        (self.role, self.leader, self.ticks) = (Role::Follower, Some(leader), 0);
        let index = message.place.index + message.entries.len() as u64;
        let news = |entry: &Entry| self.log.term(entry.index) != Some(entry.term);
        if let Some(first) = message.entries.iter().position(news) {
            self.fresh = message.entries[first..].to_vec();
        }
        self.known = self.known.max(message.commit.min(index));
        let place = Place { term: 0, index };
        self.say(leader, Message { kind: Kind::AppendReply, place, ..Message::default() });
    }

    fn acknowledged(&mut self, peer: NodeId, index: u64) {
        let matched = &mut self.matches[peer.position()];
        *matched = index.max(*matched);
        let has = |index: u64| 1 + self.peers().filter(|peer| self.matches[peer.position()] >= index).count();
        let counts = |&index: &u64| {
            self.log.term(index) == Some(self.term) && 2 * has(index) > self.voters.count_ones() as usize
        };
        self.known = (self.known + 1..=self.log.last()).rev().find(counts).unwrap_or(self.known);
    }
}

impl Core for Toy {
    type Message = Message;
    const NAME: &'static str = "toy";
    const ABOUT: &'static str = "A Raft for tests.";
    const OPTIONS: &'static [OptionSpec] = crate::options! {
        TICK, ELECTION_TICKS, MESSAGE_SIZE, MEMBERSHIP, FOUNDERS, CLIENT_ATTEMPTS;
        OptionSpec {
            name: "flaw",
            about: "What is wrong with it: nothing, or it takes requests and forgets them, never stands for election, or \
                    votes for nobody else.",
            values: Values::Words(&["none", "forgetful", "meek", "stubborn"]),
            default: "none",
            per_node: false,
            drawn: false,
        },
    };
    const NEEDS_NO_CLOCK: bool = true;

    fn start(seat: &Seat, log: Log) -> Toy {
        let HardState { term, vote, .. } = log.hard_state();
        Toy {
            id: seat.id,
            voters: seat.members.voters,
            flaw: seat.settings.own("flaw").to_owned(),
            log,
            term,
            vote: server_of(vote),
            role: Role::Follower,
            leader: None,
            known: 0,
            committed: 0,
            votes: 0,
            matches: [0; SERVERS_MAX],
            ticks: 0,
            timeout: u64::MAX,
            wants_timeout: true,
            is_changed: false,
            fresh: Vec::new(),
            outbox: Vec::new(),
        }
    }

    fn log(&self) -> &Log {
        &self.log
    }

    fn log_mut(&mut self) -> &mut Log {
        &mut self.log
    }

    fn tick(&mut self) {
        self.ticks += 1;
        if self.role == Role::Leader {
            self.peers().for_each(|peer| self.lead(peer));
        } else if self.ticks >= self.timeout && self.flaw != "meek" && self.voters & self.bit() != 0 {
            self.stand();
        }
    }

    fn receive(&mut self, from: NodeId, message: Message) -> Result<(), RefusalReason> {
        if message.term > self.term {
            self.enter(message.term, Role::Follower, None);
        }
        let is_old = message.term < self.term;
        match message.kind {
            Kind::VoteCall => {
                let Place { term, index } = self.last();
                let fits = (message.place.term, message.place.index) >= (term, index);
                let is_free = self.vote.is_none_or(|vote| vote == from) && self.flaw != "stubborn";
                let rejects = is_old || !fits || !is_free;
                if !rejects {
                    (self.vote, self.is_changed, self.ticks) = (Some(from), true, 0);
                }
                self.say(from, Message { kind: Kind::VoteReply, rejects, ..Message::default() });
            }
            Kind::AppendCall if is_old => {
                self.say(from, Message { kind: Kind::AppendReply, rejects: true, ..Message::default() });
            }
            Kind::AppendCall => self.follow(from, message),
            Kind::VoteReply if self.role == Role::Candidate && !is_old && !message.rejects => {
                self.votes |= 1 << from.position();
                if 2 * self.votes.count_ones() > self.voters.count_ones() {
                    (self.role, self.leader) = (Role::Leader, Some(self.id));
                    self.matches = [0; SERVERS_MAX];
                    self.append(TERM, Rc::default());
                }
            }
            Kind::AppendReply if self.role == Role::Leader && !is_old && !message.rejects => {
                self.acknowledged(from, message.place.index);
            }
            Kind::VoteReply | Kind::AppendReply => {}
        }
        Ok(())
    }

    fn propose(&mut self, data: Rc<[u8]>) -> bool {
        let leads = self.role == Role::Leader;
        if leads && self.flaw != "forgetful" {
            self.append(REQUEST, data);
        }
        leads
    }

    fn obey(&mut self, order: Order<'_>) -> bool {
        let stands = order == Order::Campaign && self.role != Role::Leader;
        if stands {
            self.stand();
        }
        stands
    }

    fn ready(&mut self, todo: &mut Todo<Message>, applied: u64) -> bool {
        if std::mem::take(&mut self.is_changed) {
            let vote = self.vote.map_or(0, number_of);
            todo.hard_state = Some(HardState { term: self.term, vote, commit: 0 });
        }
        todo.entries.append(&mut self.fresh);
        todo.promises.append(&mut self.outbox);
        if todo.entries.is_empty() {
            self.committed = self.known;
            todo.committed = self.committed;
        }
        todo.hard_state.is_some()
            || !todo.entries.is_empty()
            || !todo.promises.is_empty()
            || todo.committed > applied
    }

    fn timeout_wanted(&mut self) -> bool {
        std::mem::take(&mut self.wants_timeout)
    }

    fn set_timeout(&mut self, ticks: u64) {
        self.timeout = ticks;
    }

    fn shown(&self) -> Shown {
        let &Toy { term, vote, role, leader, committed: commit, .. } = self;
        Shown { term, vote, role, leader, last_index: self.last().index, commit }
    }

    fn match_index(&self, peer: NodeId) -> Option<u64> {
        (self.role == Role::Leader).then(|| self.matches[peer.position()])
    }
}
