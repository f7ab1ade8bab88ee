//! Bounds in the words of the rules: what a server sends, holds and keeps, and what it was configured to.

use super::step::Done;
use crate::command::Command;
use crate::message::KvMessage;
use crate::node::KvNode;
use crate::options::Settings;
use crate::timer::KvTimer;
use whitewater_check::{BoundRules, Cargo, Limits, LogView, Membership};
use whitewater_raft::{Entry, MessageKind, encoded_size_bytes, payload_size_bytes};
use whitewater_sim::{Effect, Role, SERVERS_MAX, Seen, Violation, What};

/// The rules over bounds.
#[derive(Clone)]
pub(super) struct Bounds {
    pub(super) rules: BoundRules,
    /// What a server was configured to, and how much of its log it is to keep behind a snapshot.
    pub(super) limits: fn(&Settings) -> (Limits, u64),
    /// The membership that each server had last.
    memberships: [Membership; SERVERS_MAX],
    /// Servers that waited for their disk at the end of their last step, a bit each by position.
    held_up: u16,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            rules: BoundRules::default(),
            limits: limits_of,
            memberships: [Membership::default(); SERVERS_MAX],
            held_up: 0,
        }
    }
}

fn limits_of(settings: &Settings) -> (Limits, u64) {
    let limits = Limits {
        appends: u64::from(settings.inflight_count_max),
        window_bytes: settings.inflight_bytes,
        append_bytes: settings.message_size_max_bytes,
        uncommitted_bytes: settings.uncommitted_bytes,
    };
    (limits, settings.snapshot_trail)
}

impl Bounds {
    /// Looks at a step of a server.
    #[inline(always)]
    pub(super) fn observe(&mut self, done: &Done<'_>) -> Result<(), Violation> {
        let Done { seen, deeds, view, before, after, membership } = *done;
        let node = seen.node;
        let own = 1 << node.index();
        let is_held_up = self.held_up & own != 0;
        self.held_up = if view.is_writing() { self.held_up | own } else { self.held_up & !own };
        match seen.what {
            What::Delivered { from, .. } => self.rules.open(node, from, is_held_up),
            What::Fired(KvTimer::Snapshot(peer) | KvTimer::SessionReady(peer) | KvTimer::Connect(peer)) => {
                self.rules.open(node, peer, is_held_up);
            }
            // A script may tell the core that a peer cannot be reached.
            What::Commanded { command: Command::Control(_), .. } => self.rules.open_all(node, is_held_up),
            _ => {}
        }
        let known = &mut self.memberships[node.index()];
        if (before.term, before.role) != (after.term, after.role) || *known != *membership {
            *known = *membership;
            self.rules.open_all(node, is_held_up);
        }
        if deeds.has_sent(MessageKind::Append) || deeds.said_to(node) {
            self.send(seen, view.settings())?;
        }
        if after.role == Role::Leader && view.settings().uncommitted_bytes > 0 {
            let (commit, applied) = (view.core().commit_index(), view.core().applied_index());
            let bytes = view.core().uncommitted_size_bytes();
            let (limits, _) = (self.limits)(view.settings());
            self.rules.hold(node, after.term, bytes, (commit, applied), &limits)?;
        }
        self.rules.keep(node, view.first_index(), || {
            let (_, trail) = (self.limits)(view.settings());
            (view.covered_then(), trail)
        })
    }

    /// A server has sent appends, or something to itself.
    #[inline(never)]
    fn send(&mut self, seen: &Seen<'_, KvNode>, settings: &Settings) -> Result<(), Violation> {
        let node = seen.node;
        let (limits, _) = (self.limits)(settings);
        for effect in seen.effects {
            let Effect::Send { to, message: KvMessage::Raft { message, .. } } = effect else { continue };
            self.rules.send(node, *to, || (message.term, message.kind.name()))?;
            if message.kind == MessageKind::Append && !message.entries.is_empty() {
                let cargo = cargo(&message.entries, &limits);
                self.rules.append((node, *to), message.term, cargo, &limits)?;
            }
        }
        Ok(())
    }
}

/// More than an entry takes beside its data: three numbers, a kind and four tags. The core has a bound of its own by which it
/// cuts appends, which is what is to be checked.
const BESIDE_DATA_MAX_BYTES: u64 = 64;

/// What an append carries; what nothing limits is not counted, and what is far from its limit not to the byte.
fn cargo(entries: &[Entry], limits: &Limits) -> Cargo {
    let append_bytes = if limits.append_bytes > 0 && entries.len() > 1 {
        let at_most = payload_size_bytes(entries) + BESIDE_DATA_MAX_BYTES * entries.len() as u64;
        if at_most <= limits.append_bytes { at_most } else { encoded_size_bytes(entries) }
    } else {
        0
    };
    let window_bytes = if limits.window_bytes > 0 { payload_size_bytes(entries) } else { 0 };
    Cargo { entries: entries.len() as u64, append_bytes, window_bytes }
}
