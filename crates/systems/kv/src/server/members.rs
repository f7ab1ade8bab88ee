//! The membership of a server: changes that are asked for, proposed, and put into effect.

use super::{Hands, Server};
use crate::command::{Answer, Reply};
use crate::marks;
use crate::message::{KvMessage, Outcome, Session, core_id};
use crate::order::{MembershipChange, Order};
use crate::proposal::{Author, encode_change};
use crate::requests::{Own, Waiting};
use whitewater_check::Membership;
use whitewater_raft::{
    ChangeStep, Changer, ConfChangeV2, ConfState, Entry, EntryKind, Progress, ProgressState, Role, StepError,
    Tracker, decode_entry,
};
use whitewater_sim::{NodeId, OpId};

/// A membership as the checks know it.
pub(crate) fn membership(state: &ConfState) -> Membership {
    let set = |ids: &[u64]| ids.iter().fold(0, |set, &id| set | 1 << (id - 1));
    Membership {
        voters: set(&state.voters),
        outgoing: set(&state.voters_outgoing),
        learners: set(&state.learners),
        learners_next: set(&state.learners_next),
        auto_leave: state.auto_leave,
    }
}

impl Server {
    /// A client orders something.
    pub(super) fn receive_order(
        &mut self,
        from: NodeId,
        session: Session,
        waiting: Waiting,
        order: &Order,
        fx: &mut Hands<'_>,
    ) {
        if session != self.session {
            fx.send(from, KvMessage::Broken { session, granted: self.session });
            return;
        }
        if !self.requests.is_new(from.position(), waiting.attempt) {
            return;
        }
        match order {
            Order::Transfer(to) if self.may_transfer(*to) && self.core.role() == Role::Leader => {
                self.hand_over(*to, fx);
                let outcome = Outcome::Done(Answer::Asked);
                fx.send(from, KvMessage::Response { attempt: waiting.attempt, outcome, index: self.applied });
            }
            Order::Transfer(_) => self.refuse(from, waiting.attempt, fx),
            Order::Change(change) => self.change_for(from, waiting, change, fx),
        }
    }

    fn change_for(
        &mut self,
        client: NodeId,
        mut waiting: Waiting,
        change: &MembershipChange,
        fx: &mut Hands<'_>,
    ) {
        if self.is_under_way(client, waiting, fx) {
            return;
        }
        if self.propose_change(Author::of(client), waiting.number, change, fx).is_err() {
            self.refuse(client, waiting.attempt, fx);
            return;
        }
        waiting.place = self.place_of_last();
        self.requests.writes[client.position()] = Some(waiting);
    }

    /// A script orders something of this server.
    pub(super) fn order_own(&mut self, op: OpId, order: &Order, fx: &mut Hands<'_>) {
        match order {
            Order::Transfer(to) => self.transfer(op, *to, fx),
            Order::Change(_) if self.core.role() != Role::Leader => fx.reply(op, Reply::Refused),
            Order::Change(change) => {
                let number = self.own_number(op);
                let author = Author::of(self.identity.id);
                match self.propose_change(author, number, change, fx) {
                    Ok(()) => {
                        let place = self.place_of_last().expect("a leader puts what it takes into its log");
                        self.requests.own.push(Own { op, number, place });
                    }
                    Err(_) => fx.reply(op, Reply::Refused),
                }
            }
        }
    }

    /// Puts a change into the log, or passes it on to the leader.
    fn propose_change(
        &mut self,
        author: Author,
        number: u64,
        change: &MembershipChange,
        fx: &mut Hands<'_>,
    ) -> Result<(), StepError> {
        let leads = self.core.role() == Role::Leader;
        if let MembershipChange::Promote(nodes) = change
            && !(leads && nodes.iter().all(|&node| self.may_promote(node)))
        {
            fx.mark(marks::PROMOTION_TOO_EARLY);
            return Err(StepError::ProposalDropped);
        }
        if change.nodes().any(|node| node.position() >= self.identity.servers) {
            return Err(StepError::ProposalDropped);
        }
        self.core.propose_conf_change(&change.to_core(encode_change(author, number)))?;
        if !leads {
            return Ok(());
        }
        // The core puts an empty entry in place of a change that does not fit now.
        let taken = self.core.unstable_entries().last().is_some_and(|entry| entry.kind != EntryKind::Normal);
        if taken {
            return Ok(());
        }
        fx.mark(marks::CHANGE_NOT_NOW);
        Err(StepError::ProposalDropped)
    }

    /// Whether a server is a learner that lacks no more than a little of the log.
    fn may_promote(&self, node: NodeId) -> bool {
        let near = |peer: &Progress| {
            peer.is_learner
                && peer.match_index + self.identity.settings.snapshot_trail >= self.core.last_index()
        };
        self.progress_of(node).is_some_and(near)
    }

    /// What the core knows of a member.
    #[inline]
    pub(super) fn progress_of(&self, node: NodeId) -> Option<&Progress> {
        let (progress, id) = (self.core.progress(), core_id(node));
        // Members stand in the order of their ids; mostly everybody is one.
        if let Some(known) = progress.get(node.position()).filter(|known| known.id == id) {
            return Some(known);
        }
        progress.iter().find(|known| known.id == id)
    }

    /// Whether a peer is sent nothing before it answers, whatever waits for it.
    pub(crate) fn is_window_full(&self, peer: NodeId) -> bool {
        self.progress_of(peer).is_none_or(|known| {
            let is_full = known.state == ProgressState::Replicate && known.inflights.is_full();
            is_full || known.is_paused() || known.requested_snapshot != 0
        })
    }

    /// Puts a committed change into effect, and says what it came to.
    pub(super) fn apply_change(
        &mut self,
        entry: &Entry,
        fx: &mut Hands<'_>,
    ) -> Option<crate::machine::Applied> {
        let change = decode_entry(entry.kind, &entry.data).expect("the core takes only changes it can read");
        let before = membership(&self.members);
        // A leader that is removed steps down at once.
        let led = self.core.role() == Role::Leader;
        let (core, members) = (&mut self.core, &mut self.members);
        let mut put = || match core.apply_conf_change(&change) {
            Ok(state) => {
                *members = state;
                Answer::Changed
            }
            // Everybody finds it unfit at this place.
            Err(_) => Answer::Unfit,
        };
        let applied = if change.context.is_empty() {
            // The leader leaves a joint membership by itself.
            put();
            None
        } else {
            self.machine.apply_change(&change.context, put)
        };
        let after = membership(&self.members);
        if before != after {
            self.memberships.push((entry.index, after));
            fx.note(format_args!("{after}"));
            self.mark_change(&before, &after, led, fx);
        }
        applied
    }

    fn mark_change(&mut self, before: &Membership, after: &Membership, led: bool, fx: &mut Hands<'_>) {
        match (before.is_joint(), after.is_joint()) {
            (false, true) if after.auto_leave => fx.mark(marks::JOINT_ENTERED),
            (false, true) => fx.mark(marks::JOINT_ENTERED_EXPLICITLY),
            (true, false) => fx.mark(marks::JOINT_LEFT),
            _ => {}
        }
        if after.learners & !before.learners & !before.everybody() != 0 {
            fx.mark(marks::LEARNER_ADDED);
        }
        if (after.learners | after.learners_next) & before.all_voters() & !before.learners_next != 0 {
            fx.mark(marks::VOTER_DEMOTED);
        }
        if after.voters & before.learners != 0 {
            fx.mark(marks::LEARNER_PROMOTED);
        }
        if after.voters & !before.everybody() != 0 {
            fx.mark(marks::VOTER_ADDED);
        }
        let gone = before.everybody() & !after.everybody();
        if gone != 0 {
            fx.mark(marks::MEMBER_REMOVED);
        }
        if self.removed & after.everybody() & !before.everybody() != 0 {
            fx.mark(marks::ADDED_AGAIN);
        }
        self.removed |= gone;
        if led && before.has(self.identity.id) && !after.has(self.identity.id) {
            fx.mark(marks::LEADER_REMOVED_ITSELF);
        }
    }

    /// The membership this server acts by, and every one it may come to act by: those that changes in its log lead to, and
    /// those behind joint ones that are left without being asked.
    pub(crate) fn memberships_to_come(&self) -> Vec<Membership> {
        let mut memberships = vec![membership(&self.members)];
        let entries = self.spine.changes().iter().filter(|&&index| index > self.applied);
        if entries.clone().next().is_none() && !self.members.auto_leave {
            return memberships;
        }
        let mut tracker = Tracker::new(1, 0);
        let restored = Changer { tracker: &tracker, last_index: 1 }.restore(&self.members);
        tracker.replace(restored.expect("a membership that is in place is sound"));
        for entry in entries.filter_map(|&index| self.core.entry_at(index)) {
            if let Some(change) = decode_entry(entry.kind, &entry.data) {
                advance(&mut tracker, &change, &mut memberships);
            }
        }
        if tracker.configuration.auto_leave {
            advance(&mut tracker, &ConfChangeV2::default(), &mut memberships);
        }
        memberships
    }
}

/// Goes one change further, if it fits.
fn advance(tracker: &mut Tracker, change: &ConfChangeV2, memberships: &mut Vec<Membership>) {
    let changer = Changer { tracker, last_index: 1 };
    let changed = match change.step() {
        ChangeStep::LeaveJoint => changer.leave_joint(),
        ChangeStep::EnterJoint { auto_leave } => changer.enter_joint(auto_leave, &change.changes),
        ChangeStep::Simple => changer.simple(&change.changes),
    };
    if let Ok(changed) = changed {
        tracker.replace(changed);
        memberships.push(membership(&tracker.configuration.to_conf_state()));
    }
}
