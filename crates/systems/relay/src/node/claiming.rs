//! The part of a server around the synchronous queue: a leader claims it, confirms what a quorum has, and answers.

use super::{Fx, RelayNode};
use crate::bug::Bug;
use crate::command::Reply;
use crate::marks;
use crate::queue::Meaning;
use crate::row::Row;
use std::collections::VecDeque;
use whitewater_sim::{LocalTime, NodeId, OpId, Role};

/// What a leader does with the queue.
#[derive(Clone, Debug, Default)]
pub(super) struct Claim {
    /// The term in which it has written a claim.
    written_in: u64,
    /// The last own row for which it has written a confirmation.
    confirming: u32,
    /// Who wants it to give up the queue, while it does so.
    demoting: Option<OpId>,
    /// The term in which it has written that it gives the queue up.
    demoted_in: u64,
    /// The term in which it has written what it was told to write when it leads.
    pub(super) led_with: u64,
    /// Own rows for which somebody waits.
    unanswered: VecDeque<(u32, OpId)>,
    /// How many fates of rows it has looked at.
    pub(super) seen: usize,
    /// Writes it took on without owning the queue.
    pub(super) unclaimed: u32,
}

impl RelayNode {
    /// Takes on a write, as a leader.
    pub(super) fn propose(&mut self, op: OpId, text: &str, fx: Fx<'_, '_>) {
        if !self.settings.queue {
            self.write_own(Some(op), text);
        } else if self.claim.demoting.is_some() {
            fx.reply(op, Reply::Refused("it gives up the queue"));
        } else if self.owns_queue() || self.settings.planted.is(Bug::WritesBeforeClaim) {
            self.write_sync(op, text);
        } else {
            fx.mark(marks::NOT_CLAIMED);
            fx.reply(op, Reply::Refused("the queue is not claimed yet"));
        }
    }

    fn write_sync(&mut self, op: OpId, text: &str) {
        self.claim.unclaimed += u32::from(!self.owns_queue());
        let lsn = self.write_own(None, &format!("sync {text}"));
        self.claim.unanswered.push_back((lsn, op));
    }

    /// Whether it does not notice that a row of its own is durable: only with a planted bug.
    pub(super) fn misses(&self, row: &Row) -> bool {
        let is_confirmation = || matches!(Meaning::of(&row.text), Meaning::Confirm { .. });
        let is_planted = self.settings.planted.is(Bug::ConfirmMissedWhenFenced);
        is_planted && row.origin == self.id && is_confirmation() && self.raft.state() != Role::Leader
    }

    /// Whether it leads and has claimed the queue in this term.
    fn owns_queue(&self) -> bool {
        let (leads, owner) = (self.raft.state() == Role::Leader, self.queue.owner());
        leads && owner == Some(self.id) && self.queue.term() == self.raft.term()
    }

    /// Gives the queue up, and with it the leadership, as soon as a quorum has all that waits.
    pub(super) fn demote(&mut self, op: OpId, fx: Fx<'_, '_>) {
        if !self.settings.queue {
            fx.reply(op, Reply::Refused("there is no queue to give up"));
        } else if !self.owns_queue() || self.claim.demoting.is_some() {
            fx.reply(op, Reply::Refused("does not own the queue"));
        } else {
            self.claim.demoting = Some(op);
        }
    }

    /// An owner that was to give up the queue has done so, or owns it no more for another reason.
    fn end_demotion(&mut self, fx: Fx<'_, '_>) {
        if self.claim.demoting.is_none() || self.owns_queue() {
            return;
        }
        let Some(op) = self.claim.demoting.take() else { return };
        let is_given_up = self.queue.owner().is_none() && self.queue.term() == self.claim.demoted_in;
        if is_given_up && self.raft.term() == self.claim.demoted_in {
            self.raft.resign();
        }
        fx.reply(op, if is_given_up { Reply::Done } else { Reply::Refused("leads no more") });
    }

    /// The term that came with an acknowledgement. It counts before the acknowledgement does: whoever is in a later term may
    /// have promised its vote to somebody who lacks the rows it acknowledges.
    pub(super) fn hear_term_of_ack(&mut self, term: Option<u64>, now: LocalTime, fx: Fx<'_, '_>) {
        if let Some(term) = term.filter(|_| !self.settings.planted.is(Bug::AckBeforeTerm)) {
            self.hear_term(term, now, fx);
        }
    }

    /// Counts an acknowledgement before its term is heard: only with that bug.
    pub(super) fn count_early(&mut self, term: Option<u64>, now: LocalTime, fx: Fx<'_, '_>) {
        if let Some(term) = term.filter(|_| self.settings.planted.is(Bug::AckBeforeTerm)) {
            self.tend_queue(now, fx);
            self.hear_term(term, now, fx);
        }
    }

    fn hear_term(&mut self, term: u64, _now: LocalTime, fx: Fx<'_, '_>) {
        if term > self.raft.term() {
            fx.mark(marks::TERM_BY_ACK);
            self.raft.hear_term(term);
        }
    }

    /// Does what there is to be done with the queue after any input.
    pub(super) fn tend_queue(&mut self, now: LocalTime, fx: Fx<'_, '_>) {
        if !self.settings.queue {
            return;
        }
        self.answer(fx);
        self.end_demotion(fx);
        let written = if self.owns_queue() { self.tend_own_queue() } else { self.claim_queue() };
        if written {
            self.flush(now, fx);
            self.answer(fx);
            self.end_demotion(fx);
        }
    }

    /// A leader claims the queue once a quorum has all that waits in it. Says whether it has written something.
    fn claim_queue(&mut self) -> bool {
        let term = self.raft.term();
        if self.raft.state() != Role::Leader || self.claim.written_in == term {
            return false;
        }
        let inherited = self.queue.last_waiting();
        if inherited.is_some_and(|(owner, lsn)| !self.quorum_has(owner, lsn)) {
            return false;
        }
        let former =
            inherited.or_else(|| self.queue.owner().map(|owner| (owner, self.queue.confirmed(owner))));
        self.claim.written_in = term;
        self.write_own(None, &Meaning::Promote { term, former }.to_string());
        true
    }

    /// The owner of the queue confirms what a quorum has. Says whether it has written something.
    fn tend_own_queue(&mut self) -> bool {
        let mut written = false;
        if let Some((op, text)) = self.lead_with.clone()
            && self.claim.led_with != self.raft.term()
        {
            self.claim.led_with = self.raft.term();
            self.write_sync(op, &text);
            written = true;
        }
        let confirmed = self.confirmable().filter(|&lsn| lsn > self.claim.confirming);
        if let Some(lsn) = confirmed {
            self.claim.confirming = lsn;
            self.write_own(None, &Meaning::Confirm { owner: self.id, lsn }.to_string());
            written = true;
        }
        // What is on its way to the disk waits in no queue yet, and would be rolled back.
        let is_settled =
            self.queue.last_waiting().is_none() && self.vclock == self.volatile_vclock && !written;
        if self.claim.demoting.is_some() && self.claim.demoted_in != self.raft.term() && is_settled {
            self.claim.demoted_in = self.raft.term();
            let (term, lsn) = (self.queue.term(), self.queue.confirmed(self.id));
            self.write_own(None, &Meaning::Demote { term, lsn }.to_string());
            written = true;
        }
        written
    }

    /// The last of its own rows that waits and that a quorum has.
    fn confirmable(&self) -> Option<u32> {
        let own = self.queue.waiting().filter(|(owner, _)| *owner == self.id).map(|(_, lsn)| lsn);
        own.filter(|&lsn| self.quorum_has(self.id, lsn)).last()
    }

    /// Whether a quorum is known to have a row.
    fn quorum_has(&self, owner: NodeId, lsn: u32) -> bool {
        let others = self.relays.iter().filter(|relay| relay.received.get(owner) >= lsn).count();
        let own = usize::from(self.vclock.get(owner) >= lsn);
        (others + own) as u32 >= self.settings.quorum(self.id)
    }

    /// Answers those whose rows are confirmed or rolled back.
    fn answer(&mut self, fx: Fx<'_, '_>) {
        while let Some(&fate) = self.queue.fates().get(self.claim.seen) {
            self.claim.seen += 1;
            if fate.owner != self.id {
                continue;
            }
            while let Some(&(lsn, op)) = self.claim.unanswered.front().filter(|(lsn, _)| *lsn <= fate.lsn) {
                self.claim.unanswered.pop_front();
                let done = lsn == fate.lsn && fate.confirmed;
                fx.reply(op, if done { Reply::Written(lsn) } else { Reply::Refused("rolled back") });
            }
        }
    }

    /// A connection to a source has ended. Without a quorum of them a leader may be no leader any more.
    pub(super) fn disconnected(&mut self, source: NodeId, fx: Fx<'_, '_>) {
        if self.raft.connected(source, false) {
            fx.note(format_args!("nobody is known to see the leader"));
        }
        if self.settings.fencing && !self.raft.reaches_quorum() && self.raft.resign() {
            fx.mark(marks::FENCED);
            fx.note(format_args!("resigns: it is connected to no quorum"));
        }
    }
}
