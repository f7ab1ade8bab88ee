//! Bounds in the words of the rules: what a server sends, holds and keeps, and what it was configured to.

use crate::command::Command;
use crate::message::KvMessage;
use crate::node::KvNode;
use crate::options::Settings;
use crate::server::Server;
use crate::timer::KvTimer;
use whitewater_check::{BoundRules, Cargo, Limits, LogView, Membership, Standing};
use whitewater_raft::{Entry, MessageKind, encoded_size_bytes, payload_size_bytes};
use whitewater_sim::{Effect, Role, SERVERS_MAX, Seen, Violation, What};

/// The rules over bounds.
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
    #[inline]
    pub(super) fn observe(
        &mut self,
        seen: &Seen<'_, KvNode>,
        view: &Server,
        (before, after): (&Standing, &Standing),
        membership: Membership,
    ) -> Result<(), Violation> {
        let node = seen.node;
        let own = 1 << node.position();
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
        if (before.term, before.role) != (after.term, after.role)
            || self.memberships[node.position()] != membership
        {
            self.memberships[node.position()] = membership;
            self.rules.open_all(node, is_held_up);
        }
        let limits = || (self.limits)(view.settings());
        for effect in seen.effects {
            let Effect::Send { to, message: KvMessage::Raft { message, .. } } = effect else { continue };
            self.rules.send(node, *to, || (message.term, message.kind.name()))?;
            if message.kind == MessageKind::Append && !message.entries.is_empty() {
                let (limits, _) = limits();
                let cargo = cargo(&message.entries, &limits);
                self.rules.append((node, *to), message.term, cargo, &limits)?;
            }
        }
        if after.role == Role::Leader && view.settings().uncommitted_bytes > 0 {
            let (commit, applied) = (view.core().commit_index(), view.core().applied_index());
            let bytes = view.core().uncommitted_size_bytes();
            self.rules.hold(node, after.term, bytes, (commit, applied), &limits().0)?;
        }
        self.rules.keep(node, view.first_index(), || (view.covered_then(), limits().1))
    }
}

/// What an append carries; what nothing limits is not counted.
fn cargo(entries: &[Entry], limits: &Limits) -> Cargo {
    let is_limited = limits.append_bytes > 0 && entries.len() > 1;
    Cargo {
        entries: entries.len() as u64,
        append_bytes: if is_limited { encoded_size_bytes(entries) } else { 0 },
        window_bytes: if limits.window_bytes > 0 { payload_size_bytes(entries) } else { 0 },
    }
}
