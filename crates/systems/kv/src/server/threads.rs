//! Storage by threads: the core goes on while one thread appends and another applies, each in the order it was given work.
//!
//! Nobody here runs in parallel: an append is a disk call whose ticket comes back, and applying takes a time that is drawn.
//! What the core has to hear of it comes as responses in the work, which are given back when it is done.

use super::{Hands, Server};
use crate::marks;
use crate::timer::KvTimer;
use std::collections::VecDeque;
use whitewater_raft::{APPEND_THREAD, APPLY_THREAD, Message, MessageKind, Ready};

/// Work of the two threads, oldest first.
#[derive(Default)]
pub(super) struct Threads {
    /// What is to be appended: with it, as its messages, what may be said once it is durable.
    appends: VecDeque<Box<Ready>>,
    /// What is to be applied.
    applies: VecDeque<Message>,
    /// The first of it is being applied.
    is_applying: bool,
    /// Memory for messages, empty.
    spare: Vec<Message>,
    /// Memory for what the core wants done.
    #[expect(clippy::vec_box, reason = "the boxes are what is kept")]
    spare_readies: Vec<Box<Ready>>,
}

/// Memory that is kept for what the core wants done.
const SPARE_READIES_MAX: usize = 4;

impl Threads {
    /// Takes over the memory of what is done.
    pub(super) fn keep_spare(&mut self, ready: Box<Ready>) {
        if self.spare_readies.len() < SPARE_READIES_MAX {
            self.spare_readies.push(ready);
        }
    }

    /// Memory for what the core wants done, if there is any.
    pub(super) fn take_spare(&mut self) -> Option<Box<Ready>> {
        self.spare_readies.pop()
    }
}

/// Committed entries that wait to be applied before it is worth telling.
const BEHIND: u64 = 8;

impl Server {
    /// Hands out what a Ready wants done.
    pub(super) fn hand_out(&mut self, mut ready: Box<Ready>, fx: &mut Hands<'_>) {
        self.follow_log(fx);
        for read in ready.read_states.drain(..) {
            self.note_read(&read, fx);
        }
        // A candidate whose requests overtake its term on the way to the disk could win that term twice.
        let begins_a_term = ready.must_sync && ready.hard_state.is_some();
        let mut stores = false;
        let mut messages = std::mem::replace(&mut ready.messages, std::mem::take(&mut self.threads.spare));
        for mut message in messages.drain(..) {
            match message.to {
                APPEND_THREAD => {
                    stores = true;
                    ready.messages.append(&mut message.take_responses());
                }
                APPLY_THREAD => self.threads.applies.push_back(message),
                _ if begins_a_term && message.kind == MessageKind::Vote => ready.messages.push(message),
                _ => self.send(message, fx),
            }
        }
        self.threads.spare = messages;
        if stores {
            self.threads.appends.push_back(ready);
            if self.threads.appends.len() > 1 {
                fx.mark(marks::APPENDS_QUEUED);
            }
        } else {
            assert!(ready.messages.is_empty(), "a term that begins is stored");
            self.threads.keep_spare(ready);
        }
        if self.core.commit_index() >= self.applied + BEHIND {
            fx.mark(marks::APPLY_BEHIND);
        }
        self.serve_reads(fx);
        self.append_next(fx);
        self.apply_next(fx);
        // A peer may need one although nothing is appended or applied any more.
        self.snapshot_if_due(fx);
    }

    /// The append thread takes its next work, unless it has some.
    pub(super) fn append_next(&mut self, fx: &mut Hands<'_>) {
        while !self.is_writing()
            && !self.halted
            && let Some(ready) = self.threads.appends.pop_front()
        {
            self.store(ready, fx);
        }
    }

    /// The append thread is done with a work.
    pub(super) fn appended(&mut self, mut ready: Box<Ready>, fx: &mut Hands<'_>) {
        for message in ready.messages.drain(..) {
            self.respond_to_core(message, fx);
        }
        self.ready = Some(ready);
        self.snapshot_if_due(fx);
    }

    /// Gives a response to the core, or sends what waited for the disk.
    fn respond_to_core(&mut self, message: Message, fx: &mut Hands<'_>) {
        if message.to != self.core.id() {
            self.send(message, fx);
            return;
        }
        // Late by now if the term, the role or the membership has changed meanwhile, which is in order.
        let _ = self.core.step(message);
    }

    /// The apply thread takes its next work, unless it has some.
    fn apply_next(&mut self, fx: &mut Hands<'_>) {
        if self.threads.is_applying || self.threads.applies.is_empty() {
            return;
        }
        self.threads.is_applying = true;
        let high = self.identity.settings.apply_time;
        if high.nanos() == 0 {
            self.apply_batch(fx);
        } else {
            fx.set_timer(KvTimer::Apply, high.part(10), high);
        }
    }

    /// The apply thread is done with a batch.
    pub(super) fn apply_batch(&mut self, fx: &mut Hands<'_>) {
        if !std::mem::take(&mut self.threads.is_applying) {
            return;
        }
        let Some(mut work) = self.threads.applies.pop_front() else { return };
        for entry in work.entries.iter() {
            // A snapshot may have come before.
            if entry.index > self.applied {
                self.apply(entry, fx);
            }
        }
        for response in work.take_responses() {
            self.respond_to_core(response, fx);
        }
        self.serve_reads(fx);
        self.snapshot_if_due(fx);
        self.apply_next(fx);
    }

    /// Whether the core hands its storage work to threads.
    #[inline]
    pub(super) fn has_threads(&self) -> bool {
        self.identity.settings.storage_async
    }
}
