//! The part of a server around its election state machine: the worker, the timer, and what it tells of itself.

use super::{Fx, RelayNode, Worker};
use crate::marks;
use crate::message::Announcement;
use crate::raft::{Skipped, TimerOrder, Work};
use crate::timer::Timer;
use crate::wal::Entry;
use whitewater_check::Standing;
use whitewater_sim::{LocalTime, NodeId, Role, Span};

impl RelayNode {
    pub(super) fn standing(&self) -> Standing {
        Standing::of(self)
    }

    /// Ends every input: what waits for the disk, what the state machine ordered, what has changed.
    pub(super) fn finish(&mut self, now: LocalTime, before: Standing, fx: Fx<'_, '_>) {
        if self.raft.state() == Role::Leader && (before.role, before.term) != (Role::Leader, self.raft.term())
        {
            self.begin_to_lead();
        }
        self.flush(now, fx);
        self.tend_queue(now, fx);
        self.obey_timer(fx);
        if self.raft.has_work() && self.worker == Worker::Idle {
            // A fiber that is woken runs in the next turn of the event loop.
            self.worker = Worker::Woken;
            fx.set_timer(Timer::Worker, Span::ZERO, Span::ZERO);
        }
        let after = self.standing();
        if before != after {
            self.tell(before, after, fx);
        }
    }

    /// The worker's turn.
    pub(super) fn work(&mut self, fx: Fx<'_, '_>) {
        if self.worker != Worker::Woken {
            return;
        }
        self.worker = Worker::Idle;
        loop {
            match self.raft.work(&self.vclock) {
                Work::Write { term, vote } => {
                    // The worker blocks in the write, and broadcasts wait with it.
                    self.worker = Worker::Writing;
                    self.wal.push(Entry::Election { term, vote });
                    return;
                }
                Work::Broadcast(announcement) => self.broadcast(announcement, fx),
                Work::Nothing => return,
            }
        }
    }

    /// Term and vote are durable.
    pub(super) fn election_written(&mut self, term: u64, vote: Option<NodeId>, fx: Fx<'_, '_>) {
        self.worker = Worker::Idle;
        if (term, vote) != (self.raft.term(), self.raft.vote()) {
            fx.mark(marks::CHANGED_DURING_WRITE);
        }
        self.raft.written(term, vote);
    }

    /// A source announces its state.
    pub(super) fn announced(&mut self, source: NodeId, said: &Announcement, fx: Fx<'_, '_>) {
        let known = self.raft.leader();
        let skipped = self.raft.receive(source, said, &self.vclock);
        if known == Some(source) && said.state != Role::Leader && said.term == self.raft.durable_term() {
            fx.mark(marks::RESIGNED);
            fx.note(format_args!("{source} leads no more, says it"));
        }
        match skipped {
            None => {}
            Some(why @ Skipped::Outdated) => Self::remark(why, marks::OUTDATED, fx),
            Some(why @ Skipped::Competing) => Self::remark(why, marks::COMPETING, fx),
            Some(why @ Skipped::Refused) => Self::remark(why, marks::VOTE_REFUSED, fx),
            Some(why) => fx.note(format_args!("{why}")),
        }
    }

    fn remark(why: Skipped, mark: &'static str, fx: Fx<'_, '_>) {
        fx.mark(mark);
        fx.note(format_args!("{why}"));
    }

    pub(super) fn begin_to_lead(&mut self) {
        // With a queue it has to be claimed first.
        if let Some((op, text)) = self.lead_with.clone().filter(|_| !self.settings.queue) {
            self.write_own(Some(op), &text);
        }
    }

    fn obey_timer(&mut self, fx: Fx<'_, '_>) {
        match self.raft.take_timer() {
            Some(TimerOrder::Stop) => fx.cancel_timer(Timer::Election),
            Some(TimerOrder::Death) => {
                let death = self.settings.death_timeout();
                fx.set_timer(Timer::Election, death, death);
            }
            Some(TimerOrder::ElectionEnd) => {
                fx.set_timer(Timer::Election, self.settings.election_low, self.settings.election_high);
            }
            Some(TimerOrder::Split) => {
                fx.note(format_args!("nobody can win this election any more"));
                let shift = self.settings.election_high - self.settings.election_low;
                fx.set_timer(Timer::Election, Span::ZERO, shift);
            }
            None => {}
        }
    }

    fn tell(&self, before: Standing, after: Standing, fx: Fx<'_, '_>) {
        if after.role == Role::Leader && before.role != Role::Leader {
            fx.mark(marks::ELECTED);
        }
        if before.role == Role::Leader && after.role != Role::Leader {
            fx.mark(marks::DEPOSED);
        }
        if !fx.is_recording() {
            return;
        }
        let voted = after.vote.filter(|_| before.vote != after.vote || before.term != after.term);
        match (before.term != after.term, voted) {
            (true, Some(vote)) => {
                fx.note(format_args!("term {}->{}, votes {vote}", before.term, after.term));
            }
            (true, None) => fx.note(format_args!("term {}->{}", before.term, after.term)),
            (false, Some(vote)) => fx.note(format_args!("votes {vote} in term {}", after.term)),
            (false, None) => {}
        }
        if after.leader == before.leader && after.term == before.term {
            return;
        }
        match after.leader {
            Some(leader) if leader == self.id => {
                let votes = self.raft.votes();
                let of: Vec<String> = (0..self.servers)
                    .filter(|position| votes >> position & 1 == 1)
                    .map(|position| NodeId::server(position).to_string())
                    .collect();
                fx.note(format_args!("LEADER of term {} by the votes of {}", after.term, of.join(" ")));
            }
            Some(leader) => fx.note(format_args!("leader of term {} is {leader}", after.term)),
            None if before.leader.is_some() => fx.note(format_args!("knows no leader")),
            None => {}
        }
    }
}
