//! Snapshots: making them, giving up what they cover, sending them, and taking those of others.

use super::{Hands, Server};
use crate::image;
use crate::marks;
use crate::message::{KvMessage, Session, core_id};
use crate::server::members::membership;
use crate::server::storing::{Writing, may_try_again};
use crate::spine::Spine;
use crate::timer::KvTimer;
use whitewater_raft::{Payload, Role, Snapshot};
use whitewater_sim::NodeId;
use whitewater_wal::{Durability, WalError};

impl Server {
    /// Makes a snapshot if enough was applied since the last one.
    pub(super) fn snapshot_if_due(&mut self, fx: &mut Hands<'_>) {
        let log = self.core.storage();
        let since = self.applied - log.snapshot_index().min(self.applied);
        if log.is_saving() {
            return;
        }
        let newcomer = since > 0 && log.take_lack();
        if since < self.identity.settings.snapshot_entries && !newcomer {
            return;
        }
        if newcomer {
            fx.mark(marks::SNAPSHOT_FOR_NEWCOMER);
        }
        // What has waited for a read until the next snapshot waits no longer.
        log.compact_after_reads(0);
        self.snapshot_now(fx);
    }

    /// Makes a snapshot of what is applied, unless there is nothing new or one is being made.
    pub(super) fn snapshot_now(&mut self, fx: &mut Hands<'_>) {
        let log = self.core.storage();
        // While the disk takes nothing, more may be applied than is in the log.
        if log.is_saving() || self.applied <= log.snapshot_index() || self.applied > self.durable {
            return;
        }
        let index = self.applied;
        let (Some(term), Some(chain)) = (self.spine.term_at(index), self.spine.chain_at(index)) else {
            return;
        };
        let data = Payload::from(image::write(chain, &self.machine));
        let snapshot = Snapshot { index, term, conf_state: self.members.clone(), data };
        let saved = self.core.storage_mut().save(fx.disk(), &snapshot);
        self.snapshot_saved(saved, fx);
    }

    /// Goes on with a snapshot of its own.
    pub(super) fn snapshot_saved(&mut self, saved: Result<Durability, WalError>, fx: &mut Hands<'_>) {
        match saved {
            Ok(Durability::Now) => self.compact(fx),
            Ok(Durability::After(_)) => {}
            // There will be another one.
            Err(error) if may_try_again(&error) => fx.note(format_args!("no snapshot: {error}")),
            Err(error) => {
                fx.note(format_args!("cannot go on: {error}"));
                self.halt(fx);
            }
        }
    }

    /// Gives up what a snapshot covers, whoever may still need it.
    fn compact(&mut self, fx: &mut Hands<'_>) {
        let (log, index) = (self.core.storage(), self.given_up());
        if !log.awaits_read() && index >= log.first() {
            self.compact_to(index, fx);
        }
    }

    /// Does what a read of the log has brought about in this step.
    pub(super) fn compact_what_was_read(&mut self, fx: &mut Hands<'_>) {
        let Some((index, missed)) = self.core.storage().take_hidden() else { return };
        if missed {
            fx.mark(marks::COMPACTED_BETWEEN_READS);
            fx.note(format_args!("compacted to {index} between two reads"));
        }
        // A snapshot that was made while the read was awaited gives up more.
        let index = index.max(self.given_up());
        if index >= self.core.storage().first() {
            self.compact_to(index, fx);
        }
    }

    /// The last entry that is kept for nobody: a durable snapshot covers it, and the trail does not reach back to it.
    fn given_up(&self) -> u64 {
        self.core.storage().covered_index().saturating_sub(self.identity.settings.snapshot_trail)
    }

    fn compact_to(&mut self, index: u64, fx: &mut Hands<'_>) {
        let log = self.core.storage_mut();
        self.covered_then = log.covered_index();
        log.compact(fx.disk(), index);
        self.spine.compact(index.max(self.spine.base()));
        let lacks = |peer: &whitewater_raft::Progress| peer.match_index < index;
        if self.core.role() == Role::Leader && self.core.progress().iter().any(lacks) {
            fx.mark(marks::COMPACTED_UNDER_PEER);
        }
    }

    /// Takes over a snapshot that is durable now in place of the log.
    pub(super) fn restore(&mut self, fx: &mut Hands<'_>) {
        let log = self.core.storage();
        let Some(image) = log.image() else { return };
        fx.mark(marks::SNAPSHOT_INSTALLED);
        fx.note(format_args!("snapshot {}/{}", image.term, image.index));
        self.members = log.membership();
        self.memberships.push((image.index, membership(&self.members)));
        self.spine = Spine::behind(image.index, image.term, image.chain);
        (self.durable, self.covered_then) = (image.index, image.index);
        // The next snapshot may be in the core already.
        self.commit_before = self.commit_before.max(image.index);
        (self.machine, self.applied) = (image.machine, image.index);
        // Whether their entries are in it nobody here can tell.
        self.requests.forget_to(image.index, |op| fx.reply(op, crate::command::Reply::Unknown));
        self.follow_log(fx);
    }

    /// A snapshot goes out: its receiver says when it has come.
    pub(super) fn snapshot_sent(&mut self, peer: NodeId, fx: &mut Hands<'_>) {
        fx.mark(marks::SNAPSHOT_SENT);
        self.streams[peer.position()] = None;
        self.await_snapshot(peer, fx);
        self.outgoing[peer.position()].carries_snapshot = true;
    }

    /// A peer has a snapshot.
    pub(super) fn snapshot_arrived(&mut self, peer: NodeId, session: Session, fx: &mut Hands<'_>) {
        let outgoing = &mut self.outgoing[peer.position()];
        if outgoing.carries_snapshot && outgoing.ready() == Some(session) {
            outgoing.carries_snapshot = false;
            self.streams[peer.position()] = None;
            fx.cancel_timer(KvTimer::Snapshot(peer));
            self.core.report_snapshot(core_id(peer), true);
        }
    }

    /// Nothing was heard of a snapshot for long.
    pub(super) fn snapshot_overdue(&mut self, peer: NodeId, fx: &mut Hands<'_>) {
        if !self.repeat_piece(peer, fx) {
            self.snapshot_lost(peer, fx);
        }
    }

    /// A snapshot is taken for lost.
    pub(super) fn snapshot_lost(&mut self, peer: NodeId, fx: &mut Hands<'_>) {
        if std::mem::take(&mut self.outgoing[peer.position()].carries_snapshot) {
            fx.mark(marks::SNAPSHOT_LOST);
            self.streams[peer.position()] = None;
            fx.cancel_timer(KvTimer::Snapshot(peer));
            self.core.report_snapshot(core_id(peer), false);
        }
    }

    /// Tells the sender of a snapshot that it has come.
    pub(super) fn acknowledge_snapshot(&self, from: NodeId, index: u64, fx: &mut Hands<'_>) {
        fx.send(from, KvMessage::Arrived { session: self.granted(from), index });
    }

    /// Whether the core waits for the disk.
    #[inline]
    pub(crate) fn is_writing(&self) -> bool {
        !matches!(self.writing, Writing::Nothing)
    }
}
