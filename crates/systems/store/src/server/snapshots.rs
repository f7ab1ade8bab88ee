//! Snapshots of a server, its own and those of its peers, and the members they speak of.

use super::Server;
use super::storing::may_try_again;
use crate::command::Reply;
use crate::core::{Core, Notice, Snapshot, Todo};
use crate::machine::Machine;
use crate::marks;
use crate::membership::{self, after};
use crate::message::StoreMessage;
use crate::node::Hands;
use crate::place::Place;
use crate::spine::Spine;
use whitewater_check::{Linked, Membership};
use whitewater_sim::{NodeId, Role};
use whitewater_wal::Durability;

impl<C: Core> Server<C> {
    /// The members as of what was applied.
    pub(crate) fn members(&self) -> Membership {
        self.memberships.last().expect("a life begins with one").1
    }

    /// Looks at what the core takes for the members after a change.
    pub(super) fn follow_members(&mut self, fx: &mut Hands<'_, C>) {
        let before = self.members();
        let Some(after) = self.core.members().filter(|after| *after != before) else { return };
        self.memberships.push((self.applied, after));
        fx.note(format_args!("{after}"));
        match (before.is_joint(), after.is_joint()) {
            (false, true) => fx.mark(marks::JOINT_ENTERED),
            (true, false) => fx.mark(marks::JOINT_LEFT),
            _ => fx.mark(marks::MEMBER_CHANGED),
        }
        if !self.has_vote() && self.core.shown().role == Role::Leader {
            self.core.notice(Notice::Removed);
        }
    }

    /// The membership this server acts by, and every one it may come to act by: those that changes in its log lead to, and
    /// the one behind a joint one.
    pub(crate) fn memberships_to_come(&self) -> Vec<Membership> {
        let mut memberships = vec![self.members()];
        let mut advance = |steps: &[membership::Step]| {
            let last = memberships.last().expect("it begins with one");
            memberships.extend(after(last, steps));
        };
        let stuck = self.stuck.iter().flat_map(|todo| &todo.entries);
        let unwritten = |index| stuck.clone().find(|entry| entry.index == index);
        let written = |index| self.core.log().entries(index, index + 1).next();
        let open = self.spine.changes.iter().filter(|&&index| index > self.applied);
        let entries = open.filter_map(|&index| unwritten(index).or_else(|| written(index)));
        entries.filter_map(C::change_in).for_each(|steps| advance(&steps));
        advance(&[]);
        memberships
    }

    /// Makes a snapshot if enough was applied since the last one, or if somebody waits for one.
    pub(super) fn snapshot_if_due(&mut self, fx: &mut Hands<'_, C>) {
        let log = self.core.log();
        let since = self.applied.saturating_sub(log.snapshot_index());
        let is_due = since >= self.settings().snapshot_entries || log.wants_snapshot(self.applied);
        if !is_due || log.is_saving() || self.is_installing() {
            return;
        }
        let index = self.applied;
        let Some(Linked { term, chain }) = self.spine.chain.at(index) else { return };
        let data = [&chain.to_le_bytes()[..], &self.machine.write()].concat();
        let metadata = membership::write(&self.members()).into();
        let snapshot = Snapshot { index, term, metadata, data: data.into() };
        match self.core.log_mut().save(fx.disk(), snapshot) {
            Ok(Durability::Now) => self.compact(fx),
            Ok(Durability::After(_)) => {}
            Err(error) if may_try_again(&error) => {}
            Err(error) => self.die(&error, fx),
        }
    }

    pub(super) fn compact(&mut self, fx: &mut Hands<'_, C>) {
        let trail = self.settings().snapshot_trail;
        let log = self.core.log_mut();
        let index = log.snapshot_index().saturating_sub(trail);
        if index >= log.first() {
            log.compact(fx.disk(), index);
            let term = log.term(index);
            self.spine.compact(index);
            if let Some(term) = term {
                self.core.begins_behind(Place { term, index });
            }
        }
    }

    /// Sends a peer the snapshot, if there is one for it by now.
    pub(super) fn bring_snapshot(&self, to: NodeId, fx: &mut Hands<'_, C>) {
        if let Some(snapshot) = self.core.log().snapshot_to_send(1, to) {
            let (term, snapshot) = (self.core.shown().term, Box::new(snapshot.clone()));
            self.send(to, StoreMessage::Snapshot { term, snapshot }, fx);
        }
    }

    /// Has a snapshot stored that a peer has brought, if it reaches further than what is applied, with what the log has behind.
    pub(super) fn install_incoming(&mut self, todo: &mut Todo<C::Message>) -> bool {
        let Some(snapshot) = self.bare.incoming.take() else { return false };
        if snapshot.index <= self.applied || self.core.shown().role == Role::Leader {
            return false;
        }
        if self.spine.chain.term_at(snapshot.index) == Some(snapshot.term) {
            let behind = self.core.log().entries(snapshot.index + 1, self.spine.chain.last_index() + 1);
            todo.entries.extend(behind.cloned());
        }
        todo.snapshot = Some(*snapshot);
        true
    }

    /// Takes over a snapshot that is durable now in place of the log.
    pub(super) fn restore(&mut self, fx: &mut Hands<'_, C>) {
        let log = self.core.log();
        let snapshot = log.snapshot().expect("it was just stored");
        fx.mark(marks::SNAPSHOT_INSTALLED);
        fx.note(format_args!("snapshot {}/{}", snapshot.term, snapshot.index));
        let index = snapshot.index;
        let (linked, machine) = opened(snapshot);
        self.memberships.push((index, membership::read(&snapshot.metadata)));
        (self.spine, self.machine) = (Spine::behind(index, linked), machine);
        (self.applied, self.durable) = (index, index);
        self.awaits_snapshot = false;
        self.commit_before = self.commit_before.max(index);
        log.entries(index + 1, log.last() + 1).for_each(|entry| self.spine.grow::<C>(entry));
        self.hard_state.commit = self.hard_state.commit.max(index);
        self.core.begins_behind(Place { term: linked.term, index });
        // Whether their entries are in it nobody here can tell.
        self.owing.forget_to(index, |op| fx.reply(op, Reply::Unknown));
    }
}

/// The place of a snapshot in the chain, and the state in it.
pub(super) fn opened(snapshot: &Snapshot) -> (Linked, Machine) {
    let split = snapshot.data.split_first_chunk();
    let read = split.and_then(|(chain, data)| Some((u64::from_le_bytes(*chain), Machine::read(data)?)));
    let (chain, machine) = read.expect("a snapshot with a right checksum is one of ours");
    (Linked { term: snapshot.term, chain }, machine)
}
