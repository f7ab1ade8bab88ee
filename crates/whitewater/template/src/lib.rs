//! A primary with backups: whoever holds the lease answers reads and copies writes to all others; `n1` lends it.

mod rules;

use std::fmt;
use whitewater::sim::{Boot, Effects, Input, LocalTime, Node, NodeId, OpId, Role, Span};

/// How long a lease lasts.
pub(crate) const LEASE: Span = Span::from_millis(200);
const KEEPER: NodeId = NodeId::server(0);

whitewater::messages! {
    /// What servers send each other.
    pub enum Word {
        Ask { nonce: u64 },                 // to the keeper: lend me the lease, or let me keep it
        Lend { nonce: u64, lease: u64 },    // from the keeper: it is yours, from when you asked
        Copy { lease: u64, log: Vec<u64> }, // from the holder of a lease: this is the log
        Have { lease: u64, length: u64 },   // to the holder: so much of it is on my disk
    }
}

// The timers of a server, and what a script may tell it.
whitewater::timers! { pub enum Alarm { Ask = "ask" } }
whitewater::commands! { pub enum Command { Write { value: u64 } = "write", Read {} = "read" } }

/// A server. What a crash takes comes first, then what is on its disk.
pub struct Server {
    id: NodeId,
    from_arrival: bool,
    nonce: u64,
    asked: LocalTime,
    /// Until when it holds the lease; the keeper: until when it is lent.
    until: LocalTime,
    lent_to: Option<NodeId>,
    have: Vec<u64>,
    waiting: Vec<(OpId, u64)>,
    /// The newest lease it has heard of.
    lease: u64,
    log: Vec<u64>,
}

impl Server {
    fn keep(&self, fx: &mut Effects<'_, Server>) {
        whitewater::save(fx.disk(), "state", &[&[self.lease], &self.log[..]].concat());
    }

    fn copy(&mut self, fx: &mut Effects<'_, Server>) {
        self.have[self.id.position()] = self.log.len() as u64;
        let copy = Word::Copy { lease: self.lease, log: self.log.clone() };
        let peers = (1..self.have.len()).map(NodeId::server).filter(|peer| *peer != self.id);
        peers.for_each(|peer| fx.send(peer, copy.clone()));
        self.acknowledge(fx);
    }

    /// Writes are done when everybody has them: then whoever holds the lease next has them, too. Only a holder says so.
    fn acknowledge(&mut self, fx: &mut Effects<'_, Server>) {
        let everywhere = self.have[1..].iter().copied().min().unwrap_or(0);
        let done = self.waiting.extract_if(.., |waiting| waiting.1 <= everywhere);
        done.for_each(|(op, _)| fx.reply(op, "written".to_owned()));
    }

    fn hear(&mut self, now: LocalTime, from: NodeId, word: Word, fx: &mut Effects<'_, Server>) {
        match word {
            Word::Ask { nonce } if self.lent_to == Some(from) || now >= self.until => {
                if self.lent_to.replace(from) != Some(from) {
                    self.lease += 1;
                    self.keep(fx);
                }
                self.until = now + LEASE;
                fx.send(from, Word::Lend { nonce, lease: self.lease });
            }
            Word::Lend { nonce, lease } if nonce == self.nonce => {
                self.until = if self.from_arrival { now } else { self.asked } + LEASE;
                if lease > self.lease {
                    fx.mark(rules::MOVED);
                    (self.lease, self.have) = (lease, vec![0; self.have.len()]);
                    self.keep(fx);
                }
                fx.note(format_args!("holds lease {lease} for {}", self.until.since(now)));
                self.copy(fx);
            }
            Word::Copy { lease, log } if (lease, log.len()) >= (self.lease, self.log.len()) => {
                (self.lease, self.log, self.until) = (lease, log, self.asked);
                self.waiting.clear();
                self.keep(fx);
                fx.send(from, Word::Have { lease, length: self.log.len() as u64 });
            }
            Word::Have { lease, length } if lease == self.lease && now < self.until => {
                self.have[from.position()] = self.have[from.position()].max(length);
                self.acknowledge(fx);
            }
            _ => fx.note(format_args!("ignored")),
        }
    }
}

impl Node for Server {
    whitewater::words! { message: Word, timer: Alarm, command: Command, reply: String, options: bool }

    fn boot(boot: &Boot<'_, bool>, fx: &mut Effects<'_, Server>) -> Server {
        let kept = whitewater::load(fx.disk(), "state");
        if boot.id != KEEPER {
            fx.set_timer(Alarm::Ask, Span::from_millis(10), LEASE);
        }
        Server {
            id: boot.id,
            from_arrival: *boot.options,
            nonce: u64::from(boot.incarnation) << 32,
            asked: boot.now,
            // The keeper may have lent the lease just before it was restarted.
            until: if boot.id == KEEPER { boot.now + LEASE } else { boot.now },
            lent_to: None,
            have: vec![0; boot.servers],
            waiting: Vec::new(),
            lease: kept.first().copied().unwrap_or(0),
            log: kept.get(1..).unwrap_or_default().to_vec(),
        }
    }

    fn handle(&mut self, now: LocalTime, input: Input<Server>, fx: &mut Effects<'_, Server>) {
        match input {
            Input::Deliver { from, message } => self.hear(now, from, message, fx),
            Input::Timeout(Alarm::Ask) => {
                (self.nonce, self.asked) = (self.nonce + 1, now);
                fx.send(KEEPER, Word::Ask { nonce: self.nonce });
                fx.set_timer(Alarm::Ask, LEASE.part(4), LEASE.part(2));
            }
            Input::Command { op, .. } if self.id == KEEPER || now >= self.until => {
                fx.reply(op, "refused".to_owned())
            }
            Input::Command { op, command: Command::Read {} } => fx.reply(op, format!("{:?}", self.log)),
            Input::Command { op, command: Command::Write { value } } => {
                self.log.push(value);
                self.keep(fx);
                self.waiting.push((op, self.log.len() as u64));
                self.copy(fx);
            }
            Input::Synced(_) | Input::SyncFailed(_) => {}
        }
    }

    fn role(&self) -> Role {
        if self.lent().is_some() { Role::Leader } else { Role::Follower }
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lease {}, log {:?}", self.lease, self.log)
    }
}
