//! Repair: a server that found its log damaged gets it back from its peers before it decides anything again.
//!
//! Such a server has forgotten votes it sent and entries it acknowledged, and others count on both. So it begins an empty
//! log that says it is in quarantine, and goes through two steps; a restart before the end begins with the first one again.
//!
//! 1. *Fencing.* It asks every other server to take nothing more that an earlier life of it has sent, and to tell its
//!    term. All have to answer. Let `beyond` be the highest term anybody told. Then the server makes the next term durable.
//! 2. *Following.* It takes entries and snapshots and acknowledges them in terms above `beyond`, but it neither votes nor
//!    stands for election; a leader of an older term it tells the new one, so that it steps down. As soon as an entry or
//!    a snapshot of a term above `beyond` is durable here, the server is repaired.
//!
//! Why that is enough. Every promise of an earlier life was made in a term of at most `beyond`: a vote or an acknowledgement
//! goes to somebody who is in that term, whose term never falls, and who has told it; and a promise that had not arrived
//! when its receiver answered never will. So nobody leads a term above `beyond` by a forgotten vote, and everybody who
//! leads one was elected without this server. An entry that a forgotten acknowledgement helped, or may still help, to commit
//! is on a quorum, and that quorum shares a server with the one that elected such a leader, and it is not this one: the
//! leader has the entry, as always. Hence whoever has an entry of such a leader has, by log matching, all that was ever
//! acknowledged for nothing. Acknowledgements above `beyond` are new and true, so they may count at once.
//!
//! A server without peers has nobody to ask, and stays down. One peer that is down for good keeps a damaged server out,
//! too: then an operator has to remove it from the cluster.

use super::{Hands, Server};
use crate::bugs::Bug;
use crate::log::Log;
use crate::marks;
use crate::message::{KvMessage, Session, core_id};
use crate::node::KvNode;
use crate::server::storing::may_try_again;
use crate::timer::KvTimer;
use whitewater_raft::{Message, MessageKind, Storage};
use whitewater_sim::{Input, LocalTime, NodeId, Ticket};
use whitewater_wal::{Durability, Synced, WalError};

/// How far a server is with getting its log back.
pub(super) enum Repair {
    /// There is nothing to repair.
    Sound,
    /// Nobody could repair it.
    Hopeless,
    /// The disk has not taken the beginning of an empty log yet.
    Unbegun,
    /// Peers are asked.
    Fencing(Box<Fencing>),
    /// Peers have answered.
    Following(Following),
}

/// The first step.
pub(super) struct Fencing {
    log: Log,
    /// When what was written to the log is durable.
    waits_for: Option<Ticket>,
    /// The term of each peer that has answered.
    told: Vec<Option<u64>>,
    /// The highest of them, once the next term was written.
    beyond: Option<u64>,
}

/// The second step.
#[derive(Clone, Copy)]
pub(super) struct Following {
    /// Promises of earlier lives were made in terms up to this.
    beyond: u64,
    /// When the end of the quarantine is durable, if it was written.
    ends: Option<Ticket>,
}

/// What a peer wants to be forgotten.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fence {
    /// The life of the peer that asked; its messages and those of later ones are taken.
    life: Session,
    /// The session that they come in.
    granted: Session,
}

impl Server {
    /// Whether its log was found damaged and is not repaired.
    pub fn is_damaged(&self) -> bool {
        !matches!(self.repair, Repair::Sound)
    }

    /// What was wrong with its log when it was found damaged last.
    pub fn damage(&self) -> Option<&WalError> {
        self.damage.as_deref()
    }

    /// Whether its log was found damaged and nobody can repair it.
    pub fn is_hopeless(&self) -> bool {
        matches!(self.repair, Repair::Hopeless)
    }

    /// Whether it takes part, but neither votes nor stands for election.
    pub(super) fn only_follows(&self) -> bool {
        matches!(self.repair, Repair::Following(_))
    }

    /// The session that messages of a peer have to come in.
    pub(super) fn granted(&self, peer: NodeId) -> Session {
        let fenced = if peer.is_server() { self.fences[peer.position()].granted } else { 0 };
        fenced.max(self.session)
    }

    /// The log was found damaged.
    pub(super) fn begin_repair(&mut self, fx: &mut Hands<'_>) {
        fx.mark(marks::DAMAGED);
        if self.peers().next().is_none() {
            fx.note(format_args!("nobody is there to repair it from: it stays down"));
            self.repair = Repair::Hopeless;
            return;
        }
        match Log::quarantine(fx.disk(), self.identity.making()) {
            Ok((log, durability)) => self.begin_fencing(log, durability, fx),
            Err(error) => {
                fx.note(format_args!("cannot begin an empty log: {error}"));
                self.repair = Repair::Unbegun;
                self.start_later(fx);
            }
        }
    }

    /// A log in quarantine was opened, or has just begun.
    pub(super) fn begin_fencing(&mut self, log: Log, durability: Durability, fx: &mut Hands<'_>) {
        self.halted = true;
        self.last_session += 1;
        self.session = self.last_session;
        let waits_for = match durability {
            Durability::Now => None,
            Durability::After(ticket) => Some(ticket),
        };
        let told = vec![None; self.identity.servers];
        self.repair = Repair::Fencing(Box::new(Fencing { log, waits_for, told, beyond: None }));
        self.ask_peers(fx);
    }

    /// Asks those that have not answered.
    fn ask_peers(&mut self, fx: &mut Hands<'_>) {
        let Repair::Fencing(fencing) = &self.repair else { return };
        let life = self.session;
        let silent = self.peers().filter(|peer| fencing.told[peer.position()].is_none());
        silent.for_each(|peer| fx.send(peer, KvMessage::Fence { life }));
        let timeout = self.identity.settings.election_timeout();
        fx.set_timer(KvTimer::Fence, timeout.part(4), timeout.part(2));
    }

    /// A peer has forgotten what it had acknowledged: whatever it sent before is not taken any more.
    pub(super) fn fence(&mut self, peer: NodeId, life: Session, term: u64, fx: &mut Hands<'_>) {
        let fence = &mut self.fences[peer.position()];
        if life > fence.life {
            self.last_session += 1;
            *fence = Fence { life, granted: self.last_session };
        }
        if life == fence.life {
            fx.send(peer, KvMessage::Fenced { life, term });
        }
    }

    /// Something happens while peers are asked.
    pub(super) fn handle_fencing(&mut self, now: LocalTime, input: &Input<KvNode>, fx: &mut Hands<'_>) {
        let Repair::Fencing(fencing) = &mut self.repair else { return };
        match *input {
            Input::Deliver { from, message: KvMessage::Fence { life } } => {
                let term = fencing.log.hard_state().term;
                self.fence(from, life, term, fx);
            }
            Input::Deliver { from, message: KvMessage::Fenced { life, term } } if life == self.session => {
                fencing.told[from.position()] = Some(term);
                self.go_on_fencing(now, fx);
            }
            Input::Timeout(KvTimer::Fence) => {
                self.ask_peers(fx);
                self.go_on_fencing(now, fx);
            }
            Input::Synced(ticket) => match fencing.log.synced(fx.disk(), ticket) {
                Ok(Synced::Done) if fencing.waits_for == Some(ticket) => {
                    fencing.waits_for = None;
                    self.go_on_fencing(now, fx);
                }
                Ok(_) => {}
                Err(_) => self.start_over(fx),
            },
            Input::SyncFailed(ticket) if fencing.log.sync_failed(fx.disk(), ticket).is_some() => {
                self.start_over(fx);
            }
            _ => {}
        }
    }

    /// Does what can be done next.
    fn go_on_fencing(&mut self, now: LocalTime, fx: &mut Hands<'_>) {
        let own = self.identity.id.position();
        let Repair::Fencing(fencing) = &mut self.repair else { return };
        if fencing.waits_for.is_some() {
            return;
        }
        if let Some(beyond) = fencing.beyond {
            self.follow(beyond, now, fx);
            return;
        }
        fencing.told[own] = Some(fencing.log.highest_term());
        if fencing.told.contains(&None) {
            return;
        }
        let beyond = fencing.told.iter().flatten().copied().max().unwrap_or_default();
        match fencing.log.enter_term(fx.disk(), beyond + 1) {
            Ok(durability) => {
                fencing.beyond = Some(beyond);
                match durability {
                    Durability::Now => self.follow(beyond, now, fx),
                    Durability::After(ticket) => fencing.waits_for = Some(ticket),
                }
            }
            // The timer that asks peers tries again.
            Err(error) if may_try_again(&error) => fx.note(format_args!("cannot write: {error}")),
            Err(_) => self.start_over(fx),
        }
    }

    /// A sync has failed: what the new log says may be gone.
    fn start_over(&mut self, fx: &mut Hands<'_>) {
        self.repair = Repair::Unbegun;
        fx.cancel_timer(KvTimer::Fence);
        self.start_later(fx);
    }

    fn follow(&mut self, beyond: u64, now: LocalTime, fx: &mut Hands<'_>) {
        let Repair::Fencing(mut fencing) = std::mem::replace(&mut self.repair, Repair::Sound) else { return };
        fx.cancel_timer(KvTimer::Fence);
        fx.note(format_args!(
            "peers have answered: follows without a vote until it has an entry above term {beyond}"
        ));
        fencing.log.stored();
        let repair = Repair::Following(Following { beyond, ends: None });
        *self = Server::start(self.identity.clone(), self.last_session + 1, fencing.log, repair, now, fx);
    }

    /// Whether a server that only follows gives a message to its core.
    pub(super) fn heeds(&mut self, message: &Message, from: NodeId, fx: &mut Hands<'_>) -> bool {
        match message.kind {
            MessageKind::TimeoutNow => false,
            MessageKind::Vote | MessageKind::PreVote => {
                self.identity.settings.planted.is(Bug::VotesWithoutLog)
            }
            MessageKind::Append | MessageKind::Heartbeat | MessageKind::Snapshot => {
                // Its leader has to win another term, without this server.
                !self.tells_newer_term(message, from, fx)
            }
            _ => true,
        }
    }

    /// Tells a leader that there is a newer term than its own, if there is.
    pub(super) fn tells_newer_term(&mut self, message: &Message, from: NodeId, fx: &mut Hands<'_>) -> bool {
        let term = self.core.storage().hard_state().term;
        let is_newer = message.term < term;
        if is_newer {
            let (own, leader) = (core_id(self.identity.id), core_id(from));
            let mut newer = Message::new(MessageKind::AppendResponse, own, leader);
            newer.term = term;
            self.send(newer, fx);
        }
        is_newer
    }

    /// Something was stored: it may have been what was missing.
    pub(super) fn end_repair_if_due(&mut self, fx: &mut Hands<'_>) {
        let Repair::Following(Following { beyond, ends: None }) = self.repair else { return };
        let has_newer = self.core.storage().term(self.durable).is_ok_and(|term| term > beyond);
        if self.halted || !has_newer {
            return;
        }
        match self.core.storage_mut().end_quarantine(fx.disk()) {
            Ok(Durability::Now) => self.repaired(fx),
            Ok(Durability::After(ticket)) => {
                self.repair = Repair::Following(Following { beyond, ends: Some(ticket) });
            }
            Err(error) if may_try_again(&error) => fx.note(format_args!("cannot write: {error}")),
            Err(_) => self.halt(fx),
        }
    }

    /// Whether the end of the quarantine waited for a ticket that has come back.
    pub(super) fn ends_repair(
        &mut self,
        ticket: Ticket,
        done: &Result<Synced, WalError>,
        fx: &mut Hands<'_>,
    ) -> bool {
        let ends = matches!(self.repair, Repair::Following(Following { ends, .. }) if ends == Some(ticket));
        if ends && matches!(done, Ok(Synced::Done)) {
            self.repaired(fx);
        }
        ends && done.is_ok()
    }

    fn repaired(&mut self, fx: &mut Hands<'_>) {
        fx.mark(marks::REPAIRED);
        fx.note(format_args!("repaired by its peers"));
        self.repair = Repair::Sound;
    }
}
